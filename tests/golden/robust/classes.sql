-- class: a class for each signature, numbered in a keyed order, so that the draws of a class depend on no collation
with signed as (
    select distinct "quasi_2", "quasi_3"
    from "sqlanon_tally"
),
spelled as (
    select
        "quasi_2", "quasi_3",
coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N') || coalesce(cast(length(cast("quasi_3" as varchar)) as varchar) || ':' || cast("quasi_3" as varchar), 'N') as signature_text
    from signed
),
hashed as (
    select
        spelled."quasi_2", spelled."quasi_3",
        sha256(key.secret || 'robust/disease/class/' || spelled.signature_text) as hash
    from spelled
    cross join "sqlanon_key_2" as key
)
select
    "quasi_2", "quasi_3",
    row_number() over (order by hash asc nulls last) - 1 as class
from hashed

-- spark, class:
-- -    coalesce(cast(length(cast("quasi_2" as text)) as text) || ':' || cast("quasi_2" as text), 'N') || coalesce(cast(length(cast("quasi_3" as text)) as text) || ':' || cast("quasi_3" as text), 'N') as "signature_text"
-- +    coalesce(cast(length(cast("quasi_2" as string)) as string) || ':' || cast("quasi_2" as string), 'N') || coalesce(cast(length(cast("quasi_3" as string)) as string) || ':' || cast("quasi_3" as string), 'N') as "signature_text"
-- -    sha256("key"."secret" || 'robust/disease/class/' || "spelled"."signature_text") as "hash"
-- +    sha2("key"."secret" || 'robust/disease/class/' || "spelled"."signature_text", 256) as "hash"

-- postgres, class:
-- -    sha256("key"."secret" || 'robust/disease/class/' || "spelled"."signature_text") as "hash"
-- +    (encode(sha256(convert_to("key"."secret" || 'robust/disease/class/' || "spelled"."signature_text", 'UTF8')), 'hex') collate "C") as "hash"
-- +  offset 0
