-- sqlanon mondrian for spark: k = 10, l = 4, diversity = frequent, partition = relaxed, published = {'education': {'type': 'VARCHAR', 'nulls': True, 'node': 'education'}, 'age': {'type': 'INTEGER', 'nulls': True, 'low': 'age_low', 'high': 'age_high', 'unknown': 'age_unknown'}, 'seen': {'type': 'DATE', 'nulls': True, 'low': 'seen_low', 'high': 'seen_high', 'unknown': 'seen_unknown'}, 'sex': {'type': 'VARCHAR', 'nulls': True, 'set': 'sex'}}, hierarchies = {'education': [['Bachelor', 'University'], ['Master', 'University'], ['School', 'Any'], ['University', 'Any']]}, draws = keyed, nulls = refuse, rows_per_person = one
-- LeFevre, DeWitt and Ramakrishnan, Mondrian Multidimensional K-Anonymity, ICDE 2006
-- It makes `sqlanon_data`, and nothing else that it makes may be handed on.
-- It needs a key of 64 hex digits, and who has the key can undo the release.
-- Make one with: openssl rand -hex 32
-- Hand it over before the script runs: set sqlanon.key=…
-- The engine puts the key into the text of the queries that it logs.
-- publish runs these statements on spark, but:
-- * under a key of its own it draws by the numbers of rows, which a script does not have
-- * quasi columns that all hold whole numbers are packed into one number, by their least and greatest values
-- * the table has a column for unknown values only where a quasi column holds some

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

-- source: as in postgres.sql

-- population: as in anatomy/spark.sql

-- persons: as in anatomy/spark.sql

-- own_values_1: as in anatomy/spark.sql

-- hierarchy_1: A table that was given beside the source: a hierarchy's nodes with their ancestors or self from below the root down, or the influence matrix M|S
create table `sqlanon_hierarchy_1` using parquet as
with `line` as (
  select
    `node` as `node`,
    `depth` as `depth`,
    `height` as `height`,
    `held` as `held`,
    `level_1` as `level_1`,
    `level_2` as `level_2`,
    ' | ' as `separator`
  from values
    ('Any', '0', '2', '0', '', ''),
    ('Bachelor', '2', '0', '1', 'University', 'Bachelor'),
    ('Master', '2', '0', '1', 'University', 'Master'),
    ('School', '1', '0', '1', 'School', ''),
    ('University', '1', '1', '0', 'University', '') as `line`(`node`, `depth`, `height`, `held`, `level_1`, `level_2`)
)
select
  cast(`node` as string) as `node`,
  cast(`depth` as int) as `depth`,
  cast(`height` as int) as `height`,
  cast(`held` as int) as `held`,
  nullif(`level_1`, '') as `level_1`,
  nullif(`level_2`, '') as `level_2`
from `line`;

-- sensitive_value: as in postgres.sql

-- outside_1: the values are leaves of their hierarchy
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `different` as (
      select
        cast(`quasi_1` as string) as `text`
      from `sqlanon_population`
      where
        not `quasi_1` is null
      group by
        cast(`quasi_1` as string)
    ), `looked_up` as (
      select
        `different`.`text`,
        coalesce(`hierarchy`.`held`, 2) as `held`
      from `different`
      left join `sqlanon_hierarchy_1` as `hierarchy`
        on `different`.`text` = `hierarchy`.`node`
    ), `placed` as (
      select
        `text`,
        `held`,
        row_number() over (partition by `held` order by `text` asc) as `place`,
        count(*) over (partition by `held`) as `value_count`
      from `looked_up`
      where
        `held` <> 1
    ), `told` as (
      select
        `held`,
        max(`value_count`) as `value_count`,
        listagg(case when `text` like '%\'%' then '"' || `text` || '"' else '\'' || `text` || '\'' end, ', ') within group (order by
          `place` asc) as `listed`
      from `placed`
      where
        `place` <= 10
      group by
        `held`
    ), `ranked` as (
      select
        `told`.*,
        row_number() over (order by `held` desc) as `place`
      from `told`
    )
    select
      `refusal`
    from (
      select
        true as `is_usage`,
        coalesce(cast(`value_count` as string), '') || ' values of \'education\' ' || coalesce(
          cast(case `held`
            when 2
            then 'are not in its hierarchy'
            else 'are inner nodes of its hierarchy, and cells hold leaves'
          end as string),
          ''
        ) || ': ' || coalesce(cast(`listed` as string), '') || coalesce(
          cast(case when `value_count` > 10 then ' and ' || cast(`value_count` - 10 as string) || ' more' else '' end as string),
          ''
        ) as `refusal`
      from `ranked`
      where
        `place` = 1
    ) as `looked_at`
) as checked;

