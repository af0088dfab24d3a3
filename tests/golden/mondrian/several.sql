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

-- persons: as in duckdb.sql

-- own_values_1: as in duckdb.sql

-- own_values_2: as in anatomy/several.sql

-- sensitive_value: as in duckdb.sql

-- sensitive_value_2: the values of a sensitive column, numbered, NULL is a value, and the last
create temporary table "sqlanon_sensitive_value_2" as
with counted as (
    select
        "sensitive_2" as sensitive,
        count(*) as row_count
    from "sqlanon_population"
    group by "sensitive_2"
)
select
    sensitive,
    row_count,
    cast(row_number() over (order by case when sensitive is null then 1 else 0 end asc nulls last, sensitive asc nulls last) as integer) as code
from counted;

-- value_1: the values of a number or a moment in their order, place: where one lies in the range of all, from 0 to 1 - 1/n for n values (two values are not cut before many), NULL comes last, and lies far from every value
create temporary table "sqlanon_value_1" as
with placed as (
    select
        value,
        case when abs(cast(value as double)) <= cast(1e300 as double) then cast(value as double) end as number
    from (select distinct "quasi_1" as value from "sqlanon_population") as different
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
    cast(case when placed.value is null then 2147483647 else row_number() over (order by case when placed.value is null then 1 else 0 end asc nulls last, placed.value asc nulls last) end as integer) as code,
    case
        when placed.value is null then 2
        when span.highest > span.lowest then span.share * coalesce((placed.number - span.lowest) / (span.highest - span.lowest), 1)
        else 0
    end as place
from placed
cross join span;

-- value_2: the values of an attribute without an order of its own by their texts, place: which share of the values lies before one
create temporary table "sqlanon_value_2" as
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
        text,
        row_number() over (order by case when text is null then 1 else 0 end asc nulls last, text asc nulls last) as code,
        count(*) over () as value_count
    from different
)
select
    value,
    coalesce(cast(to_json(text) as varchar), 'null') as shown,
    cast(code as integer) as code,
    (code - 1) / cast(value_count as double) as place
from numbered;

-- facts: as in duckdb.sql, but for
-- +            union all
-- +            select
-- +                'income' as name,
-- +                coalesce(cast(sum(row_count) as bigint), 0) as row_count,
-- +                coalesce(cast(sum(case when sensitive is null then row_count else 0 end) as bigint), 0) as null_count,
-- +                count(*) as value_count,
-- +                coalesce(max(row_count), 0) as largest_count
-- +            from "sqlanon_sensitive_value_2"
-- -            (select count(*) from "sqlanon_value_3" where value is null) as unknown_3,
-- -            (select count(*) from "sqlanon_value_4" where value is null) as unknown_4,

-- splitting: the rows by the codes of their values: all are one partition, which is open: it may be cut
create temporary table "sqlanon_splitting" as
select
    cast(1 as bigint) as partition,
    0 as attempts,
    1 as open,
    value_1.code as code_1,
    value_2.code as code_2,
    
    "sensitive_value".code as "code",
    "sensitive_value_2".code as "sensitive_code_2"
from "sqlanon_population" as population
inner join "sqlanon_sensitive_value" as "sensitive_value" on population."sensitive" is not distinct from "sensitive_value".sensitive
inner join "sqlanon_sensitive_value_2" as "sensitive_value_2" on population."sensitive_2" is not distinct from "sensitive_value_2".sensitive
inner join "sqlanon_value_1" as value_1 on population.quasi_1 is not distinct from value_1.value
inner join "sqlanon_value_2" as value_2 on population.quasi_2 is not distinct from value_2.value;

-- cuts: turn 1 of 1

-- choice: the attribute by which each open partition is cut: the widest of those that it was not tried by (figure 3: choose_dimension), a width is a share of the attribute's range, or of its hierarchy's leaves
create temporary table "sqlanon_choice" as
with extent as (
    select
        min(code_1) as least_1,
        max(code_1) as largest_1,
        min(code_2) as least_2,
        max(code_2) as largest_2,
        partition,
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
largest.place - least.place as width
    from extent
    inner join "sqlanon_value_1" as least on extent.least_1 = least.code
    inner join "sqlanon_value_1" as largest on extent.largest_1 = largest.code
    where least.code < largest.code
    union all
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        2 as attribute,
largest.place - least.place as width
    from extent
    inner join "sqlanon_value_2" as least on extent.least_2 = least.code
    inner join "sqlanon_value_2" as largest on extent.largest_2 = largest.code
    where least.code < largest.code
),
ranked as (
    select
        width.*,
        row_number() over (partition by partition order by width desc nulls last, attribute asc nulls last) as turn
    from width
)
select
    partition,
    attribute,
    row_count
