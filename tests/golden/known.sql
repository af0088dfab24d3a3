-- known: every row has a sensitive value, or it is said what becomes of those without
with counted as (
    select
        coalesce(cast(sum(row_count) as bigint), 0) as row_count,
        coalesce(cast(sum(case when sensitive is null then row_count else 0 end) as bigint), 0) as null_count
    from "sqlanon_tally"
)
select
    case when null_count > 0 then 'disease' end as about,
    case
        when null_count > 0 and true then
            coalesce(cast(null_count as varchar), '') || ' rows have no value in the sensitive column ''disease''; say nullsvalue (NULL is a value like any other) or nullsdrop (leave them out, which tells who had none to somebody who knows who was in the table)'
        when row_count = 0 then 'the source has no rows to publish'
    end as refusal
from counted

-- spark, known:
-- -    then coalesce(cast("null_count" as text), '') || ' rows have no value in the sensitive column ''disease''; say nullsvalue (NULL is a value like any other) or nullsdrop (leave them out, which tells who had none to somebody who knows who was in the table)'
-- +    then coalesce(cast("null_count" as string), '') || ' rows have no value in the sensitive column \'disease\'; say nullsvalue (NULL is a value like any other) or nullsdrop (leave them out, which tells who had none to somebody who knows who was in the table)'
