-- clustered: Every row's cluster, where those that failed were merged and dealt out anew: a region has no more groups than it had clusters, so their numbers do
with numbered as (
    select
        position,
        target + dense_rank() over (partition by target order by group_number asc nulls last, piece asc nulls last) - 1 as cluster
    from "sqlanon_spared"
)
select
    clustering.row_number,
    coalesce(numbered.cluster, clustering.cluster) as cluster,
    0 as suppressed
from "sqlanon_clustering" as clustering
left join numbered on clustering.position = numbered.position
