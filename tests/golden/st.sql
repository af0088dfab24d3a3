-- st: the sensitive table: each group's values, each of which stands in a group once
with listed as (
    select "group_id", "code" as held_code from "sqlanon_grouped"

),
line as (
    select
        listed.group_id,
        held.sensitive
    from listed
    inner join "sqlanon_frequency" as held on listed.held_code = held.code
    order by
        listed.group_id asc nulls last,
        held.sensitive asc nulls last
)
select
    line.group_id as "group_id",
    line.sensitive as "disease",
    cast(1 as bigint) as "count"
from line
