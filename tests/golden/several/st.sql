-- st: the sensitive table of a column: each group's values, each of which stands in a group once
with line as (
    select
        grouped.group_id,
        held.sensitive
    from "sqlanon_grouped_2" as grouped
    inner join "sqlanon_value_1" as held on grouped.code_1 = held.code
    order by
        grouped.group_id asc nulls last,
        held.sensitive asc nulls last
)
select
    line.group_id as "group_id",
    line.sensitive as "disease",
    cast(1 as bigint) as "count"
from line

-- st_2: the sensitive table of a column: each group's values, each of which stands in a group once
with line as (
    select
        grouped.group_id,
        held.sensitive
    from "sqlanon_grouped_2" as grouped
    inner join "sqlanon_value_2" as held on grouped.code_2 = held.code
    order by
        grouped.group_id asc nulls last,
        held.sensitive asc nulls last
)
select
    line.group_id as "group_id",
    line.sensitive as "income",
    cast(1 as bigint) as "count"
from line
