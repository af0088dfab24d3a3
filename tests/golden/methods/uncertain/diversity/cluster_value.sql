-- cluster_value: The sensitive values of every cluster, alternatives included: in how many rows each stands, and the fewest alternatives of a row that holds it
select
    clustering.cluster,
    held.held,
    max(held.grave) as grave,
    count(*) as row_count,
    min(clustering.sensitive_count) as least_alternatives
from "sqlanon_clustering" as clustering
inner join "sqlanon_held" as held on clustering.cell_code = held.cell_code
group by clustering.cluster, held.held
