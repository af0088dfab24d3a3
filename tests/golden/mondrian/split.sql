-- splitting: the rows by the codes of their values: all are one partition, which is open: it may be cut
select
    cast(1 as bigint) as partition,
    0 as attempts,
    1 as open,
    value_1.code as code_1, value_2.code as code_2, value_3.code as code_3, value_4.code as code_4,
    population."draw", population."tie",
    "sensitive_value".code as "code"
from "sqlanon_population_3" as population
inner join "sqlanon_sensitive_value" as "sensitive_value" on population."sensitive" is not distinct from "sensitive_value".sensitive
inner join "sqlanon_value_1" as value_1 on population.quasi_1 is not distinct from value_1.value
inner join "sqlanon_value_2" as value_2 on population.quasi_2 is not distinct from value_2.value
inner join "sqlanon_value_3" as value_3 on population.quasi_3 is not distinct from value_3.value
inner join "sqlanon_value_4" as value_4 on population.quasi_4 is not distinct from value_4.value

-- choice: the attribute by which each open partition is cut: the widest of those that it was not tried by (figure 3: choose_dimension); a width is a share of the attribute's range, or of its hierarchy's leaves
with extent as (
    select
        min(code_1) as least_1, max(code_1) as largest_1, min(code_2) as least_2, max(code_2) as largest_2, min(code_3) as least_3, max(code_3) as largest_3, min(code_4) as least_4, max(code_4) as largest_4,
        partition,
        max(attempts) as attempts,
        count(*) as row_count
    from "sqlanon_splitting"
    where open = 1
    group by partition
    having count(*) >= 2 * 10
),
width as (
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        1 as attribute,
case when coalesce(least."level_1" <> largest."level_1", true) then 1 when coalesce(least."level_2" <> largest."level_2", true) then least.share_1 else 0 end as width
    from extent
    inner join "sqlanon_value_1" as least on extent.least_1 = least.code
    inner join "sqlanon_value_1" as largest on extent.largest_1 = largest.code
    where least.code < largest.code
    union all
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        2 as attribute,
largest.place - least.place as width
    from extent
    inner join "sqlanon_value_2" as least on extent.least_2 = least.code
    inner join "sqlanon_value_2" as largest on extent.largest_2 = largest.code
    where least.code < largest.code
    union all
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        3 as attribute,
largest.place - least.place as width
    from extent
    inner join "sqlanon_value_3" as least on extent.least_3 = least.code
    inner join "sqlanon_value_3" as largest on extent.largest_3 = largest.code
    where least.code < largest.code
    union all
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        4 as attribute,
largest.place - least.place as width
    from extent
    inner join "sqlanon_value_4" as least on extent.least_4 = least.code
    inner join "sqlanon_value_4" as largest on extent.largest_4 = largest.code
    where least.code < largest.code
),
ranked as (
    select
        width.*,
        row_number() over (partition by partition order by width desc nulls last, attribute asc nulls last) as turn
    from width
)
select
    partition,
    attribute,
    row_count
from ranked
where turn = attempts + 1

-- allowed_1: the places at which a partition may be cut: both sides have k rows and are diverse in one sensitive column, by how often its most frequent value occurs on either side, or by how many values begin before the cut and end behind it
with counted as (
    select
        splitting.partition,
        case choice.attribute when 1 then splitting.code_1 when 2 then splitting.code_2 when 3 then splitting.code_3 when 4 then splitting.code_4 end as place,
        splitting."code",
        count(*) as row_count
    from "sqlanon_splitting" as splitting
    inner join "sqlanon_choice" as choice on splitting.partition = choice.partition
    group by splitting."code", splitting.partition, case choice.attribute when 1 then splitting.code_1 when 2 then splitting.code_2 when 3 then splitting.code_3 when 4 then splitting.code_4 end
),
spanned as (
    select
        counted.*,
        sum(row_count) over (partition by "code", partition order by place asc nulls last rows unbounded preceding) as so_far,
        sum(row_count) over (partition by "code", partition order by place desc nulls last rows unbounded preceding) as from_here
    from counted
),
placed as (
    select
        partition,
        place,
        sum(row_count) as row_count,
        max(so_far) as so_far,
        max(from_here) as from_here
    from spanned
    group by partition, place
),
running as (
    select
        partition,
        place,
        sum(row_count) over (partition by partition) as all_rows,
        lead(place) over (partition by partition order by place asc nulls last) as next_place,
        sum(row_count) over (partition by partition order by place asc nulls last rows unbounded preceding) as left_count,
        max(so_far) over (partition by partition order by place asc nulls last rows unbounded preceding) as left_values,
        max(from_here) over (partition by partition order by place desc nulls last rows between unbounded preceding and 1 preceding) as right_values
    from placed
)
select
    partition,
    place,
    next_place,
    left_count
