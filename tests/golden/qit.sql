-- qit: the quasi-identifier table: everybody's exact quasi values and the group
select
    grouped.quasi_1 as "age", grouped.quasi_2 as "sex", grouped.quasi_3 as "zipcode",
    grouped.group_id as "group_id"
from "sqlanon_grouped" as grouped
order by
    grouped.quasi_1 asc nulls last, grouped.quasi_2 asc nulls last, grouped.quasi_3 asc nulls last,
    grouped.group_id asc nulls last
