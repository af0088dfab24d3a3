-- point: Every row as codes and numbers
with finite as (
    select
        attribute_codes.*,
        case when abs(cast(quasi_2 as double)) <= cast(1e300 as double) then cast(quasi_2 as double) end as "read_2"
    from "sqlanon_branch_codes_3" as attribute_codes
),
shared as (
    select
        finite.*,
        value_ranges.row_count,
        (finite."read_2" - value_ranges."lowest_2") / coalesce(nullif(value_ranges."span_2", 0), 1) as "fraction_2"
    from finite
    cross join "sqlanon_value_ranges" as value_ranges
),
binned as (
    select
        shared.*,
        least(24000 - 1, cast(floor(coalesce("fraction_2", 0) * 24000) as integer)) as "bin_2",
        cast(floor("fraction_2" * importance."share_2" + 0.5) as integer) as "number_2"
    from shared
    cross join "sqlanon_importance" as importance
)
select
    "number_2",
    case when "fraction_2" is null then 0 else 1 + "bin_2" // 4000 end as "coarse_2",
    "bin_2" // 1000 % 4 as "fine_2",
    "bin_2" % 1000 as "exact_2",
    "row_number",
    "sensitive_count",
    "cell_code",
    "draw",
    "tie",
    "level_1_0",
    "level_1_1",
    "level_3_0",
    "branch_1_0",
    "branch_1_1",
    "branch_3_0",
    row_count
from binned

-- spark, point:
-- -    (
-- -      "finite"."read_2" - "value_ranges"."lowest_2"
-- -    ) / coalesce(nullif("value_ranges"."span_2", 0), 1) as "fraction_2"
-- +    (cast(("finite"."read_2" - "value_ranges"."lowest_2") as double) / nullif(coalesce(nullif("value_ranges"."span_2", 0), 1), 0)) as "fraction_2"
-- -  case when "fraction_2" is null then 0 else 1 + "bin_2" // 4000 end as "coarse_2",
-- -  "bin_2" // 1000 % 4 as "fine_2",
-- +  case when "fraction_2" is null then 0 else 1 + ("bin_2" div 4000) end as "coarse_2",
-- +  ("bin_2" div 1000) % 4 as "fine_2",

-- postgres, point:
-- -    case when abs(cast("quasi_2" as double)) <= cast(1e300 as double) then cast("quasi_2" as double) end as "read_2"
-- +    case
-- +      when abs(cast("quasi_2" as double precision)) <= cast(1e300 as double precision)
-- +      then cast("quasi_2" as double precision)
-- +    end as "read_2"
-- -    (
-- -      "finite"."read_2" - "value_ranges"."lowest_2"
-- -    ) / coalesce(nullif("value_ranges"."span_2", 0), 1) as "fraction_2"
-- +    (cast(("finite"."read_2" - "value_ranges"."lowest_2") as double precision) / nullif(coalesce(nullif("value_ranges"."span_2", 0), 1), 0)) as "fraction_2"
-- -  case when "fraction_2" is null then 0 else 1 + "bin_2" // 4000 end as "coarse_2",
-- -  "bin_2" // 1000 % 4 as "fine_2",
-- +  case when "fraction_2" is null then 0 else 1 + ("bin_2" / 4000) end as "coarse_2",
-- +  ("bin_2" / 1000) % 4 as "fine_2",