from running
where
    left_count >= 10
    and all_rows - left_count >= 10
    and left_values * 4 <= left_count
    and right_values * 4 <= (all_rows - left_count)

-- cut: where each partition is cut, if anywhere: the place nearest to the median; in a hierarchy first between children of the node above all values of the partition. Rows up to it go to one side
with allowed as (
    select
        choice.partition,
        allowed_1.place,
        allowed_1.left_count,
        0 + case when before_1."level_1" = behind_1."level_1" then 1 else 0 end + case when before_1."level_2" = behind_1."level_2" then 1 else 0 end as depth,
        abs(2 * allowed_1.left_count - choice.row_count) as imbalance
    from "sqlanon_choice" as choice
    inner join "sqlanon_allowed_1" as allowed_1 on choice.partition = allowed_1.partition
    left join "sqlanon_value_1" as before_1 on choice.attribute = 1 and allowed_1.place = before_1.code
    left join "sqlanon_value_1" as behind_1 on choice.attribute = 1 and allowed_1.next_place = behind_1.code
),
ranked as (
    select
        allowed.*,
        row_number() over (partition by partition order by depth asc nulls last, imbalance asc nulls last, place asc nulls last) as turn
    from allowed
)
select
    choice.partition,
    choice.attribute,
    ranked.place,
    ranked.left_count,
    choice.row_count - ranked.left_count as right_count
from "sqlanon_choice" as choice
left join ranked on choice.partition = ranked.partition and ranked.turn = 1

-- splitting: every row in its part: those of p are 2p and 2p + 1; a partition that is not cut is tried by its next attribute, and closed when there is none, or when it is too small
with sided as (
    select
        splitting."code_1", splitting."code_2", splitting."code_3", splitting."code_4", splitting."code", splitting."draw", splitting."tie",
        splitting.partition,
        splitting.attempts,
        choice.partition as cut_partition,
        case when choice.place is null then 0 when case choice.attribute when 1 then splitting.code_1 when 2 then splitting.code_2 when 3 then splitting.code_3 when 4 then splitting.code_4 end <= choice.place then 1 else 2 end as side,
        choice.left_count,
        choice.right_count
    from "sqlanon_splitting" as splitting
    left join "sqlanon_cut" as choice on splitting.partition = choice.partition
)
select
    case side when 0 then partition when 1 then 2 * partition else 2 * partition + 1 end as partition,
    case side when 0 then attempts + 1 else 0 end as attempts,
    case
        when cut_partition is null then 0
        when side = 0 then 1
        when case side when 1 then left_count else right_count end >= 2 * 10 then 1
        else 0
    end as open,
    "code_1", "code_2", "code_3", "code_4", "code", "draw", "tie"
from sided

-- cuts: 
select case when 0 = (select count(*) from "sqlanon_splitting" where open = 1) then 0 else 1 end as left_over

-- splitting: all partitions once more, numbered anew and open: what could not be cut between values may be cut among equal ones (from N to below 2N: no part of one, 2p or 2p + 1, has the number of another)
select
    count(*) over () + dense_rank() over (order by partition asc nulls last) - 1 as partition,
    0 as attempts,
    1 as open,
    "code_1", "code_2", "code_3", "code_4", "code", "draw", "tie"
