-- tallied: how often each value occurs in each class
select class, 1 as column_number, place, row_count, tail
from "sqlanon_ranked"

-- kept: how many rows find a group, by size, class and column
with sized as (
    select distinct place + 1 as size
    from "sqlanon_tallied"
    where place > 0 and place < 3
),
bounded as (
    select
        tallied."class",
        tallied.column_number,
        sized.size,
        case when count(*) = sized.size then min(tallied.tail // (sized.size - tallied.place)) else 0 end as most
    from "sqlanon_tallied" as tallied
    inner join sized on tallied.place < sized.size
    group by tallied."class", tallied.column_number, sized.size
)
select
    bounded.size,
    tallied."class",
    tallied.column_number,
    cast(sum(tallied.row_count) as bigint) as class_rows,
    cast(sum(least(tallied.row_count, bounded.most)) as bigint) as kept_rows
from "sqlanon_tallied" as tallied
inner join bounded on tallied."class" is not distinct from bounded."class" and tallied.column_number = bounded.column_number
group by tallied."class", bounded.size, tallied.column_number

-- few_left_over: no more rows are left over than may be
with together as (
    select "class", size, max(class_rows) as class_rows, min(kept_rows) as kept_rows
    from "sqlanon_kept"
    group by "class", size
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
-- the signatures of a class are alike: one of them says what it is known to have
named as (
    select class, min(coalesce(cast("quasi_2" as varchar), 'NULL') || ', ' || coalesce(cast("quasi_3" as varchar), 'NULL')) as signature_text
    from "sqlanon_class"
    group by class
),
valued as (
    select sum(row_count) as row_count
    from "sqlanon_ranked"
    group by sensitive
),
signed as (
    select
signature_text,
        together.class_rows - together.kept_rows as surplus
    from together
    inner join named on together.class = named.class
    where together.size = 3 and together.class_rows > together.kept_rows
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
        coalesce((
            select max(held.size)
            from held
            cross join total as every
            where held.size < 3
                and (every.row_count - held.kept_rows) * 1000000 <= every.row_count * 10000
        ), 0) as feasible_size,
        coalesce((select cast(max(row_count) as bigint) from valued), 0) as largest_count,
        worst.*
    from total
    cross join worst
)
select
    'r' as about,
    feasible_size as possible,
    surplus_rows as dropped_rows,
    case when row_count > 0 and (surplus_rows = row_count or surplus_rows * 1000000 > row_count * 10000) then
        'r = 2.5 is not possible: ' || coalesce(format('{:,}', surplus_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * surplus_rows / row_count), '') || ') find no group of 3 rows of one signature that have different values of ''disease'', and max_suppressed allows 1%'
        || case when worst_1 is null then '' else
            '; most of them have the signature ' || coalesce(cast(worst_1 || coalesce(', ' || worst_2, '') || coalesce(', ' || worst_3, '') as varchar), '') || ' (' || coalesce(cast(class_count as varchar), '') || ' signatures leave rows over)'
        end
        || case
            when feasible_size >= 2 then '; the largest r that works is ' || coalesce(cast(feasible_size as varchar), '')
            else '; no r above 1 works with these backgrounds'
        end
        || case
            when surplus_rows < row_count then
                '; max_suppressed' || coalesce(cast(cast(cast(cast((0 - floor(0 - 1000000.0 * surplus_rows / row_count)) / 1000000.0 as decimal(18, 6)) as double) as varchar) as varchar), '') || ' leaves them out'
            else ''
        end
        || case
            when largest_count * 3 > row_count then
                '; the most frequent value stands in ' || coalesce(format('{:.1f}%', 100.0 * largest_count / row_count), '') || ' of the rows: any r above ' || coalesce(cast(cast(cast(cast(1.0 * row_count / largest_count as decimal(18, 3)) as double) as varchar) as varchar), '') || ' leaves rows over'
                || case
                    when 2 * largest_count > row_count then '; as one value has more than half of the rows, what works is mondrian (rows alike in k; no confidence is promised), a sensitive column made of this one and another that splits that value, or leaving the column out'
                    else ''
                end
            else '; fewer columns in background_from leave fewer rows over'
        end
    end as refusal
from figures

-- spark, kept:
-- -      then min("tallied"."tail" // (
-- -        "sized"."size" - "tallied"."place"
-- -      ))
-- +      then min(("tallied"."tail" div ("sized"."size" - "tallied"."place")))

-- spark, few_left_over:
-- -    min(coalesce(cast("quasi_2" as text), 'NULL') || ', ' || coalesce(cast("quasi_3" as text), 'NULL')) as "signature_text"
-- +    min(coalesce(cast("quasi_2" as string), 'NULL') || ', ' || coalesce(cast("quasi_3" as string), 'NULL')) as "signature_text"
-- -    max(case when "place" = 1 then '(' || "signature_text" || ') with ' || cast("surplus" as text) end) as "worst_1",
-- -    max(case when "place" = 2 then '(' || "signature_text" || ') with ' || cast("surplus" as text) end) as "worst_2",
-- -    max(case when "place" = 3 then '(' || "signature_text" || ') with ' || cast("surplus" as text) end) as "worst_3"
-- +    max(case when "place" = 1 then '(' || "signature_text" || ') with ' || cast("surplus" as string) end) as "worst_1",
-- +    max(case when "place" = 2 then '(' || "signature_text" || ') with ' || cast("surplus" as string) end) as "worst_2",
-- +    max(case when "place" = 3 then '(' || "signature_text" || ') with ' || cast("surplus" as string) end) as "worst_3"
-- -    then 'r = 2.5 is not possible: ' || coalesce(format('{:,}', "surplus_rows"), '') || ' of ' || coalesce(format('{:,}', "row_count"), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * "surplus_rows" / "row_count"), '') || ') find no group of 3 rows of one signature that have different values of ''disease'', and max_suppressed allows 1%' || case
-- +    then 'r = 2.5 is not possible: ' || coalesce(format_number("surplus_rows", 0), '') || ' of ' || coalesce(format_number("row_count", 0), '') || ' rows (' || coalesce(format_number((cast(100.0 * "surplus_rows" as double) / nullif("row_count", 0)), 2) || '%', '') || ') find no group of 3 rows of one signature that have different values of \'disease\', and max_suppressed allows 1%' || case
-- -      else '; most of them have the signature ' || coalesce(cast("worst_1" || coalesce(', ' || "worst_2", '') || coalesce(', ' || "worst_3", '') as text), '') || ' (' || coalesce(cast("class_count" as text), '') || ' signatures leave rows over)'
-- +      else '; most of them have the signature ' || coalesce(cast("worst_1" || coalesce(', ' || "worst_2", '') || coalesce(', ' || "worst_3", '') as string), '') || ' (' || coalesce(cast("class_count" as string), '') || ' signatures leave rows over)'
-- -      then '; the largest r that works is ' || coalesce(cast("feasible_size" as text), '')
-- +      then '; the largest r that works is ' || coalesce(cast("feasible_size" as string), '')
-- -        cast(cast(cast(cast((
-- -          0 - floor(0 - 1000000.0 * "surplus_rows" / "row_count")
-- -        ) / 1000000.0 as decimal(18, 6)) as double) as text) as text),
-- +        cast(cast(cast(cast((cast((0 - floor(0 - (cast(1000000.0 * "surplus_rows" as double) / nullif("row_count", 0)))) as double) / nullif(1000000.0, 0)) as decimal(18, 6)) as double) as string) as string),
-- -      then '; the most frequent value stands in ' || coalesce(format('{:.1f}%', 100.0 * "largest_count" / "row_count"), '') || ' of the rows: any r above ' || coalesce(cast(cast(cast(cast(1.0 * "row_count" / "largest_count" as decimal(18, 3)) as double) as text) as text), '') || ' leaves rows over' || case
-- +      then '; the most frequent value stands in ' || coalesce(format_number((cast(100.0 * "largest_count" as double) / nullif("row_count", 0)), 1) || '%', '') || ' of the rows: any r above ' || coalesce(
-- +        cast(cast(cast(cast((cast(1.0 * "row_count" as double) / nullif("largest_count", 0)) as decimal(18, 3)) as double) as string) as string),
-- +        ''
-- +      ) || ' leaves rows over' || case