-- value_1: as in postgres.sql, but for
-- -    cast("quasi_1" as text) collate "C" as "text"
-- +    cast("quasi_1" as string) as "text"
-- -    (cast(sum("held") over (partition by "level_1") as double precision) / nullif(cast(sum("held") over () as double precision), 0)) as "share_1",
-- -    (cast(sum("held") over (partition by "level_1", "level_2") as double precision) / nullif(cast(sum("held") over () as double precision), 0)) as "share_2",
-- +    (cast(sum("held") over (partition by "level_1") as double) / nullif(cast(sum("held") over () as double), 0)) as "share_1",
-- +    (cast(sum("held") over (partition by "level_1", "level_2") as double) / nullif(cast(sum("held") over () as double), 0)) as "share_2",
-- -    order by case when "different"."value" is null then 1 else 0 end asc, coalesce("weighed"."level_1", '') collate "C" asc, coalesce("weighed"."level_2", '') collate "C" asc, "different"."text" asc
-- +    order by case when "different"."value" is null then 1 else 0 end asc, coalesce("weighed"."level_1", '') asc, coalesce("weighed"."level_2", '') asc, "different"."text" asc

-- value_2: as in postgres.sql, but for
-- -    case
-- -      when abs(cast("value" as double precision)) <= cast(1e300 as double precision)
-- -      then cast("value" as double precision)
-- -    end as "number"
-- +    case when abs(cast("value" as double)) <= cast(1e300 as double) then cast("value" as double) end as "number"
-- -    1 - (cast(1 as double precision) / nullif(cast(count(*) as double precision), 0)) as "share"
-- +    1 - (cast(1 as double) / nullif(cast(count(*) as double), 0)) as "share"
-- -    then "span"."share" * coalesce(
-- -      (cast(("placed"."number" - "span"."lowest") as double precision) / nullif(("span"."highest" - "span"."lowest"), 0)),
-- -      1
-- -    )
-- +    then "span"."share" * coalesce((cast(("placed"."number" - "span"."lowest") as double) / nullif(("span"."highest" - "span"."lowest"), 0)), 1)

-- value_3: as in postgres.sql, but for
-- -      when abs(cast(cast(extract(epoch from "value") as double precision) as double precision)) <= cast(1e300 as double precision)
-- -      then cast(cast(extract(epoch from "value") as double precision) as double precision)
-- +      when abs(cast(cast(cast("value" as timestamp) as double) as double)) <= cast(1e300 as double)
-- +      then cast(cast(cast("value" as timestamp) as double) as double)
-- -    1 - (cast(1 as double precision) / nullif(cast(count(*) as double precision), 0)) as "share"
-- +    1 - (cast(1 as double) / nullif(cast(count(*) as double), 0)) as "share"
-- -    then "span"."share" * coalesce(
-- -      (cast(("placed"."number" - "span"."lowest") as double precision) / nullif(("span"."highest" - "span"."lowest"), 0)),
-- -      1
-- -    )
-- +    then "span"."share" * coalesce((cast(("placed"."number" - "span"."lowest") as double) / nullif(("span"."highest" - "span"."lowest"), 0)), 1)

