-- clustered: Every row's cluster, where those that climbed were dealt out anew: a region has no more groups than it had clusters, so that these give them their numbers
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
left join home on numbered.target = home.target and numbered.place = home.place