from "sqlanon_splitting"

-- choice: the attribute by which each open partition is cut: the widest of those that it was not tried by (figure 3: choose_dimension); a width is a share of the attribute's range, or of its hierarchy's leaves
with extent as (
    select
        min(code_1) as least_1, max(code_1) as largest_1, min(code_2) as least_2, max(code_2) as largest_2, min(code_3) as least_3, max(code_3) as largest_3, min(code_4) as least_4, max(code_4) as largest_4,
        partition,
        max(attempts) as attempts,
        count(*) as row_count
    from "sqlanon_splitting_2"
    where open = 1
    group by partition
    having count(*) >= 2 * 10
),
width as (
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        1 as attribute,
case when coalesce(least."level_1" <> largest."level_1", true) then 1 when coalesce(least."level_2" <> largest."level_2", true) then least.share_1 else 0 end as width
    from extent
    inner join "sqlanon_value_1" as least on extent.least_1 = least.code
    inner join "sqlanon_value_1" as largest on extent.largest_1 = largest.code
    where least.code < largest.code
    union all
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        2 as attribute,
largest.place - least.place as width
    from extent
    inner join "sqlanon_value_2" as least on extent.least_2 = least.code
    inner join "sqlanon_value_2" as largest on extent.largest_2 = largest.code
    where least.code < largest.code
    union all
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        3 as attribute,
largest.place - least.place as width
    from extent
    inner join "sqlanon_value_3" as least on extent.least_3 = least.code
    inner join "sqlanon_value_3" as largest on extent.largest_3 = largest.code
    where least.code < largest.code
    union all
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        4 as attribute,
largest.place - least.place as width
    from extent
    inner join "sqlanon_value_4" as least on extent.least_4 = least.code
    inner join "sqlanon_value_4" as largest on extent.largest_4 = largest.code
    where least.code < largest.code
),
ranked as (
    select
        width.*,
        row_number() over (partition by partition order by width desc nulls last, attribute asc nulls last) as turn
    from width
)
select
    partition,
    attribute,
    row_count
from ranked
where turn = attempts + 1

-- half: the rows of the open partitions, each in the half where its value lies; rows with the value at the middle go in the order of their other values, then of draws (section 3.2)
with read as (
    select
        splitting."code_1", splitting."code_2", splitting."code_3", splitting."code_4", splitting."code", splitting."draw", splitting."tie",
        splitting.partition,
        splitting.attempts,
        choice.partition as cut_partition,
        choice.row_count,
        case choice.attribute when 1 then splitting.code_1 when 2 then splitting.code_2 when 3 then splitting.code_3 when 4 then splitting.code_4 end as place
    from "sqlanon_splitting_2" as splitting
    left join "sqlanon_choice_2" as choice on splitting.partition = choice.partition
)
select
    "code_1", "code_2", "code_3", "code_4", "code", "draw", "tie",
    partition,
    attempts,
    cut_partition,
    row_count // 2 as left_count,
    row_count - row_count // 2 as right_count,
    case
        when cut_partition is null then 0
        when row_number() over (partition by partition order by "place" asc nulls last, "code_1" asc nulls last, "code_2" asc nulls last, "code_3" asc nulls last, "code_4" asc nulls last, "draw" asc nulls last, "tie" asc nulls last) <= row_count // 2 then 1
        else 2
    end as side
from read

-- standing: the partitions whose halves may stand: both have k rows, and are diverse in every sensitive column
with held as (
    select
        1 as number,
        partition,
        side,
        count(*) as row_count
    from "sqlanon_half"
    where side > 0
    group by "code", partition, side
),
judged as (
    select
        partition,
        case when sum(row_count) >= 10 and max(row_count) * 4 <= sum(row_count) then 1 else 0 end as stands
    from held
    group by number, partition, side
)
select partition
from judged
group by partition
having min(stands) = 1

