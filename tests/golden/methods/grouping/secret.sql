-- key_of_rows: The secret of all draws: of the key and of the rows, so that two tables of one key have no draw in common, and one row that differs makes all draws others
with row_key as (
    select substr(sha256(key.secret || 'rows/'), 1, 40) as secret
    from "sqlanon_key" as key
),
hashed as (
    select sha256(row_key.secret || coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N') || coalesce(cast(length(cast(sensitive[1] as varchar)) as varchar) || ':' || cast(sensitive[1] as varchar), 'N') || coalesce(cast(length(cast(sensitive[2] as varchar)) as varchar) || ':' || cast(sensitive[2] as varchar), 'N')) as hash
    from "sqlanon_population" as population
    cross join row_key
),
drawn as (
    select cast('0x' || substr(hash, 1, 15) as bigint) as draw
    from hashed
),
summed as (
    select
        count(*) as row_count,
        coalesce(cast(sum(draw // 1073741824) as bigint), 0) as sum_1,
        coalesce(cast(sum(draw % 1073741824) as bigint), 0) as sum_2
    from drawn
)
select
    sha256(key.secret || 'draws/' || cast(summed.row_count as varchar) || '/' || cast(summed.sum_1 as varchar) || '/' || cast(summed.sum_2 as varchar)) as secret
from summed
cross join "sqlanon_key" as key

-- spark, key_of_rows:
-- -    substring(sha256("key"."secret" || 'rows/'), 1, 40) as "secret"
-- +    substring(sha2("key"."secret" || 'rows/', 256), 1, 40) as "secret"
-- -    sha256(
-- -      "row_key"."secret" || coalesce(cast(length(cast("identifier_1" as text)) as text) || ':' || cast("identifier_1" as text), 'N') || coalesce(cast(length(cast("sensitive"[1] as text)) as text) || ':' || cast("sensitive"[1] as text), 'N') || coalesce(cast(length(cast("sensitive"[2] as text)) as text) || ':' || cast("sensitive"[2] as text), 'N')
-- -    ) as "hash"
-- +    sha2("row_key"."secret" || coalesce(cast(length(cast("identifier_1" as string)) as string) || ':' || cast("identifier_1" as string), 'N') || coalesce(cast(length(cast(get("sensitive", 1 - 1) as string)) as string) || ':' || cast(get("sensitive", 1 - 1) as string), 'N') || coalesce(cast(length(cast(get("sensitive", 2 - 1) as string)) as string) || ':' || cast(get("sensitive", 2 - 1) as string), 'N'), 256) as "hash"
-- -    cast('0x' || substring("hash", 1, 15) as bigint) as "draw"
-- +    cast(conv(substring("hash", 1, 15), 16, 10) as bigint) as "draw"
-- -    coalesce(cast(sum("draw" // 1073741824) as bigint), 0) as "sum_1",
-- +    coalesce(cast(sum(("draw" div 1073741824)) as bigint), 0) as "sum_1",
-- -  sha256(
-- -    "key"."secret" || 'draws/' || cast("summed"."row_count" as text) || '/' || cast("summed"."sum_1" as text) || '/' || cast("summed"."sum_2" as text)
-- -  ) as "secret"
-- +  sha2("key"."secret" || 'draws/' || cast("summed"."row_count" as string) || '/' || cast("summed"."sum_1" as string) || '/' || cast("summed"."sum_2" as string), 256) as "secret"

-- postgres, key_of_rows:
-- -    substring(sha256("key"."secret" || 'rows/'), 1, 40) as "secret"
-- +    substring((encode(sha256(convert_to("key"."secret" || 'rows/', 'UTF8')), 'hex') collate "C") from 1 for 40) as "secret"
-- +  offset 0
-- -    sha256(
-- -      "row_key"."secret" || coalesce(cast(length(cast("identifier_1" as text)) as text) || ':' || cast("identifier_1" as text), 'N') || coalesce(cast(length(cast("sensitive"[1] as text)) as text) || ':' || cast("sensitive"[1] as text), 'N') || coalesce(cast(length(cast("sensitive"[2] as text)) as text) || ':' || cast("sensitive"[2] as text), 'N')
-- -    ) as "hash"
-- +    (encode(sha256(convert_to("row_key"."secret" || coalesce(cast(length(cast("identifier_1" as text)) as text) || ':' || cast("identifier_1" as text), 'N') || coalesce(cast(length(cast(("sensitive")[1] as text)) as text) || ':' || cast(("sensitive")[1] as text), 'N') || coalesce(cast(length(cast(("sensitive")[2] as text)) as text) || ':' || cast(("sensitive")[2] as text), 'N'), 'UTF8')), 'hex') collate "C") as "hash"
-- +  offset 0
-- -    cast('0x' || substring("hash", 1, 15) as bigint) as "draw"
-- +    cast(cast('x' || substring("hash" from 1 for 15) as bit(60)) as bigint) as "draw"
-- -    coalesce(cast(sum("draw" // 1073741824) as bigint), 0) as "sum_1",
-- +    coalesce(cast(sum(("draw" / 1073741824)) as bigint), 0) as "sum_1",
-- -  sha256(
-- -    "key"."secret" || 'draws/' || cast("summed"."row_count" as text) || '/' || cast("summed"."sum_1" as text) || '/' || cast("summed"."sum_2" as text)
-- -  ) as "secret"
-- +  (encode(sha256(convert_to("key"."secret" || 'draws/' || cast("summed"."row_count" as text) || '/' || cast("summed"."sum_1" as text) || '/' || cast("summed"."sum_2" as text), 'UTF8')), 'hex') collate "C") as "secret"
