-- feasibility: What decides whether there can be clusters: N, the different weights, whether all rows hold the same values; and for L, where all rows are one region, in groups of what size at least they are diverse, and up to which L groups of `most_rows` are
with cell_range as (
    select
        coalesce(min(sensitive_count), 0) as least_alternatives,
        coalesce(max(sensitive_count), 0) as most_alternatives
    from "sqlanon_cell_count"
),
counted as (
    select
        count(*) as value_count,
        coalesce(cast(sum(grave) as bigint), 0) as grave_count
    from "sqlanon_value"
),
standing_for as (
    select
        representative.held,
        representative.grave,
        cast(sum(cell_count.row_count) as bigint) as row_count
    from "sqlanon_cell_count" as cell_count
    inner join "sqlanon_representative" as representative on cell_count.cell_code = representative.cell_code
    group by representative.held, representative.grave
),
asked as (
    select
        value.held as target,
        value.held as wanted,
        standing_for.held,
        standing_for.grave,
        standing_for.row_count
    from "sqlanon_value" as value
    cross join standing_for
    where value.held > 1 and value.held <= 3
),
ranked as (
    select
        target,
        wanted,
        held,
        grave,
        row_count,
        cast(sum(row_count) over (partition by target) as bigint) as total_rows,
        cast(sum(grave * row_count) over (partition by target) as bigint) as grave_rows,
        row_number() over (partition by target order by row_count desc nulls last, held asc nulls last) as place,
        cast(sum(row_count) over (
            partition by target order by row_count desc nulls last, held asc nulls last rows unbounded preceding
        ) as bigint) as rows_so_far
    from asked
),
possible as (
    select
        target,
        wanted,
        total_rows,
        grave_rows,
        least(
            total_rows // 5,
            total_rows // wanted,
            min(case when place < wanted then (total_rows - rows_so_far) // (wanted - place) end)
        ) as group_count
    from ranked
    group by target, wanted, total_rows, grave_rows
),
shared as (
    select
        possible.target,
        possible.wanted,
        possible.total_rows,
        possible.grave_rows,
        possible.group_count,
        case when possible.group_count > 0 then possible.group_count end as divisor,
        cast(sum(ranked.grave * least(ranked.row_count, possible.group_count)) as bigint) as grave_places
    from possible
    inner join ranked on possible.target = ranked.target
    group by possible.target, possible.wanted, possible.total_rows, possible.grave_rows, possible.group_count
),
needed as (
    select
        *,
        greatest(0, wanted * group_count - grave_places) as helping_rows,
        (grave_rows + divisor - 1) // divisor + greatest(0, wanted - grave_places // divisor) as must
    from shared
),
fitting as (
    select
        target,
        total_rows,
        group_count,
        (grave_rows + helping_rows + divisor - 1) // divisor as least_size,
        case when divisor > 0 then least(
            (total_rows + divisor - 1) // divisor, greatest(5, must) + 5 - 1
        ) end as largest_size
    from needed
),
judged as (
    select
        max(case when target = 3 then least_size end) as least_size,
        max(case when target = 3 then largest_size end) as largest_size,
        max(case when largest_size <= 20 then target end) as largest_l
    from fitting
),
grave as (
    select coalesce(cast(sum(grave * row_count) as bigint), 0) as grave_rows
    from standing_for
)
select
    value_ranges.row_count,
    counted.value_count,
    counted.grave_count,
    grave.grave_rows,
    cell_range.least_alternatives,
    cell_range.most_alternatives,
    judged.least_size,
    judged.largest_size,
    judged.largest_l
from "sqlanon_value_ranges" as value_ranges
cross join cell_range
cross join counted
cross join judged
cross join grave

-- spark, feasibility:
-- -      "total_rows" // 5,
-- -      "total_rows" // "wanted",
-- -      min(case when "place" < "wanted" then (
-- -        "total_rows" - "rows_so_far"
-- -      ) // (
-- -        "wanted" - "place"
-- -      ) end)
-- +      ("total_rows" div 5),
-- +      ("total_rows" div "wanted"),
-- +      min(case when "place" < "wanted" then (("total_rows" - "rows_so_far") div ("wanted" - "place")) end)
-- -    (
-- -      "grave_rows" + "divisor" - 1
-- -    ) // "divisor" + greatest(0, "wanted" - "grave_places" // "divisor") as "must"
-- +    (("grave_rows" + "divisor" - 1) div "divisor") + greatest(0, "wanted" - ("grave_places" div "divisor")) as "must"
-- -    (
-- -      "grave_rows" + "helping_rows" + "divisor" - 1
-- -    ) // "divisor" as "least_size",
-- +    (("grave_rows" + "helping_rows" + "divisor" - 1) div "divisor") as "least_size",
-- -      then least((
-- -        "total_rows" + "divisor" - 1
-- -      ) // "divisor", greatest(5, "must") + 5 - 1)
-- +      then least((("total_rows" + "divisor" - 1) div "divisor"), greatest(5, "must") + 5 - 1)

-- postgres, feasibility:
-- -      "total_rows" // 5,
-- -      "total_rows" // "wanted",
-- -      min(case when "place" < "wanted" then (
-- -        "total_rows" - "rows_so_far"
-- -      ) // (
-- -        "wanted" - "place"
-- -      ) end)
-- +      ("total_rows" / 5),
-- +      ("total_rows" / "wanted"),
-- +      min(case when "place" < "wanted" then (("total_rows" - "rows_so_far") / ("wanted" - "place")) end)
-- -    (
-- -      "grave_rows" + "divisor" - 1
-- -    ) // "divisor" + greatest(0, "wanted" - "grave_places" // "divisor") as "must"
-- +    (("grave_rows" + "divisor" - 1) / "divisor") + greatest(0, "wanted" - ("grave_places" / "divisor")) as "must"
-- -    (
-- -      "grave_rows" + "helping_rows" + "divisor" - 1
-- -    ) // "divisor" as "least_size",
-- -    case
-- -      when "divisor" > 0
-- -      then least((
-- -        "total_rows" + "divisor" - 1
-- -      ) // "divisor", greatest(5, "must") + 5 - 1)
-- -    end as "largest_size"
-- +    (("grave_rows" + "helping_rows" + "divisor" - 1) / "divisor") as "least_size",
-- +    case when "divisor" > 0 then least((("total_rows" + "divisor" - 1) / "divisor"), greatest(5, "must") + 5 - 1) end as "largest_size"
