-- tallied: how often each value occurs in each class
with counted as (
    select "quasi_2", 1 as column_number, "code_1" as code, count(*) as row_count
    from "sqlanon_population_3"
    group by "quasi_2", "code_1"
    union all
    select "quasi_2", 2 as column_number, "code_2" as code, count(*) as row_count
    from "sqlanon_population_3"
    group by "quasi_2", "code_2"
),
placed as (
    select
        counted.*,
        row_number() over (partition by "quasi_2", column_number order by row_count desc nulls last, code asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by "quasi_2", column_number) as bigint) as class_rows,
        cast(sum(row_count) over (partition by "quasi_2", column_number order by row_count desc nulls last, code asc nulls last rows unbounded preceding) as bigint) - row_count as head
    from counted
)
select *
from placed

-- kept: how many rows find a group, by size, class and column
with sized as (
    select distinct place + 1 as size
    from "sqlanon_tallied"
    where place > 0 and place < 3
),
bounded as (
    select
        tallied."quasi_2",
        tallied.column_number,
        sized.size,
        case when count(*) = sized.size then min((tallied.class_rows - tallied.head) // (sized.size - tallied.place)) else 0 end as most
    from "sqlanon_tallied" as tallied
    inner join sized on tallied.place < sized.size
    group by tallied."quasi_2", tallied.column_number, sized.size
)
select
    tallied."quasi_2",
    bounded.size,
    tallied.column_number,
    max(tallied.class_rows) as class_rows,
    cast(sum(least(tallied.row_count, bounded.most)) as bigint) as kept_rows
from "sqlanon_tallied" as tallied
inner join bounded on tallied."quasi_2" is not distinct from bounded."quasi_2" and tallied.column_number = bounded.column_number
group by tallied."quasi_2", bounded.size, tallied.column_number

-- few_left_over: no more rows are left over than may be
with together as (
    select "quasi_2", size, max(class_rows) as class_rows, min(kept_rows) as kept_rows
    from "sqlanon_kept"
    group by "quasi_2", size
),
total as (
    select coalesce(cast(sum(row_count) as bigint), 0) as row_count
    from "sqlanon_tallied"
    where column_number = 1
),
held as (
    select size, cast(sum(kept_rows) as bigint) as kept_rows
    from together
    group by size
),
alone as (
    select column_number, cast(sum(kept_rows) as bigint) as kept_rows
    from "sqlanon_kept"
    where size = 3
    group by column_number
),
worst_column as (
    select alone.*, row_number() over (order by kept_rows asc nulls last, column_number asc nulls last) as place
    from alone
),
signed as (
    select
        coalesce(cast("quasi_2" as varchar), 'NULL') as signature_text,
        class_rows - kept_rows as surplus
    from together
    where size = 3 and class_rows > kept_rows
),
placed as (
    select signed.*, row_number() over (order by surplus desc nulls last, signature_text asc nulls last) as place
    from signed
),
worst as (
    select
        count(*) as class_count,
        max(case when place = 1 then '(' || signature_text || ') with ' || cast(surplus as varchar) end) as worst_1, max(case when place = 2 then '(' || signature_text || ') with ' || cast(surplus as varchar) end) as worst_2, max(case when place = 3 then '(' || signature_text || ') with ' || cast(surplus as varchar) end) as worst_3
    from placed
),
figures as (
    select
        total.row_count,
        total.row_count - coalesce((select kept_rows from held where size = 3), 0) as surplus_rows,
        total.row_count - coalesce((select kept_rows from worst_column where place = 1), 0) as column_surplus,
        coalesce((select column_number from worst_column where place = 1), 1) as column_number,
        coalesce((
            select max(held.size)
            from held
            cross join total as every
            where held.size < 3
                and (every.row_count - held.kept_rows) * 1000000 <= every.row_count * 10000
        ), 0) as feasible_size,
        worst.*
    from total
    cross join worst
)
select
    'r' as about,
    case when row_count > 0 and (surplus_rows = row_count or surplus_rows * 1000000 > row_count * 10000) then
        'r = 2.5 is not possible: at least ' || coalesce(format('{:,}', surplus_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * surplus_rows / row_count), '') || ') find no group of 3 rows of one signature that differ in every one of ''disease'' and ''income'', and max_suppressed allows 1%'
        || case when worst_1 is null then '' else
            '; most of them have the signature ' || coalesce(cast(worst_1 || coalesce(', ' || worst_2, '') || coalesce(', ' || worst_3, '') as varchar), '') || ' (' || coalesce(cast(class_count as varchar), '') || ' signatures leave rows over)'
        end
        || '; ' || coalesce(cast(case column_number when 1 then '''disease''' when 2 then '''income''' end as varchar), '') || ' by itself leaves ' || coalesce(cast(column_surplus as varchar), '') || ' rows over; '
        || case
            when feasible_size >= 2 then 'the largest whole r that no column stands in the way of is ' || coalesce(cast(feasible_size as varchar), '')
            else 'no r above 1 works with these columns and classes'
        end
        || case
            when surplus_rows < row_count then
                ', and max_suppressed would have to be ' || coalesce(cast(cast(cast(cast((0 - floor(0 - 1000000.0 * surplus_rows / row_count)) / 1000000.0 as decimal(18, 6)) as double) as varchar) as varchar), '') || ' or more'
            else ''
        end
    end as refusal
from figures
