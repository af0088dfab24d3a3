-- arrangement: All levels of all attributes by what it costs to differ there, the dearest first: at height h (0 = leaf) of a hierarchy of height H, w_j (h + 1) / H; the last levels come after all others
with level as (
    select
        1 as level,
        0 as last,
        cast("importance_1" as double) * 2 / 2 as cost,
        "breadth_1_1" as breadth
    from "sqlanon_extent_3"
    union all
    select
        2 as level,
        0 as last,
        cast("importance_1" as double) * 1 / 2 as cost,
        "breadth_1_0" as breadth
    from "sqlanon_extent_3"
    union all
    select
        3 as level,
        0 as last,
        cast("importance_3" as double) * 1 / 1 as cost,
        "breadth_3_0" as breadth
    from "sqlanon_extent_3"
    union all
    select
        4 as level,
        0 as last,
        cast("importance_2" as double) * 1 / 4 as cost,
        7 as breadth
    from "sqlanon_extent_3"
    union all
    select
        5 as level,
        0 as last,
        cast("importance_2" as double) * 1 / 12 as cost,
        4 as breadth
    from "sqlanon_extent_3"
    union all
    select
        6 as level,
        1 as last,
        cast("importance_2" as double) * 1 / 1 as cost,
        1000 as breadth
    from "sqlanon_extent_3"
),
sized as (
    select
        level,
        last,
        cost,
        0 + case when breadth > 1 then 1 else 0 end + case when breadth > 2 then 1 else 0 end + case when breadth > 4 then 1 else 0 end + case when breadth > 8 then 1 else 0 end + case when breadth > 16 then 1 else 0 end + case when breadth > 32 then 1 else 0 end + case when breadth > 64 then 1 else 0 end + case when breadth > 128 then 1 else 0 end + case when breadth > 256 then 1 else 0 end + case when breadth > 512 then 1 else 0 end + case when breadth > 1024 then 1 else 0 end + case when breadth > 2048 then 1 else 0 end + case when breadth > 4096 then 1 else 0 end + case when breadth > 8192 then 1 else 0 end + case when breadth > 16384 then 1 else 0 end + case when breadth > 32768 then 1 else 0 end + case when breadth > 65536 then 1 else 0 end + case when breadth > 131072 then 1 else 0 end + case when breadth > 262144 then 1 else 0 end + case when breadth > 524288 then 1 else 0 end + case when breadth > 1048576 then 1 else 0 end + case when breadth > 2097152 then 1 else 0 end + case when breadth > 4194304 then 1 else 0 end + case when breadth > 8388608 then 1 else 0 end + case when breadth > 16777216 then 1 else 0 end + case when breadth > 33554432 then 1 else 0 end + case when breadth > 67108864 then 1 else 0 end + case when breadth > 134217728 then 1 else 0 end + case when breadth > 268435456 then 1 else 0 end + case when breadth > 536870912 then 1 else 0 end + case when breadth > 1073741824 then 1 else 0 end as width
    from level
),
reached as (
    select
        level,
        width,
        cast(sum(width) over (order by last asc nulls last, cost desc nulls last, level asc nulls last rows unbounded preceding) as bigint) as reach
    from sized
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
        (weight << cast(width as integer)) - weight as bits,
        cast(sum(weight) over (order by reach asc nulls last, level asc nulls last rows unbounded preceding) as bigint) - weight as before
    from weighed
)
select
    max(case when level = 1 then weight end) as weight_1,
    max(case when level = 1 then bits end) as bits_1,
    max(case when level = 1 then before end) as before_1,
    max(case when level = 2 then weight end) as weight_2,
    max(case when level = 2 then bits end) as bits_2,
    max(case when level = 2 then before end) as before_2,
    max(case when level = 3 then weight end) as weight_3,
    max(case when level = 3 then bits end) as bits_3,
    max(case when level = 3 then before end) as before_3,
    max(case when level = 4 then weight end) as weight_4,
    max(case when level = 4 then bits end) as bits_4,
    max(case when level = 4 then before end) as before_4,
    max(case when level = 5 then weight end) as weight_5,
    max(case when level = 5 then bits end) as bits_5,
    max(case when level = 5 then before end) as before_5,
    max(case when level = 6 then weight end) as weight_6,
    max(case when level = 6 then bits end) as bits_6,
    max(case when level = 6 then before end) as before_6
from arranged

-- spark, arrangement:
-- -    cast("importance_1" as double) * 2 / 2 as "cost",
-- +    (cast(cast("importance_1" as double) * 2 as double) / nullif(2, 0)) as "cost",
-- -    cast("importance_1" as double) * 1 / 2 as "cost",
-- +    (cast(cast("importance_1" as double) * 1 as double) / nullif(2, 0)) as "cost",
-- -    cast("importance_3" as double) * 1 / 1 as "cost",
-- +    (cast(cast("importance_3" as double) * 1 as double) / nullif(1, 0)) as "cost",
-- -    cast("importance_2" as double) * 1 / 4 as "cost",
-- +    (cast(cast("importance_2" as double) * 1 as double) / nullif(4, 0)) as "cost",
-- -    cast("importance_2" as double) * 1 / 12 as "cost",
-- +    (cast(cast("importance_2" as double) * 1 as double) / nullif(12, 0)) as "cost",
-- -    cast("importance_2" as double) * 1 / 1 as "cost",
-- +    (cast(cast("importance_2" as double) * 1 as double) / nullif(1, 0)) as "cost",
-- -    case when "width" > 0 and "reach" <= 62 then cast(1 as bigint) << cast(62 - "reach" as int) else 0 end as "weight"
-- +    case when "width" > 0 and "reach" <= 62 then shiftleft(cast(1 as bigint), cast(62 - "reach" as int)) else 0 end as "weight"
-- -      "weight" << cast("width" as int)
-- +      shiftleft("weight", cast("width" as int))

-- postgres, arrangement:
-- -    cast("importance_1" as double) * 2 / 2 as "cost",
-- +    (cast(cast("importance_1" as double precision) * 2 as double precision) / nullif(2, 0)) as "cost",
-- -    cast("importance_1" as double) * 1 / 2 as "cost",
-- +    (cast(cast("importance_1" as double precision) * 1 as double precision) / nullif(2, 0)) as "cost",
-- -    cast("importance_3" as double) * 1 / 1 as "cost",
-- +    (cast(cast("importance_3" as double precision) * 1 as double precision) / nullif(1, 0)) as "cost",
-- -    cast("importance_2" as double) * 1 / 4 as "cost",
-- +    (cast(cast("importance_2" as double precision) * 1 as double precision) / nullif(4, 0)) as "cost",
-- -    cast("importance_2" as double) * 1 / 12 as "cost",
-- +    (cast(cast("importance_2" as double precision) * 1 as double precision) / nullif(12, 0)) as "cost",
-- -    cast("importance_2" as double) * 1 / 1 as "cost",
-- +    (cast(cast("importance_2" as double precision) * 1 as double precision) / nullif(1, 0)) as "cost",