-- splitting: every row in its half, where both may stand
with sided as (
    select
        half."code_1", half."code_2", half."code_3", half."code_4", half."code", half."draw", half."tie",
        half.partition,
        half.attempts,
        half.cut_partition,
        half.left_count,
        half.right_count,
        case when standing.partition is null then 0 else half.side end as side
    from "sqlanon_half" as half
    left join "sqlanon_standing" as standing on half.partition = standing.partition
)
select
    case side when 0 then partition when 1 then 2 * partition else 2 * partition + 1 end as partition,
    case side when 0 then attempts + 1 else 0 end as attempts,
    case
        when cut_partition is null then 0
        when side = 0 then 1
        when case side when 1 then left_count else right_count end >= 2 * 10 then 1
        else 0
    end as open,
    "code_1", "code_2", "code_3", "code_4", "code", "draw", "tie"
from sided

-- halves: 
select case when 0 = (select count(*) from "sqlanon_splitting_2" where open = 1) then 0 else 1 end as left_over

-- value_set_4: the values of one attribute in each partition, as a JSON list of texts in their order; NULL stands as null
with held as (
    select distinct
        partition,
        "code_4" as code
    from "sqlanon_splitting_2"
)
select
    held.partition,
    '[' || string_agg(numbered.shown, ',' order by held.code asc nulls last) || ']' as value_set
from held
inner join "sqlanon_value_4" as numbered on held.code = numbered.code
group by held.partition

-- box: what is published of each partition: the exact bounds of its numbers, the lowest common ancestor of its nodes, its sets of values
with extent as (
    select
        min(nullif("code_1", 2147483647)) as least_1,
        max(nullif("code_1", 2147483647)) as largest_1,
        max("code_1") = 2147483647 as unknown_1,
        min(nullif("code_2", 2147483647)) as least_2,
        max(nullif("code_2", 2147483647)) as largest_2,
        max("code_2") = 2147483647 as unknown_2,
        min(nullif("code_3", 2147483647)) as least_3,
        max(nullif("code_3", 2147483647)) as largest_3,
        max("code_3") = 2147483647 as unknown_3,
        min(nullif("code_4", 2147483647)) as least_4,
        max(nullif("code_4", 2147483647)) as largest_4,
        max("code_4") = 2147483647 as unknown_4,
        partition
    from "sqlanon_splitting_2"
    group by partition
)
select
    case
        when least_1.value is null then null
        when least_1."level_2" = largest_1."level_2" then least_1."level_2"
        when least_1."level_1" = largest_1."level_1" then least_1."level_1"
        else 'Any'
    end as node_1,
    least_2.value as low_2,
    largest_2.value as high_2,
    extent.unknown_2,
    least_3.value as low_3,
    largest_3.value as high_3,
    extent.unknown_3,
    value_set_4.value_set as set_4,
    extent.partition
from extent
left join "sqlanon_value_1" as least_1 on extent.least_1 = least_1.code
left join "sqlanon_value_1" as largest_1 on extent.largest_1 = largest_1.code
left join "sqlanon_value_2" as least_2 on extent.least_2 = least_2.code
left join "sqlanon_value_2" as largest_2 on extent.largest_2 = largest_2.code
left join "sqlanon_value_3" as least_3 on extent.least_3 = least_3.code
left join "sqlanon_value_3" as largest_3 on extent.largest_3 = largest_3.code
inner join "sqlanon_value_set_4" as value_set_4 on extent.partition = value_set_4.partition

