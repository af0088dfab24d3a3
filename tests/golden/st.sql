-- st: the sensitive table: each group's values, each of which stands in a group once
with line as (
    select
        grouped.group_id,
        frequency.sensitive
    from "sqlanon_grouped" as grouped
    inner join "sqlanon_frequency" as frequency on grouped.code = frequency.code
    order by
        grouped.group_id asc nulls last,
        frequency.sensitive asc nulls last
)
select
    line.group_id as "group_id",
    line.sensitive as "disease",
    cast(1 as bigint) as "count"
from line
