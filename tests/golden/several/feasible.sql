-- feasible: nobody can hide a value that more than one in 4 rows have
with counted as (
    select
        1 as place,
        '''disease''' as shown_column,
        cast(sensitive as varchar) as shown_value,
        row_count
    from "sqlanon_counted_1"
    union all
    select
        2 as place,
        '''income''' as shown_column,
        cast(sensitive as varchar) as shown_value,
        row_count
    from "sqlanon_counted_2"
),
ranked as (
    select
        counted.*,
        row_number() over (order by row_count desc nulls last, place asc nulls last, shown_value asc nulls last) as value_rank
    from counted
),
judged as (
    select
        ranked.*,
        everyone.row_count as everyone_count,
        everyone.row_count // 4 as allowed,
        everyone.row_count // ranked.row_count as feasible
    from ranked
    cross join "sqlanon_everyone" as everyone
    where ranked.value_rank = 1
)
select
    'l' as about,
    feasible as possible,
    case
        when everyone_count < 4 then
            'l = 4 needs at least 4 rows; the source has ' || coalesce(format('{:,}', everyone_count), '')
        when row_count > allowed then
            'l = 4 is not possible: the most frequent value of ' || coalesce(cast(shown_column as varchar), '') || coalesce(cast('' as varchar), '') || ' stands in ' || coalesce(format('{:,}', row_count), '') || ' of ' || coalesce(format('{:,}', everyone_count), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * row_count / everyone_count), '') || '), and l = 4 allows ' || coalesce(format('{:,}', allowed), '') || ' in every column; '
            || case
                when feasible >= 2 then 'the largest l that no column stands in the way of is ' || coalesce(cast(feasible as varchar), '')
                else 'no l of at least 2 works on this column'
            end
            || '; merging values makes none rarer, and splu has the same limit'
    end as refusal
from judged
