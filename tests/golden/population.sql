-- source: its rows under names of our own, so that no column of the user's meets one of ours
select
    "age" as "quasi_1", "sex" as "quasi_2", "zipcode" as "quasi_3", "ssn" as "identifier_1", "disease" as "sensitive"
from "patients"

-- population: the rows that are published
select *
from "sqlanon_source"
where true

-- persons: nobody has several rows, for the guarantee is per row
with person as (
    select count(*) as row_count
    from "sqlanon_population"
    group by "identifier_1"
),
counted as (
    select
        coalesce(cast(sum(row_count) as bigint), 0) as row_count,
        count(*) as person_count,
        coalesce(cast(sum(case when row_count > 1 then 1 else 0 end) as bigint), 0) as repeating_persons
    from person
)
select
    repeating_persons,
    'id' as about,
    case when repeating_persons > 0 and true then
        coalesce(format('{:,}', repeating_persons), '') || ' persons have more than one row (' || coalesce(format('{:,}', row_count), '') || ' rows of ' || coalesce(format('{:,}', person_count), '') || ' persons): the guarantee is per row, and the groups of one person''s rows intersect; publish one row per person, or say unitrow'
    end as refusal
from counted

-- spark, persons:
-- -    then coalesce(format('{:,}', "repeating_persons"), '') || ' persons have more than one row (' || coalesce(format('{:,}', "row_count"), '') || ' rows of ' || coalesce(format('{:,}', "person_count"), '') || ' persons): the guarantee is per row, and the groups of one person''s rows intersect; publish one row per person, or say unitrow'
-- +    then coalesce(format_number("repeating_persons", 0), '') || ' persons have more than one row (' || coalesce(format_number("row_count", 0), '') || ' rows of ' || coalesce(format_number("person_count", 0), '') || ' persons): the guarantee is per row, and the groups of one person\'s rows intersect; publish one row per person, or say unitrow'

-- postgres, persons:
-- -    then coalesce(format('{:,}', "repeating_persons"), '') || ' persons have more than one row (' || coalesce(format('{:,}', "row_count"), '') || ' rows of ' || coalesce(format('{:,}', "person_count"), '') || ' persons): the guarantee is per row, and the groups of one person''s rows intersect; publish one row per person, or say unitrow'
-- +    then coalesce(to_char("repeating_persons", 'FM999,999,999,999,999,990'), '') || ' persons have more than one row (' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '') || ' rows of ' || coalesce(to_char("person_count", 'FM999,999,999,999,999,990'), '') || ' persons): the guarantee is per row, and the groups of one person''s rows intersect; publish one row per person, or say unitrow'
