-- suppressed: how many rows no group holds, beside what was to be expected
select
    (select coalesce(cast(sum(row_count) as bigint), 0) from "sqlanon_tally") - (select count(*) from "sqlanon_grouped") as left_out_rows,
    surplus.*
from "sqlanon_surplus" as surplus

-- few_suppressed: no more rows are left out than may be
with figures as (
    select
        looked_at.*,
        left_out_rows as over_rows,
        row_count > 0 and (left_out_rows * 1000000 > row_count * 10000 or left_out_rows = row_count) as too_many
    from "sqlanon_suppressed" as looked_at
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

-- spark, few_suppressed:
-- -      then 'r = 2.5 is not possible: no signature has 3 different values of ''disease''; '
-- -      else 'r = 2.5 is not possible: ' || coalesce(format('{:,}', "over_rows"), '') || ' of ' || coalesce(format('{:,}', "row_count"), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * "over_rows" / "row_count"), '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and max_suppressed allows 1%' || case
-- +      then 'r = 2.5 is not possible: no signature has 3 different values of \'disease\'; '
-- +      else 'r = 2.5 is not possible: ' || coalesce(format_number("over_rows", 0), '') || ' of ' || coalesce(format_number("row_count", 0), '') || ' rows (' || coalesce(format_number((cast(100.0 * "over_rows" as double) / nullif("row_count", 0)), 2) || '%', '') || ') find no group of 3 rows with different values of \'disease\' and one signature, and max_suppressed allows 1%' || case
-- -        else '; most of them have the signature (' || coalesce(cast("worst_1" as text), '') || ') with ' || coalesce(cast("surplus_1" as text), '') || coalesce(', (' || "worst_2" || ') with ' || cast("surplus_2" as text), '') || coalesce(', (' || "worst_3" || ') with ' || cast("surplus_3" as text), '') || ' (' || coalesce(cast("class_count" as text), '') || ' signatures leave rows over)'
-- +        else '; most of them have the signature (' || coalesce(cast("worst_1" as string), '') || ') with ' || coalesce(cast("surplus_1" as string), '') || coalesce(', (' || "worst_2" || ') with ' || cast("surplus_2" as string), '') || coalesce(', (' || "worst_3" || ') with ' || cast("surplus_3" as string), '') || ' (' || coalesce(cast("class_count" as string), '') || ' signatures leave rows over)'
-- -      then 'the largest r that works is ' || coalesce(cast("feasible_size" as text), '')
-- +      then 'the largest r that works is ' || coalesce(cast("feasible_size" as string), '')
-- -        cast(cast(cast(cast((
-- -          0 - floor(0 - 1000000.0 * "over_rows" / "row_count")
-- -        ) / 1000000.0 as decimal(18, 6)) as double) as text) as text),
-- +        cast(cast(cast(cast((cast((0 - floor(0 - (cast(1000000.0 * "over_rows" as double) / nullif("row_count", 0)))) as double) / nullif(1000000.0, 0)) as decimal(18, 6)) as double) as string) as string),
-- -      then '; the most frequent value stands in ' || coalesce(format('{:.1f}%', 100.0 * "largest_count" / "row_count"), '') || ' of the rows: any r above ' || coalesce(cast(cast(cast(cast(1.0 * "row_count" / "largest_count" as decimal(18, 3)) as double) as text) as text), '') || ' leaves rows over' || case
-- +      then '; the most frequent value stands in ' || coalesce(format_number((cast(100.0 * "largest_count" as double) / nullif("row_count", 0)), 1) || '%', '') || ' of the rows: any r above ' || coalesce(
-- +        cast(cast(cast(cast((cast(1.0 * "row_count" as double) / nullif("largest_count", 0)) as decimal(18, 3)) as double) as string) as string),
-- +        ''
-- +      ) || ' leaves rows over' || case

-- postgres, few_suppressed:
-- -      else 'r = 2.5 is not possible: ' || coalesce(format('{:,}', "over_rows"), '') || ' of ' || coalesce(format('{:,}', "row_count"), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * "over_rows" / "row_count"), '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and max_suppressed allows 1%' || case
-- +      else 'r = 2.5 is not possible: ' || coalesce(to_char("over_rows", 'FM999,999,999,999,999,990'), '') || ' of ' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '') || ' rows (' || coalesce(to_char((cast(100.0 * "over_rows" as double precision) / nullif("row_count", 0)), 'FM990.00') || '%', '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and max_suppressed allows 1%' || case
-- -        cast(cast(cast(cast((
-- -          0 - floor(0 - 1000000.0 * "over_rows" / "row_count")
-- -        ) / 1000000.0 as decimal(18, 6)) as double) as text) as text),
-- +        cast(cast(cast(cast((cast((0 - floor(0 - (cast(1000000.0 * "over_rows" as double precision) / nullif("row_count", 0)))) as double precision) / nullif(1000000.0, 0)) as decimal(18, 6)) as double precision) as text) as text),
-- -      then '; the most frequent value stands in ' || coalesce(format('{:.1f}%', 100.0 * "largest_count" / "row_count"), '') || ' of the rows: any r above ' || coalesce(cast(cast(cast(cast(1.0 * "row_count" / "largest_count" as decimal(18, 3)) as double) as text) as text), '') || ' leaves rows over' || case
-- +      then '; the most frequent value stands in ' || coalesce(to_char((cast(100.0 * "largest_count" as double precision) / nullif("row_count", 0)), 'FM990.0') || '%', '') || ' of the rows: any r above ' || coalesce(
-- +        cast(cast(cast(cast((cast(1.0 * "row_count" as double precision) / nullif("largest_count", 0)) as decimal(18, 3)) as double precision) as text) as text),
-- +        ''
-- +      ) || ' leaves rows over' || case
