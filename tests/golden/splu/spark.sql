-- sqlanon splu for spark: gamma = {'disease': 5}, residue = drop, epsilon = 0.3, alpha = 3, target_error = 0.1, block = 64, draws = keyed, nulls = refuse, rows_per_person = one
-- Fu, Wang, Wong, Wang and Jiang, Small sum privacy and large sum utility in data publishing, J. Biomedical Informatics 2014
-- It makes `sqlanon_data`, and nothing else that it makes may be handed on.
-- It needs a key of 64 hex digits, and who has the key can undo the release.
-- Make one with: openssl rand -hex 32
-- Hand it over before the script runs: set sqlanon.key=…
-- The engine puts the key into the text of the queries that it logs.
-- publish runs these statements on spark, but:
-- * under a key of its own it draws by the numbers of rows, which a script does not have
-- * quasi columns that all hold whole numbers are packed into one number, by their least and greatest values

-- key: as in anatomy/spark.sql

select case when refusal is not null then raise_error(refusal) end as checked
from (
    select
      case when `key_count` <> 1 or `key_length` <> 64 then 'the key is missing: hand over 64 hex digits' end as `refusal`
    from (
      select
        count(*) as `key_count`,
        coalesce(max(length(`secret`)), 0) as `key_length`
      from `sqlanon_key`
    ) as `looked_at`
) as checked;

-- source: as in anatomy/spark.sql

-- population: as in postgres.sql

-- tally: as in postgres.sql

-- feasibility: What decides whether l groups can be told apart: N, the NULLs, and the most frequent value, and what else could be done where they cannot: the count of the next value, and the most rows that groups of l different values can hold
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `counted` as (
      select
        `sensitive`,
        `row_count`,
        case when `sensitive` is null and not false then 0 else `row_count` end as `kept_count`
      from `sqlanon_tally`
    ), `placed` as (
      select
        `counted`.*,
        row_number() over (order by `kept_count` desc) - 1 as `place`,
        cast(sum(`kept_count`) over () as bigint) as `kept_rows`,
        cast(sum(`kept_count`) over (order by `kept_count` desc rows between unbounded preceding and current row) as bigint) - `kept_count` as `larger_rows`
      from `counted`
    ), `fitting` as (
      select
        `placed`.*,
        min(case when `place` < 5 then ((`kept_rows` - `larger_rows`) div greatest(1, 5 - `place`)) end) over () as `group_count`
      from `placed`
    )
    select
      case
        when `null_count` > 0
        then 'rows have no value in the sensitive column \'disease\''
        when `row_count` = 0
        then 'the source has no rows to publish'
        when `row_count` < 5
        then 'gamma = 5 needs at least 5 rows'
        when `largest_count` > (`row_count` div 5)
        then 'gamma = 5 is not possible: a value of \'disease\' stands in more than 1/5 of the rows'
      end as `refusal`
    from (
      select
        coalesce(cast(sum(`fitting`.`kept_count`) as bigint), 0) as `row_count`,
        coalesce(cast(sum(case when `fitting`.`sensitive` is null then `fitting`.`row_count` else 0 end) as bigint), 0) as `null_count`,
        coalesce(cast(sum(case when `fitting`.`kept_count` > 0 then 1 else 0 end) as bigint), 0) as `value_count`,
        coalesce(max(`fitting`.`kept_count`), 0) as `largest_count`,
        max(case when `fitting`.`place` = 0 then cast(`fitting`.`sensitive` as string) end) as `largest_value`,
        coalesce(max(case when `fitting`.`place` = 0 and `fitting`.`sensitive` is null then 1 else 0 end), 0) as `largest_missing`,
        coalesce(max(case when `fitting`.`place` = 1 then `fitting`.`kept_count` end), 0) as `next_count`,
        coalesce(cast(sum(least(`fitting`.`kept_count`, `fitting`.`group_count`)) as bigint), 0) as `groupable_rows`
      from `fitting`
    ) as `looked_at`
) as checked;

