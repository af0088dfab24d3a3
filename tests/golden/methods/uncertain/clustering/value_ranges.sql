-- value_ranges: How many rows there are, and where each number begins and how far it reaches
select
    count(*) as row_count,
    min(case when abs(cast(quasi_2 as double)) <= cast(1e300 as double) then cast(quasi_2 as double) end) as "lowest_2",
    max(case when abs(cast(quasi_2 as double)) <= cast(1e300 as double) then cast(quasi_2 as double) end) - min(case when abs(cast(quasi_2 as double)) <= cast(1e300 as double) then cast(quasi_2 as double) end) as "span_2"
from "sqlanon_determined"

-- postgres, value_ranges:
-- -  min(case when abs(cast("quasi_2" as double)) <= cast(1e300 as double) then cast("quasi_2" as double) end) as "lowest_2",
-- -  max(case when abs(cast("quasi_2" as double)) <= cast(1e300 as double) then cast("quasi_2" as double) end) - min(case when abs(cast("quasi_2" as double)) <= cast(1e300 as double) then cast("quasi_2" as double) end) as "span_2"
-- +  min(
-- +    case
-- +      when abs(cast("quasi_2" as double precision)) <= cast(1e300 as double precision)
-- +      then cast("quasi_2" as double precision)
-- +    end
-- +  ) as "lowest_2",
-- +  max(
-- +    case
-- +      when abs(cast("quasi_2" as double precision)) <= cast(1e300 as double precision)
-- +      then cast("quasi_2" as double precision)
-- +    end
-- +  ) - min(
-- +    case
-- +      when abs(cast("quasi_2" as double precision)) <= cast(1e300 as double precision)
-- +      then cast("quasi_2" as double precision)
-- +    end
-- +  ) as "span_2"
