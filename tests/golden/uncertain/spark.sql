-- sqlanon uncertain for spark: k = 5, l = 3, threshold = 0.3, undiverse = merge, max_group = 20, max_alternatives = 2, order_alternatives = given, alternatives = lists, alternative_of = None, hierarchies = {'education': [['Bachelor', 'University'], ['Master', 'University'], ['School', 'Any'], ['University', 'Any']]}, types = {'education': 'VARCHAR', 'age': 'INTEGER', 'sex': 'VARCHAR'}, draws = keyed, nulls = refuse, rows_per_person = one
-- Ren, Yang, Zhang and Jia, Uncertain Data Privacy Protection Based on K-anonymity via Anatomy, 2012
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

-- source: as in postgres.sql, but for
-- -  row_number() over () as "row_number"
-- +  monotonically_increasing_id() as "row_number"

-- population: as in postgres.sql

-- cells: What is wrong with cells: nothing or NULL among the alternatives, more than allowed, how many are uncertain
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `counted` as (
      select
        case
          when `quasi_1` is null
          then 0
          when array_size(`quasi_1`) = 1
          then case when get(`quasi_1`, 1 - 1) is null then 1 else 0 end
          when array_size(array_compact(`quasi_1`)) = array_size(`quasi_1`) and array_size(`quasi_1`) > 0
          then 0
          else 1
        end as `empty_1`,
        case when array_size(`quasi_1`) > 1 then array_size(array_distinct(array_compact(`quasi_1`))) else 1 end as `different_1`,
        case
          when `sensitive` is null
          then 0
          when array_size(`sensitive`) = 1
          then case when get(`sensitive`, 1 - 1) is null then 1 else 0 end
          when array_size(array_compact(`sensitive`)) = array_size(`sensitive`) and array_size(`sensitive`) > 0
          then 0
          else 1
        end as `empty_2`,
        case when array_size(`sensitive`) > 1 then array_size(array_distinct(array_compact(`sensitive`))) else 1 end as `different_2`,
        case when `sensitive` is null then 1 else 0 end as `missing`
      from `sqlanon_population`
    )
    select
      case
        when `null_count` > 0
        then 'rows have no value in the sensitive column \'disease\''
        when `row_count` = 0
        then 'the source has no rows to publish'
        when `empty_1` > 0
        then 'some cells of \'education\' have nothing, or NULL, among their alternatives; write what they can be'
        when `crowded_1` > 0
        then 'some cells of \'education\' have more than 2 alternatives; raise --max-alternatives, or leave them out'
        when `empty_2` > 0
        then 'some cells of \'disease\' have nothing, or NULL, among their alternatives; write what they can be'
        when `crowded_2` > 0
        then 'some cells of \'disease\' have more than 2 alternatives; raise --max-alternatives, or leave them out'
      end as `refusal`
    from (
      select
        coalesce(sum(`empty_1`), 0) as `empty_1`,
        coalesce(sum(case when `different_1` > 2 then 1 else 0 end), 0) as `crowded_1`,
        coalesce(sum(case when `different_1` > 1 then 1 else 0 end), 0) as `uncertain_1`,
        coalesce(sum(`empty_2`), 0) as `empty_2`,
        coalesce(sum(case when `different_2` > 2 then 1 else 0 end), 0) as `crowded_2`,
        coalesce(sum(case when `different_2` > 1 then 1 else 0 end), 0) as `uncertain_2`,
        count(*) as `row_count`,
        coalesce(sum(`missing`), 0) as `null_count`
      from `counted`
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

-- uniqueness: as in anatomy/spark.sql, but for
-- -        coalesce(cast(sum(case when "quasi_1" is null then 0 else "row_count" end) as bigint), 0) as "known_1",
-- -        coalesce(cast(sum(case when "quasi_2" is null then 0 else "row_count" end) as bigint), 0) as "known_2",
-- -        coalesce(cast(sum(case when "quasi_3" is null then 0 else "row_count" end) as bigint), 0) as "known_3",
-- +        coalesce(cast(sum(case when "quasi_2" is null then 0 else "row_count" end) as bigint), 0) as "known_1",
-- +        coalesce(cast(sum(case when "quasi_3" is null then 0 else "row_count" end) as bigint), 0) as "known_2",
-- -        count(distinct "combination"."quasi_1") as "distinct_1",
-- -        count(distinct "combination"."quasi_2") as "distinct_2",
-- -        count(distinct "combination"."quasi_3") as "distinct_3",
-- +        count(distinct "combination"."quasi_2") as "distinct_1",
-- +        count(distinct "combination"."quasi_3") as "distinct_2",
-- -          or (
-- -            "total"."known_3" > 1 and 5 * "total"."unique_rows" >= 4 * "total"."known_3"
-- -          )
-- -        "total"."known_3",
-- -        "counted"."distinct_3",
-- -          when "total"."known_3" >= 100
-- -          and "counted"."distinct_3" = "total"."known_3"
-- -          and 2 * "total"."known_3" > "total"."row_count"
-- -          then 'zipcode'
-- -          when "total"."known_3" >= 100
-- -          and "counted"."distinct_3" = "total"."known_3"
-- -          and 2 * "total"."known_3" > "total"."row_count"
-- -          then 'the quasi column \'zipcode\' has a value of its own in each of ' || coalesce(format_number("total"."known_3", 0), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with --id, or say --unique-quasi keep'

-- key_of_rows: The secret of all draws: of the key and of the rows, so that two tables of one key have no draw in common, and one row that differs makes all draws others
create table `sqlanon_key_of_rows` using parquet as
with `row_key` as (
  select
    substring(sha2(`key`.`secret` || 'rows/', 256), 1, 40) as `secret`
  from `sqlanon_key` as `key`
), `hashed` as (
  select
    sha2(`row_key`.`secret` || coalesce(cast(length(cast(`identifier_1` as string)) as string) || ':' || cast(`identifier_1` as string), 'N') || coalesce(cast(length(cast(get(`sensitive`, 1 - 1) as string)) as string) || ':' || cast(get(`sensitive`, 1 - 1) as string), 'N') || coalesce(cast(length(cast(get(`sensitive`, 2 - 1) as string)) as string) || ':' || cast(get(`sensitive`, 2 - 1) as string), 'N'), 256) as `hash`
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
create temporary view `sqlanon_drawn` as
with `row_key` as (
  select
    substring(sha2(`key`.`secret` || 'uncertain/disease/row/', 256), 1, 40) as `secret`
  from `sqlanon_key_of_rows` as `key`
), `hashed` as (
  select
    `valued`.`quasi_1`,
    `valued`.`quasi_2`,
    `valued`.`quasi_3`,
    `valued`.`row_number`,
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
  `row_number`,
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

-- cell_1: as in postgres.sql

-- alternative_1: as in postgres.sql, but for
-- -    unnest("cell") as "value"
-- +    explode("cell") as "value"
-- -  cast("value" as text) as "text"
-- +  cast("value" as string) as "text"

-- outside_1: the alternatives are leaves of their hierarchy
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `different` as (
      select
        cast(`value` as string) as `text`
      from `sqlanon_alternative_1`
      where
        not `value` is null
      group by
        cast(`value` as string)
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

-- ancestor_1: as in postgres.sql

-- cell: as in postgres.sql

-- alternative: as in postgres.sql, but for
-- -    unnest("cell") as "value"
-- +    explode("cell") as "value"
-- -  cast("value" as text) as "text"
-- +  cast("value" as string) as "text"

-- long_values: the manifest, which says the weight of every sensitive value, has room for it
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `different` as (
      select distinct
        `text`
      from `sqlanon_alternative`
    ), `counted` as (
      select
        count(*) as `long_count`
      from `different`
      where
        length(`text`) > 4096
    )
    select
      `refusal`
    from (
      select
        case
          when `long_count` > 0
          then coalesce(cast(`long_count` as string), '') || ' of the values of \'disease\' are longer than 4,096 letters, and release.json, which says the weight of every sensitive value, takes no longer ones; write shorter alternatives into the source, or publish with the method anatomy, which says none there'
        end as `refusal`
      from `counted`
    ) as `looked_at`
) as checked;

-- sensitive_set: as in postgres.sql, but for
-- -    array_agg("text" order by "text") as "texts",
-- +    sort_array(collect_list("text")) as "texts",

-- set_values: as in postgres.sql

-- determined: as in postgres.sql

-- cell_count: as in postgres.sql

-- matrix: A table that was given beside the source: a hierarchy's nodes with their ancestors or self from below the root down, or the influence matrix M|S
create table `sqlanon_matrix` using parquet as
with `line` as (
  select
    `sensitive` as `sensitive`,
    `influence_1` as `influence_1`,
    `influence_2` as `influence_2`,
    `influence_3` as `influence_3`,
    `weight` as `weight`,
    ' | ' as `separator`
  from values
    ('flu', '0.1', '0.4', '1.0', '0.11'),
    ('obesity', '0.1', '0.4', '1.0', '0.12'),
    ('AIDS', '0.1', '0.4', '1.0', '0.93') as `line`(`sensitive`, `influence_1`, `influence_2`, `influence_3`, `weight`)
)
select
  cast(`sensitive` as string) as `sensitive`,
  cast(`influence_1` as double) as `influence_1`,
  cast(`influence_2` as double) as `influence_2`,
  cast(`influence_3` as double) as `influence_3`,
  cast(`weight` as double) as `weight`
from `line`;

-- weightless: The sensitive values of the data that the influence matrix has no line for, as a list in JSON
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `occurring` as (
      select distinct
        `text`
      from `sqlanon_alternative`
    )
    select
      case when not `missing` is null then 'some sensitive values have no weight in the influence file' end as `refusal`
    from (
      select
        '[' || listagg(
      
            cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(`occurring`.`text`, '\\', '\\\\'), '"', '\\"'), chr(0), '\\u0000'), chr(1), '\\u0001'), chr(2), '\\u0002'), chr(3), '\\u0003'), chr(4), '\\u0004'), chr(5), '\\u0005'), chr(6), '\\u0006'), chr(7), '\\u0007'), chr(8), '\\b'), chr(9), '\\t'), chr(10), '\\n'), chr(11), '\\u000B'), chr(12), '\\f'), chr(13), '\\r'), chr(14), '\\u000E'), chr(15), '\\u000F'), chr(16), '\\u0010'), chr(17), '\\u0011'), chr(18), '\\u0012'), chr(19), '\\u0013'), chr(20), '\\u0014'), chr(21), '\\u0015'), chr(22), '\\u0016'), chr(23), '\\u0017'), chr(24), '\\u0018'), chr(25), '\\u0019'), chr(26), '\\u001A'), chr(27), '\\u001B'), chr(28), '\\u001C'), chr(29), '\\u001D'), chr(30), '\\u001E'), chr(31), '\\u001F') || '"') as string),
            ','
      
        ) within group (order by
          `occurring`.`text` asc) || ']' as `missing`
      from `occurring`
      left join `sqlanon_matrix` as `matrix`
        on `occurring`.`text` = `matrix`.`sensitive`
      where
        `matrix`.`sensitive` is null
    ) as `looked_at`
) as checked;

