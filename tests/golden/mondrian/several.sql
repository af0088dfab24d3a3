-- sqlanon mondrian for duckdb: k = 10, l = 4, diversity = frequent, partition = strict, published = {'age': {'type': 'INTEGER', 'nulls': True, 'low': 'age_low', 'high': 'age_high', 'unknown': 'age_unknown'}, 'sex': {'type': 'VARCHAR', 'nulls': True, 'set': 'sex'}}, hierarchies = {}, draws = keyed, nulls = refuse, rows_per_person = one
-- It makes "sqlanon_data", "sqlanon_data_2", and nothing else that it makes may be handed on.
-- It needs a key of 64 hex digits, and who has the key can undo the release.
-- Make one with: openssl rand -hex 32
-- Hand it over before the script runs: set variable sqlanon_key = '…'
-- publish runs these statements on duckdb, but:
-- * under a key of its own it draws by the numbers of rows, which a script does not have
-- * quasi columns that all hold whole numbers are packed into one number, by their least and greatest values
-- * the table has a column for unknown values only where a quasi column holds some

-- no macro may have the name of a function that this script calls: as in duckdb.sql

begin transaction;

-- key: as in duckdb.sql

select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select
        case
            when key_count <> 1 or key_length <> 64 then 'the key is missing: hand over 64 hex digits'
        end as refusal
    from (
        select count(*) as key_count, coalesce(max(length(secret)), 0) as key_length from "sqlanon_key"
    ) as looked_at
) as checked;

-- source: as in anatomy/several.sql

-- population: as in duckdb.sql

-- facts: as in duckdb.sql, but for
-- +            when null_count_2 > 0 then 'rows have no value in the sensitive column ''income'''
-- +            when value_count_2 < 4 then 'l = 4 asks for more different values of ''income'' than there are'
-- +            when largest_count_2 * 4 > row_count then 'l = 4 asks for each value of ''income'' in at most 1/4 of a box'
-- -            coalesce(cast(sum(case when "quasi_3" is null then 1 else 0 end) as bigint), 0) as unknown_3,
-- -            coalesce(cast(sum(case when "quasi_4" is null then 1 else 0 end) as bigint), 0) as unknown_4,
-- +            (select max(row_count) from (select count(*) as row_count from "sqlanon_population" group by "sensitive_2") as value_count) as largest_count_2,
-- +            count(*) - count("sensitive_2") as null_count_2,
-- +            count(distinct "sensitive_2")
-- +                + case when count(*) > count("sensitive_2") and false then 1 else 0 end as value_count_2,

-- persons: as in duckdb.sql

-- own_values_1: as in duckdb.sql

-- own_values_2: as in anatomy/several.sql

-- dictionary_1: The values of an attribute that has an order of its own, numbered in it, position: where a value lies in the range of all, from 0 to 1 - 1/n for n values (so that two values are not cut before many)
create temporary table "sqlanon_dictionary_1" as
with different as (
    select "quasi_1" as value
    from "sqlanon_population"
    group by "quasi_1"
),
placed as (
    select
        value,
        case when abs(cast(value as double)) <= cast(1e300 as double) then cast(value as double) end as number
    from different
),
span as (
    select
        min(number) as lowest,
        max(number) as highest,
        1 - 1 / cast(count(*) as double) as share
    from placed
)
select
    placed.value,
    cast(
        case
            when placed.value is null then 2147483647
            else row_number() over (order by case when placed.value is null then 1 else 0 end asc nulls last, placed.value asc nulls last)
        end as integer
    ) as code,
    case
        when placed.value is null then 2
        when span.highest > span.lowest then span.share * coalesce((placed.number - span.lowest) / (span.highest - span.lowest), 1)
        else 0
    end as position
from placed
cross join span;

-- dictionary_2: The values of an attribute without an order of its own, numbered by their texts (NULL is a value, and the last), each also as a JSON text, position: which share of the values lies before it
create temporary table "sqlanon_dictionary_2" as
with different as (
    select
        "quasi_2" as value,
        cast("quasi_2" as varchar) collate "C" as text
    from "sqlanon_population"
    group by "quasi_2"
),
numbered as (
    select
        value,
        coalesce(cast(to_json(text) as varchar), 'null') as shown,
        row_number() over (order by case when text is null then 1 else 0 end asc nulls last, text asc nulls last) as code,
        count(*) over () as value_count
    from different
)
select
    value,
    shown,
    cast(code as integer) as code,
    (code - 1) / cast(value_count as double) as position
from numbered;

-- sensitive_value_2: The values of a sensitive column, numbered, NULL is a value
create temporary table "sqlanon_sensitive_value_2" as
with different as (
    select "sensitive_2" as sensitive
    from "sqlanon_population"
    group by "sensitive_2"
)
select
    sensitive,
    cast(row_number() over (order by case when sensitive is null then 1 else 0 end asc nulls last, sensitive asc nulls last) as integer) as code
from different;

-- sensitive_value: as in duckdb.sql