-- persons: How many rows share their identifier with another row: the guarantees are per row
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `person` as (
      select
        count(*) as `row_count`
      from `sqlanon_population`
      group by
        `identifier_1`
    )
    select
      case when `repeating_persons` > 0 then 'persons have more than one row, and the guarantee is per row' end as `refusal`
    from (
      select
        coalesce(cast(sum(`row_count`) as bigint), 0) as `row_count`,
        count(*) as `person_count`,
        coalesce(sum(case when `row_count` > 1 then 1 else 0 end), 0) as `repeating_persons`
      from `person`
    ) as `looked_at`
) as checked;

-- uniqueness: as in anatomy/spark.sql

-- lone_values_1: as in anatomy/spark.sql

-- key_of_rows: The secret of all draws: of the key and of the rows, so that two tables of one key have no draw in common, and one row that differs makes all draws others
create table `sqlanon_key_of_rows` using parquet as
with `row_key` as (
  select
    substring(sha2(`key`.`secret` || 'rows/', 256), 1, 40) as `secret`
  from `sqlanon_key` as `key`
), `hashed` as (
  select
    sha2(`row_key`.`secret` || coalesce(cast(length(cast(`identifier_1` as string)) as string) || ':' || cast(`identifier_1` as string), 'N') || coalesce(cast(length(cast(`sensitive` as string)) as string) || ':' || cast(`sensitive` as string), 'N'), 256) as `hash`
  from `sqlanon_population` as `population`
  cross join `row_key`
), `drawn` as (
  select
    cast(conv(substring(`hash`, 1, 15), 16, 10) as bigint) as `draw`
  from `hashed`
), `summed` as (
  select
    count(*) as `row_count`,
    coalesce(cast(sum((`draw` div 1073741824)) as bigint), 0) as `sum_1`,
    coalesce(cast(sum(`draw` % 1073741824) as bigint), 0) as `sum_2`
  from `drawn`
)
select
  sha2(`key`.`secret` || 'draws/' || cast(`summed`.`row_count` as string) || '/' || cast(`summed`.`sum_1` as string) || '/' || cast(`summed`.`sum_2` as string), 256) as `secret`
from `summed`
cross join `sqlanon_key` as `key`;

-- identified: as in postgres.sql, but for
-- -  coalesce(cast(length(cast("identifier_1" as text)) as text) || ':' || cast("identifier_1" as text), 'N') as "identity"
-- +  coalesce(cast(length(cast("identifier_1" as string)) as string) || ':' || cast("identifier_1" as string), 'N') as "identity"

-- drawn: Draws of a row, of sha256(row key || identity), the row key being the first 40 hex digits of sha256(key || purpose): 15 hex digits each, or, where no other engine has to draw the same, what the engine makes of 16
create table `sqlanon_drawn` using parquet as
with `row_key` as (
  select
    substring(sha2(`key`.`secret` || 'splu/disease/row/', 256), 1, 40) as `secret`
  from `sqlanon_key_of_rows` as `key`
), `hashed` as (
  select
    `valued`.`quasi_1`,
    `valued`.`quasi_2`,
    `valued`.`quasi_3`,
    `valued`.`sensitive`,
    sha2(`row_key`.`secret` || `valued`.`identity`, 256) as `hash`
  from `sqlanon_identified` as `valued`
  cross join `row_key`
)
select
  cast(conv(substring(`hash`, 1, 15), 16, 10) as bigint) as `draw`,
  cast(conv(substring(`hash`, 16, 15), 16, 10) as bigint) as `slot_draw`,
  cast(conv(substring(`hash`, 31, 15), 16, 10) as bigint) as `tie`,
  `quasi_1`,
  `quasi_2`,
  `quasi_3`,
  `sensitive`
from `hashed`;

