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

-- population: as in anatomy/spark.sql

-- persons: as in anatomy/spark.sql

-- key: as in anatomy/spark.sql

-- tally: as in postgres.sql

-- known: as in anatomy/spark.sql

-- class: as in postgres.sql, but for
-- -    coalesce(cast(length(cast("quasi_2" as text)) as text) || ':' || cast("quasi_2" as text), 'N') || coalesce(cast(length(cast("quasi_3" as text)) as text) || ':' || cast("quasi_3" as text), 'N') as "signature_text"
-- +    coalesce(cast(length(cast("quasi_2" as string)) as string) || ':' || cast("quasi_2" as string), 'N') || coalesce(cast(length(cast("quasi_3" as string)) as string) || ':' || cast("quasi_3" as string), 'N') as "signature_text"
-- -    (encode(sha256(convert_to("key"."secret" || 'robust/disease/class/' || "spelled"."signature_text", 'UTF8')), 'hex') collate "C") as "hash"
-- +    sha2("key"."secret" || 'robust/disease/class/' || "spelled"."signature_text", 256) as "hash"
-- -  offset 0

-- ranked: as in anatomy/spark.sql, but for
-- -    on true
-- +    on "tally"."quasi_2" is not distinct from "class"."quasi_2"
-- +    and "tally"."quasi_3" is not distinct from "class"."quasi_3"
-- -    sha2("key"."secret" || 'anatomy/disease/value/' || coalesce(cast(length(cast("valued"."sensitive" as string)) as string) || ':' || cast("valued"."sensitive" as string), 'N'), 256) as "hash"
-- +    sha2("key"."secret" || 'robust/disease/value/' || cast("valued"."class" as string) || '/' || coalesce(cast(length(cast("valued"."sensitive" as string)) as string) || ':' || cast("valued"."sensitive" as string), 'N'), 256) as "hash"

-- capacity: as in anatomy/spark.sql

-- kept: as in postgres.sql, but for
-- -      then min(("ranked"."tail" / ("candidate"."size" - "ranked"."place")))
-- +      then min(("ranked"."tail" div ("candidate"."size" - "ranked"."place")))

-- sample: as in postgres.sql

-- worst: as in postgres.sql, but for
-- -    coalesce(cast("class"."quasi_2" as text), 'NULL') || ', ' || coalesce(cast("class"."quasi_3" as text), 'NULL') as "signature_text",
-- +    coalesce(cast("class"."quasi_2" as string), 'NULL') || ', ' || coalesce(cast("class"."quasi_3" as string), 'NULL') as "signature_text",

-- surplus: as in postgres.sql

-- few_left_over: no more rows are left over than may be
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `figures` as (
      select
        `looked_at`.*,
        `surplus_rows` as `over_rows`,
        `row_count` > 0 and (
          `surplus_rows` * 1000000 > `row_count` * 10000 or `surplus_rows` = `row_count`
        ) as `too_many`
      from `sqlanon_surplus` as `looked_at`
    )
    select
      `refusal`
    from (
      select
        `about`,
        `possible`,
        `refusal`
      from (
        select
          `over_rows` as `dropped_rows`,
          'r' as `about`,
          `feasible_size` as `possible`,
          case
            when `too_many`
            then case
              when `over_rows` = `row_count`
              then 'r = 2.5 is not possible: no signature has 3 different values of \'disease\'; '
              else 'r = 2.5 is not possible: ' || coalesce(format_number(`over_rows`, 0), '') || ' of ' || coalesce(format_number(`row_count`, 0), '') || ' rows (' || coalesce(format_number((cast(100.0 * `over_rows` as double) / nullif(`row_count`, 0)), 2) || '%', '') || ') find no group of 3 rows with different values of \'disease\' and one signature, and --max-suppressed allows 1%' || case
                when `surplus_1` is null
                then ''
                else '; most of them have the signature (' || coalesce(cast(`worst_1` as string), '') || ') with ' || coalesce(cast(`surplus_1` as string), '') || coalesce(', (' || `worst_2` || ') with ' || cast(`surplus_2` as string), '') || coalesce(', (' || `worst_3` || ') with ' || cast(`surplus_3` as string), '') || ' (' || coalesce(cast(`class_count` as string), '') || ' signatures leave rows over)'
              end || '; '
            end || case
              when `feasible_size` >= 2
              then 'the largest r that works is ' || coalesce(cast(`feasible_size` as string), '')
              else 'no r above 1 works with these backgrounds'
            end || case
              when `over_rows` < `row_count`
              then '; --max-suppressed ' || coalesce(
                cast(cast(cast(cast((cast((0 - floor(0 - (cast(1000000.0 * `over_rows` as double) / nullif(`row_count`, 0)))) as double) / nullif(1000000.0, 0)) as decimal(18, 6)) as double) as string) as string),
                ''
              ) || ' leaves them out'
              else ''
            end || case
              when `largest_count` * 3 > `row_count`
              then '; the most frequent value stands in ' || coalesce(format_number((cast(100.0 * `largest_count` as double) / nullif(`row_count`, 0)), 1) || '%', '') || ' of the rows: any r above ' || coalesce(
                cast(cast(cast(cast((cast(1.0 * `row_count` as double) / nullif(`largest_count`, 0)) as decimal(18, 3)) as double) as string) as string),
                ''
              ) || ' leaves rows over' || case
                when 2 * `largest_count` > `row_count`
                then '; as one value has more than half of the rows, what works is mondrian (rows alike in k; no confidence is promised), a sensitive column made of this one and another that splits that value, or leaving the column out'
                else ''
              end
              else '; fewer columns in --background-from leave fewer rows over'
            end
          end as `refusal`
        from `figures`
      ) as `looked_at`
    ) as `looked_at`
) as checked;

