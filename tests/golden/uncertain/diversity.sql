-- cluster_cell: the different sensitive cells of every cluster, and in how many of its rows each stands
select
    cluster,
    cell_code,
    count(*) as row_count,
    min(sensitive_count) as alternatives
from "sqlanon_clustering"
group by cluster, cell_code

-- cluster_value: the sensitive values of every cluster, alternatives included, and the fewest alternatives of a row that holds it
select
    cluster_cell.cluster,
    held.held,
    max(held.grave) as grave,
    min(cluster_cell.alternatives) as least_alternatives
from "sqlanon_cluster_cell" as cluster_cell
inner join "sqlanon_held" as held on cluster_cell.cell_code = held.cell_code
group by cluster_cell.cluster, held.held

-- judged: how every cluster stands: 2 where its rows hold at least L different weights and not all the same set of them, 1 where all weights are below c (it passes as it is), 0 where it fails; all rows hold the same set when each holds as many values as there are; a cluster is a region of its own until it is merged; place: where it stands in the line of those that are merged
with diversity as (
    select
        cluster,
        count(*) as weight_count,
        max(grave) as grave,
        min(least_alternatives) as least_alternatives
    from "sqlanon_cluster_value"
    group by cluster
),
standing as (
    select
        cluster,
        case
            when weight_count >= 3 and least_alternatives < weight_count then 2
            when grave = 0 then 1
            else 0
        end as verdict
    from diversity
)
select
    cluster,
    cluster as place,
    cluster as target,
    cast(1 as bigint) as width,
    verdict
from standing

-- cluster_count: how many rows of every cluster each value stands for
select
    cluster_cell.cluster,
    representative.held,
    representative.grave,
    cast(sum(cluster_cell.row_count) as bigint) as row_count
from "sqlanon_cluster_cell" as cluster_cell
inner join "sqlanon_representative" as representative on cluster_cell.cell_code = representative.cell_code
group by cluster_cell.cluster, representative.held, representative.grave

-- merged: what fails: a region that fails becomes one with all clusters of the block around it; blocks begin at multiples of their width, 2, 4 … 32 and from there 8 times as wide, so that each lies in the next and turns are few
with widened as (
    select max(case when width < 32 then width * 2 else width * 8 end) as width
    from "sqlanon_judged"
    where verdict = 0
),
failing as (
    select distinct
        judged.target // widened.width * widened.width as block,
        widened.width
    from "sqlanon_judged" as judged
    cross join widened
    where judged.verdict = 0
)
select
    judged.cluster,
    judged.place,
    coalesce(failing.block, judged.target) as target,
    coalesce(failing.width, judged.width) as width,
    judged.verdict,
    case when failing.block is null then 0 else 1 end as changed
from "sqlanon_judged" as judged
cross join widened
left join failing on judged.place // widened.width * widened.width = failing.block