-- draw_range: as in postgres.sql, but for
-- -    ("draw" / 281474976710656) as "draw_range",
-- +    ("draw" div 281474976710656) as "draw_range",
-- -    ("draw" / 281474976710656)
-- +    ("draw" div 281474976710656)

-- residue: as in postgres.sql, but for
-- -    ("drawn"."draw" / 281474976710656) <= "bound"."last_range"
-- +    ("drawn"."draw" div 281474976710656) <= "bound"."last_range"

-- left_out: as in postgres.sql

-- kept: as in postgres.sql

-- tally_randomized: as in postgres.sql

-- frequency: as in postgres.sql, but for
-- -    (encode(sha256(convert_to("key"."secret" || 'splu/disease/value/' || coalesce(cast(length(cast("tally"."sensitive" as text)) as text) || ':' || cast("tally"."sensitive" as text), 'N'), 'UTF8')), 'hex') collate "C") as "hash"
-- +    sha2("key"."secret" || 'splu/disease/value/' || coalesce(cast(length(cast("tally"."sensitive" as string)) as string) || ':' || cast("tally"."sensitive" as string), 'N'), 256) as "hash"
-- -  offset 0
-- -    (cast(sum("row_count") over () as bigint) / 5) as "group_count"
-- +    (cast(sum("row_count") over () as bigint) div 5) as "group_count"
-- -    greatest(1, ("group_count" / 64)) as "block_count"
-- +    greatest(1, ("group_count" div 64)) as "block_count"

-- coded: as in postgres.sql

-- sharded: as in anatomy/spark.sql, but for
-- +    "slot_draw",
-- -  from "sqlanon_drawn"
-- +  from "sqlanon_coded"
-- +    "slot_draw",
-- +      "slot_draw",
-- +  "slot_draw",

-- run: as in anatomy/spark.sql

-- positioned: as in anatomy/spark.sql, but for
-- +  "sharded"."slot_draw",

-- block: as in anatomy/spark.sql, but for
-- -    cast(conv(substring(sha2("key"."secret" || 'anatomy/disease/block/' || cast("counted"."block" as string) || '/' || cast("counted"."code" as string), 256), 1, 15), 16, 10) as bigint) as "draw"
-- +    cast(conv(substring(sha2("key"."secret" || 'splu/disease/block/' || cast("counted"."block" as string) || '/' || cast("counted"."code" as string), 256), 1, 15), 16, 10) as bigint) as "draw"
-- -  cross join "sqlanon_key_2" as "key"
-- +  cross join "sqlanon_key_of_rows" as "key"

-- numbered: as in postgres.sql, but for
-- -    ("bucketed"."bucket" / "bucketed"."block_count") + "block"."shift"
-- +    ("bucketed"."bucket" div "bucketed"."block_count") + "block"."shift"

-- decoy_group: as in postgres.sql, but for
-- -  (("numbered"."block_rows" + "numbered"."block_groups" - 1 - "numbered"."number" % "numbered"."block_groups") / "numbered"."block_groups") as "group_rows",
-- -  ("number" / "block_groups") as "slot"
-- +  (("numbered"."block_rows" + "numbered"."block_groups" - 1 - "numbered"."number" % "numbered"."block_groups") div "numbered"."block_groups") as "group_rows",
-- +  ("number" div "block_groups") as "slot"

-- randomized: as in postgres.sql

-- data: The published table: exact quasi values, randomized sensitive values, in an order that depends on nothing but what it shows
create table `sqlanon_data` using parquet as
select
  `randomized`.`quasi_1` as `age`,
  `randomized`.`quasi_2` as `sex`,
  `randomized`.`quasi_3` as `zipcode`,
  `randomized`.`published_1` as `disease`
from `sqlanon_randomized` as `randomized`
order by
  `randomized`.`quasi_1` asc nulls last,
  `randomized`.`quasi_2` asc nulls last,
  `randomized`.`quasi_3` asc nulls last,
  `randomized`.`published_1` asc nulls last;

-- the rest is microdata and the key: forget it
-- 20 relations, the last first
