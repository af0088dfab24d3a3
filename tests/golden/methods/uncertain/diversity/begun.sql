-- begun: The clusters before they climb: one that is not diverse shows what all its rows have in common, and those that show the same are one region
with named as (
    select
        judged.cluster,
        judged.verdict,
        common_1.node as node_1,
        case when judged.verdict = 0 then 1 else 0 end as changed
    from "sqlanon_judged" as judged
    left join "sqlanon_common_node_1" as common_1 on judged.cluster = common_1.cluster
)
select
    cluster,
    case
        when changed = 1
            then min(cluster) over (partition by changed, node_1)
        else cluster
    end as target,
    cast(1 + changed as bigint) as width,
    verdict,
    changed,
    cast(0 as bigint) as turn,
    cast(0 as bigint) as last_climb,
    node_1
from named