-- spark, splitting:
-- -with "sided" as (
-- -  select
-- -    "half"."code_1",
-- -    "half"."code_2",
-- -    "half"."code_3",
-- -    "half"."code_4",
-- -    "half"."code",
-- -    "half"."draw",
-- -    "half"."tie",
-- -    "half"."partition",
-- -    "half"."attempts",
-- -    "half"."cut_partition",
-- -    "half"."left_count",
-- -    "half"."right_count",
-- -    case when "standing"."partition" is null then 0 else "half"."side" end as "side"
-- -  from "sqlanon_half" as "half"
-- -  left join "sqlanon_standing" as "standing"
-- -    on "half"."partition" = "standing"."partition"
-- -)
-- -  case "side" when 0 then "partition" when 1 then 2 * "partition" else 2 * "partition" + 1 end as "partition",
-- -  case "side" when 0 then "attempts" + 1 else 0 end as "attempts",
-- -  case
-- -    when "cut_partition" is null
-- -    then 0
-- -    when "side" = 0
-- -    then 1
-- -    when case "side" when 1 then "left_count" else "right_count" end >= 2 * 10
-- -    then 1
-- -    else 0
-- -  end as "open",
-- -  "code_1",
-- -  "code_2",
-- -  "code_3",
-- -  "code_4",
-- -  "code",
-- -  "draw",
-- -  "tie"
-- -from "sided"
-- +  cast(1 as bigint) as "partition",
-- +  0 as "attempts",
-- +  1 as "open",
-- +  "value_1"."code" as "code_1",
-- +  "value_2"."code" as "code_2",
-- +  "value_3"."code" as "code_3",
-- +  "value_4"."code" as "code_4",
-- +  "population"."draw",
-- +  "population"."tie",
-- +  "sensitive_value"."code" as "code"
-- +from "sqlanon_population_3" as "population"
-- +inner join "sqlanon_sensitive_value" as "sensitive_value"
-- +  on "population"."sensitive" is not distinct from "sensitive_value"."sensitive"
-- +inner join "sqlanon_value_1" as "value_1"
-- +  on "population"."quasi_1" is not distinct from "value_1"."value"
-- +inner join "sqlanon_value_2" as "value_2"
-- +  on "population"."quasi_2" is not distinct from "value_2"."value"
-- +inner join "sqlanon_value_3" as "value_3"
-- +  on "population"."quasi_3" is not distinct from "value_3"."value"
-- +inner join "sqlanon_value_4" as "value_4"
-- +  on "population"."quasi_4" is not distinct from "value_4"."value"

-- spark, choice:
-- -  from "sqlanon_splitting_2"
-- +  from "sqlanon_splitting"

-- spark, splitting:
-- -    "half"."code_1",
-- -    "half"."code_2",
-- -    "half"."code_3",
-- -    "half"."code_4",
-- -    "half"."code",
-- -    "half"."draw",
-- -    "half"."tie",
-- -    "half"."partition",
-- -    "half"."attempts",
-- -    "half"."cut_partition",
-- -    "half"."left_count",
-- -    "half"."right_count",
-- -    case when "standing"."partition" is null then 0 else "half"."side" end as "side"
-- -  from "sqlanon_half" as "half"
-- -  left join "sqlanon_standing" as "standing"
-- -    on "half"."partition" = "standing"."partition"
-- +    "splitting"."code_1",
-- +    "splitting"."code_2",
-- +    "splitting"."code_3",
-- +    "splitting"."code_4",
-- +    "splitting"."code",
-- +    "splitting"."draw",
-- +    "splitting"."tie",
-- +    "splitting"."partition",
-- +    "splitting"."attempts",
-- +    "choice"."partition" as "cut_partition",
-- +    case
-- +      when "choice"."place" is null
-- +      then 0
-- +      when case "choice"."attribute"
-- +        when 1
-- +        then "splitting"."code_1"
-- +        when 2
-- +        then "splitting"."code_2"
-- +        when 3
-- +        then "splitting"."code_3"
-- +        when 4
-- +        then "splitting"."code_4"
-- +      end <= "choice"."place"
-- +      then 1
-- +      else 2
-- +    end as "side",
-- +    "choice"."left_count",
-- +    "choice"."right_count"
-- +  from "sqlanon_splitting" as "splitting"
-- +  left join "sqlanon_cut" as "choice"
-- +    on "splitting"."partition" = "choice"."partition"

