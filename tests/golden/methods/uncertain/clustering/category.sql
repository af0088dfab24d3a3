-- category_3: The values of a quasi attribute without a hierarchy, numbered from 1 in their own order; of more than the most branches that a sort tells apart, neighbours share one
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
    cast(number as integer) as code_0,
    cast(1 + (number - 1) * least(1000000, total) // total as integer) as branch_0
from numbered

-- spark, category_3:
-- -  cast(1 + (
-- -    "number" - 1
-- -  ) * least(1000000, "total") // "total" as int) as "branch_0"
-- +  cast(1 + (("number" - 1) * least(1000000, "total") div "total") as int) as "branch_0"

-- postgres, category_3:
-- -  cast(1 + (
-- -    "number" - 1
-- -  ) * least(1000000, "total") // "total" as int) as "branch_0"
-- +  cast(1 + (("number" - 1) * least(1000000, "total") / "total") as int) as "branch_0"
