-- merged: One turn of merging what fails: a region that fails becomes one with all clusters of the block around it
with widened as (
    select max(case when width < 32 then width * 2 else width * 8 end) as width
    from "sqlanon_judged"
    where verdict = 0
),
failing as (
    select
        judged.target // widened.width * widened.width as block,
        widened.width
    from "sqlanon_judged" as judged
    cross join widened
    where judged.verdict = 0
    group by judged.target // widened.width * widened.width, widened.width
),
placed as (
    select
        judged.*,
        judged.cluster // widened.width * widened.width as block
    from "sqlanon_judged" as judged
    cross join widened
)
select
    placed.cluster,
    coalesce(failing.block, placed.target) as target,
    coalesce(failing.width, placed.width) as width,
    placed.verdict,
    case when failing.block is null then 0 else 1 end as changed
from placed
left join failing on placed.block = failing.block

-- spark, merged:
-- -    "judged"."target" // "widened"."width" * "widened"."width" as "block",
-- +    ("judged"."target" div "widened"."width") * "widened"."width" as "block",
-- -    "judged"."target" // "widened"."width" * "widened"."width",
-- +    ("judged"."target" div "widened"."width") * "widened"."width",
-- -    "judged"."cluster" // "widened"."width" * "widened"."width" as "block"
-- +    ("judged"."cluster" div "widened"."width") * "widened"."width" as "block"

-- postgres, merged:
-- -    "judged"."target" // "widened"."width" * "widened"."width" as "block",
-- +    ("judged"."target" / "widened"."width") * "widened"."width" as "block",
-- -    "judged"."target" // "widened"."width" * "widened"."width",
-- +    ("judged"."target" / "widened"."width") * "widened"."width",
-- -    "judged"."cluster" // "widened"."width" * "widened"."width" as "block"
-- +    ("judged"."cluster" / "widened"."width") * "widened"."width" as "block"
