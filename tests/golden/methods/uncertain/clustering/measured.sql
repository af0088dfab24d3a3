-- measured: The rows of the clusters with what distances go by
select
    point.*,
    clustered.cluster as target,
    clustered.row_number as position
from "sqlanon_clustered" as clustered
inner join "sqlanon_point" as point on clustered.row_number = point.row_number
