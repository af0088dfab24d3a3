-- population: the rows, whose draws are made once
select *
from "sqlanon_population_4"

-- load: how many groups each class gives in every column, and in how many of its rows a value stands at most
with counted as (
    select "quasi_2", 1 as column_number, "code_1" as code, count(*) as row_count from "sqlanon_population_5" group by "quasi_2", "code_1"
    union all
    select "quasi_2", 2 as column_number, "code_2" as code, count(*) as row_count from "sqlanon_population_5" group by "quasi_2", "code_2"
),
placed as (
    select
        counted.*,
        row_number() over (partition by "quasi_2", column_number order by row_count desc nulls last, code asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by "quasi_2", column_number order by row_count asc nulls last, code desc nulls last rows unbounded preceding) as bigint) as tail
    from counted
),
bounded as (
    select
        "quasi_2", 
        column_number,
        max(row_count) as largest,
        case when count(*) = 3 then min(tail // (3 - place)) else 0 end as most
    from placed
    where place < 3
    group by "quasi_2", column_number
)
select "quasi_2", max(largest) as largest, min(most) as most
from bounded
group by "quasi_2"

-- population: the rows that their classes keep
with placed as (
    select
        rows_left.*,
        row_number() over (partition by "quasi_2", "code_1" order by "draw" asc nulls last, "tie" asc nulls last) as place_1,
        row_number() over (partition by "quasi_2", "code_2" order by "draw" asc nulls last, "tie" asc nulls last) as place_2
    from "sqlanon_population_5" as rows_left
)
select placed."quasi_1", placed."quasi_2", placed."code_1", placed."code_2", placed."sensitive", placed."draw", placed."tie"
from placed
inner join "sqlanon_load" as load on placed."quasi_2" is not distinct from load."quasi_2"
where placed.place_1 <= load.most and placed.place_2 <= load.most

-- load: the same of the rows that are kept
with counted as (
    select "quasi_2", 1 as column_number, "code_1" as code, count(*) as row_count from "sqlanon_population_5" group by "quasi_2", "code_1"
    union all
    select "quasi_2", 2 as column_number, "code_2" as code, count(*) as row_count from "sqlanon_population_5" group by "quasi_2", "code_2"
),
placed as (
    select
        counted.*,
        row_number() over (partition by "quasi_2", column_number order by row_count desc nulls last, code asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by "quasi_2", column_number order by row_count asc nulls last, code desc nulls last rows unbounded preceding) as bigint) as tail
    from counted
),
bounded as (
    select
        "quasi_2", 
        column_number,
        max(row_count) as largest,
        case when count(*) = 3 then min(tail // (3 - place)) else 0 end as most
    from placed
    where place < 3
    group by "quasi_2", column_number
)
select "quasi_2", max(largest) as largest, min(most) as most
from bounded
group by "quasi_2"

-- thinning: 
select case when 0 = (select count(*) from "sqlanon_load" where largest > most) then 0 else 1 end as left_over
