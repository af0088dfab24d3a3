-- representative: One value that stands for each different sensitive cell when rows are dealt out: a grave one if the cell has any, and of these the one that the fewest rows hold
with frequency as (
    select
        held.held,
        sum(cell_count.row_count) as row_count
    from "sqlanon_held" as held
    inner join "sqlanon_cell_count" as cell_count on held.cell_code = cell_count.cell_code
    group by held.held
),
ranked as (
    select
        held.cell_code,
        held.held,
        held.grave,
        row_number() over (
            partition by held.cell_code
            order by held.grave desc nulls last, frequency.row_count asc nulls last, held.held asc nulls last
        ) as place
    from "sqlanon_held" as held
    inner join frequency on held.held = frequency.held
)
select
    cell_code,
    held,
    grave
from ranked
where place = 1
