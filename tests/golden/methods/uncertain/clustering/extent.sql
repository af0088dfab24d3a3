-- extent_1: How many branches, none included, there are at each level of one attribute, beside those of the ones before
with broad as (
    select
        coalesce(max("branch_0"), 0) + 1 as "breadth_1_0",
        coalesce(max("branch_1"), 0) + 1 as "breadth_1_1"
    from "sqlanon_level_1"
)
select *
from "sqlanon_importance" as extent
cross join broad

-- extent_3: How many branches, none included, there are at each level of one attribute, beside those of the ones before
with broad as (
    select
        coalesce(max("branch_0"), 0) + 1 as "breadth_3_0"
    from "sqlanon_category_3"
)
select *
from "sqlanon_extent_1" as extent
cross join broad
