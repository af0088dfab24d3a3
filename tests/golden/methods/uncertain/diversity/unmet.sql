-- unmet: How many rows are in regions that fail after all merges
select coalesce(cast(sum(cluster_count.row_count) as bigint), 0) as failing_rows
from "sqlanon_judged" as judged
inner join "sqlanon_cluster_count" as cluster_count on judged.cluster = cluster_count.cluster
where judged.verdict = 0
