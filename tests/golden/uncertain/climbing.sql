-- climb_limit: How deep nodes may lie at each turn of climbing: one level of one attribute is given up at a time, the one that costs least (importance times the share of the hierarchy that is climbed)
create temporary table "sqlanon_climb_limit" as
with level as (
    select
        1 as place,
        0 as depth,
        "importance_1" * cast(2 - 0 as double) / 2 as cost
    from "sqlanon_importance"
    union all
    select
        1 as place,
        1 as depth,
        "importance_1" * cast(2 - 1 as double) / 2 as cost
    from "sqlanon_importance"
),
numbered as (
    select
        place,
        depth,
        row_number() over (order by cost asc nulls last, place asc nulls last, depth desc nulls last) as turn
    from level
)
select
    numbered.turn,
    coalesce(min(case when given_up.place = 1 then given_up.depth end), 2) as limit_1
from numbered
inner join numbered as given_up on given_up.turn <= numbered.turn
group by numbered.turn;

-- common_node_1: The lowest common ancestor of an attribute's nodes in every cluster that is not diverse, the root where a row has no value
create temporary table "sqlanon_common_node_1" as
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
) as root;

-- begun: The clusters before they climb: one that is not diverse shows what all its rows have in common, and those that show the same are one region
create temporary table "sqlanon_begun" as
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
from named;

