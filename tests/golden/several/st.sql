-- st: the sensitive table of a column: each group's values, each of which stands in a group once
with listed as (
    select "group_id", "code_1" as held_code
    from "sqlanon_grouped_2"

),
line as (
    select
        listed.group_id,
        held.sensitive
    from listed
    inner join "sqlanon_value_1" as held on listed.held_code = held.code
    order by
        listed.group_id asc nulls last,
        held.sensitive asc nulls last
)
select
    line.group_id as "group_id",
    line.sensitive as "disease",
    cast(1 as bigint) as "count"
from line

-- st_2: the sensitive table of a column: each group's values, each of which stands in a group once
with listed as (
    select "group_id", "code_2" as held_code
    from "sqlanon_grouped_2"

),
line as (
    select
        listed.group_id,
        held.sensitive
    from listed
    inner join "sqlanon_value_2" as held on listed.held_code = held.code
    order by
        listed.group_id asc nulls last,
        held.sensitive asc nulls last
)
select
    line.group_id as "group_id",
    line.sensitive as "income",
    cast(1 as bigint) as "count"
from line