-- value_4: as in postgres.sql, but for
-- -    cast("quasi_4" as text) collate "C" as "text"
-- +    cast("quasi_4" as string) as "text"
-- -    cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("text", '\', '\\'), '"', '\"'), chr(1), '\u0001'), chr(2), '\u0002'), chr(3), '\u0003'), chr(4), '\u0004'), chr(5), '\u0005'), chr(6), '\u0006'), chr(7), '\u0007'), chr(8), '\b'), chr(9), '\t'), chr(10), '\n'), chr(11), '\u000B'), chr(12), '\f'), chr(13), '\r'), chr(14), '\u000E'), chr(15), '\u000F'), chr(16), '\u0010'), chr(17), '\u0011'), chr(18), '\u0012'), chr(19), '\u0013'), chr(20), '\u0014'), chr(21), '\u0015'), chr(22), '\u0016'), chr(23), '\u0017'), chr(24), '\u0018'), chr(25), '\u0019'), chr(26), '\u001A'), chr(27), '\u001B'), chr(28), '\u001C'), chr(29), '\u001D'), chr(30), '\u001E'), chr(31), '\u001F') || '"') as text),
-- +    cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("text", '\\', '\\\\'), '"', '\\"'), chr(0), '\\u0000'), chr(1), '\\u0001'), chr(2), '\\u0002'), chr(3), '\\u0003'), chr(4), '\\u0004'), chr(5), '\\u0005'), chr(6), '\\u0006'), chr(7), '\\u0007'), chr(8), '\\b'), chr(9), '\\t'), chr(10), '\\n'), chr(11), '\\u000B'), chr(12), '\\f'), chr(13), '\\r'), chr(14), '\\u000E'), chr(15), '\\u000F'), chr(16), '\\u0010'), chr(17), '\\u0011'), chr(18), '\\u0012'), chr(19), '\\u0013'), chr(20), '\\u0014'), chr(21), '\\u0015'), chr(22), '\\u0016'), chr(23), '\\u0017'), chr(24), '\\u0018'), chr(25), '\\u0019'), chr(26), '\\u001A'), chr(27), '\\u001B'), chr(28), '\\u001C'), chr(29), '\\u001D'), chr(30), '\\u001E'), chr(31), '\\u001F') || '"') as string),
-- -  (cast(("code" - 1) as double precision) / nullif(cast("value_count" as double precision), 0)) as "place"
-- +  (cast(("code" - 1) as double) / nullif(cast("value_count" as double), 0)) as "place"

-- facts: there are k rows, and values enough of every sensitive column, unknown_n: how many values of an attribute are NULL, which gets a column that says so where there are some
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `fact` as (
      select
        'disease' as `name`,
        coalesce(cast(sum(`row_count`) as bigint), 0) as `row_count`,
        coalesce(cast(sum(case when `sensitive` is null then `row_count` else 0 end) as bigint), 0) as `null_count`,
        count(*) as `value_count`,
        coalesce(max(`row_count`), 0) as `largest_count`
      from `sqlanon_sensitive_value`
    ), `judged` as (
      select
        `fact`.*,
        case
          when `null_count` > 0 and true
          then 1
          when `row_count` < 10
          then 2
          when `value_count` < 4
          then 3
          when `largest_count` * 4 > `row_count` and true
          then 4
        end as `fault`
      from `fact`
    ), `ranked` as (
      /* the column with the fewest values is the one that stands in the way */
      select
        `judged`.*,
        row_number() over (
          order by coalesce(`fault`, 9) asc, case `fault` when 3 then `value_count` when 4 then 0 - `largest_count` else 0 end asc
        ) as `place`
      from `judged`
    )
    select
      `refusal`
    from (
      select
        (
          select
            count(*)
          from `sqlanon_value_1`
          where
            `value` is null
        ) as `unknown_1`,
        (
          select
            count(*)
          from `sqlanon_value_2`
          where
            `value` is null
        ) as `unknown_2`,
        (
          select
            count(*)
          from `sqlanon_value_3`
          where
            `value` is null
        ) as `unknown_3`,
        (
          select
            count(*)
          from `sqlanon_value_4`
          where
            `value` is null
        ) as `unknown_4`,
        case when `fault` = 1 then `name` when `fault` > 2 then 'l' end as `about`,
        case `fault` when 3 then `value_count` when 4 then (`row_count` div `largest_count`) end as `possible`,
        case
          when `fault` = 1
          then coalesce(cast(`null_count` as string), '') || ' rows have no value in the sensitive column ' || coalesce(cast('\'' || `name` || '\'' as string), '') || '; say --nulls value (NULL is a value like any other) or --nulls drop (leave them out, which tells who had none to somebody who knows who was in the table)'
          when `row_count` = 0
          then 'the source has no rows to publish'
          when `row_count` = 1
          then 'the source has one row, and no k of at least 2 works with it'
          when `fault` = 2
          then 'k = 10 needs at least 10 rows; the source has ' || coalesce(format_number(`row_count`, 0), '') || '; the largest k that works is ' || coalesce(cast(`row_count` as string), '')
          when `fault` = 3
          then 'l = 4 asks for 4 different values of \'' || coalesce(cast(`name` as string), '') || '\'; the source has ' || coalesce(cast(`value_count` as string), '') || '; the largest l that works is ' || coalesce(cast(`value_count` as string), '')
          when `fault` = 4
          then 'l = 4 asks for each value of \'' || coalesce(cast(`name` as string), '') || '\' in at most 1/4 of a box: its most frequent value stands in ' || coalesce(format_number(`largest_count`, 0), '') || ' of ' || coalesce(format_number(`row_count`, 0), '') || ' rows; the largest l that works is ' || coalesce(cast((
            (`row_count` div `largest_count`)
          ) as string), '') || '; --diversity distinct asks for different values alone'
        end as `refusal`
      from `ranked`
      where
        `place` = 1
    ) as `looked_at`
) as checked;

