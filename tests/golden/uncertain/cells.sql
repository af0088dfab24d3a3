-- hierarchy_1: the nodes of a hierarchy, each with its ancestors or self from below the root down
with line as (
    select
        unnest(string_split('Any | Bachelor | Master | School | University', ' | ')) as "node",
        unnest(string_split('2 | 0 | 0 | 0 | 1', ' | ')) as "height",
        unnest(string_split('0 | 1 | 1 | 1 | 0', ' | ')) as "held",
        unnest(string_split('3 | 1 | 1 | 1 | 2', ' | ')) as "held_below",
        unnest(string_split(' | University | University | School | University', ' | ')) as "level_1",
        unnest(string_split(' | Bachelor | Master |  | ', ' | ')) as "level_2",
        ' | ' as separator
)
select
    cast("node" as varchar) as "node", cast("height" as integer) as "height", cast("held" as integer) as "held", cast("held_below" as integer) as "held_below", nullif("level_1", '') as "level_1", nullif("level_2", '') as "level_2"
from line

-- cell_1: the different cells of an attribute, numbered in their order
with different as (
    select distinct "quasi_1" as cell
    from "sqlanon_population"
    where "quasi_1" is not null
)
select
    cell,
    row_number() over (order by cell asc nulls last) as cell_code
from different

-- alternative_1: the alternatives of each different cell, each once, in the order in which they are given
with unfolded as (
    select
        cell_code,
        cell,
        unnest(cell) as value
    from "sqlanon_cell_1"
),
different as (
    select distinct
        cell_code,
        value,
        list_position(cell, value) as first_place
    from unfolded
)
select
    cell_code,
    row_number() over (partition by cell_code order by first_place asc nulls last) as place,
    value,
    cast(value as varchar) as text
from different

