-- portion: How the rows of each value are dealt out in a region that was merged: in full rounds over its groups, and the rest from `pool_start` on, where the rests of all values stand in one line
with counted as (
    select
        judged.target,
        3 as wanted,
        cluster_count.held,
        cluster_count.grave,
        cast(sum(cluster_count.row_count) as bigint) as row_count
    from "sqlanon_cluster_count" as cluster_count
    inner join "sqlanon_judged" as judged on cluster_count.cluster = judged.cluster
    where judged.width > 1
    group by judged.target, cluster_count.held, cluster_count.grave
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
    from counted
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
dealt as (
    select
        ranked.target,
        ranked.held,
        ranked.grave,
        ranked.row_count,
        fitting.group_count,
        case
            when ranked.row_count > fitting.group_count and fitting.group_count > 0
                then ranked.row_count // greatest(1, fitting.group_count) * fitting.group_count
            else 0
        end as full_rows
    from ranked
    inner join fitting on ranked.target = fitting.target
),
phased as (
    select
        *,
        case
            when full_rows = 0 then grave
            else 3 - grave
        end as phase
    from dealt
)
select
    target,
    held,
    group_count,
    full_rows,
    cast(sum(row_count - full_rows) over (
        partition by target
        order by phase asc nulls last, held asc nulls last
        rows unbounded preceding
    ) as bigint) - (row_count - full_rows) as pool_start
from phased

-- spark, portion:
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
-- -      then "ranked"."row_count" // greatest(1, "fitting"."group_count") * "fitting"."group_count"
-- +      then ("ranked"."row_count" div greatest(1, "fitting"."group_count")) * "fitting"."group_count"

-- postgres, portion:
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
-- -      then "ranked"."row_count" // greatest(1, "fitting"."group_count") * "fitting"."group_count"
-- +      then ("ranked"."row_count" / greatest(1, "fitting"."group_count")) * "fitting"."group_count"
