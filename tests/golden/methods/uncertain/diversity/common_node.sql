-- common_node_1: The lowest common ancestor of an attribute's nodes in every cluster that is not diverse; the root where a row has no value
with common as (
    select
        clustering.cluster,
        case
            when count(hierarchy."level_1") = count(*) and min(hierarchy."level_1") = max(hierarchy."level_1")
                then min(hierarchy."level_1")
        end as "level_1",
        case
            when count(hierarchy."level_2") = count(*) and min(hierarchy."level_2") = max(hierarchy."level_2")
                then min(hierarchy."level_2")
        end as "level_2"
    from "sqlanon_clustering" as clustering
    inner join "sqlanon_judged" as judged on clustering.cluster = judged.cluster
    inner join "sqlanon_determined" as determined on clustering.row_number = determined.row_number
    left join "sqlanon_hierarchy_1" as hierarchy on determined."quasi_1" = hierarchy.node
    where judged.verdict = 0
    group by clustering.cluster
)
select
    common.cluster,
    coalesce(common."level_2", common."level_1", root.node) as node
from common
cross join (
    select node
    from "sqlanon_hierarchy_1"
    where depth = 0
) as root
