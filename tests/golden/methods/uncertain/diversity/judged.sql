-- judged: How every cluster stands: 2 where its rows hold at least L different weights and not all the same set of them, 1 where all weights are below c (it passes as it is), 0 where it fails
with diversity as (
    select
        cluster,
        count(*) as weight_count,
        max(grave) as grave,
        min(least_alternatives) as least_alternatives
    from "sqlanon_cluster_value"
    group by cluster
)
select
    cluster,
    cluster as target,
    cast(1 as bigint) as width,
    case
        when weight_count >= 3 and least_alternatives < weight_count then 2
        when grave = 0 then 1
        else 0
    end as verdict
from diversity
