-- kept: how many rows find a group, by class for the size that was asked for, together for each smaller one
with expected as (
    select
        cast(3 as bigint) as size,
        ranked.class,
        cast(sum(ranked.row_count) as bigint) as class_rows,
        cast(sum(least(ranked.row_count, capacity.group_count)) as bigint) as kept_rows
    from "sqlanon_ranked" as ranked
    inner join "sqlanon_capacity" as capacity on ranked.class = capacity.class
    group by ranked.class
),
candidate as (
    select distinct place + 1 as size
    from "sqlanon_ranked"
    where place > 0 and place + 1 < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        case when count(*) = candidate.size then min(ranked.tail // (candidate.size - ranked.place)) else 0 end as group_count
    from "sqlanon_ranked" as ranked
    inner join candidate on ranked.place < candidate.size
    group by ranked.class, candidate.size
),
smaller as (
    select bounded.size, cast(sum(least(ranked.row_count, bounded.group_count)) as bigint) as kept_rows
    from "sqlanon_ranked" as ranked
    inner join bounded on ranked.class = bounded.class
    group by bounded.size
)
select size, class, class_rows, kept_rows
from expected
union all
select size, 0 - 1 as class, cast(0 as bigint) as class_rows, kept_rows
from smaller

-- sample: one signature of each class, to say what the class is known to have: those of a class are alike
with numbered as (
    select
        "quasi_2", "quasi_3",
        class,
        row_number() over (partition by class order by "quasi_2" asc nulls last, "quasi_3" asc nulls last) as place
    from "sqlanon_class"
)
select
    "quasi_2", "quasi_3",
    class
from numbered
where place = 1

-- worst: the signatures that leave most rows over at this size, three at most, as texts
with left_over as (
    select
        coalesce(cast(class."quasi_2" as varchar), 'NULL') || ', ' || coalesce(cast(class."quasi_3" as varchar), 'NULL') as signature_text,
        kept.class_rows - kept.kept_rows as surplus
    from "sqlanon_kept" as kept
    inner join "sqlanon_sample" as class on kept.class = class.class
    where kept.size = 3
),
placed as (
    select
        left_over.*,
        row_number() over (order by surplus desc nulls last, signature_text asc nulls last) as place
    from left_over
    where surplus > 0
)
select
    count(*) as class_count,
    max(case when place = 1 then signature_text end) as worst_1, max(case when place = 1 then surplus end) as surplus_1, max(case when place = 2 then signature_text end) as worst_2, max(case when place = 2 then surplus end) as surplus_2, max(case when place = 3 then signature_text end) as worst_3, max(case when place = 3 then surplus end) as surplus_3
from placed

-- surplus: the rows, those that find no group, and the largest smaller size that leaves few enough
with total as (
    select coalesce(cast(sum(row_count) as bigint), 0) as row_count
    from "sqlanon_ranked"
),
valued as (
    select sum(row_count) as row_count
    from "sqlanon_ranked"
    group by sensitive
),
held as (
    select
        size,
        cast(sum(kept_rows) as bigint) as kept_rows
    from "sqlanon_kept"
    group by size
)
select
    total.row_count,
    total.row_count - coalesce((select kept_rows from held where size = 3), 0) as surplus_rows,
    coalesce((
        select max(held.size)
        from held
        cross join total as every
        where (every.row_count - held.kept_rows) * 1000000 <= every.row_count * 10000
    ), 0) as feasible_size,
    coalesce((select cast(max(row_count) as bigint) from valued), 0) as largest_count,
    worst.*
from total
cross join "sqlanon_worst" as worst

-- few_left_over: no more rows are left over than may be
select about, possible, refusal
from (
    with figures as (
    select
        looked_at.*,
        surplus_rows as over_rows,
        row_count > 0 and (surplus_rows * 1000000 > row_count * 10000 or surplus_rows = row_count) as too_many
    from "sqlanon_surplus" as looked_at
)
select
    over_rows as dropped_rows,
    'r' as about,
feasible_size as possible,
    case
        when too_many then
            case
                when over_rows = row_count then
                    'r = 2.5 is not possible: no signature has 3 different values of ''disease''; '
                else
                    'r = 2.5 is not possible: ' || coalesce(format('{:,}', over_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * over_rows / row_count), '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and max_suppressed allows 1%'
                    || case when surplus_1 is null then '' else
                        '; most of them have the signature (' || coalesce(cast(worst_1 as varchar), '') || ') with ' || coalesce(cast(surplus_1 as varchar), '')
                        || coalesce(', (' || worst_2 || ') with ' || cast(surplus_2 as varchar), '')
                        || coalesce(', (' || worst_3 || ') with ' || cast(surplus_3 as varchar), '')
                        || ' (' || coalesce(cast(class_count as varchar), '') || ' signatures leave rows over)'
                    end
                    || '; '
            end
            || case
                when feasible_size >= 2 then
                    'the largest r that works is ' || coalesce(cast(feasible_size as varchar), '')
                else 'no r above 1 works with these backgrounds'
            end
            || case
                when over_rows < row_count then
                    '; max_suppressed' || coalesce(cast(cast(cast(cast((0 - floor(0 - 1000000.0 * over_rows / row_count)) / 1000000.0 as decimal(18, 6)) as double) as varchar) as varchar), '') || ' leaves them out'
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
) as looked_at

-- spark, kept:
-- -      then min("ranked"."tail" // (
-- -        "candidate"."size" - "ranked"."place"
-- -      ))
-- +      then min(("ranked"."tail" div ("candidate"."size" - "ranked"."place")))

-- spark, worst:
-- -    coalesce(cast("class"."quasi_2" as text), 'NULL') || ', ' || coalesce(cast("class"."quasi_3" as text), 'NULL') as "signature_text",
-- +    coalesce(cast("class"."quasi_2" as string), 'NULL') || ', ' || coalesce(cast("class"."quasi_3" as string), 'NULL') as "signature_text",

-- spark, few_left_over:
-- +with "figures" as (
-- +  select
-- +    "looked_at".*,
-- +    "surplus_rows" as "over_rows",
-- +    "row_count" > 0 and (
-- +      "surplus_rows" * 1000000 > "row_count" * 10000 or "surplus_rows" = "row_count"
-- +    ) as "too_many"
-- +  from "sqlanon_surplus" as "looked_at"
-- +)
-- -  with "figures" as (
-- -    select
-- -      "looked_at".*,
-- -      "surplus_rows" as "over_rows",
-- -      "row_count" > 0 and (
-- -        "surplus_rows" * 1000000 > "row_count" * 10000 or "surplus_rows" = "row_count"
-- -      ) as "too_many"
-- -    from "sqlanon_surplus" as "looked_at"
-- -  )
-- -        then 'r = 2.5 is not possible: no signature has 3 different values of ''disease''; '
-- -        else 'r = 2.5 is not possible: ' || coalesce(format('{:,}', "over_rows"), '') || ' of ' || coalesce(format('{:,}', "row_count"), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * "over_rows" / "row_count"), '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and max_suppressed allows 1%' || case
-- +        then 'r = 2.5 is not possible: no signature has 3 different values of \'disease\'; '
-- +        else 'r = 2.5 is not possible: ' || coalesce(format_number("over_rows", 0), '') || ' of ' || coalesce(format_number("row_count", 0), '') || ' rows (' || coalesce(format_number((cast(100.0 * "over_rows" as double) / nullif("row_count", 0)), 2) || '%', '') || ') find no group of 3 rows with different values of \'disease\' and one signature, and max_suppressed allows 1%' || case
-- -          else '; most of them have the signature (' || coalesce(cast("worst_1" as text), '') || ') with ' || coalesce(cast("surplus_1" as text), '') || coalesce(', (' || "worst_2" || ') with ' || cast("surplus_2" as text), '') || coalesce(', (' || "worst_3" || ') with ' || cast("surplus_3" as text), '') || ' (' || coalesce(cast("class_count" as text), '') || ' signatures leave rows over)'
-- +          else '; most of them have the signature (' || coalesce(cast("worst_1" as string), '') || ') with ' || coalesce(cast("surplus_1" as string), '') || coalesce(', (' || "worst_2" || ') with ' || cast("surplus_2" as string), '') || coalesce(', (' || "worst_3" || ') with ' || cast("surplus_3" as string), '') || ' (' || coalesce(cast("class_count" as string), '') || ' signatures leave rows over)'
-- -        then 'the largest r that works is ' || coalesce(cast("feasible_size" as text), '')
-- +        then 'the largest r that works is ' || coalesce(cast("feasible_size" as string), '')
-- -          cast(cast(cast(cast((
-- -            0 - floor(0 - 1000000.0 * "over_rows" / "row_count")
-- -          ) / 1000000.0 as decimal(18, 6)) as double) as text) as text),
-- +          cast(cast(cast(cast((cast((0 - floor(0 - (cast(1000000.0 * "over_rows" as double) / nullif("row_count", 0)))) as double) / nullif(1000000.0, 0)) as decimal(18, 6)) as double) as string) as string),
-- -        then '; the most frequent value stands in ' || coalesce(format('{:.1f}%', 100.0 * "largest_count" / "row_count"), '') || ' of the rows: any r above ' || coalesce(cast(cast(cast(cast(1.0 * "row_count" / "largest_count" as decimal(18, 3)) as double) as text) as text), '') || ' leaves rows over' || case
-- +        then '; the most frequent value stands in ' || coalesce(format_number((cast(100.0 * "largest_count" as double) / nullif("row_count", 0)), 1) || '%', '') || ' of the rows: any r above ' || coalesce(
-- +          cast(cast(cast(cast((cast(1.0 * "row_count" as double) / nullif("largest_count", 0)) as decimal(18, 3)) as double) as string) as string),
-- +          ''
-- +        ) || ' leaves rows over' || case

-- postgres, kept:
-- -      then min("ranked"."tail" // (
-- -        "candidate"."size" - "ranked"."place"
-- -      ))
-- +      then min(("ranked"."tail" / ("candidate"."size" - "ranked"."place")))

