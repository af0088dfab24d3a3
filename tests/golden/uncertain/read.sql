-- source: its rows under names of our own, so that no column of the user's meets one of ours
select
    "education" as "quasi_1", "age" as "quasi_2", "sex" as "quasi_3", "disease" as "sensitive", "ssn" as "identifier_1", row_number() over () as "row_number"
from "patients"

-- population: the rows that are published
select *
from "sqlanon_source"
where true

-- cells: every row has a sensitive value, every cell alternatives, and not too many; what several have in common has to be known (lists of one, which most are, are looked at without functions of lists)
with looked_at as (
    select
        case
            when "quasi_1" is null then 0
            when array_length("quasi_1") = 1 then case when "quasi_1"[1] is null then 1 else 0 end
            when list_count("quasi_1") = array_length("quasi_1") and array_length("quasi_1") > 0 then 0
            else 1
        end as empty_1,
        case when array_length("quasi_1") > 1 then array_length(list_distinct("quasi_1")) else 1 end as different_1,
        case
            when "sensitive" is null then 0
            when array_length("sensitive") = 1 then case when "sensitive"[1] is null then 1 else 0 end
            when list_count("sensitive") = array_length("sensitive") and array_length("sensitive") > 0 then 0
            else 1
        end as empty_2,
        case when array_length("sensitive") > 1 then array_length(list_distinct("sensitive")) else 1 end as different_2,
        case when sensitive is null then 1 else 0 end as missing
    from "sqlanon_population"
),
counted as (
    select
        sum(empty_1) as empty_1, sum(case when different_1 > 1 then 1 else 0 end) as uncertain_1, sum(empty_2) as empty_2, sum(case when different_2 > 1 then 1 else 0 end) as uncertain_2,
        sum(case when different_1 > 2 then 1 else 0 end) as crowded_1, sum(case when different_2 > 2 then 1 else 0 end) as crowded_2,
        count(*) as row_count,
        coalesce(sum(missing), 0) as null_count
    from looked_at
)
select
    case
        when null_count > 0 then
            coalesce(cast(null_count as varchar), '') || ' rows have no value in the sensitive column ''disease''; say nullsdrop (leave them out, which tells who had none to somebody who knows who was in the table)'
        when row_count = 0 then 'the source has no rows to publish'
        when empty_1 > 0 then
            coalesce(cast(empty_1 as varchar), '') || ' cells of ''education'' have nothing, or NULL, among their alternatives; write what they can be'
        when crowded_1 > 0 then
            coalesce(cast(crowded_1 as varchar), '') || ' cells of ''education'' have more than 2 alternatives; raise max_alternatives, or leave them out'
        when empty_2 > 0 then
            coalesce(cast(empty_2 as varchar), '') || ' cells of ''disease'' have nothing, or NULL, among their alternatives; write what they can be'
        when crowded_2 > 0 then
            coalesce(cast(crowded_2 as varchar), '') || ' cells of ''disease'' have more than 2 alternatives; raise max_alternatives, or leave them out'
    end as refusal
from counted

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

-- spark, source:
-- -  row_number() over () as "row_number"
-- +  monotonically_increasing_id() as "row_number"

-- spark, cells:
-- -      when array_length("quasi_1") = 1
-- -      then case when "quasi_1"[1] is null then 1 else 0 end
-- -      when list_count("quasi_1") = array_length("quasi_1") and array_length("quasi_1") > 0
-- +      when array_size("quasi_1") = 1
-- +      then case when get("quasi_1", 1 - 1) is null then 1 else 0 end
-- +      when array_size(array_compact("quasi_1")) = array_size("quasi_1") and array_size("quasi_1") > 0
-- -    case when array_length("quasi_1") > 1 then array_length(list_distinct("quasi_1")) else 1 end as "different_1",
-- +    case when array_size("quasi_1") > 1 then array_size(array_distinct(array_compact("quasi_1"))) else 1 end as "different_1",
-- -      when array_length("sensitive") = 1
-- -      then case when "sensitive"[1] is null then 1 else 0 end
-- -      when list_count("sensitive") = array_length("sensitive") and array_length("sensitive") > 0
-- +      when array_size("sensitive") = 1
-- +      then case when get("sensitive", 1 - 1) is null then 1 else 0 end
-- +      when array_size(array_compact("sensitive")) = array_size("sensitive") and array_size("sensitive") > 0
-- -    case when array_length("sensitive") > 1 then array_length(list_distinct("sensitive")) else 1 end as "different_2",
-- +    case when array_size("sensitive") > 1 then array_size(array_distinct(array_compact("sensitive"))) else 1 end as "different_2",
-- -    then coalesce(cast("null_count" as text), '') || ' rows have no value in the sensitive column ''disease''; say nullsdrop (leave them out, which tells who had none to somebody who knows who was in the table)'
-- +    then coalesce(cast("null_count" as string), '') || ' rows have no value in the sensitive column \'disease\'; say nullsdrop (leave them out, which tells who had none to somebody who knows who was in the table)'
-- -    then coalesce(cast("empty_1" as text), '') || ' cells of ''education'' have nothing, or NULL, among their alternatives; write what they can be'
-- +    then coalesce(cast("empty_1" as string), '') || ' cells of \'education\' have nothing, or NULL, among their alternatives; write what they can be'
-- -    then coalesce(cast("crowded_1" as text), '') || ' cells of ''education'' have more than 2 alternatives; raise max_alternatives, or leave them out'
-- +    then coalesce(cast("crowded_1" as string), '') || ' cells of \'education\' have more than 2 alternatives; raise max_alternatives, or leave them out'
-- -    then coalesce(cast("empty_2" as text), '') || ' cells of ''disease'' have nothing, or NULL, among their alternatives; write what they can be'
-- +    then coalesce(cast("empty_2" as string), '') || ' cells of \'disease\' have nothing, or NULL, among their alternatives; write what they can be'
-- -    then coalesce(cast("crowded_2" as text), '') || ' cells of ''disease'' have more than 2 alternatives; raise max_alternatives, or leave them out'
-- +    then coalesce(cast("crowded_2" as string), '') || ' cells of \'disease\' have more than 2 alternatives; raise max_alternatives, or leave them out'

