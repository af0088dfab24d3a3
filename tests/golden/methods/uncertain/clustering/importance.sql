-- importance: What each quasi attribute counts in a distance: its mean influence w_j over the data's sensitive values, in whole millionths summed (so that no order of summing shows); all alike where nothing influences anything
with summed as (
    select
        coalesce(cast(sum(cast(floor(cast("influence_1" as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_1",
        coalesce(cast(sum(cast(floor(cast("influence_2" as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_2",
        coalesce(cast(sum(cast(floor(cast("influence_3" as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_3"
    from "sqlanon_value"
),
compared as (
    select
        case when 0 + "importance_1" + "importance_2" + "importance_3" = 0 then 1 else "importance_1" end as "importance_1",
        case when 0 + "importance_1" + "importance_2" + "importance_3" = 0 then 1 else "importance_2" end as "importance_2",
        case when 0 + "importance_1" + "importance_2" + "importance_3" = 0 then 1 else "importance_3" end as "importance_3"
    from summed
),
totalled as (
    select
        *,
        cast(0 + "importance_1" + "importance_2" + "importance_3" as double) as total
    from compared
)
select
    "importance_1",
    cast(floor(cast("importance_1" as double) / total * 1000000000) as bigint) as "share_1",
    "importance_2",
    cast(floor(cast("importance_2" as double) / total * 1000000000) as bigint) as "share_2",
    "importance_3",
    cast(floor(cast("importance_3" as double) / total * 1000000000) as bigint) as "share_3"
from totalled

-- spark, importance:
-- -  cast(floor(cast("importance_1" as double) / "total" * 1000000000) as bigint) as "share_1",
-- +  cast(floor((cast(cast("importance_1" as double) as double) / nullif("total", 0)) * 1000000000) as bigint) as "share_1",
-- -  cast(floor(cast("importance_2" as double) / "total" * 1000000000) as bigint) as "share_2",
-- +  cast(floor((cast(cast("importance_2" as double) as double) / nullif("total", 0)) * 1000000000) as bigint) as "share_2",
-- -  cast(floor(cast("importance_3" as double) / "total" * 1000000000) as bigint) as "share_3"
-- +  cast(floor((cast(cast("importance_3" as double) as double) / nullif("total", 0)) * 1000000000) as bigint) as "share_3"

-- postgres, importance:
-- -    coalesce(cast(sum(cast(floor(cast("influence_1" as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_1",
-- -    coalesce(cast(sum(cast(floor(cast("influence_2" as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_2",
-- -    coalesce(cast(sum(cast(floor(cast("influence_3" as double) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_3"
-- +    coalesce(cast(sum(cast(floor(cast("influence_1" as double precision) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_1",
-- +    coalesce(cast(sum(cast(floor(cast("influence_2" as double precision) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_2",
-- +    coalesce(cast(sum(cast(floor(cast("influence_3" as double precision) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_3"
-- -    cast(0 + "importance_1" + "importance_2" + "importance_3" as double) as "total"
-- +    cast(0 + "importance_1" + "importance_2" + "importance_3" as double precision) as "total"
-- -  cast(floor(cast("importance_1" as double) / "total" * 1000000000) as bigint) as "share_1",
-- +  cast(floor((cast(cast("importance_1" as double precision) as double precision) / nullif("total", 0)) * 1000000000) as bigint) as "share_1",
-- -  cast(floor(cast("importance_2" as double) / "total" * 1000000000) as bigint) as "share_2",
-- +  cast(floor((cast(cast("importance_2" as double precision) as double precision) / nullif("total", 0)) * 1000000000) as bigint) as "share_2",
-- -  cast(floor(cast("importance_3" as double) / "total" * 1000000000) as bigint) as "share_3"
-- +  cast(floor((cast(cast("importance_3" as double precision) as double precision) / nullif("total", 0)) * 1000000000) as bigint) as "share_3"
