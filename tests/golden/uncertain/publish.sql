-- qit: the quasi-identifier table: QIID, the deterministic quasi values and the group
select
    
    pattern.qiid as "qiid",
    pattern.alternatives as "alternatives",
    shown.quasi_1 as "education", shown.quasi_2 as "age", shown.quasi_3 as "sex",
    group_number.group_id as "group_id"
from "sqlanon_shown" as shown
inner join "sqlanon_pattern" as pattern on true and shown."alternatives_1" = pattern."alternatives_1"
inner join "sqlanon_group_number" as group_number on shown.cluster = group_number.cluster
order by
    
    pattern.qiid asc nulls last,
    shown.quasi_1 asc nulls last, shown.quasi_2 asc nulls last, shown.quasi_3 asc nulls last,
    group_number.group_id asc nulls last

-- st: the sensitive table: the sets of alternatives that a group holds, and how often; a set that is given in several orders is shown in one of them
with counted as (
    select
        group_number.group_id,
        shown.set_code,
        min(shown.cell_code) as cell_code,
        count(*) as row_count
    from "sqlanon_shown" as shown
    inner join "sqlanon_group_number" as group_number on shown.cluster = group_number.cluster
    group by group_number.group_id, shown.set_code
)
select
    counted.group_id as "group_id",
    set_values.value_1 as "disease1", set_values.value_2 as "disease2",
    counted.row_count as "count"
from counted
inner join "sqlanon_set_values" as set_values on counted.cell_code = set_values.cell_code
order by
    counted.group_id asc nulls last,
    set_values.value_1 asc nulls last, set_values.value_2 asc nulls last,
    counted.row_count asc nulls last
