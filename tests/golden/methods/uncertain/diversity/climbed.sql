-- climbed: One turn of climbing: every cluster whose region is not diverse shows nodes no deeper than this turn allows
with chosen as (
    select
        climbing.*,
        case
            when verdict = 0 then 1
            when changed = 1 and turn >= 2 and last_climb >= 2 * 2 - turn - 1 then 1
            else 0
        end as climbs
    from "sqlanon_climbing" as climbing
),
raised as (
    select
        chosen.cluster,
        chosen.verdict,
        case
            when chosen.climbs = 0 or climb_limit.limit_1 >= hierarchy_1.depth then chosen.node_1
            when climb_limit.limit_1 = 1 then hierarchy_1."level_1"
            else root_1.node
        end as node_1,
        chosen.changed,
        chosen.turn + 1 as turn,
        case when chosen.climbs = 1 then chosen.turn + 1 else chosen.last_climb end as last_climb
    from chosen
    inner join "sqlanon_climb_limit" as climb_limit on least(chosen.turn + 1, 2) = climb_limit.turn
    inner join "sqlanon_hierarchy_1" as root_1 on root_1.depth = 0
    left join "sqlanon_hierarchy_1" as hierarchy_1 on chosen.node_1 = hierarchy_1.node
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
    turn,
    last_climb,
    node_1
from raised