-- postgres, kept:
-- -    case
-- -      when count(*) = "sized"."size"
-- -      then min("tallied"."tail" // (
-- -        "sized"."size" - "tallied"."place"
-- -      ))
-- -      else 0
-- -    end as "most"
-- +    case when count(*) = "sized"."size" then min(("tallied"."tail" / ("sized"."size" - "tallied"."place"))) else 0 end as "most"
-- -  on "tallied"."class" is not distinct from "bounded"."class"
-- -  and "tallied"."column_number" = "bounded"."column_number"
-- +  on array["tallied"."class"] = array["bounded"."class"] and "tallied"."column_number" = "bounded"."column_number"

-- postgres, few_left_over:
-- -    then 'r = 2.5 is not possible: ' || coalesce(format('{:,}', "surplus_rows"), '') || ' of ' || coalesce(format('{:,}', "row_count"), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * "surplus_rows" / "row_count"), '') || ') find no group of 3 rows of one signature that have different values of ''disease'', and max_suppressed allows 1%' || case
-- +    then 'r = 2.5 is not possible: ' || coalesce(to_char("surplus_rows", 'FM999,999,999,999,999,990'), '') || ' of ' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '') || ' rows (' || coalesce(to_char((cast(100.0 * "surplus_rows" as double precision) / nullif("row_count", 0)), 'FM990.00') || '%', '') || ') find no group of 3 rows of one signature that have different values of ''disease'', and max_suppressed allows 1%' || case
-- -        cast(cast(cast(cast((
-- -          0 - floor(0 - 1000000.0 * "surplus_rows" / "row_count")
-- -        ) / 1000000.0 as decimal(18, 6)) as double) as text) as text),
-- +        cast(cast(cast(cast((cast((0 - floor(0 - (cast(1000000.0 * "surplus_rows" as double precision) / nullif("row_count", 0)))) as double precision) / nullif(1000000.0, 0)) as decimal(18, 6)) as double precision) as text) as text),
-- -      then '; the most frequent value stands in ' || coalesce(format('{:.1f}%', 100.0 * "largest_count" / "row_count"), '') || ' of the rows: any r above ' || coalesce(cast(cast(cast(cast(1.0 * "row_count" / "largest_count" as decimal(18, 3)) as double) as text) as text), '') || ' leaves rows over' || case
-- +      then '; the most frequent value stands in ' || coalesce(to_char((cast(100.0 * "largest_count" as double precision) / nullif("row_count", 0)), 'FM990.0') || '%', '') || ' of the rows: any r above ' || coalesce(
-- +        cast(cast(cast(cast((cast(1.0 * "row_count" as double precision) / nullif("largest_count", 0)) as decimal(18, 3)) as double precision) as text) as text),
-- +        ''
-- +      ) || ' leaves rows over' || case
