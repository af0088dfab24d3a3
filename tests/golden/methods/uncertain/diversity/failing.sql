-- failing: How many regions fail that can still be merged with others, or judged with less patience
select
    case
        when count(*) > 1 or max(width) <= 4
            then coalesce(cast(sum(case when verdict = 0 then 1 else 0 end) as bigint), 0)
        else 0
    end as left_over
from "sqlanon_judged"
where cluster = target
