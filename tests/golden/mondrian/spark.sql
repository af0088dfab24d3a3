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

-- population: as in postgres.sql

-- facts: What decides whether a release is possible, and which columns it has: rows, different sensitive values, NULLs
select case when refusal is not null then raise_error(refusal) end as checked
from (
    select
      case
        when `null_count_1` > 0
        then 'rows have no value in the sensitive column \'disease\''
        when `row_count` = 0
        then 'the source has no rows to publish'
        when `row_count` < 10
        then 'k = 10 needs at least 10 rows'
        when `value_count_1` < 4
        then 'l = 4 asks for more different values of \'disease\' than there are'
        when `largest_count_1` * 4 > `row_count`
        then 'l = 4 asks for each value of \'disease\' in at most 1/4 of a box'
      end as `refusal`
    from (
      select
        coalesce(cast(sum(case when `quasi_1` is null then 1 else 0 end) as bigint), 0) as `unknown_1`,
        coalesce(cast(sum(case when `quasi_2` is null then 1 else 0 end) as bigint), 0) as `unknown_2`,
        coalesce(cast(sum(case when `quasi_3` is null then 1 else 0 end) as bigint), 0) as `unknown_3`,
        coalesce(cast(sum(case when `quasi_4` is null then 1 else 0 end) as bigint), 0) as `unknown_4`,
        (
          select
            max(`row_count`)
          from (
            select
              count(*) as `row_count`
            from `sqlanon_population`
            group by
              `sensitive`
          ) as `value_count`
        ) as `largest_count_1`,
        count(*) - count(`sensitive`) as `null_count_1`,
        count(distinct `sensitive`) + case when count(*) > count(`sensitive`) and false then 1 else 0 end as `value_count_1`,
        count(*) as `row_count`
      from `sqlanon_population`
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

-- own_values_1: as in anatomy/spark.sql

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
    substring(sha2(`key`.`secret` || 'mondrian/disease/row/', 256), 1, 40) as `secret`
  from `sqlanon_key_of_rows` as `key`
), `hashed` as (
  select
    `valued`.`quasi_1`,
    `valued`.`quasi_2`,
    `valued`.`quasi_3`,
    `valued`.`quasi_4`,
    `valued`.`sensitive`,
    sha2(`row_key`.`secret` || `valued`.`identity`, 256) as `hash`
  from `sqlanon_identified` as `valued`
  cross join `row_key`
)
select
  cast(conv(substring(`hash`, 1, 15), 16, 10) as bigint) as `draw`,
  cast(conv(substring(`hash`, 16, 15), 16, 10) as bigint) as `tie`,
  `quasi_1`,
  `quasi_2`,
  `quasi_3`,
  `quasi_4`,
  `sensitive`
from `hashed`;

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

-- outside_1: Values of an attribute that its hierarchy does not have, or has as inner nodes only, and the first of them
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
        row_number() over (partition by `held` order by `text` asc) as `place`
      from `looked_up`
      where
        `held` <> 1
    )
    select
      case
        when `outside_count` > 0 or `inner_count` > 0
        then '\'education\' has values that are not leaves of its hierarchy'
      end as `refusal`
    from (
      select
        max(case when `held` = 2 and `place` = 1 then `text` end) as `outside_1`,
        max(case when `held` = 0 and `place` = 1 then `text` end) as `inner_1`,
        max(case when `held` = 2 and `place` = 2 then `text` end) as `outside_2`,
        max(case when `held` = 0 and `place` = 2 then `text` end) as `inner_2`,
        max(case when `held` = 2 and `place` = 3 then `text` end) as `outside_3`,
        max(case when `held` = 0 and `place` = 3 then `text` end) as `inner_3`,
        max(case when `held` = 2 and `place` = 4 then `text` end) as `outside_4`,
        max(case when `held` = 0 and `place` = 4 then `text` end) as `inner_4`,
        max(case when `held` = 2 and `place` = 5 then `text` end) as `outside_5`,
        max(case when `held` = 0 and `place` = 5 then `text` end) as `inner_5`,
        max(case when `held` = 2 and `place` = 6 then `text` end) as `outside_6`,
        max(case when `held` = 0 and `place` = 6 then `text` end) as `inner_6`,
        max(case when `held` = 2 and `place` = 7 then `text` end) as `outside_7`,
        max(case when `held` = 0 and `place` = 7 then `text` end) as `inner_7`,
        max(case when `held` = 2 and `place` = 8 then `text` end) as `outside_8`,
        max(case when `held` = 0 and `place` = 8 then `text` end) as `inner_8`,
        max(case when `held` = 2 and `place` = 9 then `text` end) as `outside_9`,
        max(case when `held` = 0 and `place` = 9 then `text` end) as `inner_9`,
        max(case when `held` = 2 and `place` = 10 then `text` end) as `outside_10`,
        max(case when `held` = 0 and `place` = 10 then `text` end) as `inner_10`,
        coalesce(cast(sum(case when `held` = 2 then 1 else 0 end) as bigint), 0) as `outside_count`,
        coalesce(cast(sum(case when `held` = 0 then 1 else 0 end) as bigint), 0) as `inner_count`
      from `placed`
    ) as `looked_at`
) as checked;

