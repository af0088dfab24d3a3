-- value: Step 2: the sensitive values that occur, alternatives included, with their row of the influence matrix; numbered by weight, which no two share
with occurring as (
    select text
    from "sqlanon_alternative"
    group by text
)
select
    influence.sensitive,
    cast(row_number() over (order by influence.weight asc nulls last) as integer) as held,
    case when cast(influence.weight as double) < cast('0.3' as double) then 0 else 1 end as grave,
    influence."influence_1",
    influence."influence_2",
    influence."influence_3"
from "sqlanon_influence" as influence
inner join occurring on influence.sensitive = occurring.text

-- postgres, value:
-- -  case when cast("influence"."weight" as double) < cast('0.3' as double) then 0 else 1 end as "grave",
-- +  case when cast("influence"."weight" as double precision) < cast('0.3' as double precision) then 0 else 1 end as "grave",
