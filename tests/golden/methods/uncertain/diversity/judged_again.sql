-- judged_again: How every region stands after a turn of merges, judged anew where something was merged
with weight as (
    select
        merged.target,
        cluster_value.held,
        max(cluster_value.grave) as grave,
        min(cluster_value.least_alternatives) as least_alternatives
    from "sqlanon_cluster_value" as cluster_value
    inner join "sqlanon_merged" as merged on cluster_value.cluster = merged.cluster
    where merged.changed = 1
    group by merged.target, cluster_value.held
),
diversity as (
    select
        target,
        max(grave) as grave,
        case when count(*) >= 3 and min(least_alternatives) < count(*) then 1 else 0 end as diverse
    from weight
    group by target
),
counted as (
    select
        merged.target,
        3 as wanted,
        cluster_count.held,
        cluster_count.grave,
        cast(sum(cluster_count.row_count) as bigint) as row_count
    from "sqlanon_cluster_count" as cluster_count
    inner join "sqlanon_merged" as merged on cluster_count.cluster = merged.cluster
    where merged.changed = 1
    group by merged.target, cluster_count.held, cluster_count.grave
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
sized as (
    select
        fitting.target,
        diversity.grave,
        case
            when fitting.largest_size is not null then fitting.largest_size
            when diversity.diverse = 1 then fitting.total_rows
        end as largest_size
    from fitting
    inner join diversity on fitting.target = diversity.target
)
select
    merged.cluster,
    merged.target,
    merged.width,
    case
        when merged.changed = 0 then merged.verdict
        when sized.grave = 0 then 1
        when sized.largest_size <= 9 then 2
        when merged.width > 4 and sized.largest_size <= 20 then 2
        else 0
    end as verdict
from "sqlanon_merged" as merged
left join sized on merged.target = sized.target

-- spark, judged_again:
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

-- postgres, judged_again:
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
