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

-- population: as in anatomy/spark.sql

-- tally: as in anatomy/spark.sql

-- feasibility: as in anatomy/spark.sql, but for
-- -        min(case when "place" < 4 then (("kept_rows" - "larger_rows") div greatest(1, 4 - "place")) end) over () as "group_count"
-- +        min(case when "place" < 5 then (("kept_rows" - "larger_rows") div greatest(1, 5 - "place")) end) over () as "group_count"
-- -        when "row_count" < 4
-- -        then 'l = 4 needs at least 4 rows'
-- -        when "largest_count" > ("row_count" div 4)
-- -        then 'l = 4 is not possible: a value of \'disease\' stands in more than 1/4 of the rows'
-- +        when "row_count" < 5
-- +        then 'gamma = 5 needs at least 5 rows'
-- +        when "largest_count" > ("row_count" div 5)
-- +        then 'gamma = 5 is not possible: a value of \'disease\' stands in more than 1/5 of the rows'

-- persons: as in anatomy/spark.sql

-- uniqueness: as in anatomy/spark.sql

-- key_of_rows: as in anatomy/spark.sql

-- identified: as in anatomy/spark.sql

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

-- frequency: as in anatomy/spark.sql, but for
-- -    sha2("key"."secret" || 'anatomy/disease/value/' || coalesce(cast(length(cast("tally"."sensitive" as string)) as string) || ':' || cast("tally"."sensitive" as string), 'N'), 256) as "hash"
-- -  from "sqlanon_tally" as "tally"
-- +    sha2("key"."secret" || 'splu/disease/value/' || coalesce(cast(length(cast("tally"."sensitive" as string)) as string) || ':' || cast("tally"."sensitive" as string), 'N'), 256) as "hash"
-- +  from "sqlanon_tally_randomized" as "tally"
-- -    (cast(sum("row_count") over () as bigint) div 4) as "group_count"
-- +    (cast(sum("row_count") over () as bigint) div 5) as "group_count"

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
