-- still_failing: How many clusters lie in regions that are not diverse, as long as there is a level to climb
select coalesce(cast(sum(case when verdict = 0 and turn < 4 then 1 else 0 end) as bigint), 0) as left_over
from "sqlanon_climbing"
