-- sqlanon robust for spark: r = 2.5, l = 3, backgrounds = [['sex'], ['sex', 'zipcode']], guarantee = exact, max_suppressed = 0.01, repair = 0, block = 64, draws = keyed, nulls = refuse, rows_per_person = one
-- Wong, Fu, Wang, Xu, Pei and Yu, Probabilistic Inference Protection on Anonymized Data, ICDM 2010
-- It makes `sqlanon_qit`, `sqlanon_st`, and nothing else that it makes may be handed on.
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

-- key_of_rows: as in anatomy/spark.sql

-- signature_tally: as in postgres.sql

-- class: as in postgres.sql, but for
-- -    coalesce(cast(length(cast("quasi_2" as text)) as text) || ':' || cast("quasi_2" as text), 'N') || coalesce(cast(length(cast("quasi_3" as text)) as text) || ':' || cast("quasi_3" as text), 'N') as "signature_text"
-- +    coalesce(cast(length(cast("quasi_2" as string)) as string) || ':' || cast("quasi_2" as string), 'N') || coalesce(cast(length(cast("quasi_3" as string)) as string) || ':' || cast("quasi_3" as string), 'N') as "signature_text"
-- -    (encode(sha256(convert_to("key"."secret" || 'robust/disease/class/' || "spelled"."signature_text", 'UTF8')), 'hex') collate "C") as "hash"
-- +    sha2("key"."secret" || 'robust/disease/class/' || "spelled"."signature_text", 256) as "hash"
-- -  offset 0

-- ranked: as in postgres.sql, but for
-- -    (encode(sha256(convert_to("key"."secret" || 'robust/disease/value/' || cast("class"."class" as text) || '/' || coalesce(cast(length(cast("tally"."sensitive" as text)) as text) || ':' || cast("tally"."sensitive" as text), 'N'), 'UTF8')), 'hex') collate "C") as "hash"
-- +    sha2("key"."secret" || 'robust/disease/value/' || cast("class"."class" as string) || '/' || coalesce(cast(length(cast("tally"."sensitive" as string)) as string) || ':' || cast("tally"."sensitive" as string), 'N'), 256) as "hash"
-- -    on array["tally"."quasi_2"] = array["class"."quasi_2"] and array["tally"."quasi_3"] = array["class"."quasi_3"]
-- +    on "tally"."quasi_2" is not distinct from "class"."quasi_2"
-- +    and "tally"."quasi_3" is not distinct from "class"."quasi_3"
-- -  offset 0

-- capacity: as in postgres.sql, but for
-- -    min(("ranked"."tail" / ("candidate"."size" - "ranked"."place"))) as "group_count"
-- +    min(("ranked"."tail" div ("candidate"."size" - "ranked"."place"))) as "group_count"

-- kept: as in postgres.sql

-- worst: as in postgres.sql, but for
-- -    coalesce(cast("class"."quasi_2" as text), 'NULL') || ', ' || coalesce(cast("class"."quasi_3" as text), 'NULL') as "signature_text",
-- +    coalesce(cast("class"."quasi_2" as string), 'NULL') || ', ' || coalesce(cast("class"."quasi_3" as string), 'NULL') as "signature_text",

-- surplus_summary: as in postgres.sql

