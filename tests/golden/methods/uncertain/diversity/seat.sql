-- seat: The group in its region of every row that is dealt out; which of a value's rows goes where is drawn, so that the groups tell no more of who has which value than ST does
with drawn as (
    select
        clustering.position,
        judged.target,
        representative.held,
        representative.grave,
        clustering."draw",
        clustering."tie",
        row_number() over (
            partition by judged.target, representative.held
            order by clustering."draw" asc nulls last, clustering."tie" asc nulls last, clustering.position asc nulls last
        ) - 1 as turn
    from "sqlanon_clustering" as clustering
    inner join "sqlanon_judged" as judged on clustering.cluster = judged.cluster
    inner join "sqlanon_representative" as representative on clustering.cell_code = representative.cell_code
    where judged.width > 1
)
select
    drawn.position,
    drawn.target,
    drawn.held,
    drawn.grave,
    portion.group_count,
    drawn."draw",
    drawn."tie",
    case
        when drawn.turn < portion.full_rows then drawn.turn % greatest(1, portion.group_count)
        else (portion.pool_start + drawn.turn - portion.full_rows) % greatest(1, portion.group_count)
    end as group_number
from drawn
inner join "sqlanon_portion" as portion on drawn.target = portion.target and drawn.held = portion.held
