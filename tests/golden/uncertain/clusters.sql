-- value: the sensitive values that occur, alternatives included, with their row of the influence matrix, numbered by weight, which no two share; a value is grave where its weight is not below the threshold c
select
    influence.sensitive,
    cast(row_number() over (order by influence.weight asc nulls last) as integer) as held,
    case when cast(influence.weight as double) < cast('0.3' as double) then 0 else 1 end as grave,
    influence.influence_1, influence.influence_2, influence.influence_3
from "sqlanon_influence" as influence

-- reading: the rows with what is read of their numbers
select
case when abs(cast(quasi_2 as double)) <= cast(1e300 as double) then cast(quasi_2 as double) end as read_2,
    determined.*
from "sqlanon_determined" as determined

-- importance: what each attribute counts: its mean influence w_j over the data's sensitive values, in whole millionths summed (so that no order of summing shows), all alike where nothing influences anything
with summed as (
    select coalesce(cast(sum(cast(floor(cast(influence_1 as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as importance_1, coalesce(cast(sum(cast(floor(cast(influence_2 as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as importance_2, coalesce(cast(sum(cast(floor(cast(influence_3 as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as importance_3
    from "sqlanon_value"
)
select case when greatest(importance_1, importance_2, importance_3, 0) = 0 then 1 else importance_1 end as importance_1, case when greatest(importance_1, importance_2, importance_3, 0) = 0 then 1 else importance_2 end as importance_2, case when greatest(importance_1, importance_2, importance_3, 0) = 0 then 1 else importance_3 end as importance_3
from summed

-- value_ranges: how many rows there are, and where each number begins and how far it reaches
select
    min(read_2) as lowest_2, max(read_2) - min(read_2) as span_2,
    count(*) as row_count
from "sqlanon_reading"

-- held: the numbers of the values that each different sensitive cell holds
select
    alternative.cell_code,
    value.held,
    value.grave
from "sqlanon_alternative" as alternative
inner join "sqlanon_value" as value on alternative.text = value.sensitive

-- representative: one value that stands for each different sensitive cell when rows are dealt out: a grave one if the cell has any, and of these the one that the fewest rows hold
with frequency as (
    select
        held.held,
        sum(cell_count.row_count) as row_count
    from "sqlanon_held" as held
    inner join "sqlanon_cell_count" as cell_count on held.cell_code = cell_count.cell_code
    group by held.held
),
ranked as (
    select
        held.cell_code,
        held.held,
        held.grave,
        row_number() over (
            partition by held.cell_code
            order by held.grave desc nulls last, frequency.row_count asc nulls last, held.held asc nulls last
        ) as place
    from "sqlanon_held" as held
    inner join frequency on held.held = frequency.held
)
select
    cell_code,
    held,
    grave
from ranked
where place = 1

-- feasible: there can be clusters: K rows, L different weights, not the same values in all rows; and where all rows are one region, groups that are diverse and not too large
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
        counted.*,
        cast(sum(row_count) over (partition by target) as bigint) as total_rows,
        cast(sum(grave * row_count) over (partition by target) as bigint) as grave_rows,
        row_number() over (partition by target order by row_count desc nulls last, held asc nulls last) as place,
        cast(sum(row_count) over (
            partition by target order by row_count desc nulls last, held asc nulls last rows unbounded preceding
        ) as bigint) as rows_so_far
    from asked as counted
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
    case
        when row_count = 0 then 'the source has no rows to publish'
        when row_count < 5 then 'K = 5 needs at least 5 rows; the source has ' || coalesce(format('{:,}', row_count), '')
        when value_count < 3 then
            'L = 3 asks for 3 different weights in a cluster; the sensitive values of the source have ' || coalesce(cast(value_count as varchar), '') || '; ' || coalesce(cast(case when value_count > 1 then 'the largest L that works is ' || cast(value_count as varchar) else 'one value cannot be diverse' end as varchar), '')
        when grave_count > 0 and least_alternatives = value_count then
            'every row holds the same ' || coalesce(cast(value_count as varchar), '') || ' sensitive values, and one of them weighs no less than the threshold: no cluster can be diverse; give it a weight below the threshold if it is harmless, or say undiversesuppress'
        -- a cell of several alternatives brings several weights: of these the clusters themselves decide
        when grave_count > 0 and most_alternatives = 1 and (least_size is null or least_size > 20) then
            'L = 3 is not possible in groups of at most 20 rows: ' || coalesce(format('{:,}', grave_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows have a grave value and belong into groups with 3 different weights, '
            || case
                when largest_size is null then 'which cannot be made of these rows; '
                else 'some of which would have ' || coalesce(cast(least_size as varchar), '') || '; '
            end
            || case when largest_l is not null then 'the largest L that works is ' || coalesce(cast(largest_l as varchar), '') || '; or ' else '' end
            || case when largest_size is not null then 'say max_group' || coalesce(cast(largest_size as varchar), '') || '; or ' else '' end
            || 'give harmless values weights below the threshold; or say undiversesuppress'
    end as refusal
from "sqlanon_value_ranges" as value_ranges
cross join cell_range
cross join counted
cross join judged
cross join grave

-- category_1: every node's ancestor at each height below the root, the highest one not above that height, the node itself where it stands above: a branch is its number among the children of the ancestor above
with placed as (
    select
        hierarchy.node,
        case
            when hierarchy.height >= 0 then hierarchy.node
            when upper_1.height <= 0 then upper_1.node when upper_2.height <= 0 then upper_2.node
        end as ancestor_0,
        case
            when hierarchy.height >= 1 then hierarchy.node
            when upper_1.height <= 1 then upper_1.node when upper_2.height <= 1 then upper_2.node
        end as ancestor_1
    from "sqlanon_hierarchy_1" as hierarchy
    left join "sqlanon_hierarchy_1" as upper_1 on hierarchy.level_1 = upper_1.node
left join "sqlanon_hierarchy_1" as upper_2 on hierarchy.level_2 = upper_2.node
)
select
    node,
    cast(dense_rank() over (partition by ancestor_1 order by ancestor_0 asc nulls last) as integer) as branch_0,
    cast(dense_rank() over (order by ancestor_1 asc nulls last) as integer) as branch_1
from placed

-- category_3: the values of an attribute without a hierarchy, numbered from 1 in their own order; of more than the most branches that a sort tells apart, neighbours share one
with valued as (
    select "quasi_3" as node
    from "sqlanon_determined"
    where "quasi_3" is not null
    group by "quasi_3"
),
numbered as (
    select
        node,
        row_number() over (order by node asc nulls last) as number,
        count(*) over () as total
    from valued
)
select
    node,
    cast(1 + (number - 1) * least(1000000, total) // total as integer) as branch_0
from numbered

-- point: every row by the branches of its values at all levels, 0 where there is no value; a number falls into coarse bins of equal width from 1 on, fine ones in these and exact ones in those
with binned as (
    select
        reading.*,
        value_ranges.row_count,
        case
            when read_2 is not null
                then least(24000 - 1, cast(floor((read_2 - lowest_2) / coalesce(nullif(span_2, 0), 1) * 24000) as integer))
        end as bin_2
    from "sqlanon_reading" as reading
    cross join "sqlanon_value_ranges" as value_ranges
)
select
    binned."row_number", binned."sensitive_count", binned."cell_code", binned."draw", binned."tie",
    coalesce(1 + bin_2 // 4000, 0) as coarse_2, coalesce(bin_2 // 1000 % 4, 0) as fine_2, coalesce(bin_2 % 1000, 0) as exact_2,
    coalesce(category_1.branch_0, 0) as branch_1_0, coalesce(category_1.branch_1, 0) as branch_1_1,
    coalesce(category_3.branch_0, 0) as branch_3_0,
    binned.row_count
from binned
left join "sqlanon_category_1" as category_1 on binned."quasi_1" = category_1.node
left join "sqlanon_category_3" as category_3 on binned."quasi_3" = category_3.node

-- arrangement: all levels of all attributes by what it costs to differ there, the dearest first: at height h (0 = leaf) of a hierarchy of height H, w_j (h + 1) / H; the last levels come after all others. One row: of each level the power of two by which its branch enters a whole number of 62 bits (0 behind those that fill it), all its bits there, and the lowest bits of the levels before it
with level as (
    select
        1 as level,
        0 as last,
        cast(importance_1 as double) * 2 / 2 as cost,
        cast(0 - floor(cast('1e-09' as double) - ln((select coalesce(max("branch_1"), 0) + 1 from "sqlanon_category_1")) / cast('0.6931471805599453' as double)) as integer) as width
    from "sqlanon_importance"
    union all
    select
        2 as level,
        0 as last,
        cast(importance_1 as double) * 1 / 2 as cost,
        cast(0 - floor(cast('1e-09' as double) - ln((select coalesce(max("branch_0"), 0) + 1 from "sqlanon_category_1")) / cast('0.6931471805599453' as double)) as integer) as width
    from "sqlanon_importance"
    union all
    select
        3 as level,
        0 as last,
        cast(importance_3 as double) * 1 / 1 as cost,
        cast(0 - floor(cast('1e-09' as double) - ln((select coalesce(max("branch_0"), 0) + 1 from "sqlanon_category_3")) / cast('0.6931471805599453' as double)) as integer) as width
    from "sqlanon_importance"
    union all
    select
        4 as level,
        0 as last,
        cast(importance_2 as double) * 1 / 4 as cost,
        cast(0 - floor(cast('1e-09' as double) - ln(7) / cast('0.6931471805599453' as double)) as integer) as width
    from "sqlanon_importance"
    union all
    select
        5 as level,
        0 as last,
        cast(importance_2 as double) * 1 / 12 as cost,
        cast(0 - floor(cast('1e-09' as double) - ln(4) / cast('0.6931471805599453' as double)) as integer) as width
    from "sqlanon_importance"
    union all
    select
        6 as level,
        1 as last,
        cast(importance_2 as double) * 1 / 1 as cost,
        cast(0 - floor(cast('1e-09' as double) - ln(1000) / cast('0.6931471805599453' as double)) as integer) as width
    from "sqlanon_importance"
),
reached as (
    select
        level,
        width,
        cast(sum(width) over (order by last asc nulls last, cost desc nulls last, level asc nulls last rows unbounded preceding) as bigint) as reach
    from level
),
weighed as (
    select
        level,
        width,
        reach,
        case when width > 0 and reach <= 62 then cast(1 as bigint) << cast(62 - reach as integer) else 0 end as weight
    from reached
),
arranged as (
    select
        level,
        weight,
        (weight << width) - weight as bits,
        cast(sum(weight) over (order by reach asc nulls last, level asc nulls last rows unbounded preceding) as bigint) - weight as before
    from weighed
)
select max(case when level = 1 then weight end) as weight_1, max(case when level = 1 then bits end) as bits_1, max(case when level = 1 then before end) as before_1, max(case when level = 2 then weight end) as weight_2, max(case when level = 2 then bits end) as bits_2, max(case when level = 2 then before end) as before_2, max(case when level = 3 then weight end) as weight_3, max(case when level = 3 then bits end) as bits_3, max(case when level = 3 then before end) as before_3, max(case when level = 4 then weight end) as weight_4, max(case when level = 4 then bits end) as bits_4, max(case when level = 4 then before end) as before_4, max(case when level = 5 then weight end) as weight_5, max(case when level = 5 then bits end) as bits_5, max(case when level = 5 then before end) as before_5, max(case when level = 6 then weight end) as weight_6, max(case when level = 6 then bits end) as bits_6, max(case when level = 6 then before end) as before_6
from arranged

-- clustering: one sort: rows by the branches of all levels as one number, each upwards or downwards by whether those before it are even or odd in sum, so that neighbours are alike; then by the draw. K rows in that order are a cluster, the last takes what is left
with branched as (
    select
        point.*,
        0 + point."branch_1_1" * arrangement.weight_1 + point."branch_1_0" * arrangement.weight_2 + point."branch_3_0" * arrangement.weight_3 + point."coarse_2" * arrangement.weight_4 + point."fine_2" * arrangement.weight_5 + point."exact_2" * arrangement.weight_6 as branches
    from "sqlanon_point" as point
    cross join "sqlanon_arrangement" as arrangement
),
turned as (
    select
        branched.*,
        xor(branches, (0 + bit_count(branches & before_1) % 2 * bits_1 + bit_count(branches & before_2) % 2 * bits_2 + bit_count(branches & before_3) % 2 * bits_3 + bit_count(branches & before_4) % 2 * bits_4 + bit_count(branches & before_5) % 2 * bits_5 + bit_count(branches & before_6) % 2 * bits_6)) as turn
    from branched
    cross join "sqlanon_arrangement" as arrangement
),
lined as (
    select
        *,
        row_number() over (order by turn asc nulls last, "draw" asc nulls last, "tie" asc nulls last) - 1 as position
    from turned
)
select
    "row_number", "sensitive_count", "cell_code", "draw", "tie",
    position,
    least(position // 5, row_count // 5 - 1) as cluster
from lined

-- spark, feasible:
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
-- -    then 'K = 5 needs at least 5 rows; the source has ' || coalesce(format('{:,}', "row_count"), '')
-- +    then 'K = 5 needs at least 5 rows; the source has ' || coalesce(format_number("row_count", 0), '')
-- -    then 'L = 3 asks for 3 different weights in a cluster; the sensitive values of the source have ' || coalesce(cast("value_count" as text), '') || '; ' || coalesce(
-- +    then 'L = 3 asks for 3 different weights in a cluster; the sensitive values of the source have ' || coalesce(cast("value_count" as string), '') || '; ' || coalesce(
-- -        then 'the largest L that works is ' || cast("value_count" as text)
-- +        then 'the largest L that works is ' || cast("value_count" as string)
-- -      end as text),
-- +      end as string),
-- -    then 'every row holds the same ' || coalesce(cast("value_count" as text), '') || ' sensitive values, and one of them weighs no less than the threshold: no cluster can be diverse; give it a weight below the threshold if it is harmless, or say undiversesuppress'
-- +    then 'every row holds the same ' || coalesce(cast("value_count" as string), '') || ' sensitive values, and one of them weighs no less than the threshold: no cluster can be diverse; give it a weight below the threshold if it is harmless, or say undiversesuppress'
-- -    then 'L = 3 is not possible in groups of at most 20 rows: ' || coalesce(format('{:,}', "grave_rows"), '') || ' of ' || coalesce(format('{:,}', "row_count"), '') || ' rows have a grave value and belong into groups with 3 different weights, ' || case
-- +    then 'L = 3 is not possible in groups of at most 20 rows: ' || coalesce(format_number("grave_rows", 0), '') || ' of ' || coalesce(format_number("row_count", 0), '') || ' rows have a grave value and belong into groups with 3 different weights, ' || case
-- -      else 'some of which would have ' || coalesce(cast("least_size" as text), '') || '; '
-- +      else 'some of which would have ' || coalesce(cast("least_size" as string), '') || '; '
-- -      then 'the largest L that works is ' || coalesce(cast("largest_l" as text), '') || '; or '
-- +      then 'the largest L that works is ' || coalesce(cast("largest_l" as string), '') || '; or '
-- -      then 'say max_group' || coalesce(cast("largest_size" as text), '') || '; or '
-- +      then 'say max_group' || coalesce(cast("largest_size" as string), '') || '; or '

-- spark, category_3:
-- -  cast(1 + (
-- -    "number" - 1
-- -  ) * least(1000000, "total") // "total" as int) as "branch_0"
-- +  cast(1 + (("number" - 1) * least(1000000, "total") div "total") as int) as "branch_0"

-- spark, point:
-- -      then least(24000 - 1, cast(floor((
-- -        "read_2" - "lowest_2"
-- -      ) / coalesce(nullif("span_2", 0), 1) * 24000) as int))
-- +      then least(
-- +        24000 - 1,
-- +        cast(floor((cast(("read_2" - "lowest_2") as double) / nullif(coalesce(nullif("span_2", 0), 1), 0)) * 24000) as int)
-- +      )
-- -  coalesce(1 + "bin_2" // 4000, 0) as "coarse_2",
-- -  coalesce("bin_2" // 1000 % 4, 0) as "fine_2",
-- +  coalesce(1 + ("bin_2" div 4000), 0) as "coarse_2",
-- +  coalesce(("bin_2" div 1000) % 4, 0) as "fine_2",

-- spark, arrangement:
-- -    cast("importance_1" as double) * 2 / 2 as "cost",
-- +    (cast(cast("importance_1" as double) * 2 as double) / nullif(2, 0)) as "cost",
-- -      cast('1e-09' as double) - ln((
-- -        select
-- -          coalesce(max("branch_1"), 0) + 1
-- -        from "sqlanon_category_1"
-- -      )) / cast('0.6931471805599453' as double)
-- +      cast('1e-09' as double) - (cast(ln((select coalesce(max("branch_1"), 0) + 1 from "sqlanon_category_1")) as double) / nullif(cast('0.6931471805599453' as double), 0))
-- -    cast("importance_1" as double) * 1 / 2 as "cost",
-- +    (cast(cast("importance_1" as double) * 1 as double) / nullif(2, 0)) as "cost",
-- -      cast('1e-09' as double) - ln((
-- -        select
-- -          coalesce(max("branch_0"), 0) + 1
-- -        from "sqlanon_category_1"
-- -      )) / cast('0.6931471805599453' as double)
-- +      cast('1e-09' as double) - (cast(ln((select coalesce(max("branch_0"), 0) + 1 from "sqlanon_category_1")) as double) / nullif(cast('0.6931471805599453' as double), 0))
-- -    cast("importance_3" as double) * 1 / 1 as "cost",
-- +    (cast(cast("importance_3" as double) * 1 as double) / nullif(1, 0)) as "cost",
-- -      cast('1e-09' as double) - ln((
-- -        select
-- -          coalesce(max("branch_0"), 0) + 1
-- -        from "sqlanon_category_3"
-- -      )) / cast('0.6931471805599453' as double)
-- +      cast('1e-09' as double) - (cast(ln((select coalesce(max("branch_0"), 0) + 1 from "sqlanon_category_3")) as double) / nullif(cast('0.6931471805599453' as double), 0))
-- -    cast("importance_2" as double) * 1 / 4 as "cost",
-- -    cast(0 - floor(cast('1e-09' as double) - ln(7) / cast('0.6931471805599453' as double)) as int) as "width"
-- +    (cast(cast("importance_2" as double) * 1 as double) / nullif(4, 0)) as "cost",
-- +    cast(0 - floor(cast('1e-09' as double) - (cast(ln(7) as double) / nullif(cast('0.6931471805599453' as double), 0))) as int) as "width"
-- -    cast("importance_2" as double) * 1 / 12 as "cost",
-- -    cast(0 - floor(cast('1e-09' as double) - ln(4) / cast('0.6931471805599453' as double)) as int) as "width"
-- +    (cast(cast("importance_2" as double) * 1 as double) / nullif(12, 0)) as "cost",
-- +    cast(0 - floor(cast('1e-09' as double) - (cast(ln(4) as double) / nullif(cast('0.6931471805599453' as double), 0))) as int) as "width"
-- -    cast("importance_2" as double) * 1 / 1 as "cost",
-- -    cast(0 - floor(cast('1e-09' as double) - ln(1000) / cast('0.6931471805599453' as double)) as int) as "width"
-- +    (cast(cast("importance_2" as double) * 1 as double) / nullif(1, 0)) as "cost",
-- +    cast(0 - floor(cast('1e-09' as double) - (cast(ln(1000) as double) / nullif(cast('0.6931471805599453' as double), 0))) as int) as "width"
-- -    case when "width" > 0 and "reach" <= 62 then cast(1 as bigint) << cast(62 - "reach" as int) else 0 end as "weight"
-- +    case when "width" > 0 and "reach" <= 62 then shiftleft(cast(1 as bigint), cast(62 - "reach" as int)) else 0 end as "weight"
-- -      "weight" << "width"
-- +      shiftleft("weight", "width")

-- spark, clustering:
-- -    xor(
-- -      "branches",
-- -      (
-- -        0 + bit_count("branches" & "before_1") % 2 * "bits_1" + bit_count("branches" & "before_2") % 2 * "bits_2" + bit_count("branches" & "before_3") % 2 * "bits_3" + bit_count("branches" & "before_4") % 2 * "bits_4" + bit_count("branches" & "before_5") % 2 * "bits_5" + bit_count("branches" & "before_6") % 2 * "bits_6"
-- -      )
-- +    "branches" ^ (
-- +      0 + bit_count("branches" & "before_1") % 2 * "bits_1" + bit_count("branches" & "before_2") % 2 * "bits_2" + bit_count("branches" & "before_3") % 2 * "bits_3" + bit_count("branches" & "before_4") % 2 * "bits_4" + bit_count("branches" & "before_5") % 2 * "bits_5" + bit_count("branches" & "before_6") % 2 * "bits_6"
-- -  least("position" // 5, "row_count" // 5 - 1) as "cluster"
-- +  least(("position" div 5), ("row_count" div 5) - 1) as "cluster"

-- postgres, value:
-- -  case when cast("influence"."weight" as double) < cast('0.3' as double) then 0 else 1 end as "grave",
-- +  case when cast("influence"."weight" as double precision) < cast('0.3' as double precision) then 0 else 1 end as "grave",

-- postgres, reading:
-- -  case when abs(cast("quasi_2" as double)) <= cast(1e300 as double) then cast("quasi_2" as double) end as "read_2",
-- +  case
-- +    when abs(cast("quasi_2" as double precision)) <= cast(1e300 as double precision)
-- +    then cast("quasi_2" as double precision)
-- +  end as "read_2",

-- postgres, importance:
-- -    coalesce(cast(sum(cast(floor(cast("influence_1" as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_1",
-- -    coalesce(cast(sum(cast(floor(cast("influence_2" as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_2",
-- -    coalesce(cast(sum(cast(floor(cast("influence_3" as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_3"
-- +    coalesce(cast(sum(cast(floor(cast("influence_1" as double precision) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_1",
-- +    coalesce(cast(sum(cast(floor(cast("influence_2" as double precision) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_2",
-- +    coalesce(cast(sum(cast(floor(cast("influence_3" as double precision) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_3"

-- postgres, feasible:
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
-- -    then 'K = 5 needs at least 5 rows; the source has ' || coalesce(format('{:,}', "row_count"), '')
-- +    then 'K = 5 needs at least 5 rows; the source has ' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '')
-- -    then 'L = 3 is not possible in groups of at most 20 rows: ' || coalesce(format('{:,}', "grave_rows"), '') || ' of ' || coalesce(format('{:,}', "row_count"), '') || ' rows have a grave value and belong into groups with 3 different weights, ' || case
-- +    then 'L = 3 is not possible in groups of at most 20 rows: ' || coalesce(to_char("grave_rows", 'FM999,999,999,999,999,990'), '') || ' of ' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '') || ' rows have a grave value and belong into groups with 3 different weights, ' || case

-- postgres, category_3:
-- -  cast(1 + (
-- -    "number" - 1
-- -  ) * least(1000000, "total") // "total" as int) as "branch_0"
-- +  cast(1 + (("number" - 1) * least(1000000, "total") / "total") as int) as "branch_0"

-- postgres, point:
-- -      then least(24000 - 1, cast(floor((
-- -        "read_2" - "lowest_2"
-- -      ) / coalesce(nullif("span_2", 0), 1) * 24000) as int))
-- +      then least(
-- +        24000 - 1,
-- +        cast(floor((cast(("read_2" - "lowest_2") as double precision) / nullif(coalesce(nullif("span_2", 0), 1), 0)) * 24000) as int)
-- +      )
-- -  coalesce(1 + "bin_2" // 4000, 0) as "coarse_2",
-- -  coalesce("bin_2" // 1000 % 4, 0) as "fine_2",
-- +  coalesce(1 + ("bin_2" / 4000), 0) as "coarse_2",
-- +  coalesce(("bin_2" / 1000) % 4, 0) as "fine_2",

-- postgres, arrangement:
-- -    cast("importance_1" as double) * 2 / 2 as "cost",
-- +    (cast(cast("importance_1" as double precision) * 2 as double precision) / nullif(2, 0)) as "cost",
-- -      cast('1e-09' as double) - ln((
-- -        select
-- -          coalesce(max("branch_1"), 0) + 1
-- -        from "sqlanon_category_1"
-- -      )) / cast('0.6931471805599453' as double)
-- +      cast('1e-09' as double precision) - (cast(ln((select coalesce(max("branch_1"), 0) + 1 from "sqlanon_category_1")) as double precision) / nullif(cast('0.6931471805599453' as double precision), 0))
-- -    cast("importance_1" as double) * 1 / 2 as "cost",
-- +    (cast(cast("importance_1" as double precision) * 1 as double precision) / nullif(2, 0)) as "cost",
-- -      cast('1e-09' as double) - ln((
-- -        select
-- -          coalesce(max("branch_0"), 0) + 1
-- -        from "sqlanon_category_1"
-- -      )) / cast('0.6931471805599453' as double)
-- +      cast('1e-09' as double precision) - (cast(ln((select coalesce(max("branch_0"), 0) + 1 from "sqlanon_category_1")) as double precision) / nullif(cast('0.6931471805599453' as double precision), 0))
-- -    cast("importance_3" as double) * 1 / 1 as "cost",
-- +    (cast(cast("importance_3" as double precision) * 1 as double precision) / nullif(1, 0)) as "cost",
-- -      cast('1e-09' as double) - ln((
-- -        select
-- -          coalesce(max("branch_0"), 0) + 1
-- -        from "sqlanon_category_3"
-- -      )) / cast('0.6931471805599453' as double)
-- +      cast('1e-09' as double precision) - (cast(ln((select coalesce(max("branch_0"), 0) + 1 from "sqlanon_category_3")) as double precision) / nullif(cast('0.6931471805599453' as double precision), 0))
-- -    cast("importance_2" as double) * 1 / 4 as "cost",
-- -    cast(0 - floor(cast('1e-09' as double) - ln(7) / cast('0.6931471805599453' as double)) as int) as "width"
-- +    (cast(cast("importance_2" as double precision) * 1 as double precision) / nullif(4, 0)) as "cost",
-- +    cast(0 - floor(
-- +      cast('1e-09' as double precision) - (cast(ln(7) as double precision) / nullif(cast('0.6931471805599453' as double precision), 0))
-- +    ) as int) as "width"
-- -    cast("importance_2" as double) * 1 / 12 as "cost",
-- -    cast(0 - floor(cast('1e-09' as double) - ln(4) / cast('0.6931471805599453' as double)) as int) as "width"
-- +    (cast(cast("importance_2" as double precision) * 1 as double precision) / nullif(12, 0)) as "cost",
-- +    cast(0 - floor(
-- +      cast('1e-09' as double precision) - (cast(ln(4) as double precision) / nullif(cast('0.6931471805599453' as double precision), 0))
-- +    ) as int) as "width"
-- -    cast("importance_2" as double) * 1 / 1 as "cost",
-- -    cast(0 - floor(cast('1e-09' as double) - ln(1000) / cast('0.6931471805599453' as double)) as int) as "width"
-- +    (cast(cast("importance_2" as double precision) * 1 as double precision) / nullif(1, 0)) as "cost",
-- +    cast(0 - floor(
-- +      cast('1e-09' as double precision) - (cast(ln(1000) as double precision) / nullif(cast('0.6931471805599453' as double precision), 0))
-- +    ) as int) as "width"

-- postgres, clustering:
-- -    xor(
-- -      "branches",
-- -      (
-- -        0 + bit_count("branches" & "before_1") % 2 * "bits_1" + bit_count("branches" & "before_2") % 2 * "bits_2" + bit_count("branches" & "before_3") % 2 * "bits_3" + bit_count("branches" & "before_4") % 2 * "bits_4" + bit_count("branches" & "before_5") % 2 * "bits_5" + bit_count("branches" & "before_6") % 2 * "bits_6"
-- -      )
-- +    "branches" # (
-- +      0 + bit_count(cast("branches" & "before_1" as bit(64))) % 2 * "bits_1" + bit_count(cast("branches" & "before_2" as bit(64))) % 2 * "bits_2" + bit_count(cast("branches" & "before_3" as bit(64))) % 2 * "bits_3" + bit_count(cast("branches" & "before_4" as bit(64))) % 2 * "bits_4" + bit_count(cast("branches" & "before_5" as bit(64))) % 2 * "bits_5" + bit_count(cast("branches" & "before_6" as bit(64))) % 2 * "bits_6"
-- -  least("position" // 5, "row_count" // 5 - 1) as "cluster"
-- +  least(("position" / 5), ("row_count" / 5) - 1) as "cluster"