-- splitting: Every row by the codes of its values, all rows in one partition, which is open: it may be split
create temporary table "sqlanon_splitting" as
select
    cast(1 as bigint) as partition,
    0 as attempts,
    1 as open,
    value_1.code as code_1,
    value_2.code as code_2,
    sensitive_value_1.code as "sensitive_code",
    sensitive_value_2.code as "sensitive_code_2"
from "sqlanon_population" as population
inner join "sqlanon_sensitive_value" as sensitive_value_1
    on population."sensitive" is not distinct from sensitive_value_1.sensitive
inner join "sqlanon_sensitive_value_2" as sensitive_value_2
    on population."sensitive_2" is not distinct from sensitive_value_2.sensitive
inner join "sqlanon_dictionary_1" as value_1
    on population."quasi_1" is not distinct from value_1.value
inner join "sqlanon_dictionary_2" as value_2
    on population."quasi_2" is not distinct from value_2.value;

-- splitting: turn 1 of 1

-- choice: The attribute by which each open partition is to be split: the widest of those that it was not tried by (LeFevre et al., figure 3: choose_dimension)
create temporary table "sqlanon_choice" as
with extent as (
    select
        partition,
        min(code_1) as least_1,
        max(code_1) as largest_1,
        min(code_2) as least_2,
        max(code_2) as largest_2,
        max(attempts) as attempts,
        count(*) as row_count
    from "sqlanon_splitting"
    where open = 1
    group by partition
    having count(*) >= 2 * 10
),
width as (
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        1 as attribute,
        largest.position - least.position as width
    from extent
    inner join "sqlanon_dictionary_1" as least on extent.least_1 = least.code
    inner join "sqlanon_dictionary_1" as largest on extent.largest_1 = largest.code
    where extent.least_1 < extent.largest_1
    union all
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        2 as attribute,
        largest.position - least.position as width
    from extent
    inner join "sqlanon_dictionary_2" as least on extent.least_2 = least.code
    inner join "sqlanon_dictionary_2" as largest on extent.largest_2 = largest.code
    where extent.least_2 < extent.largest_2
),
ranked as (
    select
        partition,
        attribute,
        row_count,
        attempts,
        row_number() over (partition by partition order by width desc nulls last, attribute asc nulls last) as turn
    from width
)
select
    partition,
    attribute,
    row_count
from ranked
where turn = attempts + 1;

-- frequency_set_2: The same with how many values of a sensitive column a partition has first, and last, at each value of the attribute: what lies on either side of a cut has as many different ones as begin before it, and as end behind it
create temporary table "sqlanon_frequency_set_2" as
with read as (
    select
        splitting.partition,
        splitting."sensitive_code_2" as sensitive_code,
        case choice.attribute
            when 1 then splitting."code_1"
            when 2 then splitting."code_2"
        end as code
    from "sqlanon_splitting" as splitting
    inner join "sqlanon_choice" as choice on splitting.partition = choice.partition
),
counted as (
    select
        partition,
        code,
        sensitive_code,
        count(*) as row_count
    from read
    group by partition, code, sensitive_code
),
spanned as (
    select
        partition,
        code,
        row_count,
        sum(row_count) over (partition by partition, sensitive_code order by code asc nulls last rows unbounded preceding) as is_first,
        sum(row_count) over (partition by partition, sensitive_code order by code desc nulls last rows unbounded preceding) as is_last
    from counted
)
select
    partition,
    code,
    sum(row_count) as row_count,
    max(is_first) as first_count,
    max(max(is_last)) over (partition by partition order by code desc nulls last rows unbounded preceding) as last_count
from spanned
group by partition, code;

-- diverse_place_2: The places at which either side of a partition would have l different values of one further sensitive column, or (`frequent`) none in more than 1/l of the rows
create temporary table "sqlanon_diverse_place_2" as
with running as (
    select
        partition,
        code,
        max(first_count) over (partition by partition order by code asc nulls last rows unbounded preceding) as left_values,
        lead(last_count) over (partition by partition order by code asc nulls last) as right_values,
        sum(row_count) over (partition by partition order by code asc nulls last rows unbounded preceding) as left_count,
        sum(row_count) over (partition by partition) as row_count
    from "sqlanon_frequency_set_2"
)
select
    partition,
    code
from running
where
    left_values * 4 <= left_count
    and right_values * 4 <= row_count - left_count;

-- frequency_set: as in duckdb.sql, but for
-- -            when 3 then splitting."code_3"
-- -            when 4 then splitting."code_4"

-- cut: as in duckdb.sql, but for
-- -        0
-- -            + case when before_1."level_1" = behind_1."level_1" then 1 else 0 end
-- -            + case when before_1."level_2" = behind_1."level_2" then 1 else 0 end as depth,
-- +        0 as depth,
-- -    left join "sqlanon_dictionary_1" as before_1
-- -        on choice.attribute = 1 and running.code = before_1.code
-- -    left join "sqlanon_dictionary_1" as behind_1
-- -        on choice.attribute = 1 and running.next_code = behind_1.code
-- +    inner join "sqlanon_diverse_place_2" as diverse_1
-- +        on running.partition = diverse_1.partition and running.code = diverse_1.code