-- spark, persons:
-- -    then coalesce(format('{:,}', "repeating_persons"), '') || ' persons have more than one row (' || coalesce(format('{:,}', "row_count"), '') || ' rows of ' || coalesce(format('{:,}', "person_count"), '') || ' persons): the guarantee is per row, and the groups of one person''s rows intersect; publish one row per person, or say unitrow'
-- +    then coalesce(format_number("repeating_persons", 0), '') || ' persons have more than one row (' || coalesce(format_number("row_count", 0), '') || ' rows of ' || coalesce(format_number("person_count", 0), '') || ' persons): the guarantee is per row, and the groups of one person\'s rows intersect; publish one row per person, or say unitrow'

-- postgres, cells:
-- -      when array_length("quasi_1") = 1
-- -      then case when "quasi_1"[1] is null then 1 else 0 end
-- -      when list_count("quasi_1") = array_length("quasi_1") and array_length("quasi_1") > 0
-- +      when cardinality("quasi_1") = 1
-- +      then case when ("quasi_1")[1] is null then 1 else 0 end
-- +      when (select count(item) from unnest("quasi_1") as held(item)) = cardinality("quasi_1")
-- +      and cardinality("quasi_1") > 0
-- -    case when array_length("quasi_1") > 1 then array_length(list_distinct("quasi_1")) else 1 end as "different_1",
-- +    case
-- +      when cardinality("quasi_1") > 1
-- +      then cardinality(case when "quasi_1" is not null then array(select distinct item from unnest("quasi_1") as held(item) where item is not null order by item) end)
-- +      else 1
-- +    end as "different_1",
-- -      when array_length("sensitive") = 1
-- -      then case when "sensitive"[1] is null then 1 else 0 end
-- -      when list_count("sensitive") = array_length("sensitive") and array_length("sensitive") > 0
-- +      when cardinality("sensitive") = 1
-- +      then case when ("sensitive")[1] is null then 1 else 0 end
-- +      when (select count(item) from unnest("sensitive") as held(item)) = cardinality("sensitive")
-- +      and cardinality("sensitive") > 0
-- -    case when array_length("sensitive") > 1 then array_length(list_distinct("sensitive")) else 1 end as "different_2",
-- +    case
-- +      when cardinality("sensitive") > 1
-- +      then cardinality(case when "sensitive" is not null then array(select distinct item from unnest("sensitive") as held(item) where item is not null order by item) end)
-- +      else 1
-- +    end as "different_2",

-- postgres, persons:
-- -    then coalesce(format('{:,}', "repeating_persons"), '') || ' persons have more than one row (' || coalesce(format('{:,}', "row_count"), '') || ' rows of ' || coalesce(format('{:,}', "person_count"), '') || ' persons): the guarantee is per row, and the groups of one person''s rows intersect; publish one row per person, or say unitrow'
-- +    then coalesce(to_char("repeating_persons", 'FM999,999,999,999,999,990'), '') || ' persons have more than one row (' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '') || ' rows of ' || coalesce(to_char("person_count", 'FM999,999,999,999,999,990'), '') || ' persons): the guarantee is per row, and the groups of one person''s rows intersect; publish one row per person, or say unitrow'
