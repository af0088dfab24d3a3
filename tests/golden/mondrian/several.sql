-- source
select
    "age" as "quasi_1",
    "sex" as "quasi_2",
    "ssn" as "identifier_1",
    "disease" as "sensitive",
    "income" as "sensitive_2"
from "patients";

-- population: as in duckdb.sql

-- facts
select
    coalesce(cast(sum(case when "quasi_1" is null then 1 else 0 end) as bigint), 0) as unknown_1,
    coalesce(cast(sum(case when "quasi_2" is null then 1 else 0 end) as bigint), 0) as unknown_2,
    count(*) - count("sensitive") as null_count_1,
    count(distinct "sensitive")
        + case when count(*) > count("sensitive") and false then 1 else 0 end as value_count_1,
    count(*) - count("sensitive_2") as null_count_2,
    count(distinct "sensitive_2")
        + case when count(*) > count("sensitive_2") and false then 1 else 0 end as value_count_2,
    count(*) as row_count
from "sqlanon_population";

-- persons
with person as (
    select count(*) as row_count
    from "sqlanon_population"
    group by
        "identifier_1"
)
select
    coalesce(cast(sum(row_count) as bigint), 0) as row_count,
    count(*) as person_count,
    coalesce(sum(case when row_count > 1 then 1 else 0 end), 0) as repeating_persons
from person;

-- dictionary_1
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
        max(number) as highest
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
        when span.highest > span.lowest then coalesce((placed.number - span.lowest) / (span.highest - span.lowest), 1)
        else 0
    end as position
from placed
cross join span;

-- dictionary_2
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
    (code - 1) / cast(greatest(value_count - 1, 1) as double) as position
from numbered;

-- sensitive_value_2
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

-- splitting
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

-- unsettled
select count(*) as left_over
from "sqlanon_splitting"
where open = 1;

-- choice
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

-- cell_2
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
        case when row_number() over (partition by partition, sensitive_code order by code asc nulls last) = 1 then 1 else 0 end as is_first,
        case when row_number() over (partition by partition, sensitive_code order by code desc nulls last) = 1 then 1 else 0 end as is_last
    from counted
)
select
    partition,
    code,
    sum(row_count) as row_count,
    sum(is_first) as first_count,
    sum(is_last) as last_count
from spanned
group by partition, code;

-- diverse_place_2
with running as (
    select
        partition,
        code,
        sum(first_count) over (partition by partition order by code asc nulls last rows unbounded preceding) as left_values,
        sum(last_count) over (partition by partition)
            - sum(last_count) over (partition by partition order by code asc nulls last rows unbounded preceding) as right_values
    from "sqlanon_cell_2"
)
select
    partition,
    code
from running
where
    left_values >= 4
    and right_values >= 4;

-- cell
with read as (
    select
        splitting.partition,
        splitting."sensitive_code" as sensitive_code,
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
        case when row_number() over (partition by partition, sensitive_code order by code asc nulls last) = 1 then 1 else 0 end as is_first,
        case when row_number() over (partition by partition, sensitive_code order by code desc nulls last) = 1 then 1 else 0 end as is_last
    from counted
)
select
    partition,
    code,
    sum(row_count) as row_count,
    sum(is_first) as first_count,
    sum(is_last) as last_count
from spanned
group by partition, code;

-- cut
with running as (
    select
        partition,
        code,
        sum(first_count) over (partition by partition order by code asc nulls last rows unbounded preceding) as left_values,
        sum(last_count) over (partition by partition)
            - sum(last_count) over (partition by partition order by code asc nulls last rows unbounded preceding) as right_values,
        sum(row_count) over (partition by partition order by code asc nulls last rows unbounded preceding) as left_count,
        lead(code) over (partition by partition order by code asc nulls last) as next_code
    from "sqlanon_cell"
),
allowed as (
    select
        running.partition,
        running.code,
        running.left_count,
        0 as depth,
        abs(2 * running.left_count - choice.row_count) as imbalance
    from running
    inner join "sqlanon_choice" as choice on running.partition = choice.partition
    inner join "sqlanon_diverse_place_2" as diverse_1
        on running.partition = diverse_1.partition and running.code = diverse_1.code
    where
        running.left_count >= 10
        and choice.row_count - running.left_count >= 10
        and running.left_values >= 4
        and running.right_values >= 4
),
ranked as (
    select
        partition,
        code,
        left_count,
        row_number() over (partition by partition order by depth asc nulls last, imbalance asc nulls last, code asc nulls last) as place
    from allowed
)
select
    choice.partition,
    choice.attribute,
    ranked.code,
    ranked.left_count,
    choice.row_count - ranked.left_count as right_count
from "sqlanon_choice" as choice
left join ranked on choice.partition = ranked.partition and ranked.place = 1;

-- placed
with told as (
    select
        splitting.partition,
        splitting.attempts,
        splitting."code_1",
        splitting."code_2",
        splitting."sensitive_code",
        splitting."sensitive_code_2",
        cut.partition as cut_partition,
        case
            when cut.code is null then 0
            when
                case cut.attribute
                    when 1 then splitting."code_1"
                    when 2 then splitting."code_2"
                end <= cut.code
            then 1
            else 2
        end as side,
        cut.left_count,
        cut.right_count
    from "sqlanon_splitting" as splitting
    left join "sqlanon_cut" as cut on splitting.partition = cut.partition
)
select
    case side when 0 then partition when 1 then 2 * partition else 2 * partition + 1 end as partition,
    case side when 0 then attempts + 1 else 0 end as attempts,
    case
        when cut_partition is null then 0
        when side = 0 then 1
        when case side when 1 then left_count else right_count end >= 2 * 10 then 1
        else 0
    end as open,
    "code_1",
    "code_2",
    "sensitive_code",
    "sensitive_code_2"
from told;

-- value_set_2
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

-- box
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

-- data
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

-- data_2
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