from ranked
where turn = attempts + 1;

-- allowed_1: as in duckdb.sql, but for
-- -        case choice.attribute when 1 then splitting.code_1 when 2 then splitting.code_2 when 3 then splitting.code_3 when 4 then splitting.code_4 end as place,
-- +        case choice.attribute when 1 then splitting.code_1 when 2 then splitting.code_2 end as place,
-- -    group by splitting."code", splitting.partition, case choice.attribute when 1 then splitting.code_1 when 2 then splitting.code_2 when 3 then splitting.code_3 when 4 then splitting.code_4 end
-- +    group by splitting."code", splitting.partition, case choice.attribute when 1 then splitting.code_1 when 2 then splitting.code_2 end

-- allowed_2: the places at which a partition may be cut: both sides have k rows and are diverse in one sensitive column, by how often its most frequent value occurs on either side, or by how many values begin before the cut and end behind it
create temporary table "sqlanon_allowed_2" as
with counted as (
    select
        splitting.partition,
        case choice.attribute when 1 then splitting.code_1 when 2 then splitting.code_2 end as place,
        splitting."sensitive_code_2",
        count(*) as row_count
    from "sqlanon_splitting" as splitting
    inner join "sqlanon_choice" as choice on splitting.partition = choice.partition
    group by splitting."sensitive_code_2", splitting.partition, case choice.attribute when 1 then splitting.code_1 when 2 then splitting.code_2 end
),
spanned as (
    select
        counted.*,
        sum(row_count) over (partition by "sensitive_code_2", partition order by place asc nulls last rows unbounded preceding) as so_far,
        sum(row_count) over (partition by "sensitive_code_2", partition order by place desc nulls last rows unbounded preceding) as from_here
    from counted
),
placed as (
    select
        partition,
        place,
        sum(row_count) as row_count,
        max(so_far) as so_far,
        max(from_here) as from_here
    from spanned
    group by partition, place
),
running as (
    select
        partition,
        place,
        sum(row_count) over (partition by partition) as all_rows,
        lead(place) over (partition by partition order by place asc nulls last) as next_place,
        sum(row_count) over (partition by partition order by place asc nulls last rows unbounded preceding) as left_count,
        max(so_far) over (partition by partition order by place asc nulls last rows unbounded preceding) as left_values,
        max(from_here) over (partition by partition order by place desc nulls last rows between unbounded preceding and 1 preceding) as right_values
    from placed
)
select
    partition,
    place,
    next_place,
    left_count
from running
where
    left_count >= 10
    and all_rows - left_count >= 10
    and left_values * 4 <= left_count
    and right_values * 4 <= (all_rows - left_count);

-- cut: as in duckdb.sql, but for
-- -        0 + case when before_1."level_1" = behind_1."level_1" then 1 else 0 end + case when before_1."level_2" = behind_1."level_2" then 1 else 0 end as depth,
-- +        0 as depth,
-- -    left join "sqlanon_value_1" as before_1 on choice.attribute = 1 and allowed_1.place = before_1.code
-- -    left join "sqlanon_value_1" as behind_1 on choice.attribute = 1 and allowed_1.next_place = behind_1.code
-- +    inner join "sqlanon_allowed_2" as also_1 on allowed_1.partition = also_1.partition and allowed_1.place = also_1.place

