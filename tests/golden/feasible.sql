-- feasible: nobody can hide a value that more than one in 4 rows have
with listed as (
    select
        1 as column_number,
        cast(sensitive as varchar) as sensitive,
        row_count,
        case when sensitive is null and not false then 0 else row_count end as kept_count
    from "sqlanon_tally"
),
tightest as (
    select column_number
    from listed
    group by column_number
    order by max(kept_count) desc nulls last, column_number asc nulls last
    limit 1
),
counted as (
    select listed.*
    from listed
    inner join tightest on listed.column_number = tightest.column_number
),
placed as (
    select
        counted.*,
        row_number() over (order by kept_count desc nulls last) - 1 as place,
        cast(sum(kept_count) over () as bigint) as kept_rows,
        cast(sum(kept_count) over (order by kept_count desc nulls last rows unbounded preceding) as bigint) - kept_count as larger_rows
    from counted
),
fitting as (
    -- with the k most frequent values left aside, g groups need (size - k) g rows of the others
    select
        placed.*,
        min(case when place < 4 then (kept_rows - larger_rows) // greatest(1, 4 - place) end) over () as group_count
    from placed
),
figures as (
    select
coalesce(cast(sum(kept_count) as bigint), 0) as row_count,
        max(column_number) as column_number,
        coalesce(cast(sum(case when kept_count > 0 then 1 else 0 end) as bigint), 0) as value_count,
        coalesce(max(kept_count), 0) as largest_count,
        max(case when place = 0 then sensitive end) as largest_value,
        coalesce(max(case when place = 0 and sensitive is null then 1 else 0 end), 0) as largest_missing,
        coalesce(max(case when place = 1 then kept_count end), 0) as next_count,
        coalesce(cast(sum(least(kept_count, group_count)) as bigint), 0) as groupable_rows
    from fitting
),
judged as (
    select
        figures.*,
        row_count // greatest(1, largest_count) as feasible,
        row_count // 4 as allowed,
        case when next_count > 0 then (row_count - largest_count) // next_count else 0 end as without,
        -- in steps of 0.1 %, upwards: a share that is allowed has to be enough
        0 - (1000 * (groupable_rows - row_count)) // greatest(1, row_count) as left_over
    from figures
)
select
    'l' as about,
    feasible as possible,
    row_count,
    largest_count,
    case
        when row_count < 4 then
            'l = 4 needs at least 4 rows; the source has ' || coalesce(format('{:,}', row_count), '')
        when largest_count > allowed then
            'l = 4 is not possible: the most frequent value of ' || coalesce(cast(case column_number when 1 then '''disease''' end as varchar), '') || coalesce(cast('' as varchar), '') || ' stands in ' || coalesce(format('{:,}', largest_count), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * largest_count / row_count), '') || '), and l = 4 allows ' || coalesce(format('{:,}', allowed), '') || '; '
            || case
                when feasible >= 2 then 'the largest l that works is ' || coalesce(cast(feasible as varchar), '')
                else 'no l of at least 2 works on this column'
            end
            || case
                when without <= greatest(1, feasible) then ''
                when largest_missing = 1 then
                    '; with nullsdrop l = ' || coalesce(cast(without as varchar), '') || ' works'
                else '; without the rows of that value l = ' || coalesce(cast(without as varchar), '') || ' works'
            end
            || case
                when value_count >= 4 and 2 * left_over <= 1000 and true then
                    '; robust leaves rows over instead: with r = 4 at least ' || coalesce(format('{:.1f}%', 100.0 * left_over / 1000), '') || ' of them (max_suppressed)'
                else ''
            end
            || case
                when feasible < 2 and value_count > 1 then '; as one value has more than half of the rows, what works is mondrian (rows alike in k; no confidence is promised), a sensitive column made of this one and another that splits that value, or leaving the column out'
                else ''
            end
            || '; merging values makes none rarer, and splu has the same limit'
    end as refusal
from judged

