-- population: every row with its draws: from the key and what tells the row apart, alike on every engine
with row_key as (
    select substr(sha256(key.secret || 'anatomy/disease/row/'), 1, 40) as secret
    from "sqlanon_key_2" as key
),
hashed as (
    select
        valued."quasi_1", valued."quasi_2", valued."quasi_3", valued."sensitive",
        sha256(row_key.secret || valued.identity) as hash
    from "sqlanon_population_2" as valued
    cross join row_key
)
select
    "quasi_1", "quasi_2", "quasi_3", "sensitive",
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "tie"
from hashed

-- spark, population:
-- -    substring(sha256("key"."secret" || 'anatomy/disease/row/'), 1, 40) as "secret"
-- +    substring(sha2("key"."secret" || 'anatomy/disease/row/', 256), 1, 40) as "secret"
-- -    sha256("row_key"."secret" || "valued"."identity") as "hash"
-- +    sha2("row_key"."secret" || "valued"."identity", 256) as "hash"
-- -  cast('0x' || substring("hash", 1, 15) as bigint) as "draw",
-- -  cast('0x' || substring("hash", 16, 15) as bigint) as "tie"
-- +  cast(conv(substring("hash", 1, 15), 16, 10) as bigint) as "draw",
-- +  cast(conv(substring("hash", 16, 15), 16, 10) as bigint) as "tie"

-- postgres, population:
-- -    substring(sha256("key"."secret" || 'anatomy/disease/row/'), 1, 40) as "secret"
-- +    substring((encode(sha256(convert_to("key"."secret" || 'anatomy/disease/row/', 'UTF8')), 'hex') collate "C") from 1 for 40) as "secret"
-- +  offset 0
-- -    sha256("row_key"."secret" || "valued"."identity") as "hash"
-- +    (encode(sha256(convert_to("row_key"."secret" || "valued"."identity", 'UTF8')), 'hex') collate "C") as "hash"
-- +  offset 0
-- -  cast('0x' || substring("hash", 1, 15) as bigint) as "draw",
-- -  cast('0x' || substring("hash", 16, 15) as bigint) as "tie"
-- +  cast(cast('x' || substring("hash" from 1 for 15) as bit(60)) as bigint) as "draw",
-- +  cast(cast('x' || substring("hash" from 16 for 15) as bit(60)) as bigint) as "tie"