-- dictionary_1: as in postgres.sql, but for
-- -    cast("quasi_1" as text) collate "C" as "text"
-- +    cast("quasi_1" as string) as "text"
-- -    (cast(sum("held") over (partition by "level_1") as double precision) / nullif(cast(sum("held") over () as double precision), 0)) as "share_1",
-- +    (cast(sum("held") over (partition by "level_1") as double) / nullif(cast(sum("held") over () as double), 0)) as "share_1",
-- -    (cast(sum("held") over (partition by "level_1", "level_2") as double precision) / nullif(cast(sum("held") over () as double precision), 0)) as "share_2"
-- +    (cast(sum("held") over (partition by "level_1", "level_2") as double) / nullif(cast(sum("held") over () as double), 0)) as "share_2"
-- -    order by case when "different"."value" is null then 1 else 0 end asc, case when "weighed"."level_1" is null then 0 else 1 end asc, "weighed"."level_1" collate "C" asc, case when "weighed"."level_2" is null then 0 else 1 end asc, "weighed"."level_2" collate "C" asc, "different"."text" asc
-- +    order by case when "different"."value" is null then 1 else 0 end asc, case when "weighed"."level_1" is null then 0 else 1 end asc, "weighed"."level_1" asc, case when "weighed"."level_2" is null then 0 else 1 end asc, "weighed"."level_2" asc, "different"."text" asc

-- dictionary_2: as in postgres.sql, but for
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

-- dictionary_3: as in postgres.sql, but for
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

-- dictionary_4: as in postgres.sql, but for
-- -    cast("quasi_4" as text) collate "C" as "text"
-- +    cast("quasi_4" as string) as "text"
-- -      cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("text", '\', '\\'), '"', '\"'), chr(1), '\u0001'), chr(2), '\u0002'), chr(3), '\u0003'), chr(4), '\u0004'), chr(5), '\u0005'), chr(6), '\u0006'), chr(7), '\u0007'), chr(8), '\b'), chr(9), '\t'), chr(10), '\n'), chr(11), '\u000B'), chr(12), '\f'), chr(13), '\r'), chr(14), '\u000E'), chr(15), '\u000F'), chr(16), '\u0010'), chr(17), '\u0011'), chr(18), '\u0012'), chr(19), '\u0013'), chr(20), '\u0014'), chr(21), '\u0015'), chr(22), '\u0016'), chr(23), '\u0017'), chr(24), '\u0018'), chr(25), '\u0019'), chr(26), '\u001A'), chr(27), '\u001B'), chr(28), '\u001C'), chr(29), '\u001D'), chr(30), '\u001E'), chr(31), '\u001F') || '"') as text),
-- +      cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("text", '\\', '\\\\'), '"', '\\"'), chr(0), '\\u0000'), chr(1), '\\u0001'), chr(2), '\\u0002'), chr(3), '\\u0003'), chr(4), '\\u0004'), chr(5), '\\u0005'), chr(6), '\\u0006'), chr(7), '\\u0007'), chr(8), '\\b'), chr(9), '\\t'), chr(10), '\\n'), chr(11), '\\u000B'), chr(12), '\\f'), chr(13), '\\r'), chr(14), '\\u000E'), chr(15), '\\u000F'), chr(16), '\\u0010'), chr(17), '\\u0011'), chr(18), '\\u0012'), chr(19), '\\u0013'), chr(20), '\\u0014'), chr(21), '\\u0015'), chr(22), '\\u0016'), chr(23), '\\u0017'), chr(24), '\\u0018'), chr(25), '\\u0019'), chr(26), '\\u001A'), chr(27), '\\u001B'), chr(28), '\\u001C'), chr(29), '\\u001D'), chr(30), '\\u001E'), chr(31), '\\u001F') || '"') as string),
-- -  (cast(("code" - 1) as double precision) / nullif(cast("value_count" as double precision), 0)) as "position"
-- +  (cast(("code" - 1) as double) / nullif(cast("value_count" as double), 0)) as "position"

