-- population: the rows, whose draws are made once
select *
from "sqlanon_population_3"

-- residue: the largest of the N mod gamma smallest draws (below 0: none is to be dropped): fewer than gamma, which are found without a sort of the table
with total as (
    select count(*) % 5 as dropped_rows
    from "sqlanon_population_4"
),
smallest as (
    select draw
    from "sqlanon_population_4"
    order by draw asc nulls last
    limit 5
),
ranked as (
    select
        draw,
        row_number() over (order by draw asc nulls last) as draw_rank
    from smallest
)
select
    coalesce(max(case when ranked.draw_rank <= total.dropped_rows then ranked.draw end), 0 - 1) as last_draw,
    coalesce(max(total.dropped_rows), 0) as dropped_rows
from ranked
cross join total

-- left_out: how many rows are dropped so that the rest is a multiple of gamma
select cast(dropped_rows as bigint) as dropped_rows
from "sqlanon_residue"

-- left_over: the rows that are dropped
select drawn.*
from "sqlanon_population_4" as drawn
cross join "sqlanon_residue" as residue
where drawn.draw <= residue.last_draw

-- population: the rows without the residue: their draws, given that they are larger than the dropped ones, are as random as before
select drawn.*
from "sqlanon_population_4" as drawn
cross join "sqlanon_residue" as residue
where drawn.draw > residue.last_draw

-- spark, population:
-- -  "drawn".*
-- -from "sqlanon_population_4" as "drawn"
-- -cross join "sqlanon_residue" as "residue"
-- -where
-- -  "drawn"."draw" > "residue"."last_draw"
-- +  *
-- +from "sqlanon_population_3"

-- postgres, population:
-- -  "drawn".*
-- -from "sqlanon_population_4" as "drawn"
-- -cross join "sqlanon_residue" as "residue"
-- -where
-- -  "drawn"."draw" > "residue"."last_draw"
-- +  *
-- +from "sqlanon_population_3"