-- splitting: as in duckdb.sql, but for
-- -        splitting."code_1", splitting."code_2", splitting."code_3", splitting."code_4", splitting."code", splitting."draw", splitting."tie",
-- +        splitting."code_1", splitting."code_2", splitting."code", splitting."sensitive_code_2",
-- -        case when choice.place is null then 0 when case choice.attribute when 1 then splitting.code_1 when 2 then splitting.code_2 when 3 then splitting.code_3 when 4 then splitting.code_4 end <= choice.place then 1 else 2 end as side,
-- +        case when choice.place is null then 0 when case choice.attribute when 1 then splitting.code_1 when 2 then splitting.code_2 end <= choice.place then 1 else 2 end as side,
-- -    "code_1", "code_2", "code_3", "code_4", "code", "draw", "tie"
-- +    "code_1", "code_2", "code", "sensitive_code_2"

drop table "sqlanon_splitting";

-- cuts: as in duckdb.sql

drop table "sqlanon_splitting_next";

drop table "sqlanon_cut";

drop table "sqlanon_allowed_2";

drop table "sqlanon_allowed_1";

drop table "sqlanon_choice";

-- value_set_2: the values of one attribute in each partition, as a JSON list of texts in their order, NULL stands as null
create temporary table "sqlanon_value_set_2" as
with held as (
    select distinct
        partition,
        "code_2" as code
    from "sqlanon_splitting"
)
select
    held.partition,
    '[' || string_agg(numbered.shown, ',' order by held.code asc nulls last) || ']' as value_set
from held
inner join "sqlanon_value_2" as numbered on held.code = numbered.code
group by held.partition;

-- box: what is published of each partition: the exact bounds of its numbers, the lowest common ancestor of its nodes, its sets of values
create temporary table "sqlanon_box" as
with extent as (
    select
        min(nullif("code_1", 2147483647)) as least_1,
        max(nullif("code_1", 2147483647)) as largest_1,
        max("code_1") = 2147483647 as unknown_1,
        min(nullif("code_2", 2147483647)) as least_2,
        max(nullif("code_2", 2147483647)) as largest_2,
        max("code_2") = 2147483647 as unknown_2,
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
left join "sqlanon_value_1" as least_1 on extent.least_1 = least_1.code
left join "sqlanon_value_1" as largest_1 on extent.largest_1 = largest_1.code
inner join "sqlanon_value_set_2" as value_set_2 on extent.partition = value_set_2.partition;

-- data: each row's box and its exact sensitive value
create table "sqlanon_data" as
with ordered as (
    select
        box.*,
        dense_rank() over (order by case when "low_1" is null then 1 else 0 end asc nulls last, "low_1" asc nulls last, case when "high_1" is null then 1 else 0 end asc nulls last, "high_1" asc nulls last, case when "unknown_1" is null then 1 else 0 end asc nulls last, "unknown_1" asc nulls last, case when "set_2" is null then 1 else 0 end asc nulls last, "set_2" asc nulls last) as place
    from "sqlanon_box" as box
)
select
    ordered."low_1" as "age_low",
    ordered."high_1" as "age_high",
    ordered."unknown_1" as "age_unknown",
    ordered."set_2" as "sex",
    value.sensitive as "disease"
from "sqlanon_splitting" as splitting
inner join ordered on splitting.partition = ordered.partition
inner join "sqlanon_sensitive_value" as value on splitting."code" = value.code
order by ordered.place asc nulls last, value.code asc nulls last;

-- data_2: each row's box and its exact sensitive value
create table "sqlanon_data_2" as
with ordered as (
    select
        box.*,
        dense_rank() over (order by case when "low_1" is null then 1 else 0 end asc nulls last, "low_1" asc nulls last, case when "high_1" is null then 1 else 0 end asc nulls last, "high_1" asc nulls last, case when "unknown_1" is null then 1 else 0 end asc nulls last, "unknown_1" asc nulls last, case when "set_2" is null then 1 else 0 end asc nulls last, "set_2" asc nulls last) as place
    from "sqlanon_box" as box
)
select
    ordered."low_1" as "age_low",
    ordered."high_1" as "age_high",
    ordered."unknown_1" as "age_unknown",
    ordered."set_2" as "sex",
    value.sensitive as "income"
from "sqlanon_splitting" as splitting
inner join ordered on splitting.partition = ordered.partition
inner join "sqlanon_sensitive_value_2" as value on splitting."sensitive_code_2" = value.code
order by ordered.place asc nulls last, value.code asc nulls last;

-- the rest is microdata and the key: forget it
-- 10 relations, the last first

commit;