-- spark, splitting:
-- -with "sided" as (
-- -  select
-- -    "half"."code_1",
-- -    "half"."code_2",
-- -    "half"."code_3",
-- -    "half"."code_4",
-- -    "half"."code",
-- -    "half"."draw",
-- -    "half"."tie",
-- -    "half"."partition",
-- -    "half"."attempts",
-- -    "half"."cut_partition",
-- -    "half"."left_count",
-- -    "half"."right_count",
-- -    case when "standing"."partition" is null then 0 else "half"."side" end as "side"
-- -  from "sqlanon_half" as "half"
-- -  left join "sqlanon_standing" as "standing"
-- -    on "half"."partition" = "standing"."partition"
-- -)
-- -  case "side" when 0 then "partition" when 1 then 2 * "partition" else 2 * "partition" + 1 end as "partition",
-- -  case "side" when 0 then "attempts" + 1 else 0 end as "attempts",
-- -  case
-- -    when "cut_partition" is null
-- -    then 0
-- -    when "side" = 0
-- -    then 1
-- -    when case "side" when 1 then "left_count" else "right_count" end >= 2 * 10
-- -    then 1
-- -    else 0
-- -  end as "open",
-- +  count(*) over () + dense_rank() over (order by "partition" asc nulls last) - 1 as "partition",
-- +  0 as "attempts",
-- +  1 as "open",
-- -from "sided"
-- +from "sqlanon_splitting"

-- spark, half:
-- -  "row_count" // 2 as "left_count",
-- -  "row_count" - "row_count" // 2 as "right_count",
-- +  ("row_count" div 2) as "left_count",
-- +  "row_count" - ("row_count" div 2) as "right_count",
-- -    ) <= "row_count" // 2
-- +    ) <= ("row_count" div 2)