-- key: as in anatomy/spark.sql

-- population: as in anatomy/spark.sql, but for
-- +  "quasi_4",

-- population: as in anatomy/spark.sql, but for
-- -    substring(sha2("key"."secret" || 'anatomy/disease/row/', 256), 1, 40) as "secret"
-- +    substring(sha2("key"."secret" || 'mondrian/disease/row/', 256), 1, 40) as "secret"
-- +    "valued"."quasi_4",
-- +  "quasi_4",

-- splitting: the rows by the codes of their values: all are one partition, which is open: it may be cut
create table `sqlanon_splitting` using parquet as
select
  cast(1 as bigint) as `partition`,
  0 as `attempts`,
  1 as `open`,
  `value_1`.`code` as `code_1`,
  `value_2`.`code` as `code_2`,
  `value_3`.`code` as `code_3`,
  `value_4`.`code` as `code_4`,
  `population`.`draw`,
  `population`.`tie`,
  `sensitive_value`.`code` as `code`
from `sqlanon_population_3` as `population`
inner join `sqlanon_sensitive_value` as `sensitive_value`
  on `population`.`sensitive` is not distinct from `sensitive_value`.`sensitive`
inner join `sqlanon_value_1` as `value_1`
  on `population`.`quasi_1` is not distinct from `value_1`.`value`
inner join `sqlanon_value_2` as `value_2`
  on `population`.`quasi_2` is not distinct from `value_2`.`value`
inner join `sqlanon_value_3` as `value_3`
  on `population`.`quasi_3` is not distinct from `value_3`.`value`
inner join `sqlanon_value_4` as `value_4`
  on `population`.`quasi_4` is not distinct from `value_4`.`value`;

-- cuts: turn 1 of 1

-- choice: as in postgres.sql

-- allowed_1: as in postgres.sql

-- cut: as in postgres.sql

-- splitting: as in postgres.sql

drop table `sqlanon_splitting`;

-- cuts: as in postgres.sql

drop table `sqlanon_splitting_next`;

drop table `sqlanon_cut`;

drop table `sqlanon_allowed_1`;

drop table `sqlanon_choice`;

-- splitting: as in postgres.sql

-- halves: turn 1 of 1

-- choice: as in postgres.sql

-- half: as in postgres.sql, but for
-- -  ("row_count" / 2) as "left_count",
-- -  "row_count" - ("row_count" / 2) as "right_count",
-- +  ("row_count" div 2) as "left_count",
-- +  "row_count" - ("row_count" div 2) as "right_count",
-- -    ) <= ("row_count" / 2)
-- +    ) <= ("row_count" div 2)

-- standing: as in postgres.sql

-- splitting: as in postgres.sql

drop table `sqlanon_splitting_2`;

-- halves: as in postgres.sql

drop table `sqlanon_splitting_next`;

drop table `sqlanon_standing`;

drop table `sqlanon_half`;

drop table `sqlanon_choice_2`;

-- value_set_4: as in postgres.sql, but for
-- -  '[' || string_agg("numbered"."shown", ','
-- -  order by
-- +  '[' || listagg("numbered"."shown", ',') within group (order by

-- box: as in postgres.sql

-- data: as in postgres.sql, but for
-- -  "ordered"."place" asc,
-- -  "value"."code" asc;
-- +  "ordered"."place" asc nulls last,
-- +  "value"."code" asc nulls last;

-- the rest is microdata and the key: forget it
-- 16 relations, the last first