-- sensitive_value: as in postgres.sql

-- splitting: Every row by the codes of its values, all rows in one partition, which is open: it may be split
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
  `sensitive_value_1`.`code` as `sensitive_code`
from `sqlanon_drawn` as `population`
inner join `sqlanon_sensitive_value` as `sensitive_value_1`
  on `population`.`sensitive` is not distinct from `sensitive_value_1`.`sensitive`
inner join `sqlanon_dictionary_1` as `value_1`
  on `population`.`quasi_1` is not distinct from `value_1`.`value`
inner join `sqlanon_dictionary_2` as `value_2`
  on `population`.`quasi_2` is not distinct from `value_2`.`value`
inner join `sqlanon_dictionary_3` as `value_3`
  on `population`.`quasi_3` is not distinct from `value_3`.`value`
inner join `sqlanon_dictionary_4` as `value_4`
  on `population`.`quasi_4` is not distinct from `value_4`.`value`;

-- splitting: turn 1 of 1

-- choice: as in postgres.sql

-- frequency_set: as in postgres.sql

-- cut: as in postgres.sql

-- placed: as in postgres.sql

drop table `sqlanon_splitting`;

-- splitting: as in postgres.sql

drop table `sqlanon_placed`;

drop table `sqlanon_cut`;

drop table `sqlanon_frequency_set`;

drop table `sqlanon_choice`;

-- reopened: as in postgres.sql

-- halving: turn 1 of 1

-- choice: as in postgres.sql

-- half: as in postgres.sql, but for
-- -    ) <= ("row_count" / 2)
-- +    ) <= ("row_count" div 2)

-- judged_half: as in postgres.sql

-- placed: as in postgres.sql, but for
-- -    when case "taken" when 1 then ("row_count" / 2) else "row_count" - ("row_count" / 2) end >= 2 * 10
-- +    when case "taken" when 1 then ("row_count" div 2) else "row_count" - ("row_count" div 2) end >= 2 * 10

drop table `sqlanon_reopened`;

-- halving: as in postgres.sql

drop table `sqlanon_placed`;

drop table `sqlanon_judged_half`;

drop table `sqlanon_half`;

drop table `sqlanon_choice`;

-- value_set_4: as in postgres.sql, but for
-- -  '[' || string_agg("dictionary"."shown", ','
-- -  order by
-- +  '[' || listagg("dictionary"."shown", ',') within group (order by

-- box: as in postgres.sql

-- data: as in postgres.sql, but for
-- -  "ordered"."place" asc,
-- -  "splitting"."sensitive_code" asc;
-- +  "ordered"."place" asc nulls last,
-- +  "splitting"."sensitive_code" asc nulls last;

-- the rest is microdata and the key: forget it
-- 16 relations, the last first