-- spark, value_set_4:
-- -  '[' || listagg("numbered"."shown", ','
-- -  order by
-- +  '[' || listagg("numbered"."shown", ',') within group (order by

-- postgres, splitting:
-- -with "sided" as (
-- -  select
-- -    "half"."code_1",
-- -    "half"."code_2",
-- -    "half"."code_3",
-- -    "half"."code_4",
-- -    "half"."code",
-- -    "half"."draw",
-- -    "half"."tie",
-- -    "half"."partition",
-- -    "half"."attempts",
-- -    "half"."cut_partition",
-- -    "half"."left_count",
-- -    "half"."right_count",
-- -    case when "standing"."partition" is null then 0 else "half"."side" end as "side"
-- -  from "sqlanon_half" as "half"
-- -  left join "sqlanon_standing" as "standing"
-- -    on "half"."partition" = "standing"."partition"
-- -)
-- -  case "side" when 0 then "partition" when 1 then 2 * "partition" else 2 * "partition" + 1 end as "partition",
-- -  case "side" when 0 then "attempts" + 1 else 0 end as "attempts",
-- -  case
-- -    when "cut_partition" is null
-- -    then 0
-- -    when "side" = 0
-- -    then 1
-- -    when case "side" when 1 then "left_count" else "right_count" end >= 2 * 10
-- -    then 1
-- -    else 0
-- -  end as "open",
-- -  "code_1",
-- -  "code_2",
-- -  "code_3",
-- -  "code_4",
-- -  "code",
-- -  "draw",
-- -  "tie"
-- -from "sided"
-- +  cast(1 as bigint) as "partition",
-- +  0 as "attempts",
-- +  1 as "open",
-- +  "value_1"."code" as "code_1",
-- +  "value_2"."code" as "code_2",
-- +  "value_3"."code" as "code_3",
-- +  "value_4"."code" as "code_4",
-- +  "population"."draw",
-- +  "population"."tie",
-- +  "sensitive_value"."code" as "code"
-- +from "sqlanon_population_3" as "population"
-- +inner join "sqlanon_sensitive_value" as "sensitive_value"
-- +  on array["population"."sensitive"] = array["sensitive_value"."sensitive"]
-- +inner join "sqlanon_value_1" as "value_1"
-- +  on array["population"."quasi_1"] = array["value_1"."value"]
-- +inner join "sqlanon_value_2" as "value_2"
-- +  on array["population"."quasi_2"] = array["value_2"."value"]
-- +inner join "sqlanon_value_3" as "value_3"
-- +  on array["population"."quasi_3"] = array["value_3"."value"]
-- +inner join "sqlanon_value_4" as "value_4"
-- +  on array["population"."quasi_4"] = array["value_4"."value"]

-- postgres, choice:
-- -  from "sqlanon_splitting_2"
-- +  from "sqlanon_splitting"

-- postgres, splitting:
-- -    "half"."code_1",
-- -    "half"."code_2",
-- -    "half"."code_3",
-- -    "half"."code_4",
-- -    "half"."code",
-- -    "half"."draw",
-- -    "half"."tie",
-- -    "half"."partition",
-- -    "half"."attempts",
-- -    "half"."cut_partition",
-- -    "half"."left_count",
-- -    "half"."right_count",
-- -    case when "standing"."partition" is null then 0 else "half"."side" end as "side"
-- -  from "sqlanon_half" as "half"
-- -  left join "sqlanon_standing" as "standing"
-- -    on "half"."partition" = "standing"."partition"
-- +    "splitting"."code_1",
-- +    "splitting"."code_2",
-- +    "splitting"."code_3",
-- +    "splitting"."code_4",
-- +    "splitting"."code",
-- +    "splitting"."draw",
-- +    "splitting"."tie",
-- +    "splitting"."partition",
-- +    "splitting"."attempts",
-- +    "choice"."partition" as "cut_partition",
-- +    case
-- +      when "choice"."place" is null
-- +      then 0
-- +      when case "choice"."attribute"
-- +        when 1
-- +        then "splitting"."code_1"
-- +        when 2
-- +        then "splitting"."code_2"
-- +        when 3
-- +        then "splitting"."code_3"
-- +        when 4
-- +        then "splitting"."code_4"
-- +      end <= "choice"."place"
-- +      then 1
-- +      else 2
-- +    end as "side",
-- +    "choice"."left_count",
-- +    "choice"."right_count"
-- +  from "sqlanon_splitting" as "splitting"
-- +  left join "sqlanon_cut" as "choice"
-- +    on "splitting"."partition" = "choice"."partition"

-- postgres, splitting:
-- -with "sided" as (
-- -  select
-- -    "half"."code_1",
-- -    "half"."code_2",
-- -    "half"."code_3",
-- -    "half"."code_4",
-- -    "half"."code",
-- -    "half"."draw",
-- -    "half"."tie",
-- -    "half"."partition",
-- -    "half"."attempts",
-- -    "half"."cut_partition",
-- -    "half"."left_count",
-- -    "half"."right_count",
-- -    case when "standing"."partition" is null then 0 else "half"."side" end as "side"
-- -  from "sqlanon_half" as "half"
-- -  left join "sqlanon_standing" as "standing"
-- -    on "half"."partition" = "standing"."partition"
-- -)
-- -  case "side" when 0 then "partition" when 1 then 2 * "partition" else 2 * "partition" + 1 end as "partition",
-- -  case "side" when 0 then "attempts" + 1 else 0 end as "attempts",
-- -  case
-- -    when "cut_partition" is null
-- -    then 0
-- -    when "side" = 0
-- -    then 1
-- -    when case "side" when 1 then "left_count" else "right_count" end >= 2 * 10
-- -    then 1
-- -    else 0
-- -  end as "open",
-- +  count(*) over () + dense_rank() over (order by "partition" asc) - 1 as "partition",
-- +  0 as "attempts",
-- +  1 as "open",
-- -from "sided"
-- +from "sqlanon_splitting"

-- postgres, half:
-- -  "row_count" // 2 as "left_count",
-- -  "row_count" - "row_count" // 2 as "right_count",
-- +  ("row_count" / 2) as "left_count",
-- +  "row_count" - ("row_count" / 2) as "right_count",
-- -    ) <= "row_count" // 2
-- +    ) <= ("row_count" / 2)

-- postgres, value_set_4:
-- -  '[' || listagg("numbered"."shown", ','
-- +  '[' || string_agg("numbered"."shown", ','
