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

-- persons: as in anatomy/spark.sql

-- tally: as in anatomy/spark.sql

-- known: as in anatomy/spark.sql

-- feasible: as in anatomy/spark.sql, but for
-- -        min(case when "place" < 4 then (("kept_rows" - "larger_rows") div greatest(1, 4 - "place")) end) over () as "group_count"
-- +        min(case when "place" < 5 then (("kept_rows" - "larger_rows") div greatest(1, 5 - "place")) end) over () as "group_count"
-- -        ("row_count" div 4) as "allowed",
-- +        ("row_count" div 5) as "allowed",
-- -        'l' as "about",
-- +        'gamma' as "about",
-- -          when "row_count" < 4
-- -          then 'l = 4 needs at least 4 rows; the source has ' || coalesce(format_number("row_count", 0), '')
-- +          when "row_count" < 5
-- +          then 'gamma = 5 needs at least 5 rows; the source has ' || coalesce(format_number("row_count", 0), '')
-- -          then 'l = 4 is not possible: the most frequent value of \'disease\'' || coalesce(cast('' as string), '') || ' stands in ' || coalesce(format_number("largest_count", 0), '') || ' of ' || coalesce(format_number("row_count", 0), '') || ' rows (' || coalesce(format_number((cast(100.0 * "largest_count" as double) / nullif("row_count", 0)), 1) || '%', '') || '), and l = 4 allows ' || coalesce(format_number("allowed", 0), '') || '; ' || case
-- +          then 'gamma = 5 is not possible: the most frequent value of \'disease\'' || coalesce(cast('' as string), '') || ' stands in ' || coalesce(format_number("largest_count", 0), '') || ' of ' || coalesce(format_number("row_count", 0), '') || ' rows (' || coalesce(format_number((cast(100.0 * "largest_count" as double) / nullif("row_count", 0)), 1) || '%', '') || '), and gamma = 5 allows ' || coalesce(format_number("allowed", 0), '') || '; ' || case
-- -            then 'the largest l that works is ' || coalesce(cast("feasible" as string), '')
-- -            else 'no l of at least 2 works on this column'
-- +            then 'the largest gamma that works is ' || coalesce(cast("feasible" as string), '')
-- +            else 'no gamma of at least 2 works on this column'
-- -            then '; with --nulls drop l = ' || coalesce(cast("without" as string), '') || ' works'
-- -            else '; without the rows of that value l = ' || coalesce(cast("without" as string), '') || ' works'
-- +            then '; with --nulls drop gamma = ' || coalesce(cast("without" as string), '') || ' works'
-- +            else '; without the rows of that value gamma = ' || coalesce(cast("without" as string), '') || ' works'
-- -            when "value_count" >= 4 and 2 * "left_over" <= 1000 and true
-- -            then '; robust leaves rows over instead: with r = 4 at least ' || coalesce(format_number((cast(100.0 * "left_over" as double) / nullif(1000, 0)), 1) || '%', '') || ' of them (--max-suppressed)'
-- +            when "value_count" >= 5 and 2 * "left_over" <= 1000 and true
-- +            then '; robust leaves rows over instead: with r = 5 at least ' || coalesce(format_number((cast(100.0 * "left_over" as double) / nullif(1000, 0)), 1) || '%', '') || ' of them (--max-suppressed)'
-- -          end || '; merging values makes none rarer, and splu has the same limit'
-- +          end || '; merging values makes none rarer'

-- uniqueness: as in anatomy/spark.sql

-- own_values_1: as in anatomy/spark.sql

-- key: as in anatomy/spark.sql

-- population: as in anatomy/spark.sql

-- population: as in anatomy/spark.sql, but for
-- -    substring(sha2("key"."secret" || 'anatomy/disease/row/', 256), 1, 40) as "secret"
-- +    substring(sha2("key"."secret" || 'splu/disease/row/', 256), 1, 40) as "secret"
-- -  cast(conv(substring("hash", 16, 15), 16, 10) as bigint) as "tie"
-- +  cast(conv(substring("hash", 16, 15), 16, 10) as bigint) as "slot_draw",
-- +  cast(conv(substring("hash", 31, 15), 16, 10) as bigint) as "tie"

-- population: as in postgres.sql

-- draw_range: as in postgres.sql, but for
-- -    ("draw" / 281474976710656) as "draw_range",
-- +    ("draw" div 281474976710656) as "draw_range",
-- -    ("draw" / 281474976710656)
-- +    ("draw" div 281474976710656)

-- residue: as in postgres.sql, but for
-- -    ("drawn"."draw" / 281474976710656) <= "bound"."last_range"
-- +    ("drawn"."draw" div 281474976710656) <= "bound"."last_range"

-- left_out: as in postgres.sql

-- left_over: as in postgres.sql

-- population: as in postgres.sql

-- tally: as in postgres.sql

-- class: as in postgres.sql

-- ranked: as in postgres.sql, but for
-- -    (encode(sha256(convert_to("key"."secret" || 'splu/disease/value/' || coalesce(cast(length(cast("valued"."sensitive" as text)) as text) || ':' || cast("valued"."sensitive" as text), 'N'), 'UTF8')), 'hex') collate "C") as "hash"
-- +    sha2("key"."secret" || 'splu/disease/value/' || coalesce(cast(length(cast("valued"."sensitive" as string)) as string) || ':' || cast("valued"."sensitive" as string), 'N'), 256) as "hash"
-- -  offset 0

-- capacity: as in anatomy/spark.sql

-- frequency: as in anatomy/spark.sql

-- coded: as in postgres.sql

-- sharded: as in anatomy/spark.sql, but for
-- +    "slot_draw",
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

-- grouped: as in anatomy/spark.sql, but for
-- +  "slot_draw",
-- +  (("numbered"."block_rows" + "numbered"."block_groups" - 1 - "numbered"."number" % "numbered"."block_groups") div "numbered"."block_groups") as "group_rows",
-- +  ("number" div "block_groups") as "slot",

-- decoy_group_1: as in postgres.sql

-- population: as in postgres.sql

-- population: as in postgres.sql

-- data: exact quasi values and drawn sensitive ones, in an order that depends on nothing but what it shows, which verification proves from what was written
create table `sqlanon_data` using parquet as
select
  `randomized`.`quasi_1` as `age`,
  `randomized`.`quasi_2` as `sex`,
  `randomized`.`quasi_3` as `zipcode`,
  `randomized`.`published_1` as `disease`
from `sqlanon_population_7` as `randomized`
order by
  `randomized`.`quasi_1` asc nulls last,
  `randomized`.`quasi_2` asc nulls last,
  `randomized`.`quasi_3` asc nulls last,
  `randomized`.`published_1` asc nulls last;

-- the rest is microdata and the key: forget it
-- 27 relations, the last first
