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

-- sensitive_value: the values of a sensitive column, numbered; NULL is a value, and the last
with counted as (
    select
        "sensitive" as sensitive,
        count(*) as row_count
    from "sqlanon_population"
    group by "sensitive"
)
select
    sensitive,
    row_count,
    cast(row_number() over (order by sensitive asc nulls last) as integer) as code
from counted

-- outside_1: the values are leaves of their hierarchy
with different as (
    select cast("quasi_1" as varchar) as text
    from "sqlanon_population"
    where "quasi_1" is not null
    group by cast("quasi_1" as varchar)
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

-- value_1: the values of an attribute with a hierarchy, the leaves below a node being neighbours; share_n: which share of all leaves lies below the ancestor at a level; NULL is a value below the root, and the last
with different as (
    select
        "quasi_1" as value,
        cast("quasi_1" as varchar) collate "C" as text
    from "sqlanon_population"
    group by "quasi_1"
),
weighed as (
    select
        sum(held) over (partition by "level_1") / cast(sum(held) over () as double) as share_1,
        sum(held) over (partition by "level_1", "level_2") / cast(sum(held) over () as double) as share_2,
        "level_1", "level_2",
        node
    from "sqlanon_hierarchy_1"
)
select
    different.value,
    weighed.share_1, weighed.share_2,
    weighed."level_1", weighed."level_2",
    cast(row_number() over (
        order by
            case when different.value is null then 1 else 0 end asc nulls last,
            coalesce(weighed."level_1", '') collate "C" asc nulls last,
            coalesce(weighed."level_2", '') collate "C" asc nulls last,
            different.text asc nulls last
    ) as integer) as code
from different
left join weighed on different.text = weighed.node

-- value_2: the values of a number or a moment in their order; place: where one lies in the range of all, from 0 to 1 - 1/n for n values (two values are not cut before many); NULL comes last, and lies far from every value
with placed as (
    select
        value,
        case when abs(cast(value as double)) <= cast(1e300 as double) then cast(value as double) end as number
    from (select distinct "quasi_2" as value from "sqlanon_population") as different
),
span as (
    select
        min(number) as lowest,
        max(number) as highest,
        1 - 1 / cast(count(*) as double) as share
    from placed
)
select
    placed.value,
    cast(case when placed.value is null then 2147483647 else row_number() over (order by placed.value asc nulls last) end as integer) as code,
    case
        when placed.value is null then 2
        when span.highest > span.lowest then span.share * coalesce((placed.number - span.lowest) / (span.highest - span.lowest), 1)
        else 0
    end as place
from placed
cross join span

-- value_3: the values of a number or a moment in their order; place: where one lies in the range of all, from 0 to 1 - 1/n for n values (two values are not cut before many); NULL comes last, and lies far from every value
with placed as (
    select
        value,
        case when abs(cast(epoch(value) as double)) <= cast(1e300 as double) then cast(epoch(value) as double) end as number
    from (select distinct "quasi_3" as value from "sqlanon_population") as different
),
span as (
    select
        min(number) as lowest,
        max(number) as highest,
        1 - 1 / cast(count(*) as double) as share
    from placed
)
select
    placed.value,
    cast(case when placed.value is null then 2147483647 else row_number() over (order by placed.value asc nulls last) end as integer) as code,
    case
        when placed.value is null then 2
        when span.highest > span.lowest then span.share * coalesce((placed.number - span.lowest) / (span.highest - span.lowest), 1)
        else 0
    end as place
from placed
cross join span

-- value_4: the values of an attribute without an order of its own by their texts; place: which share of the values lies before one
with different as (
    select
        "quasi_4" as value,
        cast("quasi_4" as varchar) collate "C" as text
    from "sqlanon_population"
    group by "quasi_4"
),
numbered as (
    select
        value,
        text,
        row_number() over (order by text asc nulls last) as code,
        count(*) over () as value_count
    from different
)
select
    value,
    coalesce(cast(to_json(text) as varchar), 'null') as shown,
    cast(code as integer) as code,
    (code - 1) / cast(value_count as double) as place
from numbered

-- facts: there are k rows, and values enough of every sensitive column; unknown_n: how many values of an attribute are NULL, which gets a column that says so where there are some
with fact as (
    select
        'disease' as name,
        coalesce(cast(sum(row_count) as bigint), 0) as row_count,
        coalesce(cast(sum(case when sensitive is null then row_count else 0 end) as bigint), 0) as null_count,
        count(*) as value_count,
        coalesce(max(row_count), 0) as largest_count
    from "sqlanon_sensitive_value"
),
judged as (
    select
        fact.*,
        case when true and largest_count > 0 then least(value_count, row_count // largest_count) else value_count end as most,
        case
            when null_count > 0 and true then 1
            when row_count < 10 then 2
            when value_count < 4 then 3
            when largest_count * 4 > row_count and true then 4
        end as fault
    from fact
),
ranked as (
    -- the column with the fewest values is the one that stands in the way
    select
        judged.*,
        row_number() over (order by coalesce(fault, 9) asc nulls last, case fault when 3 then value_count when 4 then 0 - largest_count else 0 end asc nulls last) as place
    from judged
)
select
    (select count(*) from "sqlanon_value_1" where value is null) as unknown_1, (select count(*) from "sqlanon_value_2" where value is null) as unknown_2, (select count(*) from "sqlanon_value_3" where value is null) as unknown_3, (select count(*) from "sqlanon_value_4" where value is null) as unknown_4,
    case when fault = 1 then name when fault > 2 then 'l' end as about,
    case when fault > 2 then most end as possible,
    case
        when fault = 1 then coalesce(cast(null_count as varchar), '') || ' rows have no value in the sensitive column ' || coalesce(cast('''' || name || '''' as varchar), '') || '; say nullsvalue (NULL is a value like any other) or nullsdrop (leave them out, which tells who had none to somebody who knows who was in the table)'
        when row_count = 0 then 'the source has no rows to publish'
        when row_count = 1 then 'the source has one row, and no k of at least 2 works with it'
        when fault = 2 then
            'k = 10 needs at least 10 rows; the source has ' || coalesce(format('{:,}', row_count), '') || '; the largest k that works is ' || coalesce(cast(row_count as varchar), '')
        when fault = 3 then
            'l = 4 asks for 4 different values of ''' || coalesce(cast(name as varchar), '') || '''; the source has ' || coalesce(cast(value_count as varchar), '') || '; the largest l that works is ' || coalesce(cast(most as varchar), '')
        when fault = 4 then
            'l = 4 asks for each value of ''' || coalesce(cast(name as varchar), '') || ''' in at most 1/4 of a box: its most frequent value stands in ' || coalesce(format('{:,}', largest_count), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows; the largest l that works is ' || coalesce(cast(most as varchar), '') || '; diversitydistinct asks for different values alone'
    end as refusal
from ranked
where place = 1

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

-- spark, outside_1:
-- -    cast("quasi_1" as text) as "text"
-- +    cast("quasi_1" as string) as "text"
-- -    cast("quasi_1" as text)
-- +    cast("quasi_1" as string)
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

-- spark, value_1:
-- -    cast("quasi_1" as text) collate "C" as "text"
-- +    cast("quasi_1" as string) as "text"
-- -    sum("held") over (partition by "level_1") / cast(sum("held") over () as double) as "share_1",
-- -    sum("held") over (partition by "level_1", "level_2") / cast(sum("held") over () as double) as "share_2",
-- +    (cast(sum("held") over (partition by "level_1") as double) / nullif(cast(sum("held") over () as double), 0)) as "share_1",
-- +    (cast(sum("held") over (partition by "level_1", "level_2") as double) / nullif(cast(sum("held") over () as double), 0)) as "share_2",
-- -    order by case when "different"."value" is null then 1 else 0 end asc nulls last, coalesce("weighed"."level_1", '') collate "C" asc nulls last, coalesce("weighed"."level_2", '') collate "C" asc nulls last, "different"."text" asc nulls last
-- +    order by case when "different"."value" is null then 1 else 0 end asc nulls last, coalesce("weighed"."level_1", '') asc nulls last, coalesce("weighed"."level_2", '') asc nulls last, "different"."text" asc nulls last

-- spark, value_2:
-- -    1 - 1 / cast(count(*) as double) as "share"
-- +    1 - (cast(1 as double) / nullif(cast(count(*) as double), 0)) as "share"
-- -    then "span"."share" * coalesce((
-- -      "placed"."number" - "span"."lowest"
-- -    ) / (
-- -      "span"."highest" - "span"."lowest"
-- -    ), 1)
-- +    then "span"."share" * coalesce((cast(("placed"."number" - "span"."lowest") as double) / nullif(("span"."highest" - "span"."lowest"), 0)), 1)

-- spark, value_3:
-- -    case when abs(cast(epoch("value") as double)) <= cast(1e300 as double) then cast(epoch("value") as double) end as "number"
-- +    case
-- +      when abs(cast(cast(cast("value" as timestamp) as double) as double)) <= cast(1e300 as double)
-- +      then cast(cast(cast("value" as timestamp) as double) as double)
-- +    end as "number"
-- -    1 - 1 / cast(count(*) as double) as "share"
-- +    1 - (cast(1 as double) / nullif(cast(count(*) as double), 0)) as "share"
-- -    then "span"."share" * coalesce((
-- -      "placed"."number" - "span"."lowest"
-- -    ) / (
-- -      "span"."highest" - "span"."lowest"
-- -    ), 1)
-- +    then "span"."share" * coalesce((cast(("placed"."number" - "span"."lowest") as double) / nullif(("span"."highest" - "span"."lowest"), 0)), 1)

-- spark, value_4:
-- -    cast("quasi_4" as text) collate "C" as "text"
-- +    cast("quasi_4" as string) as "text"
-- -  coalesce(cast(to_json("text") as text), 'null') as "shown",
-- +  coalesce(
-- +    cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("text", '\\', '\\\\'), '"', '\\"'), chr(0), '\\u0000'), chr(1), '\\u0001'), chr(2), '\\u0002'), chr(3), '\\u0003'), chr(4), '\\u0004'), chr(5), '\\u0005'), chr(6), '\\u0006'), chr(7), '\\u0007'), chr(8), '\\b'), chr(9), '\\t'), chr(10), '\\n'), chr(11), '\\u000B'), chr(12), '\\f'), chr(13), '\\r'), chr(14), '\\u000E'), chr(15), '\\u000F'), chr(16), '\\u0010'), chr(17), '\\u0011'), chr(18), '\\u0012'), chr(19), '\\u0013'), chr(20), '\\u0014'), chr(21), '\\u0015'), chr(22), '\\u0016'), chr(23), '\\u0017'), chr(24), '\\u0018'), chr(25), '\\u0019'), chr(26), '\\u001A'), chr(27), '\\u001B'), chr(28), '\\u001C'), chr(29), '\\u001D'), chr(30), '\\u001E'), chr(31), '\\u001F') || '"') as string),
-- +    'null'
-- +  ) as "shown",
-- -  (
-- -    "code" - 1
-- -  ) / cast("value_count" as double) as "place"
-- +  (cast(("code" - 1) as double) / nullif(cast("value_count" as double), 0)) as "place"

-- spark, facts:
-- -      then least("value_count", "row_count" // "largest_count")
-- +      then least("value_count", ("row_count" div "largest_count"))
-- -    then coalesce(cast("null_count" as text), '') || ' rows have no value in the sensitive column ' || coalesce(cast('''' || "name" || '''' as text), '') || '; say nullsvalue (NULL is a value like any other) or nullsdrop (leave them out, which tells who had none to somebody who knows who was in the table)'
-- +    then coalesce(cast("null_count" as string), '') || ' rows have no value in the sensitive column ' || coalesce(cast('\'' || "name" || '\'' as string), '') || '; say nullsvalue (NULL is a value like any other) or nullsdrop (leave them out, which tells who had none to somebody who knows who was in the table)'
-- -    then 'k = 10 needs at least 10 rows; the source has ' || coalesce(format('{:,}', "row_count"), '') || '; the largest k that works is ' || coalesce(cast("row_count" as text), '')
-- +    then 'k = 10 needs at least 10 rows; the source has ' || coalesce(format_number("row_count", 0), '') || '; the largest k that works is ' || coalesce(cast("row_count" as string), '')
-- -    then 'l = 4 asks for 4 different values of ''' || coalesce(cast("name" as text), '') || '''; the source has ' || coalesce(cast("value_count" as text), '') || '; the largest l that works is ' || coalesce(cast("most" as text), '')
-- +    then 'l = 4 asks for 4 different values of \'' || coalesce(cast("name" as string), '') || '\'; the source has ' || coalesce(cast("value_count" as string), '') || '; the largest l that works is ' || coalesce(cast("most" as string), '')
-- -    then 'l = 4 asks for each value of ''' || coalesce(cast("name" as text), '') || ''' in at most 1/4 of a box: its most frequent value stands in ' || coalesce(format('{:,}', "largest_count"), '') || ' of ' || coalesce(format('{:,}', "row_count"), '') || ' rows; the largest l that works is ' || coalesce(cast("most" as text), '') || '; diversitydistinct asks for different values alone'
-- +    then 'l = 4 asks for each value of \'' || coalesce(cast("name" as string), '') || '\' in at most 1/4 of a box: its most frequent value stands in ' || coalesce(format_number("largest_count", 0), '') || ' of ' || coalesce(format_number("row_count", 0), '') || ' rows; the largest l that works is ' || coalesce(cast("most" as string), '') || '; diversitydistinct asks for different values alone'

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

-- postgres, outside_1:
-- -    listagg(
-- +    string_agg(

-- postgres, value_1:
-- -    sum("held") over (partition by "level_1") / cast(sum("held") over () as double) as "share_1",
-- -    sum("held") over (partition by "level_1", "level_2") / cast(sum("held") over () as double) as "share_2",
-- +    (cast(sum("held") over (partition by "level_1") as double precision) / nullif(cast(sum("held") over () as double precision), 0)) as "share_1",
-- +    (cast(sum("held") over (partition by "level_1", "level_2") as double precision) / nullif(cast(sum("held") over () as double precision), 0)) as "share_2",

-- postgres, value_2:
-- -    case when abs(cast("value" as double)) <= cast(1e300 as double) then cast("value" as double) end as "number"
-- +    case
-- +      when abs(cast("value" as double precision)) <= cast(1e300 as double precision)
-- +      then cast("value" as double precision)
-- +    end as "number"
-- -    1 - 1 / cast(count(*) as double) as "share"
-- +    1 - (cast(1 as double precision) / nullif(cast(count(*) as double precision), 0)) as "share"
-- -    then "span"."share" * coalesce((
-- -      "placed"."number" - "span"."lowest"
-- -    ) / (
-- -      "span"."highest" - "span"."lowest"
-- -    ), 1)
-- +    then "span"."share" * coalesce(
-- +      (cast(("placed"."number" - "span"."lowest") as double precision) / nullif(("span"."highest" - "span"."lowest"), 0)),
-- +      1
-- +    )

-- postgres, value_3:
-- -    case when abs(cast(epoch("value") as double)) <= cast(1e300 as double) then cast(epoch("value") as double) end as "number"
-- +    case
-- +      when abs(cast(cast(extract(epoch from "value") as double precision) as double precision)) <= cast(1e300 as double precision)
-- +      then cast(cast(extract(epoch from "value") as double precision) as double precision)
-- +    end as "number"
-- -    1 - 1 / cast(count(*) as double) as "share"
-- +    1 - (cast(1 as double precision) / nullif(cast(count(*) as double precision), 0)) as "share"
-- -    then "span"."share" * coalesce((
-- -      "placed"."number" - "span"."lowest"
-- -    ) / (
-- -      "span"."highest" - "span"."lowest"
-- -    ), 1)
-- +    then "span"."share" * coalesce(
-- +      (cast(("placed"."number" - "span"."lowest") as double precision) / nullif(("span"."highest" - "span"."lowest"), 0)),
-- +      1
-- +    )

-- postgres, value_4:
-- -  coalesce(cast(to_json("text") as text), 'null') as "shown",
-- +  coalesce(
-- +    cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("text", '\', '\\'), '"', '\"'), chr(1), '\u0001'), chr(2), '\u0002'), chr(3), '\u0003'), chr(4), '\u0004'), chr(5), '\u0005'), chr(6), '\u0006'), chr(7), '\u0007'), chr(8), '\b'), chr(9), '\t'), chr(10), '\n'), chr(11), '\u000B'), chr(12), '\f'), chr(13), '\r'), chr(14), '\u000E'), chr(15), '\u000F'), chr(16), '\u0010'), chr(17), '\u0011'), chr(18), '\u0012'), chr(19), '\u0013'), chr(20), '\u0014'), chr(21), '\u0015'), chr(22), '\u0016'), chr(23), '\u0017'), chr(24), '\u0018'), chr(25), '\u0019'), chr(26), '\u001A'), chr(27), '\u001B'), chr(28), '\u001C'), chr(29), '\u001D'), chr(30), '\u001E'), chr(31), '\u001F') || '"') as text),
-- +    'null'
-- +  ) as "shown",
-- -  (
-- -    "code" - 1
-- -  ) / cast("value_count" as double) as "place"
-- +  (cast(("code" - 1) as double precision) / nullif(cast("value_count" as double precision), 0)) as "place"

-- postgres, facts:
-- -      then least("value_count", "row_count" // "largest_count")
-- +      then least("value_count", ("row_count" / "largest_count"))
-- -    then 'k = 10 needs at least 10 rows; the source has ' || coalesce(format('{:,}', "row_count"), '') || '; the largest k that works is ' || coalesce(cast("row_count" as text), '')
-- +    then 'k = 10 needs at least 10 rows; the source has ' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '') || '; the largest k that works is ' || coalesce(cast("row_count" as text), '')
-- -    then 'l = 4 asks for each value of ''' || coalesce(cast("name" as text), '') || ''' in at most 1/4 of a box: its most frequent value stands in ' || coalesce(format('{:,}', "largest_count"), '') || ' of ' || coalesce(format('{:,}', "row_count"), '') || ' rows; the largest l that works is ' || coalesce(cast("most" as text), '') || '; diversitydistinct asks for different values alone'
-- +    then 'l = 4 asks for each value of ''' || coalesce(cast("name" as text), '') || ''' in at most 1/4 of a box: its most frequent value stands in ' || coalesce(to_char("largest_count", 'FM999,999,999,999,999,990'), '') || ' of ' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '') || ' rows; the largest l that works is ' || coalesce(cast("most" as text), '') || '; diversitydistinct asks for different values alone'
