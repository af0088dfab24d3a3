-- cluster_count: How many rows of every cluster each value stands for
select
    clustering.cluster,
    representative.held,
    representative.grave,
    count(*) as row_count
from "sqlanon_clustering" as clustering
inner join "sqlanon_representative" as representative on clustering.cell_code = representative.cell_code
group by clustering.cluster, representative.held, representative.grave