-- judged_begun: How every region stands after a turn of merges, judged anew where something was merged
create temporary table "sqlanon_judged_begun" as
with weight as (
    select
        merged.target,
        cluster_value.held,
        max(cluster_value.grave) as grave,
        min(cluster_value.least_alternatives) as least_alternatives
    from "sqlanon_cluster_value" as cluster_value
    inner join "sqlanon_begun" as merged on cluster_value.cluster = merged.cluster
    where merged.changed = 1
    group by merged.target, cluster_value.held
),
diversity as (
    select
        target,
        max(grave) as grave,
        case when count(*) >= 3 and min(least_alternatives) < count(*) then 1 else 0 end as diverse
    from weight
    group by target
),
counted as (
    select
        merged.target,
        3 as wanted,
        cluster_count.held,
        cluster_count.grave,
        cast(sum(cluster_count.row_count) as bigint) as row_count
    from "sqlanon_cluster_count" as cluster_count
    inner join "sqlanon_begun" as merged on cluster_count.cluster = merged.cluster
    where merged.changed = 1
    group by merged.target, cluster_count.held, cluster_count.grave
),
ranked as (
    select
        target,
        wanted,
        held,
        grave,
        row_count,
        cast(sum(row_count) over (partition by target) as bigint) as total_rows,
        cast(sum(grave * row_count) over (partition by target) as bigint) as grave_rows,
        row_number() over (partition by target order by row_count desc nulls last, held asc nulls last) as place,
        cast(sum(row_count) over (
            partition by target order by row_count desc nulls last, held asc nulls last rows unbounded preceding
        ) as bigint) as rows_so_far
    from counted
),
possible as (
    select
        target,
        wanted,
        total_rows,
        grave_rows,
        least(
            total_rows // 5,
            total_rows // wanted,
            min(case when place < wanted then (total_rows - rows_so_far) // (wanted - place) end)
        ) as group_count
    from ranked
    group by target, wanted, total_rows, grave_rows
),
shared as (
    select
        possible.target,
        possible.wanted,
        possible.total_rows,
        possible.grave_rows,
        possible.group_count,
        case when possible.group_count > 0 then possible.group_count end as divisor,
        cast(sum(ranked.grave * least(ranked.row_count, possible.group_count)) as bigint) as grave_places
    from possible
    inner join ranked on possible.target = ranked.target
    group by possible.target, possible.wanted, possible.total_rows, possible.grave_rows, possible.group_count
),
needed as (
    select
        *,
        greatest(0, wanted * group_count - grave_places) as helping_rows,
        (grave_rows + divisor - 1) // divisor + greatest(0, wanted - grave_places // divisor) as must
    from shared
),
fitting as (
    select
        target,
        total_rows,
        group_count,
        (grave_rows + helping_rows + divisor - 1) // divisor as least_size,
        case when divisor > 0 then least(
            (total_rows + divisor - 1) // divisor, greatest(5, must) + 5 - 1
        ) end as largest_size
    from needed
),
sized as (
    select
        fitting.target,
        diversity.grave,
        case
            when fitting.largest_size is not null then fitting.largest_size
            when diversity.diverse = 1 then fitting.total_rows
        end as largest_size
    from fitting
    inner join diversity on fitting.target = diversity.target
)
select
    merged.cluster,
    merged.target,
    merged.width,
    case
        when merged.changed = 0 then merged.verdict
        when sized.grave = 0 then 1
        when sized.largest_size <= 20 then 2
        when merged.width > 0 and sized.largest_size <= 20 then 2
        else 0
    end as verdict
from "sqlanon_begun" as merged
left join sized on merged.target = sized.target;

-- climbing: The clusters after a turn of climbing, with what they show and how their regions stand
create temporary table "sqlanon_climbing" as
select
    climbed.cluster,
    climbed.target,
    climbed.width,
    region_judged.verdict,
    climbed.changed,
    climbed.turn,
    climbed.last_climb,
    climbed.node_1
from "sqlanon_begun" as climbed
inner join "sqlanon_judged_begun" as region_judged on climbed.cluster = region_judged.cluster;

-- climbs: turn 1 of 1

-- climbed: One turn of climbing: every cluster whose region is not diverse shows nodes no deeper than this turn allows
create temporary table "sqlanon_climbed" as
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
from raised;

-- judged_climbed: How every region stands after a turn of merges, judged anew where something was merged
create temporary table "sqlanon_judged_climbed" as
with weight as (
    select
        merged.target,
        cluster_value.held,
        max(cluster_value.grave) as grave,
        min(cluster_value.least_alternatives) as least_alternatives
    from "sqlanon_cluster_value" as cluster_value
    inner join "sqlanon_climbed" as merged on cluster_value.cluster = merged.cluster
    where merged.changed = 1
    group by merged.target, cluster_value.held
),
diversity as (
    select
        target,
        max(grave) as grave,
        case when count(*) >= 3 and min(least_alternatives) < count(*) then 1 else 0 end as diverse
    from weight
    group by target
),
counted as (
    select
        merged.target,
        3 as wanted,
        cluster_count.held,
        cluster_count.grave,
        cast(sum(cluster_count.row_count) as bigint) as row_count
    from "sqlanon_cluster_count" as cluster_count
    inner join "sqlanon_climbed" as merged on cluster_count.cluster = merged.cluster
    where merged.changed = 1
    group by merged.target, cluster_count.held, cluster_count.grave
),
ranked as (
    select
        target,
        wanted,
        held,
        grave,
        row_count,
        cast(sum(row_count) over (partition by target) as bigint) as total_rows,
        cast(sum(grave * row_count) over (partition by target) as bigint) as grave_rows,
        row_number() over (partition by target order by row_count desc nulls last, held asc nulls last) as place,
        cast(sum(row_count) over (
            partition by target order by row_count desc nulls last, held asc nulls last rows unbounded preceding
        ) as bigint) as rows_so_far
    from counted
),
possible as (
    select
        target,
        wanted,
        total_rows,
        grave_rows,
        least(
            total_rows // 5,
            total_rows // wanted,
            min(case when place < wanted then (total_rows - rows_so_far) // (wanted - place) end)
        ) as group_count
    from ranked
    group by target, wanted, total_rows, grave_rows
),
shared as (
    select
        possible.target,
        possible.wanted,
        possible.total_rows,
        possible.grave_rows,
        possible.group_count,
        case when possible.group_count > 0 then possible.group_count end as divisor,
        cast(sum(ranked.grave * least(ranked.row_count, possible.group_count)) as bigint) as grave_places
    from possible
    inner join ranked on possible.target = ranked.target
    group by possible.target, possible.wanted, possible.total_rows, possible.grave_rows, possible.group_count
),
needed as (
    select
        *,
        greatest(0, wanted * group_count - grave_places) as helping_rows,
        (grave_rows + divisor - 1) // divisor + greatest(0, wanted - grave_places // divisor) as must
    from shared
),
fitting as (
    select
        target,
        total_rows,
        group_count,
        (grave_rows + helping_rows + divisor - 1) // divisor as least_size,
        case when divisor > 0 then least(
            (total_rows + divisor - 1) // divisor, greatest(5, must) + 5 - 1
        ) end as largest_size
    from needed
),
sized as (
    select
        fitting.target,
        diversity.grave,
        case
            when fitting.largest_size is not null then fitting.largest_size
            when diversity.diverse = 1 then fitting.total_rows
        end as largest_size
    from fitting
    inner join diversity on fitting.target = diversity.target
)
select
    merged.cluster,
    merged.target,
    merged.width,
    case
        when merged.changed = 0 then merged.verdict
        when sized.grave = 0 then 1
        when sized.largest_size <= 20 then 2
        when merged.width > 0 and sized.largest_size <= 20 then 2
        else 0
    end as verdict
from "sqlanon_climbed" as merged
left join sized on merged.target = sized.target;

-- climbing_again: The clusters after a turn of climbing, with what they show and how their regions stand
create temporary table "sqlanon_climbing_again" as
select
    climbed.cluster,
    climbed.target,
    climbed.width,
    region_judged.verdict,
    climbed.changed,
    climbed.turn,
    climbed.last_climb,
    climbed.node_1
from "sqlanon_climbed" as climbed
inner join "sqlanon_judged_climbed" as region_judged on climbed.cluster = region_judged.cluster;

drop table "sqlanon_climbing";

-- climbs
create temporary table "sqlanon_climbing" as
select * from "sqlanon_climbing_again";

drop table "sqlanon_climbing_again";

drop table "sqlanon_judged_climbed";

drop table "sqlanon_climbed";

-- unmet: as in duckdb.sql, but for
-- -            when failing_rows > 0 then 'some rows find no group of at most 20 rows with 3 different weights; lower -L, raise --max-group, or say --undiverse suppress'
-- +            when failing_rows > 0 then 'some rows find no group of at most 20 rows with 3 different weights among rows that fail as they do, where their hierarchies end as well; lower -L, raise --max-group, or say --undiverse merge or --undiverse suppress'
-- -        from "sqlanon_judged" as judged
-- +        from "sqlanon_climbing" as judged

-- portion: as in duckdb.sql, but for
-- -    inner join "sqlanon_judged" as judged on cluster_count.cluster = judged.cluster
-- +    inner join "sqlanon_climbing" as judged on cluster_count.cluster = judged.cluster

-- seat: as in duckdb.sql, but for
-- -    inner join "sqlanon_judged" as judged on clustering.cluster = judged.cluster
-- +    inner join "sqlanon_climbing" as judged on clustering.cluster = judged.cluster

-- spared: as in duckdb.sql

-- clustered: Every row's cluster, where those that climbed were dealt out anew: a region has no more groups than it had clusters, so that these give them their numbers
create temporary table "sqlanon_clustered" as
with numbered as (
    select
        position,
        target,
        dense_rank() over (partition by target order by group_number asc nulls last, piece asc nulls last) as place
    from "sqlanon_spared"
),
home as (
    select
        cluster,
        target,
        row_number() over (partition by target order by cluster asc nulls last) as place
    from "sqlanon_climbing"
    where width > 1
)
select
    clustering.row_number,
    coalesce(home.cluster, clustering.cluster) as cluster,
    0 as suppressed,
    numbered.target as climbed_to
from "sqlanon_clustering" as clustering
left join numbered on clustering.position = numbered.position
left join home on numbered.target = home.target and numbered.place = home.place;

-- measured: as in duckdb.sql

-- quality: as in duckdb.sql, but for
-- -    + "share_3" * (0 + case when a."level_3_0" = "b"."level_3_0" then 0 else 1 end) // 1
-- -    + coalesce(
-- -        abs(a."number_2" - "b"."number_2"),
-- -        case when a."number_2" is null and "b"."number_2" is null then 0 else "share_2" end
-- -    )

-- shown: the rows with their clusters, in a cluster that climbed every row shows the nodes of its region, and of how many alternatives is not told: 0 where a node stands for several values
create temporary table "sqlanon_shown" as
select
    case when climbing.cluster is null then determined.quasi_1 else climbing.node_1 end as quasi_1,
    case when climbing.cluster is null then determined."alternatives_1" when hierarchy_1.height > 0 then 0 else 1 end as "alternatives_1",
    determined."row_number", determined."draw", determined."tie", determined."set_code", determined."cell_code",
    clustered.cluster
from "sqlanon_determined" as determined
inner join "sqlanon_clustered" as clustered on determined.row_number = clustered.row_number
left join "sqlanon_climbing" as climbing on clustered.climbed_to = climbing.cluster
left join "sqlanon_hierarchy_1" as hierarchy_1 on climbing.node_1 = hierarchy_1.node;

-- pattern: as in duckdb.sql

-- group_number: as in duckdb.sql, but for
-- -        min(create_sort_key(pattern.qiid, 'ASC NULLS LAST', shown.quasi_1, 'ASC NULLS LAST', shown.quasi_2, 'ASC NULLS LAST', shown.quasi_3, 'ASC NULLS LAST')) as least_row,
-- +        min(create_sort_key(pattern.qiid, 'ASC NULLS LAST', shown.quasi_1, 'ASC NULLS LAST')) as least_row,

-- qit: as in duckdb.sql, but for
-- -    shown.quasi_2 as "age",
-- -    shown.quasi_3 as "sex",
-- -    shown.quasi_2 asc nulls last,
-- -    shown.quasi_3 asc nulls last,

-- st: as in duckdb.sql

-- the rest is microdata and the key: forget it
-- 45 relations, the last first

commit;