-- outside_1: the alternatives are leaves of their hierarchy
with different as (
    select cast("value" as varchar) as text
    from "sqlanon_alternative_1"
    where "value" is not null
    group by cast("value" as varchar)
),
looked_up as (
    select
        different.text,
        coalesce(hierarchy.held, 2) as held
    from different
    left join "sqlanon_hierarchy_1" as hierarchy on different.text = hierarchy.node
),
placed as (
    select
        text,
        held,
        max(held) over () as worst,
        row_number() over (partition by held order by text asc nulls last) as place,
        count(*) over (partition by held) as value_count
    from looked_up
    where held <> 1
),
told as (
    select
        max(held) as held,
        max(value_count) as value_count,
        string_agg(case when text like '%''%' then '"' || text || '"' else '''' || text || '''' end, ', ' order by place asc nulls last) as listed
    from placed
    where held = worst and place <= 10
)
select
    true as is_usage,
    coalesce(cast(value_count as varchar), '') || ' values of ''education'' ' || coalesce(cast(case held when 2 then 'are not in its hierarchy' else 'are inner nodes of its hierarchy, and cells hold leaves' end as varchar), '') || ': ' || coalesce(cast(listed as varchar), '') || coalesce(cast(case when value_count > 10 then ' and ' || cast(value_count - 10 as varchar) || ' more' else '' end as varchar), '') as refusal
from told
where value_count > 0

-- ancestor_1: the lowest common ancestor of a cell's alternatives: the deepest level at which all of them have a node, and the same; the root where there is none. ({Bachelor, Master} -> University.)
with common as (
    select
        alternative.cell_code,
        case when count(hierarchy."level_1") = count(*) and min(hierarchy."level_1") = max(hierarchy."level_1") then min(hierarchy."level_1") end as "level_1", case when count(hierarchy."level_2") = count(*) and min(hierarchy."level_2") = max(hierarchy."level_2") then min(hierarchy."level_2") end as "level_2",
        count(*) as alternatives
    from "sqlanon_alternative_1" as alternative
    inner join "sqlanon_hierarchy_1" as hierarchy on alternative.text = hierarchy.node
    group by alternative.cell_code
)
select
    cell.cell,
    coalesce(common."level_2", common."level_1", 'Any') as node,
    common.alternatives
from "sqlanon_cell_1" as cell
inner join common on cell.cell_code = common.cell_code

-- cell: the different sensitive cells, numbered in their order
with different as (
    select distinct "sensitive" as cell
    from "sqlanon_population"
    where "sensitive" is not null
)
select
    cell,
    row_number() over (order by cell asc nulls last) as cell_code
from different

-- alternative: the alternatives of each different sensitive cell, each once, in the order in which they are given
with unfolded as (
    select
        cell_code,
        cell,
        unnest(cell) as value
    from "sqlanon_cell"
),
different as (
    select distinct
        cell_code,
        value,
        list_position(cell, value) as first_place
    from unfolded
)
select
    cell_code,
    row_number() over (partition by cell_code order by first_place asc nulls last) as place,
    value,
    cast(value as varchar) as text
from different

-- long_values: the manifest, which says the weight of every sensitive value, has room for it
with counted as (
    select count(distinct text) as long_count
    from "sqlanon_alternative"
    where length(text) > 4096
)
select
    case when long_count > 0 then
        coalesce(cast(long_count as varchar), '') || ' of the values of ''disease'' are longer than 4,096 letters, and release.json, which says the weight of every sensitive value, takes no longer ones; write shorter alternatives into the source, or publish with the method anatomy, which says none there'
    end as refusal
from counted

-- sensitive_set: the sets of sensitive alternatives; cells that hold the same values in another order are one set
with collected as (
    select
        cell_code,
        list(text order by text asc nulls last) as texts,
        count(*) as alternatives
    from "sqlanon_alternative"
    group by cell_code
)
select
    cell.cell,
    cell.cell_code,
    dense_rank() over (order by collected.texts asc nulls last) as set_code,
    collected.alternatives
from "sqlanon_cell" as cell
inner join collected on cell.cell_code = collected.cell_code

-- set_values: the alternatives of a sensitive cell side by side, NULL beyond the last
select
    max(case when place = 1 then value end) as value_1, max(case when place = 2 then value end) as value_2,
    cell_code
from "sqlanon_alternative"
group by cell_code

-- spark, hierarchy_1:
-- -    unnest(str_split('Any | Bachelor | Master | School | University', ' | ')) as "node",
-- -    unnest(str_split('2 | 0 | 0 | 0 | 1', ' | ')) as "height",
-- -    unnest(str_split('0 | 1 | 1 | 1 | 0', ' | ')) as "held",
-- -    unnest(str_split('3 | 1 | 1 | 1 | 2', ' | ')) as "held_below",
-- -    unnest(str_split(' | University | University | School | University', ' | ')) as "level_1",
-- -    unnest(str_split(' | Bachelor | Master |  | ', ' | ')) as "level_2",
-- +    "node" as "node",
-- +    "height" as "height",
-- +    "held" as "held",
-- +    "held_below" as "held_below",
-- +    "level_1" as "level_1",
-- +    "level_2" as "level_2",
-- +  from values
-- +    ('Any', '2', '0', '3', '', ''),
-- +    ('Bachelor', '0', '1', '1', 'University', 'Bachelor'),
-- +    ('Master', '0', '1', '1', 'University', 'Master'),
-- +    ('School', '0', '1', '1', 'School', ''),
-- +    ('University', '1', '0', '2', 'University', '') as "line"("node", "height", "held", "held_below", "level_1", "level_2")
-- -  cast("node" as text) as "node",
-- +  cast("node" as string) as "node",

-- spark, alternative_1:
-- -    unnest("cell") as "value"
-- +    explode("cell") as "value"
-- -    list_position("cell", "value") as "first_place"
-- +    array_position("cell", "value") as "first_place"
-- -  cast("value" as text) as "text"
-- +  cast("value" as string) as "text"

-- spark, outside_1:
-- -    cast("value" as text) as "text"
-- +    cast("value" as string) as "text"
-- -    cast("value" as text)
-- +    cast("value" as string)
-- -    listagg(
-- -      case when "text" like '%''%' then '"' || "text" || '"' else '''' || "text" || '''' end, ', '
-- -      order by
-- -        "place" asc nulls last
-- -    ) as "listed"
-- +    listagg(case when "text" like '%\'%' then '"' || "text" || '"' else '\'' || "text" || '\'' end, ', ') within group (order by
-- +      "place" asc nulls last) as "listed"
-- -  coalesce(cast("value_count" as text), '') || ' values of ''education'' ' || coalesce(
-- +  coalesce(cast("value_count" as string), '') || ' values of \'education\' ' || coalesce(
-- -    end as text),
-- +    end as string),
-- -  ) || ': ' || coalesce(cast("listed" as text), '') || coalesce(
-- -    cast(case when "value_count" > 10 then ' and ' || cast("value_count" - 10 as text) || ' more' else '' end as text),
-- +  ) || ': ' || coalesce(cast("listed" as string), '') || coalesce(
-- +    cast(case when "value_count" > 10 then ' and ' || cast("value_count" - 10 as string) || ' more' else '' end as string),

-- spark, alternative:
-- -    unnest("cell") as "value"
-- +    explode("cell") as "value"
-- -    list_position("cell", "value") as "first_place"
-- +    array_position("cell", "value") as "first_place"
-- -  cast("value" as text) as "text"
-- +  cast("value" as string) as "text"

-- spark, long_values:
-- -    then coalesce(cast("long_count" as text), '') || ' of the values of ''disease'' are longer than 4,096 letters, and release.json, which says the weight of every sensitive value, takes no longer ones; write shorter alternatives into the source, or publish with the method anatomy, which says none there'
-- +    then coalesce(cast("long_count" as string), '') || ' of the values of \'disease\' are longer than 4,096 letters, and release.json, which says the weight of every sensitive value, takes no longer ones; write shorter alternatives into the source, or publish with the method anatomy, which says none there'

-- spark, sensitive_set:
-- -    array_agg("text" order by "text" asc nulls last) as "texts",
-- +    sort_array(collect_list("text")) as "texts",

-- postgres, hierarchy_1:
-- -    unnest(str_split('Any | Bachelor | Master | School | University', ' | ')) as "node",
-- -    unnest(str_split('2 | 0 | 0 | 0 | 1', ' | ')) as "height",
-- -    unnest(str_split('0 | 1 | 1 | 1 | 0', ' | ')) as "held",
-- -    unnest(str_split('3 | 1 | 1 | 1 | 2', ' | ')) as "held_below",
-- -    unnest(str_split(' | University | University | School | University', ' | ')) as "level_1",
-- -    unnest(str_split(' | Bachelor | Master |  | ', ' | ')) as "level_2",
-- +    unnest(string_to_array('Any | Bachelor | Master | School | University' collate "C", ' | ')) as "node",
-- +    unnest(string_to_array('2 | 0 | 0 | 0 | 1' collate "C", ' | ')) as "height",
-- +    unnest(string_to_array('0 | 1 | 1 | 1 | 0' collate "C", ' | ')) as "held",
-- +    unnest(string_to_array('3 | 1 | 1 | 1 | 2' collate "C", ' | ')) as "held_below",
-- +    unnest(string_to_array(' | University | University | School | University' collate "C", ' | ')) as "level_1",
-- +    unnest(string_to_array(' | Bachelor | Master |  | ' collate "C", ' | ')) as "level_2",

-- postgres, alternative_1:
-- -    list_position("cell", "value") as "first_place"
-- +    array_position("cell", "value") as "first_place"

-- postgres, outside_1:
-- -    listagg(
-- +    string_agg(

-- postgres, alternative:
-- -    list_position("cell", "value") as "first_place"
-- +    array_position("cell", "value") as "first_place"

-- postgres, sensitive_set:
-- -    array_agg("text" order by "text" asc) as "texts",
-- +    array_agg("text" order by "text") as "texts",