-- spark, feasible:
-- -    cast("sensitive" as text) as "sensitive",
-- +    cast("sensitive" as string) as "sensitive",
-- -    min(case when "place" < 4 then (
-- -      "kept_rows" - "larger_rows"
-- -    ) // greatest(1, 4 - "place") end) over () as "group_count"
-- +    min(case when "place" < 4 then (("kept_rows" - "larger_rows") div greatest(1, 4 - "place")) end) over () as "group_count"
-- -    "row_count" // greatest(1, "largest_count") as "feasible",
-- -    "row_count" // 4 as "allowed",
-- -    case when "next_count" > 0 then (
-- -      "row_count" - "largest_count"
-- -    ) // "next_count" else 0 end as "without",
-- -    0 /* in steps of 0.1 %, upwards: a share that is allowed has to be enough */ - (
-- -      1000 * (
-- -        "groupable_rows" - "row_count"
-- -      )
-- -    ) // greatest(1, "row_count") as "left_over"
-- +    ("row_count" div greatest(1, "largest_count")) as "feasible",
-- +    ("row_count" div 4) as "allowed",
-- +    case when "next_count" > 0 then (("row_count" - "largest_count") div "next_count") else 0 end as "without",
-- +    0 /* in steps of 0.1 %, upwards: a share that is allowed has to be enough */ - ((1000 * ("groupable_rows" - "row_count")) div greatest(1, "row_count")) as "left_over"
-- -    then 'l = 4 needs at least 4 rows; the source has ' || coalesce(format('{:,}', "row_count"), '')
-- +    then 'l = 4 needs at least 4 rows; the source has ' || coalesce(format_number("row_count", 0), '')
-- -    then 'l = 4 is not possible: the most frequent value of ' || coalesce(cast(case "column_number" when 1 then '''disease''' end as text), '') || coalesce(cast('' as text), '') || ' stands in ' || coalesce(format('{:,}', "largest_count"), '') || ' of ' || coalesce(format('{:,}', "row_count"), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * "largest_count" / "row_count"), '') || '), and l = 4 allows ' || coalesce(format('{:,}', "allowed"), '') || '; ' || case
-- +    then 'l = 4 is not possible: the most frequent value of ' || coalesce(cast(case "column_number" when 1 then '\'disease\'' end as string), '') || coalesce(cast('' as string), '') || ' stands in ' || coalesce(format_number("largest_count", 0), '') || ' of ' || coalesce(format_number("row_count", 0), '') || ' rows (' || coalesce(format_number((cast(100.0 * "largest_count" as double) / nullif("row_count", 0)), 1) || '%', '') || '), and l = 4 allows ' || coalesce(format_number("allowed", 0), '') || '; ' || case
-- -      then 'the largest l that works is ' || coalesce(cast("feasible" as text), '')
-- +      then 'the largest l that works is ' || coalesce(cast("feasible" as string), '')
-- -      then '; with nullsdrop l = ' || coalesce(cast("without" as text), '') || ' works'
-- -      else '; without the rows of that value l = ' || coalesce(cast("without" as text), '') || ' works'
-- +      then '; with nullsdrop l = ' || coalesce(cast("without" as string), '') || ' works'
-- +      else '; without the rows of that value l = ' || coalesce(cast("without" as string), '') || ' works'
-- -      then '; robust leaves rows over instead: with r = 4 at least ' || coalesce(format('{:.1f}%', 100.0 * "left_over" / 1000), '') || ' of them (max_suppressed)'
-- +      then '; robust leaves rows over instead: with r = 4 at least ' || coalesce(format_number((cast(100.0 * "left_over" as double) / nullif(1000, 0)), 1) || '%', '') || ' of them (max_suppressed)'

-- postgres, feasible:
-- -    min(case when "place" < 4 then (
-- -      "kept_rows" - "larger_rows"
-- -    ) // greatest(1, 4 - "place") end) over () as "group_count"
-- +    min(case when "place" < 4 then (("kept_rows" - "larger_rows") / greatest(1, 4 - "place")) end) over () as "group_count"
-- -    "row_count" // greatest(1, "largest_count") as "feasible",
-- -    "row_count" // 4 as "allowed",
-- -    case when "next_count" > 0 then (
-- -      "row_count" - "largest_count"
-- -    ) // "next_count" else 0 end as "without",
-- -    0 /* in steps of 0.1 %, upwards: a share that is allowed has to be enough */ - (
-- -      1000 * (
-- -        "groupable_rows" - "row_count"
-- -      )
-- -    ) // greatest(1, "row_count") as "left_over"
-- +    ("row_count" / greatest(1, "largest_count")) as "feasible",
-- +    ("row_count" / 4) as "allowed",
-- +    case when "next_count" > 0 then (("row_count" - "largest_count") / "next_count") else 0 end as "without",
-- +    0 /* in steps of 0.1 %, upwards: a share that is allowed has to be enough */ - ((1000 * ("groupable_rows" - "row_count")) / greatest(1, "row_count")) as "left_over"
-- -    then 'l = 4 needs at least 4 rows; the source has ' || coalesce(format('{:,}', "row_count"), '')
-- +    then 'l = 4 needs at least 4 rows; the source has ' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '')
-- -    then 'l = 4 is not possible: the most frequent value of ' || coalesce(cast(case "column_number" when 1 then '''disease''' end as text), '') || coalesce(cast('' as text), '') || ' stands in ' || coalesce(format('{:,}', "largest_count"), '') || ' of ' || coalesce(format('{:,}', "row_count"), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * "largest_count" / "row_count"), '') || '), and l = 4 allows ' || coalesce(format('{:,}', "allowed"), '') || '; ' || case
-- +    then 'l = 4 is not possible: the most frequent value of ' || coalesce(cast(case "column_number" when 1 then '''disease''' end as text), '') || coalesce(cast('' as text), '') || ' stands in ' || coalesce(to_char("largest_count", 'FM999,999,999,999,999,990'), '') || ' of ' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '') || ' rows (' || coalesce(to_char((cast(100.0 * "largest_count" as double precision) / nullif("row_count", 0)), 'FM990.0') || '%', '') || '), and l = 4 allows ' || coalesce(to_char("allowed", 'FM999,999,999,999,999,990'), '') || '; ' || case
-- -      then '; robust leaves rows over instead: with r = 4 at least ' || coalesce(format('{:.1f}%', 100.0 * "left_over" / 1000), '') || ' of them (max_suppressed)'
-- +      then '; robust leaves rows over instead: with r = 4 at least ' || coalesce(to_char((cast(100.0 * "left_over" as double precision) / nullif(1000, 0)), 'FM990.0') || '%', '') || ' of them (max_suppressed)'
