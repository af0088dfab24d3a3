-- quality: How good the clusters are: the objective (1/m) sum |e| * (largest distance in e), and the largest of these distances
with size as (
    select
        cluster,
        count(*) as row_count,
        sum(suppressed) as suppressed_rows
    from "sqlanon_clustered"
    group by cluster
),
total as (
    select
        count(*) as cluster_count,
        cast(sum(row_count) as bigint) as row_count,
        max(row_count) as largest_cluster,
        cast(sum(suppressed_rows) as bigint) as suppressed_rows,
        1 + 2 * (
            cast(sum(case when row_count <= 2000 then row_count * row_count else 0 end) as bigint)
            // 500000
        ) as stride
    from size
),
chosen as (
    select size.cluster
    from size
    cross join total
    where size.row_count <= 2000 and size.cluster % total.stride < 1
),
member as (
    select measured.*
    from chosen
    inner join "sqlanon_measured" as measured on chosen.cluster = measured.target
),
diameter as (
    select
        a.target,
        max((
    0
    + "share_1" * (0 + case when a."level_1_0" = "b"."level_1_0" then 0 else 1 end + case when a."level_1_1" = "b"."level_1_1" then 0 else 1 end) // 2
    + "share_3" * (0 + case when a."level_3_0" = "b"."level_3_0" then 0 else 1 end) // 1
    + coalesce(
        abs(a."number_2" - "b"."number_2"),
        case when a."number_2" is null and "b"."number_2" is null then 0 else "share_2" end
    )
)) as diameter
    from member as a
    inner join member as b on a.target = b.target and a.position < b.position
    cross join "sqlanon_importance" as importance
    group by a.target
),
weighed as (
    select
        count(*) as measured_clusters,
        cast(sum(size.row_count * diameter.diameter) as double) / nullif(count(*), 0) / 1000000000 as objective,
        cast(max(diameter.diameter) as double) / 1000000000 as largest_diameter
    from diameter
    inner join size on diameter.target = size.cluster
)
select
    total.cluster_count,
    total.row_count,
    total.largest_cluster,
    total.suppressed_rows,
    weighed.measured_clusters,
    weighed.objective,
    weighed.largest_diameter
from total
cross join weighed

-- spark, quality:
-- -      cast(sum(case when "row_count" <= 2000 then "row_count" * "row_count" else 0 end) as bigint) // 500000
-- +      (cast(sum(case when "row_count" <= 2000 then "row_count" * "row_count" else 0 end) as bigint) div 500000)
-- -        0 + "share_1" * (
-- -          0 + case when "a"."level_1_0" = "b"."level_1_0" then 0 else 1 end + case when "a"."level_1_1" = "b"."level_1_1" then 0 else 1 end
-- -        ) // 2 + "share_3" * (
-- -          0 + case when "a"."level_3_0" = "b"."level_3_0" then 0 else 1 end
-- -        ) // 1 + coalesce(
-- +        0 + ("share_1" * (0 + case when "a"."level_1_0" = "b"."level_1_0" then 0 else 1 end + case when "a"."level_1_1" = "b"."level_1_1" then 0 else 1 end) div 2) + ("share_3" * (0 + case when "a"."level_3_0" = "b"."level_3_0" then 0 else 1 end) div 1) + coalesce(
-- -    cast(sum("size"."row_count" * "diameter"."diameter") as double) / nullif(count(*), 0) / 1000000000 as "objective",
-- -    cast(max("diameter"."diameter") as double) / 1000000000 as "largest_diameter"
-- +    (cast((cast(cast(sum("size"."row_count" * "diameter"."diameter") as double) as double) / nullif(nullif(count(*), 0), 0)) as double) / nullif(1000000000, 0)) as "objective",
-- +    (cast(cast(max("diameter"."diameter") as double) as double) / nullif(1000000000, 0)) as "largest_diameter"

-- postgres, quality:
-- -      cast(sum(case when "row_count" <= 2000 then "row_count" * "row_count" else 0 end) as bigint) // 500000
-- +      (cast(sum(case when "row_count" <= 2000 then "row_count" * "row_count" else 0 end) as bigint) / 500000)
-- -        0 + "share_1" * (
-- -          0 + case when "a"."level_1_0" = "b"."level_1_0" then 0 else 1 end + case when "a"."level_1_1" = "b"."level_1_1" then 0 else 1 end
-- -        ) // 2 + "share_3" * (
-- -          0 + case when "a"."level_3_0" = "b"."level_3_0" then 0 else 1 end
-- -        ) // 1 + coalesce(
-- +        0 + ("share_1" * (0 + case when "a"."level_1_0" = "b"."level_1_0" then 0 else 1 end + case when "a"."level_1_1" = "b"."level_1_1" then 0 else 1 end) / 2) + ("share_3" * (0 + case when "a"."level_3_0" = "b"."level_3_0" then 0 else 1 end) / 1) + coalesce(
-- -    cast(sum("size"."row_count" * "diameter"."diameter") as double) / nullif(count(*), 0) / 1000000000 as "objective",
-- -    cast(max("diameter"."diameter") as double) / 1000000000 as "largest_diameter"
-- +    (cast((cast(cast(sum("size"."row_count" * "diameter"."diameter") as double precision) as double precision) / nullif(nullif(count(*), 0), 0)) as double precision) / nullif(1000000000, 0)) as "objective",
-- +    (cast(cast(max("diameter"."diameter") as double precision) as double precision) / nullif(1000000000, 0)) as "largest_diameter"