-- judged: how every region stands after the turn, judged anew where something was merged: it passes where its rows can be dealt out into diverse groups that are not too large, or where it is such a group as a whole. As long as regions are no wider than 4 clusters, groups of 9 rows are sought; later 20 will do
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
        region.target,
        3 as wanted,
        cluster_count.held,
        cluster_count.grave,
        cast(sum(cluster_count.row_count) as bigint) as row_count
    from "sqlanon_cluster_count" as cluster_count
    inner join "sqlanon_merged" as region on cluster_count.cluster = region.cluster
    where region.changed = 1
    group by region.target, cluster_count.held, cluster_count.grave
),
ranked as (
    select
        counted.*,
        cast(sum(row_count) over (partition by target) as bigint) as total_rows,
        cast(sum(grave * row_count) over (partition by target) as bigint) as grave_rows,
        row_number() over (partition by target order by row_count desc nulls last, held asc nulls last) as place,
        cast(sum(row_count) over (
            partition by target order by row_count desc nulls last, held asc nulls last rows unbounded preceding
        ) as bigint) as rows_so_far
    from counted as counted
),
possible as (
    select
        "target", "wanted", "total_rows", "grave_rows",
        least(
            total_rows // 5,
            total_rows // wanted,
            min(case when place < wanted then (total_rows - rows_so_far) // (wanted - place) end)
        ) as group_count
    from ranked
    group by "target", "wanted", "total_rows", "grave_rows"
),
shared as (
    select
        possible."target", possible."wanted", possible."total_rows", possible."grave_rows",
        possible.group_count,
        case when possible.group_count > 0 then possible.group_count end as divisor,
        cast(sum(ranked.grave * least(ranked.row_count, possible.group_count)) as bigint) as grave_places
    from possible
    inner join ranked on possible.target = ranked.target
    group by possible."target", possible."wanted", possible."total_rows", possible."grave_rows", possible.group_count
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
    merged.place,
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

-- merges: 
select case when 0 = (select case when count(*) > 1 or max(width) <= 4 then coalesce(sum(case when verdict = 0 then 1 else 0 end), 0) else 0 end from "sqlanon_judged" where place = target) then 0 else 1 end as left_over

-- unmet: no region fails after all turns
with failing as (
    select coalesce(cast(sum(cluster_count.row_count) as bigint), 0) as row_count
    from "sqlanon_judged" as judged
    inner join "sqlanon_cluster_count" as cluster_count on judged.cluster = cluster_count.cluster
    where judged.verdict = 0
)
select
    case when row_count > 0 then
        coalesce(cast(row_count as varchar), '') || ' rows find no group of at most 20 rows with 3 different weights; lower l-L, raise max_group, or say undiversesuppress'
    end as refusal
from failing

-- seat: the rows of a region that was merged stand in one line, value by value, and are dealt out in turn: so many in a row as there are groups never meet. Values that fill no round come first, so that each group has its share of different ones, and grave ones stand together, so that it has its share of these, too. Which of a value's rows goes where is drawn, so that the groups tell no more of who has which value than ST does; group_count 0: the region is one group as a whole
with counted as (
    select
        region.target,
        3 as wanted,
        cluster_count.held,
        cluster_count.grave,
        cast(sum(cluster_count.row_count) as bigint) as row_count
    from "sqlanon_cluster_count" as cluster_count
    inner join "sqlanon_judged" as region on cluster_count.cluster = region.cluster
    where region.width > 1
    group by region.target, cluster_count.held, cluster_count.grave
),
ranked as (
    select
        counted.*,
        cast(sum(row_count) over (partition by target) as bigint) as total_rows,
        cast(sum(grave * row_count) over (partition by target) as bigint) as grave_rows,
        row_number() over (partition by target order by row_count desc nulls last, held asc nulls last) as place,
        cast(sum(row_count) over (
            partition by target order by row_count desc nulls last, held asc nulls last rows unbounded preceding
        ) as bigint) as rows_so_far
    from counted as counted
),
possible as (
    select
        "target", "wanted", "total_rows", "grave_rows",
        least(
            total_rows // 5,
            total_rows // wanted,
            min(case when place < wanted then (total_rows - rows_so_far) // (wanted - place) end)
        ) as group_count
    from ranked
    group by "target", "wanted", "total_rows", "grave_rows"
),
shared as (
    select
        possible."target", possible."wanted", possible."total_rows", possible."grave_rows",
        possible.group_count,
        case when possible.group_count > 0 then possible.group_count end as divisor,
        cast(sum(ranked.grave * least(ranked.row_count, possible.group_count)) as bigint) as grave_places
    from possible
    inner join ranked on possible.target = ranked.target
    group by possible."target", possible."wanted", possible."total_rows", possible."grave_rows", possible.group_count
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
)
select
    clustering.position,
    clustering."draw", clustering."tie",
    ranked.target,
    ranked.held,
    ranked.grave,
    fitting.group_count,
    (row_number() over (
        partition by ranked.target
        order by
            case when ranked.row_count < fitting.group_count then ranked.grave else 3 - ranked.grave end asc nulls last,
            ranked.held asc nulls last,
            clustering."draw" asc nulls last, clustering."tie" asc nulls last,
            clustering.position asc nulls last
    ) - 1) % greatest(1, fitting.group_count) as group_number
from "sqlanon_clustering" as clustering
inner join "sqlanon_judged" as judged on clustering.cluster = judged.cluster
inner join "sqlanon_representative" as representative on clustering.cell_code = representative.cell_code
inner join ranked on judged.target = ranked.target and representative.held = ranked.held
inner join fitting on ranked.target = fitting.target
where judged.width > 1

-- spared: rows that a diverse group can spare: of those without a grave value, all but what brings the group to L weights and K rows; K of them and more make groups of their own, which pass as they are (pieces: 0 what stays, from 1 on)
with ranked as (
    select
        *,
        row_number() over (
            partition by target, group_number, held
            order by "draw" asc nulls last, "tie" asc nulls last, position asc nulls last
        ) as meeting
    from "sqlanon_seat"
),
weighed as (
    select
        *,
        cast(sum(grave) over (partition by target, group_number) as bigint) as grave_rows,
        cast(sum(case when grave = 1 and meeting = 1 then 1 else 0 end) over (partition by target, group_number) as bigint) as grave_weights,
        cast(sum(1 - grave) over (partition by target, group_number) as bigint) as harmless_rows,
        row_number() over (
            partition by target, group_number, grave
            order by case when meeting = 1 then 0 else 1 end asc nulls last, "draw" asc nulls last, "tie" asc nulls last, position asc nulls last
        ) as place
    from ranked
),
kept as (
    select
        *,
        greatest(5 - grave_rows, 3 - grave_weights, 0) as kept_rows
    from weighed
)
select
    position,
    target,
    group_number,
    cast(case
        when group_count = 0 or grave = 1 or place <= kept_rows or harmless_rows - kept_rows < 5 then 0
        else 1 + least((place - kept_rows - 1) // 5, (harmless_rows - kept_rows) // 5 - 1)
    end as bigint) as piece
from kept

-- clustered: every row's cluster, where those of several clusters were dealt out anew: a region has no more groups than it had clusters, so that these give them their numbers
with numbered as (
    select
        position,
        target,
        dense_rank() over (partition by target order by group_number asc nulls last, piece asc nulls last) as place
    from "sqlanon_spared"
),
home as (
    select
        cluster,
        target,
        row_number() over (partition by target order by cluster asc nulls last) as place
    from "sqlanon_judged"
    where width > 1
)
select
    clustering.row_number,
    coalesce(home.cluster, clustering.cluster) as cluster,
    0 as suppressed,
    case when home.cluster is null then 0 else 1 end as dealt
from "sqlanon_clustering" as clustering
left join numbered on clustering.position = numbered.position
left join home on numbered.target = home.target and numbered.place = home.place

-- quality: how many clusters there are, how large the largest is, and how many rows are suppressed
with size as (
    select
        count(*) as row_count,
        sum(suppressed) as suppressed_rows
    from "sqlanon_clustered"
    group by cluster
)
select
    count(*) as cluster_count,
    cast(sum(row_count) as bigint) as row_count,
    max(row_count) as largest_cluster,
    cast(sum(suppressed_rows) as bigint) as suppressed_rows
from size

-- spark, judged:
-- -with "weight" as (
-- +with "diversity" as (
-- -    "merged"."target",
-- -    "cluster_value"."held",
-- -    max("cluster_value"."grave") as "grave",
-- -    min("cluster_value"."least_alternatives") as "least_alternatives"
-- -  from "sqlanon_cluster_value" as "cluster_value"
-- -  inner join "sqlanon_merged" as "merged"
-- -    on "cluster_value"."cluster" = "merged"."cluster"
-- -  where
-- -    "merged"."changed" = 1
-- +    "cluster",
-- +    count(*) as "weight_count",
-- +    max("grave") as "grave",
-- +    min("least_alternatives") as "least_alternatives"
-- +  from "sqlanon_cluster_value"
-- -    "merged"."target",
-- -    "cluster_value"."held"
-- -), "diversity" as (
-- +    "cluster"
-- +), "standing" as (
-- -    "target",
-- -    max("grave") as "grave",
-- -    case when count(*) >= 3 and min("least_alternatives") < count(*) then 1 else 0 end as "diverse"
-- -  from "weight"
-- -  group by
-- -    "target"
-- -), "counted" as (
-- -  select
-- -    "region"."target",
-- -    3 as "wanted",
-- -    "cluster_count"."held",
-- -    "cluster_count"."grave",
-- -    cast(sum("cluster_count"."row_count") as bigint) as "row_count"
-- -  from "sqlanon_cluster_count" as "cluster_count"
-- -  inner join "sqlanon_merged" as "region"
-- -    on "cluster_count"."cluster" = "region"."cluster"
-- -  where
-- -    "region"."changed" = 1
-- -  group by
-- -    "region"."target",
-- -    "cluster_count"."held",
-- -    "cluster_count"."grave"
-- -), "ranked" as (
-- -  select
-- -    "counted".*,
-- -    cast(sum("row_count") over (partition by "target") as bigint) as "total_rows",
-- -    cast(sum("grave" * "row_count") over (partition by "target") as bigint) as "grave_rows",
-- -    row_number() over (partition by "target" order by "row_count" desc, "held" asc nulls last) as "place",
-- -    cast(sum("row_count") over (
-- -      partition by "target"
-- -      order by "row_count" desc, "held" asc nulls last
-- -      rows between unbounded preceding and current row
-- -    ) as bigint) as "rows_so_far"
-- -  from "counted" as "counted"
-- -), "possible" as (
-- -  select
-- -    "target",
-- -    "wanted",
-- -    "total_rows",
-- -    "grave_rows",
-- -    least(
-- -      "total_rows" // 5,
-- -      "total_rows" // "wanted",
-- -      min(case when "place" < "wanted" then (
-- -        "total_rows" - "rows_so_far"
-- -      ) // (
-- -        "wanted" - "place"
-- -      ) end)
-- -    ) as "group_count"
-- -  from "ranked"
-- -  group by
-- -    "target",
-- -    "wanted",
-- -    "total_rows",
-- -    "grave_rows"
-- -), "shared" as (
-- -  select
-- -    "possible"."target",
-- -    "possible"."wanted",
-- -    "possible"."total_rows",
-- -    "possible"."grave_rows",
-- -    "possible"."group_count",
-- -    case when "possible"."group_count" > 0 then "possible"."group_count" end as "divisor",
-- -    cast(sum("ranked"."grave" * least("ranked"."row_count", "possible"."group_count")) as bigint) as "grave_places"
-- -  from "possible"
-- -  inner join "ranked"
-- -    on "possible"."target" = "ranked"."target"
-- -  group by
-- -    "possible"."target",
-- -    "possible"."wanted",
-- -    "possible"."total_rows",
-- -    "possible"."grave_rows",
-- -    "possible"."group_count"
-- -), "needed" as (
-- -  select
-- -    *,
-- -    greatest(0, "wanted" * "group_count" - "grave_places") as "helping_rows",
-- -    (
-- -      "grave_rows" + "divisor" - 1
-- -    ) // "divisor" + greatest(0, "wanted" - "grave_places" // "divisor") as "must"
-- -  from "shared"
-- -), "fitting" as (
-- -  select
-- -    "target",
-- -    "total_rows",
-- -    "group_count",
-- -    (
-- -      "grave_rows" + "helping_rows" + "divisor" - 1
-- -    ) // "divisor" as "least_size",
-- -    case
-- -      when "divisor" > 0
-- -      then least((
-- -        "total_rows" + "divisor" - 1
-- -      ) // "divisor", greatest(5, "must") + 5 - 1)
-- -    end as "largest_size"
-- -  from "needed"
-- -), "sized" as (
-- -  select
-- -    "fitting"."target",
-- -    "diversity"."grave",
-- -    case
-- -      when not "fitting"."largest_size" is null
-- -      then "fitting"."largest_size"
-- -      when "diversity"."diverse" = 1
-- -      then "fitting"."total_rows"
-- -    end as "largest_size"
-- -  from "fitting"
-- -  inner join "diversity"
-- -    on "fitting"."target" = "diversity"."target"
-- +    "cluster",
-- +    case when "weight_count" >= 3 and "least_alternatives" < "weight_count" then 2 when "grave" = 0 then 1 else 0 end as "verdict"
-- +  from "diversity"
-- -  "merged"."cluster",
-- -  "merged"."place",
-- -  "merged"."target",
-- -  "merged"."width",
-- -  case
-- -    when "merged"."changed" = 0
-- -    then "merged"."verdict"
-- -    when "sized"."grave" = 0
-- -    then 1
-- -    when "sized"."largest_size" <= 9
-- -    then 2
-- -    when "merged"."width" > 4 and "sized"."largest_size" <= 20
-- -    then 2
-- -    else 0
-- -  end as "verdict"
-- -from "sqlanon_merged" as "merged"
-- -left join "sized"
-- -  on "merged"."target" = "sized"."target"
-- +  "cluster",
-- +  "cluster" as "place",
-- +  "cluster" as "target",
-- +  cast(1 as bigint) as "width",
-- +  "verdict"
-- +from "standing"

-- spark, merged:
-- -    "judged"."target" // "widened"."width" * "widened"."width" as "block",
-- +    ("judged"."target" div "widened"."width") * "widened"."width" as "block",
-- -  on "judged"."place" // "widened"."width" * "widened"."width" = "failing"."block"
-- +  on ("judged"."place" div "widened"."width") * "widened"."width" = "failing"."block"

-- spark, judged:
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

-- spark, unmet:
-- -    then coalesce(cast("row_count" as text), '') || ' rows find no group of at most 20 rows with 3 different weights; lower l-L, raise max_group, or say undiversesuppress'
-- +    then coalesce(cast("row_count" as string), '') || ' rows find no group of at most 20 rows with 3 different weights; lower l-L, raise max_group, or say undiversesuppress'

-- spark, seat:
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

-- spark, spared:
-- -    else 1 + least((
-- -      "place" - "kept_rows" - 1
-- -    ) // 5, (
-- -      "harmless_rows" - "kept_rows"
-- -    ) // 5 - 1)
-- +    else 1 + least((("place" - "kept_rows" - 1) div 5), (("harmless_rows" - "kept_rows") div 5) - 1)

-- postgres, judged:
-- -with "weight" as (
-- +with "diversity" as (
-- -    "merged"."target",
-- -    "cluster_value"."held",
-- -    max("cluster_value"."grave") as "grave",
-- -    min("cluster_value"."least_alternatives") as "least_alternatives"
-- -  from "sqlanon_cluster_value" as "cluster_value"
-- -  inner join "sqlanon_merged" as "merged"
-- -    on "cluster_value"."cluster" = "merged"."cluster"
-- -  where
-- -    "merged"."changed" = 1
-- +    "cluster",
-- +    count(*) as "weight_count",
-- +    max("grave") as "grave",
-- +    min("least_alternatives") as "least_alternatives"
-- +  from "sqlanon_cluster_value"
-- -    "merged"."target",
-- -    "cluster_value"."held"
-- -), "diversity" as (
-- +    "cluster"
-- +), "standing" as (
-- -    "target",
-- -    max("grave") as "grave",
-- -    case when count(*) >= 3 and min("least_alternatives") < count(*) then 1 else 0 end as "diverse"
-- -  from "weight"
-- -  group by
-- -    "target"
-- -), "counted" as (
-- -  select
-- -    "region"."target",
-- -    3 as "wanted",
-- -    "cluster_count"."held",
-- -    "cluster_count"."grave",
-- -    cast(sum("cluster_count"."row_count") as bigint) as "row_count"
-- -  from "sqlanon_cluster_count" as "cluster_count"
-- -  inner join "sqlanon_merged" as "region"
-- -    on "cluster_count"."cluster" = "region"."cluster"
-- -  where
-- -    "region"."changed" = 1
-- -  group by
-- -    "region"."target",
-- -    "cluster_count"."held",
-- -    "cluster_count"."grave"
-- -), "ranked" as (
-- -  select
-- -    "counted".*,
-- -    cast(sum("row_count") over (partition by "target") as bigint) as "total_rows",
-- -    cast(sum("grave" * "row_count") over (partition by "target") as bigint) as "grave_rows",
-- -    row_number() over (partition by "target" order by "row_count" desc nulls last, "held" asc) as "place",
-- -    cast(sum("row_count") over (
-- -      partition by "target"
-- -      order by "row_count" desc nulls last, "held" asc
-- -      rows between unbounded preceding and current row
-- -    ) as bigint) as "rows_so_far"
-- -  from "counted" as "counted"
-- -), "possible" as (
-- -  select
-- -    "target",
-- -    "wanted",
-- -    "total_rows",
-- -    "grave_rows",
-- -    least(
-- -      "total_rows" // 5,
-- -      "total_rows" // "wanted",
-- -      min(case when "place" < "wanted" then (
-- -        "total_rows" - "rows_so_far"
-- -      ) // (
-- -        "wanted" - "place"
-- -      ) end)
-- -    ) as "group_count"
-- -  from "ranked"
-- -  group by
-- -    "target",
-- -    "wanted",
-- -    "total_rows",
-- -    "grave_rows"
-- -), "shared" as (
-- -  select
-- -    "possible"."target",
-- -    "possible"."wanted",
-- -    "possible"."total_rows",
-- -    "possible"."grave_rows",
-- -    "possible"."group_count",
-- -    case when "possible"."group_count" > 0 then "possible"."group_count" end as "divisor",
-- -    cast(sum("ranked"."grave" * least("ranked"."row_count", "possible"."group_count")) as bigint) as "grave_places"
-- -  from "possible"
-- -  inner join "ranked"
-- -    on "possible"."target" = "ranked"."target"
-- -  group by
-- -    "possible"."target",
-- -    "possible"."wanted",
-- -    "possible"."total_rows",
-- -    "possible"."grave_rows",
-- -    "possible"."group_count"
-- -), "needed" as (
-- -  select
-- -    *,
-- -    greatest(0, "wanted" * "group_count" - "grave_places") as "helping_rows",
-- -    (
-- -      "grave_rows" + "divisor" - 1
-- -    ) // "divisor" + greatest(0, "wanted" - "grave_places" // "divisor") as "must"
-- -  from "shared"
-- -), "fitting" as (
-- -  select
-- -    "target",
-- -    "total_rows",
-- -    "group_count",
-- -    (
-- -      "grave_rows" + "helping_rows" + "divisor" - 1
-- -    ) // "divisor" as "least_size",
-- -    case
-- -      when "divisor" > 0
-- -      then least((
-- -        "total_rows" + "divisor" - 1
-- -      ) // "divisor", greatest(5, "must") + 5 - 1)
-- -    end as "largest_size"
-- -  from "needed"
-- -), "sized" as (
-- -  select
-- -    "fitting"."target",
-- -    "diversity"."grave",
-- -    case
-- -      when not "fitting"."largest_size" is null
-- -      then "fitting"."largest_size"
-- -      when "diversity"."diverse" = 1
-- -      then "fitting"."total_rows"
-- -    end as "largest_size"
-- -  from "fitting"
-- -  inner join "diversity"
-- -    on "fitting"."target" = "diversity"."target"
-- +    "cluster",
-- +    case when "weight_count" >= 3 and "least_alternatives" < "weight_count" then 2 when "grave" = 0 then 1 else 0 end as "verdict"
-- +  from "diversity"
-- -  "merged"."cluster",
-- -  "merged"."place",
-- -  "merged"."target",
-- -  "merged"."width",
-- -  case
-- -    when "merged"."changed" = 0
-- -    then "merged"."verdict"
-- -    when "sized"."grave" = 0
-- -    then 1
-- -    when "sized"."largest_size" <= 9
-- -    then 2
-- -    when "merged"."width" > 4 and "sized"."largest_size" <= 20
-- -    then 2
-- -    else 0
-- -  end as "verdict"
-- -from "sqlanon_merged" as "merged"
-- -left join "sized"
-- -  on "merged"."target" = "sized"."target"
-- +  "cluster",
-- +  "cluster" as "place",
-- +  "cluster" as "target",
-- +  cast(1 as bigint) as "width",
-- +  "verdict"
-- +from "standing"

-- postgres, merged:
-- -    "judged"."target" // "widened"."width" * "widened"."width" as "block",
-- +    ("judged"."target" / "widened"."width") * "widened"."width" as "block",
-- -  on "judged"."place" // "widened"."width" * "widened"."width" = "failing"."block"
-- +  on ("judged"."place" / "widened"."width") * "widened"."width" = "failing"."block"

-- postgres, judged:
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

-- postgres, seat:
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

-- postgres, spared:
-- -    else 1 + least((
-- -      "place" - "kept_rows" - 1
-- -    ) // 5, (
-- -      "harmless_rows" - "kept_rows"
-- -    ) // 5 - 1)
-- +    else 1 + least((("place" - "kept_rows" - 1) / 5), (("harmless_rows" - "kept_rows") / 5) - 1)
