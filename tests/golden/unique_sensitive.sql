-- own_values_1: most rows share their sensitive value with others
with counted as (
    select count("sensitive") as known_count
    from "sqlanon_population"
    group by "sensitive"
),
figures as (
    select
        coalesce(cast(sum(known_count) as bigint), 0) as known_rows,
        coalesce(cast(sum(case when known_count = 1 then 1 else 0 end) as bigint), 0) as lone_rows
    from counted
)
select
    'disease' as about,
    case when known_rows >= 100 and 2 * lone_rows > known_rows and not false then
        'the sensitive column ''disease'' has a value of its own in ' || coalesce(format('{:,}', lone_rows), '') || ' of ' || coalesce(format('{:,}', known_rows), '') || ' rows: such values tell whose they are, as numbers of people and free texts do, and would be published; leave it out, publish classes of it, or say unique_sensitivekeep'
    end as refusal
from figures

-- spark, own_values_1:
-- -    then 'the sensitive column ''disease'' has a value of its own in ' || coalesce(format('{:,}', "lone_rows"), '') || ' of ' || coalesce(format('{:,}', "known_rows"), '') || ' rows: such values tell whose they are, as numbers of people and free texts do, and would be published; leave it out, publish classes of it, or say unique_sensitivekeep'
-- +    then 'the sensitive column \'disease\' has a value of its own in ' || coalesce(format_number("lone_rows", 0), '') || ' of ' || coalesce(format_number("known_rows", 0), '') || ' rows: such values tell whose they are, as numbers of people and free texts do, and would be published; leave it out, publish classes of it, or say unique_sensitivekeep'

-- postgres, own_values_1:
-- -    then 'the sensitive column ''disease'' has a value of its own in ' || coalesce(format('{:,}', "lone_rows"), '') || ' of ' || coalesce(format('{:,}', "known_rows"), '') || ' rows: such values tell whose they are, as numbers of people and free texts do, and would be published; leave it out, publish classes of it, or say unique_sensitivekeep'
-- +    then 'the sensitive column ''disease'' has a value of its own in ' || coalesce(to_char("lone_rows", 'FM999,999,999,999,999,990'), '') || ' of ' || coalesce(to_char("known_rows", 'FM999,999,999,999,999,990'), '') || ' rows: such values tell whose they are, as numbers of people and free texts do, and would be published; leave it out, publish classes of it, or say unique_sensitivekeep'
