-- population: the rows, whose draws are made once
select *
from "sqlanon_population_3"

-- draw_range: the rows in 4,096 ranges of draws, and how many stand in each and those before it, so that the smallest draws are found without a sort of the table
with counted as (
    select
        draw // 281474976710656 as draw_range,
        count(*) as row_count
    from "sqlanon_population_4"
    group by draw // 281474976710656
),
running as (
    select
        draw_range,
        cast(sum(row_count) over (order by draw_range asc nulls last rows unbounded preceding) as bigint) as rows_up_to
    from counted
),
total as (
    select max(rows_up_to) % 5 as residue
    from running
)
select
    running.draw_range,
    running.rows_up_to,
    total.residue
from running
cross join total

-- residue: the largest of the N mod gamma smallest draws (below 0: none is to be dropped)
with bound as (
    select
        min(case when rows_up_to >= residue then draw_range end) as last_range,
        max(residue) as residue
    from "sqlanon_draw_range"
    where residue > 0
),
candidate as (
    select
        drawn.draw,
        bound.residue,
        row_number() over (order by drawn.draw asc nulls last) as draw_rank
    from "sqlanon_population_4" as drawn
    cross join bound
    where drawn.draw // 281474976710656 <= bound.last_range
)
select
    coalesce(max(case when draw_rank <= residue then draw end), 0 - 1) as last_draw,
    coalesce(sum(case when draw_rank <= residue then 1 else 0 end), 0) as dropped_rows
from candidate

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

-- spark, draw_range:
-- -    "draw" // 281474976710656 as "draw_range",
-- +    ("draw" div 281474976710656) as "draw_range",
-- -    "draw" // 281474976710656
-- +    ("draw" div 281474976710656)

-- spark, residue:
-- -    "drawn"."draw" // 281474976710656 <= "bound"."last_range"
-- +    ("drawn"."draw" div 281474976710656) <= "bound"."last_range"

-- postgres, population:
-- -  "drawn".*
-- -from "sqlanon_population_4" as "drawn"
-- -cross join "sqlanon_residue" as "residue"
-- -where
-- -  "drawn"."draw" > "residue"."last_draw"
-- +  *
-- +from "sqlanon_population_3"

-- postgres, draw_range:
-- -    "draw" // 281474976710656 as "draw_range",
-- +    ("draw" / 281474976710656) as "draw_range",
-- -    "draw" // 281474976710656
-- +    ("draw" / 281474976710656)

-- postgres, residue:
-- -    "drawn"."draw" // 281474976710656 <= "bound"."last_range"
-- +    ("drawn"."draw" / 281474976710656) <= "bound"."last_range"
