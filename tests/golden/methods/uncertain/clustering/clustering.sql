-- clustering: One sort: rows by the branches of all levels as one number, the dearest first, each upwards or downwards by whether those before it are even or odd in sum, so that neighbours are alike; then by the draw
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
        xor(branched.branches, (0 + bit_count(branched.branches & arrangement.before_1) % 2 * arrangement.bits_1 + bit_count(branched.branches & arrangement.before_2) % 2 * arrangement.bits_2 + bit_count(branched.branches & arrangement.before_3) % 2 * arrangement.bits_3 + bit_count(branched.branches & arrangement.before_4) % 2 * arrangement.bits_4 + bit_count(branched.branches & arrangement.before_5) % 2 * arrangement.bits_5 + bit_count(branched.branches & arrangement.before_6) % 2 * arrangement.bits_6)) as place
    from branched
    cross join "sqlanon_arrangement" as arrangement
),
lined as (
    select
        *,
        row_number() over (order by place asc nulls last, "draw" asc nulls last, "tie" asc nulls last) - 1 as position
    from turned
)
select
    "row_number",
    "sensitive_count",
    "cell_code",
    "draw",
    "tie",
    position,
    least(position // 5, row_count // 5 - 1) as cluster
from lined

-- spark, clustering:
-- -    xor(
-- -      "branched"."branches",
-- -      (
-- -        0 + bit_count("branched"."branches" & "arrangement"."before_1") % 2 * "arrangement"."bits_1" + bit_count("branched"."branches" & "arrangement"."before_2") % 2 * "arrangement"."bits_2" + bit_count("branched"."branches" & "arrangement"."before_3") % 2 * "arrangement"."bits_3" + bit_count("branched"."branches" & "arrangement"."before_4") % 2 * "arrangement"."bits_4" + bit_count("branched"."branches" & "arrangement"."before_5") % 2 * "arrangement"."bits_5" + bit_count("branched"."branches" & "arrangement"."before_6") % 2 * "arrangement"."bits_6"
-- -      )
-- +    "branched"."branches" ^ (
-- +      0 + bit_count("branched"."branches" & "arrangement"."before_1") % 2 * "arrangement"."bits_1" + bit_count("branched"."branches" & "arrangement"."before_2") % 2 * "arrangement"."bits_2" + bit_count("branched"."branches" & "arrangement"."before_3") % 2 * "arrangement"."bits_3" + bit_count("branched"."branches" & "arrangement"."before_4") % 2 * "arrangement"."bits_4" + bit_count("branched"."branches" & "arrangement"."before_5") % 2 * "arrangement"."bits_5" + bit_count("branched"."branches" & "arrangement"."before_6") % 2 * "arrangement"."bits_6"
-- -  least("position" // 5, "row_count" // 5 - 1) as "cluster"
-- +  least(("position" div 5), ("row_count" div 5) - 1) as "cluster"

-- postgres, clustering:
-- -    xor(
-- -      "branched"."branches",
-- -      (
-- -        0 + bit_count("branched"."branches" & "arrangement"."before_1") % 2 * "arrangement"."bits_1" + bit_count("branched"."branches" & "arrangement"."before_2") % 2 * "arrangement"."bits_2" + bit_count("branched"."branches" & "arrangement"."before_3") % 2 * "arrangement"."bits_3" + bit_count("branched"."branches" & "arrangement"."before_4") % 2 * "arrangement"."bits_4" + bit_count("branched"."branches" & "arrangement"."before_5") % 2 * "arrangement"."bits_5" + bit_count("branched"."branches" & "arrangement"."before_6") % 2 * "arrangement"."bits_6"
-- -      )
-- +    "branched"."branches" # (
-- +      0 + bit_count(cast("branched"."branches" & "arrangement"."before_1" as bit(64))) % 2 * "arrangement"."bits_1" + bit_count(cast("branched"."branches" & "arrangement"."before_2" as bit(64))) % 2 * "arrangement"."bits_2" + bit_count(cast("branched"."branches" & "arrangement"."before_3" as bit(64))) % 2 * "arrangement"."bits_3" + bit_count(cast("branched"."branches" & "arrangement"."before_4" as bit(64))) % 2 * "arrangement"."bits_4" + bit_count(cast("branched"."branches" & "arrangement"."before_5" as bit(64))) % 2 * "arrangement"."bits_5" + bit_count(cast("branched"."branches" & "arrangement"."before_6" as bit(64))) % 2 * "arrangement"."bits_6"
-- -  least("position" // 5, "row_count" // 5 - 1) as "cluster"
-- +  least(("position" / 5), ("row_count" / 5) - 1) as "cluster"