-- influence: as in postgres.sql

-- facts: as in postgres.sql, but for
-- -    '[' || cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("sensitive", '\', '\\'), '"', '\"'), chr(1), '\u0001'), chr(2), '\u0002'), chr(3), '\u0003'), chr(4), '\u0004'), chr(5), '\u0005'), chr(6), '\u0006'), chr(7), '\u0007'), chr(8), '\b'), chr(9), '\t'), chr(10), '\n'), chr(11), '\u000B'), chr(12), '\f'), chr(13), '\r'), chr(14), '\u000E'), chr(15), '\u000F'), chr(16), '\u0010'), chr(17), '\u0011'), chr(18), '\u0012'), chr(19), '\u0013'), chr(20), '\u0014'), chr(21), '\u0015'), chr(22), '\u0016'), chr(23), '\u0017'), chr(24), '\u0018'), chr(25), '\u0019'), chr(26), '\u001A'), chr(27), '\u001B'), chr(28), '\u001C'), chr(29), '\u001D'), chr(30), '\u001E'), chr(31), '\u001F') || '"') as text) || ',' || cast("influence_1" as text) || ',' || cast("influence_2" as text) || ',' || cast("influence_3" as text) || ',' || cast("weight" as text) || ']' as "shown"
-- +    '[' || cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("sensitive", '\\', '\\\\'), '"', '\\"'), chr(0), '\\u0000'), chr(1), '\\u0001'), chr(2), '\\u0002'), chr(3), '\\u0003'), chr(4), '\\u0004'), chr(5), '\\u0005'), chr(6), '\\u0006'), chr(7), '\\u0007'), chr(8), '\\b'), chr(9), '\\t'), chr(10), '\\n'), chr(11), '\\u000B'), chr(12), '\\f'), chr(13), '\\r'), chr(14), '\\u000E'), chr(15), '\\u000F'), chr(16), '\\u0010'), chr(17), '\\u0011'), chr(18), '\\u0012'), chr(19), '\\u0013'), chr(20), '\\u0014'), chr(21), '\\u0015'), chr(22), '\\u0016'), chr(23), '\\u0017'), chr(24), '\\u0018'), chr(25), '\\u0019'), chr(26), '\\u001A'), chr(27), '\\u001B'), chr(28), '\\u001C'), chr(29), '\\u001D'), chr(30), '\\u001E'), chr(31), '\\u001F') || '"') as string) || ',' || cast("influence_1" as string) || ',' || cast("influence_2" as string) || ',' || cast("influence_3" as string) || ',' || cast("weight" as string) || ']' as "shown"
-- -  '[' || string_agg("line"."shown", ','
-- -  order by
-- +  '[' || listagg("line"."shown", ',') within group (order by

-- value: as in postgres.sql, but for
-- -  case when cast("influence"."weight" as double precision) < cast('0.3' as double precision) then 0 else 1 end as "grave",
-- +  case when cast("influence"."weight" as double) < cast('0.3' as double) then 0 else 1 end as "grave",

-- importance: What each quasi attribute counts in a distance: its mean influence w_j over the data's sensitive values, in whole millionths summed (so that no order of summing shows), all alike where nothing influences anything
create table `sqlanon_importance` using parquet as
with `summed` as (
  select
    coalesce(cast(sum(cast(floor(cast(`influence_1` as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as `importance_1`,
    coalesce(cast(sum(cast(floor(cast(`influence_2` as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as `importance_2`,
    coalesce(cast(sum(cast(floor(cast(`influence_3` as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as `importance_3`
  from `sqlanon_value`
), `compared` as (
  select
    case when 0 + `importance_1` + `importance_2` + `importance_3` = 0 then 1 else `importance_1` end as `importance_1`,
    case when 0 + `importance_1` + `importance_2` + `importance_3` = 0 then 1 else `importance_2` end as `importance_2`,
    case when 0 + `importance_1` + `importance_2` + `importance_3` = 0 then 1 else `importance_3` end as `importance_3`
  from `summed`
), `totalled` as (
  select
    *,
    cast(0 + `importance_1` + `importance_2` + `importance_3` as double) as `total`
  from `compared`
)
select
  `importance_1`,
  cast(floor((cast(cast(`importance_1` as double) as double) / nullif(`total`, 0)) * 1000000000) as bigint) as `share_1`,
  `importance_2`,
  cast(floor((cast(cast(`importance_2` as double) as double) / nullif(`total`, 0)) * 1000000000) as bigint) as `share_2`,
  `importance_3`,
  cast(floor((cast(cast(`importance_3` as double) as double) / nullif(`total`, 0)) * 1000000000) as bigint) as `share_3`
from `totalled`;

-- value_ranges: How many rows there are, and where each number begins and how far it reaches
create table `sqlanon_value_ranges` using parquet as
select
  count(*) as `row_count`,
  min(case when abs(cast(`quasi_2` as double)) <= cast(1e300 as double) then cast(`quasi_2` as double) end) as `lowest_2`,
  max(case when abs(cast(`quasi_2` as double)) <= cast(1e300 as double) then cast(`quasi_2` as double) end) - min(case when abs(cast(`quasi_2` as double)) <= cast(1e300 as double) then cast(`quasi_2` as double) end) as `span_2`
from `sqlanon_determined`;

-- held: as in postgres.sql

-- representative: as in postgres.sql

-- feasibility: What decides whether there can be clusters: N, the different weights, whether all rows hold the same values, and for L, where all rows are one region, in groups of what size at least they are diverse, and up to which L groups of `most_rows` are
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `cell_range` as (
      select
        coalesce(min(`sensitive_count`), 0) as `least_alternatives`,
        coalesce(max(`sensitive_count`), 0) as `most_alternatives`
      from `sqlanon_cell_count`
    ), `counted` as (
      select
        count(*) as `value_count`,
        coalesce(cast(sum(`grave`) as bigint), 0) as `grave_count`
      from `sqlanon_value`
    ), `standing_for` as (
      select
        `representative`.`held`,
        `representative`.`grave`,
        cast(sum(`cell_count`.`row_count`) as bigint) as `row_count`
      from `sqlanon_cell_count` as `cell_count`
      inner join `sqlanon_representative` as `representative`
        on `cell_count`.`cell_code` = `representative`.`cell_code`
      group by
        `representative`.`held`,
        `representative`.`grave`
    ), `asked` as (
      select
        `value`.`held` as `target`,
        `value`.`held` as `wanted`,
        `standing_for`.`held`,
        `standing_for`.`grave`,
        `standing_for`.`row_count`
      from `sqlanon_value` as `value`
      cross join `standing_for`
      where
        `value`.`held` > 1 and `value`.`held` <= 3
    ), `ranked` as (
      select
        `target`,
        `wanted`,
        `held`,
        `grave`,
        `row_count`,
        cast(sum(`row_count`) over (partition by `target`) as bigint) as `total_rows`,
        cast(sum(`grave` * `row_count`) over (partition by `target`) as bigint) as `grave_rows`,
        row_number() over (partition by `target` order by `row_count` desc, `held` asc) as `place`,
        cast(sum(`row_count`) over (partition by `target` order by `row_count` desc, `held` asc rows between unbounded preceding and current row) as bigint) as `rows_so_far`
      from `asked`
    ), `possible` as (
      select
        `target`,
        `wanted`,
        `total_rows`,
        `grave_rows`,
        least(
          (`total_rows` div 5),
          (`total_rows` div `wanted`),
          min(case when `place` < `wanted` then ((`total_rows` - `rows_so_far`) div (`wanted` - `place`)) end)
        ) as `group_count`
      from `ranked`
      group by
        `target`,
        `wanted`,
        `total_rows`,
        `grave_rows`
    ), `shared` as (
      select
        `possible`.`target`,
        `possible`.`wanted`,
        `possible`.`total_rows`,
        `possible`.`grave_rows`,
        `possible`.`group_count`,
        case when `possible`.`group_count` > 0 then `possible`.`group_count` end as `divisor`,
        cast(sum(`ranked`.`grave` * least(`ranked`.`row_count`, `possible`.`group_count`)) as bigint) as `grave_places`
      from `possible`
      inner join `ranked`
        on `possible`.`target` = `ranked`.`target`
      group by
        `possible`.`target`,
        `possible`.`wanted`,
        `possible`.`total_rows`,
        `possible`.`grave_rows`,
        `possible`.`group_count`
    ), `needed` as (
      select
        *,
        greatest(0, `wanted` * `group_count` - `grave_places`) as `helping_rows`,
        ((`grave_rows` + `divisor` - 1) div `divisor`) + greatest(0, `wanted` - (`grave_places` div `divisor`)) as `must`
      from `shared`
    ), `fitting` as (
      select
        `target`,
        `total_rows`,
        `group_count`,
        ((`grave_rows` + `helping_rows` + `divisor` - 1) div `divisor`) as `least_size`,
        case
          when `divisor` > 0
          then least(((`total_rows` + `divisor` - 1) div `divisor`), greatest(5, `must`) + 5 - 1)
        end as `largest_size`
      from `needed`
    ), `judged` as (
      select
        max(case when `target` = 3 then `least_size` end) as `least_size`,
        max(case when `target` = 3 then `largest_size` end) as `largest_size`,
        max(case when `largest_size` <= 20 then `target` end) as `largest_l`
      from `fitting`
    ), `grave` as (
      select
        coalesce(cast(sum(`grave` * `row_count`) as bigint), 0) as `grave_rows`
      from `standing_for`
    )
    select
      case
        when `row_count` = 0
        then 'the source has no rows to publish'
        when `row_count` < 5
        then 'K = 5 needs at least 5 rows'
        when `value_count` < 3
        then 'L = 3 asks for 3 different weights, and the sensitive values have fewer'
        when `grave_count` > 0 and `least_alternatives` = `value_count`
        then 'all rows hold the same sensitive values'
        when `grave_count` > 0 and `most_alternatives` = 1 and (
          `least_size` is null or `least_size` > 20
        )
        then 'L = 3 is not possible in groups of at most 20 rows'
      end as `refusal`
    from (
      select
        `value_ranges`.`row_count`,
        `counted`.`value_count`,
        `counted`.`grave_count`,
        `grave`.`grave_rows`,
        `cell_range`.`least_alternatives`,
        `cell_range`.`most_alternatives`,
        `judged`.`least_size`,
        `judged`.`largest_size`,
        `judged`.`largest_l`
      from `sqlanon_value_ranges` as `value_ranges`
      cross join `cell_range`
      cross join `counted`
      cross join `judged`
      cross join `grave`
    ) as `looked_at`
) as checked;

-- level_1: as in postgres.sql

-- branch_codes_1: as in postgres.sql

-- extent_1: as in postgres.sql

-- category_3: as in postgres.sql, but for
-- -  cast(1 + (("number" - 1) * least(1000000, "total") / "total") as int) as "branch_0"
-- +  cast(1 + (("number" - 1) * least(1000000, "total") div "total") as int) as "branch_0"

-- branch_codes_3: as in postgres.sql

-- extent_3: as in postgres.sql

-- point: as in postgres.sql, but for
-- -    case
-- -      when abs(cast("quasi_2" as double precision)) <= cast(1e300 as double precision)
-- -      then cast("quasi_2" as double precision)
-- -    end as "read_2"
-- +    case when abs(cast("quasi_2" as double)) <= cast(1e300 as double) then cast("quasi_2" as double) end as "read_2"
-- -    (cast(("finite"."read_2" - "value_ranges"."lowest_2") as double precision) / nullif(coalesce(nullif("value_ranges"."span_2", 0), 1), 0)) as "fraction_2"
-- +    (cast(("finite"."read_2" - "value_ranges"."lowest_2") as double) / nullif(coalesce(nullif("value_ranges"."span_2", 0), 1), 0)) as "fraction_2"
-- -  case when "fraction_2" is null then 0 else 1 + ("bin_2" / 4000) end as "coarse_2",
-- -  ("bin_2" / 1000) % 4 as "fine_2",
-- +  case when "fraction_2" is null then 0 else 1 + ("bin_2" div 4000) end as "coarse_2",
-- +  ("bin_2" div 1000) % 4 as "fine_2",

-- arrangement: as in postgres.sql, but for
-- -    (cast(cast("importance_1" as double precision) * 2 as double precision) / nullif(2, 0)) as "cost",
-- +    (cast(cast("importance_1" as double) * 2 as double) / nullif(2, 0)) as "cost",
-- -    (cast(cast("importance_1" as double precision) * 1 as double precision) / nullif(2, 0)) as "cost",
-- +    (cast(cast("importance_1" as double) * 1 as double) / nullif(2, 0)) as "cost",
-- -    (cast(cast("importance_3" as double precision) * 1 as double precision) / nullif(1, 0)) as "cost",
-- +    (cast(cast("importance_3" as double) * 1 as double) / nullif(1, 0)) as "cost",
-- -    (cast(cast("importance_2" as double precision) * 1 as double precision) / nullif(4, 0)) as "cost",
-- +    (cast(cast("importance_2" as double) * 1 as double) / nullif(4, 0)) as "cost",
-- -    (cast(cast("importance_2" as double precision) * 1 as double precision) / nullif(12, 0)) as "cost",
-- +    (cast(cast("importance_2" as double) * 1 as double) / nullif(12, 0)) as "cost",
-- -    (cast(cast("importance_2" as double precision) * 1 as double precision) / nullif(1, 0)) as "cost",
-- +    (cast(cast("importance_2" as double) * 1 as double) / nullif(1, 0)) as "cost",
-- -    case when "width" > 0 and "reach" <= 62 then cast(1 as bigint) << cast(62 - "reach" as int) else 0 end as "weight"
-- +    case when "width" > 0 and "reach" <= 62 then shiftleft(cast(1 as bigint), cast(62 - "reach" as int)) else 0 end as "weight"
-- -      "weight" << cast("width" as int)
-- +      shiftleft("weight", cast("width" as int))

-- clustering: as in postgres.sql, but for
-- -    "branched"."branches" # (
-- -      0 + bit_count(cast("branched"."branches" & "arrangement"."before_1" as bit(64))) % 2 * "arrangement"."bits_1" + bit_count(cast("branched"."branches" & "arrangement"."before_2" as bit(64))) % 2 * "arrangement"."bits_2" + bit_count(cast("branched"."branches" & "arrangement"."before_3" as bit(64))) % 2 * "arrangement"."bits_3" + bit_count(cast("branched"."branches" & "arrangement"."before_4" as bit(64))) % 2 * "arrangement"."bits_4" + bit_count(cast("branched"."branches" & "arrangement"."before_5" as bit(64))) % 2 * "arrangement"."bits_5" + bit_count(cast("branched"."branches" & "arrangement"."before_6" as bit(64))) % 2 * "arrangement"."bits_6"
-- +    "branched"."branches" ^ (
-- +      0 + bit_count("branched"."branches" & "arrangement"."before_1") % 2 * "arrangement"."bits_1" + bit_count("branched"."branches" & "arrangement"."before_2") % 2 * "arrangement"."bits_2" + bit_count("branched"."branches" & "arrangement"."before_3") % 2 * "arrangement"."bits_3" + bit_count("branched"."branches" & "arrangement"."before_4") % 2 * "arrangement"."bits_4" + bit_count("branched"."branches" & "arrangement"."before_5") % 2 * "arrangement"."bits_5" + bit_count("branched"."branches" & "arrangement"."before_6") % 2 * "arrangement"."bits_6"
-- -  least(("position" / 5), ("row_count" / 5) - 1) as "cluster"
-- +  least(("position" div 5), ("row_count" div 5) - 1) as "cluster"

-- cluster_value: as in postgres.sql

-- judged: as in postgres.sql

-- cluster_count: as in postgres.sql

-- merges: turn 1 of 1

-- merged: as in postgres.sql, but for
-- -    ("judged"."target" / "widened"."width") * "widened"."width" as "block",
-- +    ("judged"."target" div "widened"."width") * "widened"."width" as "block",
-- -    ("judged"."target" / "widened"."width") * "widened"."width",
-- +    ("judged"."target" div "widened"."width") * "widened"."width",
-- -    ("judged"."cluster" / "widened"."width") * "widened"."width" as "block"
-- +    ("judged"."cluster" div "widened"."width") * "widened"."width" as "block"

-- judged_again: as in postgres.sql, but for
-- -      ("total_rows" / 5),
-- -      ("total_rows" / "wanted"),
-- -      min(case when "place" < "wanted" then (("total_rows" - "rows_so_far") / ("wanted" - "place")) end)
-- +      ("total_rows" div 5),
-- +      ("total_rows" div "wanted"),
-- +      min(case when "place" < "wanted" then (("total_rows" - "rows_so_far") div ("wanted" - "place")) end)
-- -    (("grave_rows" + "divisor" - 1) / "divisor") + greatest(0, "wanted" - ("grave_places" / "divisor")) as "must"
-- +    (("grave_rows" + "divisor" - 1) div "divisor") + greatest(0, "wanted" - ("grave_places" div "divisor")) as "must"
-- -    (("grave_rows" + "helping_rows" + "divisor" - 1) / "divisor") as "least_size",
-- -    case when "divisor" > 0 then least((("total_rows" + "divisor" - 1) / "divisor"), greatest(5, "must") + 5 - 1) end as "largest_size"
-- +    (("grave_rows" + "helping_rows" + "divisor" - 1) div "divisor") as "least_size",
-- +    case
-- +      when "divisor" > 0
-- +      then least((("total_rows" + "divisor" - 1) div "divisor"), greatest(5, "must") + 5 - 1)
-- +    end as "largest_size"

drop table `sqlanon_judged`;

-- merges: as in postgres.sql

drop table `sqlanon_judged_again`;

drop table `sqlanon_merged`;

-- unmet: How many rows are in regions that fail after all merges
select case when refusal is not null then raise_error(refusal) end as checked
from (
    select
      case
        when `failing_rows` > 0
        then 'some rows find no group of at most 20 rows with 3 different weights; lower -L, raise --max-group, or say --undiverse suppress'
      end as `refusal`
    from (
      select
        coalesce(cast(sum(`cluster_count`.`row_count`) as bigint), 0) as `failing_rows`
      from `sqlanon_judged` as `judged`
      inner join `sqlanon_cluster_count` as `cluster_count`
        on `judged`.`cluster` = `cluster_count`.`cluster`
      where
        `judged`.`verdict` = 0
    ) as `looked_at`
) as checked;

-- portion: as in postgres.sql, but for
-- -      ("total_rows" / 5),
-- -      ("total_rows" / "wanted"),
-- -      min(case when "place" < "wanted" then (("total_rows" - "rows_so_far") / ("wanted" - "place")) end)
-- +      ("total_rows" div 5),
-- +      ("total_rows" div "wanted"),
-- +      min(case when "place" < "wanted" then (("total_rows" - "rows_so_far") div ("wanted" - "place")) end)
-- -    (("grave_rows" + "divisor" - 1) / "divisor") + greatest(0, "wanted" - ("grave_places" / "divisor")) as "must"
-- +    (("grave_rows" + "divisor" - 1) div "divisor") + greatest(0, "wanted" - ("grave_places" div "divisor")) as "must"
-- -    (("grave_rows" + "helping_rows" + "divisor" - 1) / "divisor") as "least_size",
-- -    case when "divisor" > 0 then least((("total_rows" + "divisor" - 1) / "divisor"), greatest(5, "must") + 5 - 1) end as "largest_size"
-- +    (("grave_rows" + "helping_rows" + "divisor" - 1) div "divisor") as "least_size",
-- +    case
-- +      when "divisor" > 0
-- +      then least((("total_rows" + "divisor" - 1) div "divisor"), greatest(5, "must") + 5 - 1)
-- +    end as "largest_size"
-- -      then ("ranked"."row_count" / greatest(1, "fitting"."group_count")) * "fitting"."group_count"
-- +      then ("ranked"."row_count" div greatest(1, "fitting"."group_count")) * "fitting"."group_count"

-- seat: as in postgres.sql

-- spared: as in postgres.sql, but for
-- -    else 1 + least((("place" - "kept_rows" - 1) / 5), (("harmless_rows" - "kept_rows") / 5) - 1)
-- +    else 1 + least((("place" - "kept_rows" - 1) div 5), (("harmless_rows" - "kept_rows") div 5) - 1)

-- clustered: as in postgres.sql

-- measured: as in postgres.sql

-- quality: as in postgres.sql, but for
-- -      (cast(sum(case when "row_count" <= 2000 then "row_count" * "row_count" else 0 end) as bigint) / 500000)
-- +      (cast(sum(case when "row_count" <= 2000 then "row_count" * "row_count" else 0 end) as bigint) div 500000)
-- -        0 + ("share_1" * (0 + case when "a"."level_1_0" = "b"."level_1_0" then 0 else 1 end + case when "a"."level_1_1" = "b"."level_1_1" then 0 else 1 end) / 2) + ("share_3" * (0 + case when "a"."level_3_0" = "b"."level_3_0" then 0 else 1 end) / 1) + coalesce(
-- +        0 + ("share_1" * (0 + case when "a"."level_1_0" = "b"."level_1_0" then 0 else 1 end + case when "a"."level_1_1" = "b"."level_1_1" then 0 else 1 end) div 2) + ("share_3" * (0 + case when "a"."level_3_0" = "b"."level_3_0" then 0 else 1 end) div 1) + coalesce(
-- -    (cast((cast(cast(sum("size"."row_count" * "diameter"."diameter") as double precision) as double precision) / nullif(nullif(count(*), 0), 0)) as double precision) / nullif(1000000000, 0)) as "objective",
-- -    (cast(cast(max("diameter"."diameter") as double precision) as double precision) / nullif(1000000000, 0)) as "largest_diameter"
-- +    (cast((cast(cast(sum("size"."row_count" * "diameter"."diameter") as double) as double) / nullif(nullif(count(*), 0), 0)) as double) / nullif(1000000000, 0)) as "objective",
-- +    (cast(cast(max("diameter"."diameter") as double) as double) / nullif(1000000000, 0)) as "largest_diameter"

-- shown: as in postgres.sql

-- pattern: QIID: for each uncertain quasi-identifier of a row its field number (one more than its place) and the number of its alternatives, 0 where all are certain, and the same as a list, since digits run together
create table `sqlanon_pattern` using parquet as
with `different` as (
  select distinct
    `alternatives_1`,
    '' as `certain`
  from `sqlanon_shown`
)
select
  `alternatives_1`,
  coalesce(nullif(case when `alternatives_1` <> 1 then '2' || cast(`alternatives_1` as string) else '' end || '', ''), '0') as `qiid`,
  filter(
    cast(array(struct('education' as `attribute`, `alternatives_1` as `count`)) as array<struct<`attribute`: string, `count`: int>>),
    `mark` -> `mark`.`count` <> 1
  ) as `alternatives`
from `different`;

-- group_number: as in postgres.sql, but for
-- -    (array_agg(row("pattern"."qiid", "shown"."quasi_1", "shown"."quasi_2", "shown"."quasi_3") order by row("pattern"."qiid", "shown"."quasi_1", "shown"."quasi_2", "shown"."quasi_3")))[1] as "least_row",
-- +    min(struct("pattern"."qiid" is null, "pattern"."qiid", "shown"."quasi_1" is null, "shown"."quasi_1", "shown"."quasi_2" is null, "shown"."quasi_2", "shown"."quasi_3" is null, "shown"."quasi_3")) as "least_row",

-- qit: the quasi-identifier table: QIID, the deterministic quasi values and the group
create table `sqlanon_qit` using parquet as
select
  `pattern`.`qiid` as `qiid`,
  `pattern`.`alternatives` as `alternatives`,
  `shown`.`quasi_1` as `education`,
  `shown`.`quasi_2` as `age`,
  `shown`.`quasi_3` as `sex`,
  `group_number`.`group_id` as `group_id`
from `sqlanon_shown` as `shown`
inner join `sqlanon_pattern` as `pattern`
  on true and `shown`.`alternatives_1` = `pattern`.`alternatives_1`
inner join `sqlanon_group_number` as `group_number`
  on `shown`.`cluster` = `group_number`.`cluster`
order by
  `pattern`.`qiid` asc nulls last,
  `shown`.`quasi_1` asc nulls last,
  `shown`.`quasi_2` asc nulls last,
  `shown`.`quasi_3` asc nulls last,
  `group_number`.`group_id` asc nulls last;

-- st: as in postgres.sql, but for
-- -  "counted"."group_id" asc,
-- -  "set_values"."value_1" asc,
-- -  "set_values"."value_2" asc,
-- -  "counted"."row_count" asc;
-- +  "counted"."group_id" asc nulls last,
-- +  "set_values"."value_1" asc nulls last,
-- +  "set_values"."value_2" asc nulls last,
-- +  "counted"."row_count" asc nulls last;

-- the rest is microdata and the key: forget it
-- 43 relations, the last first