-- placed: as in duckdb.sql, but for
-- -        splitting."code_3",
-- -        splitting."code_4",
-- -        splitting."draw",
-- -        splitting."tie",
-- +        splitting."sensitive_code_2",
-- -                    when 3 then splitting."code_3"
-- -                    when 4 then splitting."code_4"
-- -    "code_3",
-- -    "code_4",
-- -    "draw",
-- -    "tie",
-- -    "sensitive_code"
-- +    "sensitive_code",
-- +    "sensitive_code_2"

drop table "sqlanon_splitting";

-- splitting: as in duckdb.sql

drop table "sqlanon_placed";

drop table "sqlanon_cut";

drop table "sqlanon_frequency_set";

drop table "sqlanon_diverse_place_2";

drop table "sqlanon_frequency_set_2";

drop table "sqlanon_choice";

-- value_set_2: The values of one attribute in each partition, as a JSON list of texts in their order, NULL stands as null
create temporary table "sqlanon_value_set_2" as
with held as (
    select
        partition,
        "code_2" as code
    from "sqlanon_splitting"
    group by partition, "code_2"
)
select
    held.partition,
    '[' || string_agg(dictionary.shown, ',' order by held.code asc nulls last) || ']' as value_set
from held
inner join "sqlanon_dictionary_2" as dictionary on held.code = dictionary.code
group by held.partition;

-- box: What is published of each partition: the exact bounds of its numbers, the lowest common ancestor of its nodes, its sets of values
create temporary table "sqlanon_box" as
with extent as (
    select
        min(nullif(code_1, 2147483647)) as least_1,
        max(nullif(code_1, 2147483647)) as largest_1,
        max(code_1) = 2147483647 as unknown_1,
        partition
    from "sqlanon_splitting"
    group by partition
)
select
    least_1.value as low_1,
    largest_1.value as high_1,
    extent.unknown_1,
    value_set_2.value_set as set_2,
    extent.partition
from extent
left join "sqlanon_dictionary_1" as least_1 on extent.least_1 = least_1.code
left join "sqlanon_dictionary_1" as largest_1 on extent.largest_1 = largest_1.code
inner join "sqlanon_value_set_2" as value_set_2 on extent.partition = value_set_2.partition;

-- data: The published table: each row's box and its exact sensitive value, in an order that depends on nothing but what it shows: boxes are numbered by their columns
create table "sqlanon_data" as
with ordered as (
    select
        box.*,
        dense_rank() over (
            order by
                case when "low_1" is null then 1 else 0 end asc nulls last,
                "low_1" asc nulls last,
                case when "high_1" is null then 1 else 0 end asc nulls last,
                "high_1" asc nulls last,
                case when "unknown_1" is null then 1 else 0 end asc nulls last,
                "unknown_1" asc nulls last,
                case when "set_2" is null then 1 else 0 end asc nulls last,
                "set_2" asc nulls last
        ) as place
    from "sqlanon_box" as box
)
select
    ordered."low_1" as "age_low",
    ordered."high_1" as "age_high",
    ordered."unknown_1" as "age_unknown",
    ordered."set_2" as "sex",
    sensitive_value.sensitive as "disease"
from "sqlanon_splitting" as splitting
inner join ordered on splitting.partition = ordered.partition
inner join "sqlanon_sensitive_value" as sensitive_value on splitting."sensitive_code" = sensitive_value.code
order by
    ordered.place asc nulls last,
    splitting."sensitive_code" asc nulls last;

-- data_2: The published table: each row's box and its exact sensitive value, in an order that depends on nothing but what it shows: boxes are numbered by their columns
create table "sqlanon_data_2" as
with ordered as (
    select
        box.*,
        dense_rank() over (
            order by
                case when "low_1" is null then 1 else 0 end asc nulls last,
                "low_1" asc nulls last,
                case when "high_1" is null then 1 else 0 end asc nulls last,
                "high_1" asc nulls last,
                case when "unknown_1" is null then 1 else 0 end asc nulls last,
                "unknown_1" asc nulls last,
                case when "set_2" is null then 1 else 0 end asc nulls last,
                "set_2" asc nulls last
        ) as place
    from "sqlanon_box" as box
)
select
    ordered."low_1" as "age_low",
    ordered."high_1" as "age_high",
    ordered."unknown_1" as "age_unknown",
    ordered."set_2" as "sex",
    sensitive_value.sensitive as "income"
from "sqlanon_splitting" as splitting
inner join ordered on splitting.partition = ordered.partition
inner join "sqlanon_sensitive_value_2" as sensitive_value on splitting."sensitive_code_2" = sensitive_value.code
order by
    ordered.place asc nulls last,
    splitting."sensitive_code_2" asc nulls last;

-- the rest is microdata and the key: forget it
-- 10 relations, the last first

commit;