-- postgres, few_left_over:
-- -        else 'r = 2.5 is not possible: ' || coalesce(format('{:,}', "over_rows"), '') || ' of ' || coalesce(format('{:,}', "row_count"), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * "over_rows" / "row_count"), '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and max_suppressed allows 1%' || case
-- +        else 'r = 2.5 is not possible: ' || coalesce(to_char("over_rows", 'FM999,999,999,999,999,990'), '') || ' of ' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '') || ' rows (' || coalesce(to_char((cast(100.0 * "over_rows" as double precision) / nullif("row_count", 0)), 'FM990.00') || '%', '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and max_suppressed allows 1%' || case
-- -          cast(cast(cast(cast((
-- -            0 - floor(0 - 1000000.0 * "over_rows" / "row_count")
-- -          ) / 1000000.0 as decimal(18, 6)) as double) as text) as text),
-- +          cast(cast(cast(cast((cast((0 - floor(0 - (cast(1000000.0 * "over_rows" as double precision) / nullif("row_count", 0)))) as double precision) / nullif(1000000.0, 0)) as decimal(18, 6)) as double precision) as text) as text),
-- -        then '; the most frequent value stands in ' || coalesce(format('{:.1f}%', 100.0 * "largest_count" / "row_count"), '') || ' of the rows: any r above ' || coalesce(cast(cast(cast(cast(1.0 * "row_count" / "largest_count" as decimal(18, 3)) as double) as text) as text), '') || ' leaves rows over' || case
-- +        then '; the most frequent value stands in ' || coalesce(to_char((cast(100.0 * "largest_count" as double precision) / nullif("row_count", 0)), 'FM990.0') || '%', '') || ' of the rows: any r above ' || coalesce(
-- +          cast(cast(cast(cast((cast(1.0 * "row_count" as double precision) / nullif("largest_count", 0)) as decimal(18, 3)) as double precision) as text) as text),
-- +          ''
-- +        ) || ' leaves rows over' || case
