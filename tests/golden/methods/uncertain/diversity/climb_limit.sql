-- climb_limit: How deep nodes may lie at each turn of climbing: one level of one attribute is given up at a time, the one that costs least (importance times the share of the hierarchy that is climbed)
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
group by numbered.turn
