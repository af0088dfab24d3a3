-- everyone: how many there are to publish
select count(*) as row_count
from "sqlanon_population"

-- counted_1: how often each value of a sensitive column occurs
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive"

-- counted_2: how often each value of a sensitive column occurs
select
    "sensitive_2" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive_2"

-- known_1: every row has a value of this sensitive column, or it is said what becomes of those without
with counted as (
    select
        coalesce(cast(sum(row_count) as bigint), 0) as row_count,
        coalesce(cast(sum(case when sensitive is null then row_count else 0 end) as bigint), 0) as null_count
    from "sqlanon_counted_1"
)
select
    case when null_count > 0 then 'disease' end as about,
    case
        when null_count > 0 and true then
            coalesce(cast(null_count as varchar), '') || ' rows have no value in the sensitive column ''disease''; say nullsvalue (NULL is a value like any other) or nullsdrop (leave them out, which tells who had none to somebody who knows who was in the table)'
        when row_count = 0 then 'the source has no rows to publish'
    end as refusal
from counted

-- known_2: every row has a value of this sensitive column, or it is said what becomes of those without
with counted as (
    select
        coalesce(cast(sum(row_count) as bigint), 0) as row_count,
        coalesce(cast(sum(case when sensitive is null then row_count else 0 end) as bigint), 0) as null_count
    from "sqlanon_counted_2"
)
select
    case when null_count > 0 then 'income' end as about,
    case
        when null_count > 0 and true then
            coalesce(cast(null_count as varchar), '') || ' rows have no value in the sensitive column ''income''; say nullsvalue (NULL is a value like any other) or nullsdrop (leave them out, which tells who had none to somebody who knows who was in the table)'
        when row_count = 0 then 'the source has no rows to publish'
    end as refusal
from counted