-- uniqueness: as in anatomy/spark.sql

-- own_values_1: as in anatomy/spark.sql

-- population: as in anatomy/spark.sql

-- population: as in anatomy/spark.sql, but for
-- -    substring(sha2("key"."secret" || 'anatomy/disease/row/', 256), 1, 40) as "secret"
-- +    substring(sha2("key"."secret" || 'robust/disease/row/', 256), 1, 40) as "secret"

-- frequency: as in anatomy/spark.sql

-- coded: as in postgres.sql, but for
-- -  on array["population"."quasi_2"] = array["class"."quasi_2"]
-- -  and array["population"."quasi_3"] = array["class"."quasi_3"]
-- +  on "population"."quasi_2" is not distinct from "class"."quasi_2"
-- +  and "population"."quasi_3" is not distinct from "class"."quasi_3"

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

-- suppressed: as in postgres.sql

-- few_suppressed: no more rows are left out than may be
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `figures` as (
      select
        `looked_at`.*,
        `left_out_rows` as `over_rows`,
        `row_count` > 0 and (
          `left_out_rows` * 1000000 > `row_count` * 10000 or `left_out_rows` = `row_count`
        ) as `too_many`
      from `sqlanon_suppressed` as `looked_at`
    )
    select
      `refusal`
    from (
      select
        `over_rows` as `dropped_rows`,
        'r' as `about`,
        `feasible_size` as `possible`,
        case
          when `too_many`
          then case
            when `over_rows` = `row_count`
            then 'r = 2.5 is not possible: no signature has 3 different values of \'disease\'; '
            else 'r = 2.5 is not possible: ' || coalesce(format_number(`over_rows`, 0), '') || ' of ' || coalesce(format_number(`row_count`, 0), '') || ' rows (' || coalesce(format_number((cast(100.0 * `over_rows` as double) / nullif(`row_count`, 0)), 2) || '%', '') || ') find no group of 3 rows with different values of \'disease\' and one signature, and --max-suppressed allows 1%' || case
              when `surplus_1` is null
              then ''
              else '; most of them have the signature (' || coalesce(cast(`worst_1` as string), '') || ') with ' || coalesce(cast(`surplus_1` as string), '') || coalesce(', (' || `worst_2` || ') with ' || cast(`surplus_2` as string), '') || coalesce(', (' || `worst_3` || ') with ' || cast(`surplus_3` as string), '') || ' (' || coalesce(cast(`class_count` as string), '') || ' signatures leave rows over)'
            end || '; '
          end || case
            when `feasible_size` >= 2
            then 'the largest r that works is ' || coalesce(cast(`feasible_size` as string), '')
            else 'no r above 1 works with these backgrounds'
          end || case
            when `over_rows` < `row_count`
            then '; --max-suppressed ' || coalesce(
              cast(cast(cast(cast((cast((0 - floor(0 - (cast(1000000.0 * `over_rows` as double) / nullif(`row_count`, 0)))) as double) / nullif(1000000.0, 0)) as decimal(18, 6)) as double) as string) as string),
              ''
            ) || ' leaves them out'
            else ''
          end || case
            when `largest_count` * 3 > `row_count`
            then '; the most frequent value stands in ' || coalesce(format_number((cast(100.0 * `largest_count` as double) / nullif(`row_count`, 0)), 1) || '%', '') || ' of the rows: any r above ' || coalesce(
              cast(cast(cast(cast((cast(1.0 * `row_count` as double) / nullif(`largest_count`, 0)) as decimal(18, 3)) as double) as string) as string),
              ''
            ) || ' leaves rows over' || case
              when 2 * `largest_count` > `row_count`
              then '; as one value has more than half of the rows, what works is mondrian (rows alike in k; no confidence is promised), a sensitive column made of this one and another that splits that value, or leaving the column out'
              else ''
            end
            else '; fewer columns in --background-from leave fewer rows over'
          end
        end as `refusal`
      from `figures`
    ) as `looked_at`
) as checked;

-- qit: as in anatomy/spark.sql

-- st: as in anatomy/spark.sql

-- the rest is microdata and the key: forget it
-- 24 relations, the last first