-- feasibility: What decides whether rows are drawn for: one row
select case when refusal is not null then raise_error(refusal) end as checked
from (
    select
      case
        when `null_count` > 0
        then 'rows have no value in the sensitive column \'disease\''
        when `row_count` = 0
        then 'the source has no rows to publish'
        when `surplus_rows` = `row_count` or `surplus_rows` * 1000000 > `row_count` * 10000
        then 'r = 2.5 is not possible: more rows than allowed find no group of 3 rows with different values of \'disease\' and one signature'
      end as `refusal`
    from (
      select
        *
      from `sqlanon_surplus_summary`
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

-- identified: as in postgres.sql, but for
-- -  coalesce(cast(length(cast("identifier_1" as text)) as text) || ':' || cast("identifier_1" as text), 'N') as "identity"
-- +  coalesce(cast(length(cast("identifier_1" as string)) as string) || ':' || cast("identifier_1" as string), 'N') as "identity"

-- frequency: as in postgres.sql, but for
-- -    greatest(1, ("group_count" / 64)) as "block_count"
-- +    greatest(1, ("group_count" div 64)) as "block_count"

-- coded: The rows, each with the code of its class and value
create temporary view `sqlanon_coded` as
select
  `population`.`quasi_1`,
  `population`.`quasi_2`,
  `population`.`quasi_3`,
  `population`.`identity`,
  `frequency`.`code`
from `sqlanon_identified` as `population`
inner join `sqlanon_frequency` as `frequency`
  on `population`.`sensitive` is not distinct from `frequency`.`sensitive`
  and `population`.`quasi_2` is not distinct from `frequency`.`quasi_2`
  and `population`.`quasi_3` is not distinct from `frequency`.`quasi_3`;

-- drawn: as in anatomy/spark.sql, but for
-- -    substring(sha2("key"."secret" || 'anatomy/disease/row/', 256), 1, 40) as "secret"
-- +    substring(sha2("key"."secret" || 'robust/disease/row/', 256), 1, 40) as "secret"
-- +  cast(conv(substring("hash", 1, 15), 16, 10) as bigint) as "draw",
-- +  cast(conv(substring("hash", 16, 15), 16, 10) as bigint) as "tie",
-- -  "code",
-- -  cast(conv(substring("hash", 1, 15), 16, 10) as bigint) as "draw",
-- -  cast(conv(substring("hash", 16, 15), 16, 10) as bigint) as "tie"
-- +  "code"

-- sharded: as in anatomy/spark.sql

-- run: as in anatomy/spark.sql

-- positioned: as in anatomy/spark.sql

-- block: as in anatomy/spark.sql, but for
-- -    cast(conv(substring(sha2("key"."secret" || 'anatomy/disease/block/' || cast("counted"."block" as string) || '/' || cast("counted"."code" as string), 256), 1, 15), 16, 10) as bigint) as "draw"
-- +    cast(conv(substring(sha2("key"."secret" || 'robust/disease/block/' || cast("counted"."block" as string) || '/' || cast("counted"."code" as string), 256), 1, 15), 16, 10) as bigint) as "draw"

-- numbered: as in anatomy/spark.sql

-- renumbered: as in postgres.sql, but for
-- -    generate_series(0, "block_groups" - 1) as "turn"
-- +    explode(sequence(0, "block_groups" - 1)) as "turn"
-- -    (encode(sha256(convert_to("key"."secret" || 'robust/disease/group/' || cast("listed"."block" as text) || '/' || cast("listed"."turn" as text), 'UTF8')), 'hex') collate "C") as "hash"
-- +    sha2("key"."secret" || 'robust/disease/group/' || cast("listed"."block" as string) || '/' || cast("listed"."turn" as string), 256) as "hash"
-- -  offset 0
-- -    cast(cast('x' || substring("hash" from 1 for 15) as bit(60)) as bigint) as "draw",
-- -    cast(cast('x' || substring("hash" from 16 for 15) as bit(60)) as bigint) as "tie"
-- +    cast(conv(substring("hash", 1, 15), 16, 10) as bigint) as "draw",
-- +    cast(conv(substring("hash", 16, 15), 16, 10) as bigint) as "tie"
-- -    ("draw" / 18014398509481984) as "shard",
-- +    ("draw" div 18014398509481984) as "shard",
-- -    ("draw" / 18014398509481984)
-- +    ("draw" div 18014398509481984)
-- -  on ("drawn"."draw" / 18014398509481984) = "shard"."shard";
-- +  on ("drawn"."draw" div 18014398509481984) = "shard"."shard";

-- grouped: as in postgres.sql

-- suppressed: How many rows no group holds in the end, beside what was to be expected
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `everyone` as (
      select
        count(*) as `everyone_count`
      from `sqlanon_population`
    ), `published` as (
      select
        count(*) as `published_count`
      from `sqlanon_grouped`
    )
    select
      case when `dropped_rows` = `row_count` then 'the source has no rows to publish' end as `refusal`
    from (
      select
        `everyone`.`everyone_count` - `published`.`published_count` as `dropped_rows`,
        `surplus_summary`.*
      from `sqlanon_surplus_summary` as `surplus_summary`
      cross join `everyone`
      cross join `published`
    ) as `looked_at`
) as checked;

-- qit: as in anatomy/spark.sql

-- st: as in postgres.sql, but for
-- -  "grouped"."group_id" asc,
-- -  "frequency"."sensitive" asc;
-- +  "grouped"."group_id" asc nulls last,
-- +  "frequency"."sensitive" asc nulls last;

-- the rest is microdata and the key: forget it
-- 22 relations, the last first
