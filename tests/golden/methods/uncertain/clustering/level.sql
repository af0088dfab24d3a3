-- level_1: Every node's ancestor at each height 0 … below the root: the highest one not above that height, the node itself where it stands above
with placed as (
    select
        hierarchy.node,
        case
            when hierarchy.height >= 0 then hierarchy.node
            when "upper_1".height <= 0 then "upper_1".node
            when "upper_2".height <= 0 then "upper_2".node
        end as "ancestor_0",
        case
            when hierarchy.height >= 1 then hierarchy.node
            when "upper_1".height <= 1 then "upper_1".node
            when "upper_2".height <= 1 then "upper_2".node
        end as "ancestor_1"
    from "sqlanon_hierarchy_1" as hierarchy
    left join "sqlanon_hierarchy_1" as "upper_1" on hierarchy."level_1" = "upper_1".node
    left join "sqlanon_hierarchy_1" as "upper_2" on hierarchy."level_2" = "upper_2".node
)
select
    node,
    cast(dense_rank() over (order by "ancestor_0" asc nulls last) as integer) as "code_0",
    cast(dense_rank() over (partition by "ancestor_1" order by "ancestor_0" asc nulls last) as integer) as "branch_0",
    cast(dense_rank() over (order by "ancestor_1" asc nulls last) as integer) as "code_1",
    cast(dense_rank() over ( order by "ancestor_1" asc nulls last) as integer) as "branch_1"
from placed
