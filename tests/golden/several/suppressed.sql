-- suppressed: no more are left out than may be
with figures as (
    select
        everyone.row_count,
        everyone.row_count - (select count(*) from "sqlanon_grouped_2") as dropped_rows
    from "sqlanon_everyone" as everyone
)
select
    dropped_rows,
    'l' as about,
    case
        when row_count = dropped_rows then
            'l = 4 is not possible: there are no groups whose rows differ in every one of ''disease'' and ''income''; frequent values of these columns go together'
        when dropped_rows * 1000000 > row_count * 5000 then
            'l = 4 is not possible: ' || coalesce(format('{:,}', dropped_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * dropped_rows / row_count), '') || ') find no group in which they differ in every one of ''disease'' and ''income'', and max_suppressed allows 0.5%; frequent values of these columns go together; max_suppressed' || coalesce(cast(cast(cast(cast((0 - floor(0 - 1000000.0 * dropped_rows / row_count)) / 1000000.0 as decimal(18, 6)) as double) as varchar) as varchar), '') || ' leaves these rows out, and a smaller l may leave fewer'
    end as refusal
from figures
