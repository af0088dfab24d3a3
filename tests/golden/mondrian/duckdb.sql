-- sqlanon mondrian for duckdb: k = 10, l = 4, diversity = frequent, partition = relaxed, published = {'education': {'type': 'VARCHAR', 'nulls': True, 'node': 'education'}, 'age': {'type': 'INTEGER', 'nulls': True, 'low': 'age_low', 'high': 'age_high', 'unknown': 'age_unknown'}, 'seen': {'type': 'DATE', 'nulls': True, 'low': 'seen_low', 'high': 'seen_high', 'unknown': 'seen_unknown'}, 'sex': {'type': 'VARCHAR', 'nulls': True, 'set': 'sex'}}, hierarchies = {'education': [['Bachelor', 'University'], ['Master', 'University'], ['School', 'Any'], ['University', 'Any']]}, draws = keyed, nulls = refuse, rows_per_person = one
-- LeFevre, DeWitt and Ramakrishnan, Mondrian Multidimensional K-Anonymity, ICDE 2006
-- It makes "sqlanon_data", and nothing else that it makes may be handed on.
-- It needs a key of 64 hex digits, and who has the key can undo the release.
-- Make one with: openssl rand -hex 32
-- Hand it over before the script runs: set variable sqlanon_key = '…'
-- publish runs these statements on duckdb, but:
-- * under a key of its own it draws by the numbers of rows, which a script does not have
-- * quasi columns that all hold whole numbers are packed into one number, by their least and greatest values
-- * the table has a column for unknown values only where a quasi column holds some

-- no macro may have the name of a function that this script calls: as in anatomy/duckdb.sql

begin transaction;

-- key: as in anatomy/duckdb.sql

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

-- source: The rows that take part, under names of our own, so that no column of the user's meets one of ours
create temporary view "sqlanon_source" as
select
    "education" as "quasi_1",
    "age" as "quasi_2",
    "seen" as "quasi_3",
    "sex" as "quasi_4",
    "ssn" as "identifier_1",
    "disease" as "sensitive"
from "patients";

-- population: The rows that have any sensitive value, NULL counting as one
create temporary view "sqlanon_population" as
select *
from "sqlanon_source";

-- facts: What decides whether a release is possible, and which columns it has: rows, different sensitive values, NULLs
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select
        case
            when null_count_1 > 0 then 'rows have no value in the sensitive column ''disease'''
            when row_count = 0 then 'the source has no rows to publish'
            when row_count < 10 then 'k = 10 needs at least 10 rows'
            when value_count_1 < 4 then 'l = 4 asks for more different values of ''disease'' than there are'
            when largest_count_1 * 4 > row_count then 'l = 4 asks for each value of ''disease'' in at most 1/4 of a box'
        end as refusal
    from (
        select
            coalesce(cast(sum(case when "quasi_1" is null then 1 else 0 end) as bigint), 0) as unknown_1,
            coalesce(cast(sum(case when "quasi_2" is null then 1 else 0 end) as bigint), 0) as unknown_2,
            coalesce(cast(sum(case when "quasi_3" is null then 1 else 0 end) as bigint), 0) as unknown_3,
            coalesce(cast(sum(case when "quasi_4" is null then 1 else 0 end) as bigint), 0) as unknown_4,
            (select max(row_count) from (select count(*) as row_count from "sqlanon_population" group by "sensitive") as value_count) as largest_count_1,
            count(*) - count("sensitive") as null_count_1,
            count(distinct "sensitive")
                + case when count(*) > count("sensitive") and false then 1 else 0 end as value_count_1,
            count(*) as row_count
        from "sqlanon_population"
    ) as looked_at
) as checked;

-- persons: How many rows share their identifier with another row: the guarantees are per row
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select
        case
            when repeating_persons > 0 then 'persons have more than one row, and the guarantee is per row'
        end as refusal
    from (
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
        from person
    ) as looked_at
) as checked;

-- own_values_1: as in anatomy/duckdb.sql

-- key_of_rows: The secret of all draws: of the key and of the rows, so that two tables of one key have no draw in common, and one row that differs makes all draws others
create temporary table "sqlanon_key_of_rows" as
with row_key as (
    select substr(sha256(key.secret || 'rows/'), 1, 40) as secret
    from "sqlanon_key" as key
),
hashed as (
    select sha256(row_key.secret || coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N') || coalesce(cast(length(cast("sensitive" as varchar)) as varchar) || ':' || cast("sensitive" as varchar), 'N')) as hash
    from "sqlanon_population" as population
    cross join row_key
),
drawn as (
    select cast('0x' || substr(hash, 1, 15) as bigint) as draw
    from hashed
),
summed as (
    select
        count(*) as row_count,
        coalesce(cast(sum(draw // 1073741824) as bigint), 0) as sum_1,
        coalesce(cast(sum(draw % 1073741824) as bigint), 0) as sum_2
    from drawn
)
select
    sha256(key.secret || 'draws/' || cast(summed.row_count as varchar) || '/' || cast(summed.sum_1 as varchar) || '/' || cast(summed.sum_2 as varchar)) as secret
from summed
cross join "sqlanon_key" as key;

-- identified: Row identity under a given key: the identifier columns, which are unique
create temporary view "sqlanon_identified" as
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "quasi_4",
    "sensitive",
coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N')
        as identity
from "sqlanon_population";

-- drawn: Draws of a row, of sha256(row key || identity), the row key being the first 40 hex digits of sha256(key || purpose): 15 hex digits each, or, where no other engine has to draw the same, what the engine makes of 16
create temporary table "sqlanon_drawn" as
with row_key as (
    select substr(sha256(key.secret || 'mondrian/disease/row/'), 1, 40) as secret
    from "sqlanon_key_of_rows" as key
),
hashed as (
    select
        valued."quasi_1",
        valued."quasi_2",
        valued."quasi_3",
        valued."quasi_4",
        valued."sensitive",
        sha256(row_key.secret || valued.identity) as hash
    from "sqlanon_identified" as valued
    cross join row_key
)
select
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "tie",
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "quasi_4",
    "sensitive"
from hashed;

-- hierarchy_1: A table that was given beside the source: a hierarchy's nodes with their ancestors or self from below the root down, or the influence matrix M|S
create temporary table "sqlanon_hierarchy_1" as
with line as (
    select
        unnest(string_split('Any | Bachelor | Master | School | University', ' | ')) as "node",
        unnest(string_split('0 | 2 | 2 | 1 | 1', ' | ')) as "depth",
        unnest(string_split('2 | 0 | 0 | 0 | 1', ' | ')) as "height",
        unnest(string_split('0 | 1 | 1 | 1 | 0', ' | ')) as "held",
        unnest(string_split(' | University | University | School | University', ' | ')) as "level_1",
        unnest(string_split(' | Bachelor | Master |  | ', ' | ')) as "level_2",
        ' | ' as separator
)
select
    cast("node" as varchar) as "node",
    cast("depth" as integer) as "depth",
    cast("height" as integer) as "height",
    cast("held" as integer) as "held"
,
    nullif("level_1", '') as "level_1"
,
    nullif("level_2", '') as "level_2"
from line;

-- outside_1: Values of an attribute that its hierarchy does not have, or has as inner nodes only, and the first of them
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select
        case
            when outside_count > 0 or inner_count > 0 then '''education'' has values that are not leaves of its hierarchy'
        end as refusal
    from (
        with different as (
            select cast("quasi_1" as varchar) as text
            from "sqlanon_population"
            where "quasi_1" is not null
            group by cast("quasi_1" as varchar)
        ),
        looked_up as (
            select
                different.text,
                coalesce(hierarchy.held, 2) as held
            from different
            left join "sqlanon_hierarchy_1" as hierarchy on different.text = hierarchy.node
        ),
        placed as (
            select
                text,
                held,
                row_number() over (partition by held order by text asc nulls last) as place
            from looked_up
            where held <> 1
        )
        select
            max(case when held = 2 and place = 1 then text end) as outside_1,
            max(case when held = 0 and place = 1 then text end) as inner_1,
            max(case when held = 2 and place = 2 then text end) as outside_2,
            max(case when held = 0 and place = 2 then text end) as inner_2,
            max(case when held = 2 and place = 3 then text end) as outside_3,
            max(case when held = 0 and place = 3 then text end) as inner_3,
            max(case when held = 2 and place = 4 then text end) as outside_4,
            max(case when held = 0 and place = 4 then text end) as inner_4,
            max(case when held = 2 and place = 5 then text end) as outside_5,
            max(case when held = 0 and place = 5 then text end) as inner_5,
            max(case when held = 2 and place = 6 then text end) as outside_6,
            max(case when held = 0 and place = 6 then text end) as inner_6,
            max(case when held = 2 and place = 7 then text end) as outside_7,
            max(case when held = 0 and place = 7 then text end) as inner_7,
            max(case when held = 2 and place = 8 then text end) as outside_8,
            max(case when held = 0 and place = 8 then text end) as inner_8,
            max(case when held = 2 and place = 9 then text end) as outside_9,
            max(case when held = 0 and place = 9 then text end) as inner_9,
            max(case when held = 2 and place = 10 then text end) as outside_10,
            max(case when held = 0 and place = 10 then text end) as inner_10,
            coalesce(cast(sum(case when held = 2 then 1 else 0 end) as bigint), 0) as outside_count,
            coalesce(cast(sum(case when held = 0 then 1 else 0 end) as bigint), 0) as inner_count
        from placed
    ) as looked_at
) as checked;

-- dictionary_1: The values of an attribute with a hierarchy, numbered so that the leaves below a node are neighbours, share_1 …: which share of all leaves lies below the ancestor at this level
create temporary table "sqlanon_dictionary_1" as
with different as (
    select
        "quasi_1" as value,
        cast("quasi_1" as varchar) collate "C" as text
    from "sqlanon_population"
    group by "quasi_1"
),
weighed as (
    select
        node,
        "level_1",
        sum(held) over (partition by "level_1")
            / cast(sum(held) over () as double) as "share_1",
        "level_2",
        sum(held) over (partition by "level_1", "level_2")
            / cast(sum(held) over () as double) as "share_2"
    from "sqlanon_hierarchy_1"
)
select
    different.value,
    weighed."level_1",
    weighed."share_1",
    weighed."level_2",
    weighed."share_2",
    cast(
        row_number() over (
            order by
                case when different.value is null then 1 else 0 end asc nulls last,
                case when weighed."level_1" is null then 0 else 1 end asc nulls last,
                weighed."level_1" collate "C" asc nulls last,
                case when weighed."level_2" is null then 0 else 1 end asc nulls last,
                weighed."level_2" collate "C" asc nulls last,
                different.text asc nulls last
        ) as integer
    ) as code
from different
left join weighed on different.text = weighed.node;

-- dictionary_2: The values of an attribute that has an order of its own, numbered in it, position: where a value lies in the range of all, from 0 to 1 - 1/n for n values (so that two values are not cut before many)
create temporary table "sqlanon_dictionary_2" as
with different as (
    select "quasi_2" as value
    from "sqlanon_population"
    group by "quasi_2"
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

-- dictionary_3: The values of an attribute that has an order of its own, numbered in it, position: where a value lies in the range of all, from 0 to 1 - 1/n for n values (so that two values are not cut before many)
create temporary table "sqlanon_dictionary_3" as
with different as (
    select "quasi_3" as value
    from "sqlanon_population"
    group by "quasi_3"
),
placed as (
    select
        value,
        case when abs(cast(epoch(value) as double)) <= cast(1e300 as double) then cast(epoch(value) as double) end as number
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

-- dictionary_4: The values of an attribute without an order of its own, numbered by their texts (NULL is a value, and the last), each also as a JSON text, position: which share of the values lies before it
create temporary table "sqlanon_dictionary_4" as
with different as (
    select
        "quasi_4" as value,
        cast("quasi_4" as varchar) collate "C" as text
    from "sqlanon_population"
    group by "quasi_4"
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

-- sensitive_value: The values of a sensitive column, numbered, NULL is a value
create temporary table "sqlanon_sensitive_value" as
with different as (
    select "sensitive" as sensitive
    from "sqlanon_population"
    group by "sensitive"
)
select
    sensitive,
    cast(row_number() over (order by case when sensitive is null then 1 else 0 end asc nulls last, sensitive asc nulls last) as integer) as code
from different;

-- splitting: Every row by the codes of its values, all rows in one partition, which is open: it may be split
create temporary table "sqlanon_splitting" as
select
    cast(1 as bigint) as partition,
    0 as attempts,
    1 as open,
    value_1.code as code_1,
    value_2.code as code_2,
    value_3.code as code_3,
    value_4.code as code_4,
    population."draw",
    population."tie",
    sensitive_value_1.code as "sensitive_code"
from "sqlanon_drawn" as population
inner join "sqlanon_sensitive_value" as sensitive_value_1
    on population."sensitive" is not distinct from sensitive_value_1.sensitive
inner join "sqlanon_dictionary_1" as value_1
    on population."quasi_1" is not distinct from value_1.value
inner join "sqlanon_dictionary_2" as value_2
    on population."quasi_2" is not distinct from value_2.value
inner join "sqlanon_dictionary_3" as value_3
    on population."quasi_3" is not distinct from value_3.value
inner join "sqlanon_dictionary_4" as value_4
    on population."quasi_4" is not distinct from value_4.value;

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
        min(code_3) as least_3,
        max(code_3) as largest_3,
        min(code_4) as least_4,
        max(code_4) as largest_4,
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
        case
            when coalesce(least."level_1" <> largest."level_1", true) then 1
            when coalesce(least."level_2" <> largest."level_2", true) then least.share_1
            else 0
        end as width
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
    union all
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        3 as attribute,
        largest.position - least.position as width
    from extent
    inner join "sqlanon_dictionary_3" as least on extent.least_3 = least.code
    inner join "sqlanon_dictionary_3" as largest on extent.largest_3 = largest.code
    where extent.least_3 < extent.largest_3
    union all
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        4 as attribute,
        largest.position - least.position as width
    from extent
    inner join "sqlanon_dictionary_4" as least on extent.least_4 = least.code
    inner join "sqlanon_dictionary_4" as largest on extent.largest_4 = largest.code
    where extent.least_4 < extent.largest_4
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

-- frequency_set: The same with how many values of a sensitive column a partition has first, and last, at each value of the attribute: what lies on either side of a cut has as many different ones as begin before it, and as end behind it
create temporary table "sqlanon_frequency_set" as
with read as (
    select
        splitting.partition,
        splitting."sensitive_code" as sensitive_code,
        case choice.attribute
            when 1 then splitting."code_1"
            when 2 then splitting."code_2"
            when 3 then splitting."code_3"
            when 4 then splitting."code_4"
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

-- cut: Where each partition is cut, if anywhere: of all places that leave k rows on either side, and where that is asked (of each further column, too) l different sensitive values, or with `frequent` none of them in more than 1/l of the rows, the one nearest to the median, in a hierarchy first between children of the node above all values of the partition
create temporary table "sqlanon_cut" as
with running as (
    select
        partition,
        code,
        max(first_count) over (partition by partition order by code asc nulls last rows unbounded preceding) as left_values,
        lead(last_count) over (partition by partition order by code asc nulls last) as right_values,
        sum(row_count) over (partition by partition order by code asc nulls last rows unbounded preceding) as left_count,
        lead(code) over (partition by partition order by code asc nulls last) as next_code
    from "sqlanon_frequency_set"
),
allowed as (
    select
        running.partition,
        running.code,
        running.left_count,
        0
            + case when before_1."level_1" = behind_1."level_1" then 1 else 0 end
            + case when before_1."level_2" = behind_1."level_2" then 1 else 0 end as depth,
        abs(2 * running.left_count - choice.row_count) as imbalance
    from running
    inner join "sqlanon_choice" as choice on running.partition = choice.partition
    left join "sqlanon_dictionary_1" as before_1
        on choice.attribute = 1 and running.code = before_1.code
    left join "sqlanon_dictionary_1" as behind_1
        on choice.attribute = 1 and running.next_code = behind_1.code
    where
        running.left_count >= 10
        and choice.row_count - running.left_count >= 10
        and running.left_values * 4 <= running.left_count
        and running.right_values * 4 <= choice.row_count - running.left_count
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

-- placed: Every row in its partition after the cuts: the parts of p are 2p and 2p + 1
create temporary table "sqlanon_placed" as
with told as (
    select
        splitting.partition,
        splitting.attempts,
        splitting."code_1",
        splitting."code_2",
        splitting."code_3",
        splitting."code_4",
        splitting."draw",
        splitting."tie",
        splitting."sensitive_code",
        cut.partition as cut_partition,
        case
            when cut.code is null then 0
            when
                case cut.attribute
                    when 1 then splitting."code_1"
                    when 2 then splitting."code_2"
                    when 3 then splitting."code_3"
                    when 4 then splitting."code_4"
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
    "code_3",
    "code_4",
    "draw",
    "tie",
    "sensitive_code"
from told;

drop table "sqlanon_splitting";

-- splitting
create temporary table "sqlanon_splitting" as
select * from "sqlanon_placed";

drop table "sqlanon_placed";

drop table "sqlanon_cut";

drop table "sqlanon_frequency_set";

drop table "sqlanon_choice";

-- reopened: All partitions once more, numbered anew and open: what could not be cut between values may be cut among equal ones
create temporary table "sqlanon_reopened" as
select
    count(*) over () + dense_rank() over (order by partition asc nulls last) - 1 as partition,
    0 as attempts,
    1 as open,
    "code_1",
    "code_2",
    "code_3",
    "code_4",
    "draw",
    "tie",
    "sensitive_code"
from "sqlanon_splitting";

-- halving: turn 1 of 1

-- choice: The attribute by which each open partition is to be split: the widest of those that it was not tried by (LeFevre et al., figure 3: choose_dimension)
create temporary table "sqlanon_choice" as
with extent as (
    select
        partition,
        min(code_1) as least_1,
        max(code_1) as largest_1,
        min(code_2) as least_2,
        max(code_2) as largest_2,
        min(code_3) as least_3,
        max(code_3) as largest_3,
        min(code_4) as least_4,
        max(code_4) as largest_4,
        max(attempts) as attempts,
        count(*) as row_count
    from "sqlanon_reopened"
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
        case
            when coalesce(least."level_1" <> largest."level_1", true) then 1
            when coalesce(least."level_2" <> largest."level_2", true) then least.share_1
            else 0
        end as width
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
    union all
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        3 as attribute,
        largest.position - least.position as width
    from extent
    inner join "sqlanon_dictionary_3" as least on extent.least_3 = least.code
    inner join "sqlanon_dictionary_3" as largest on extent.largest_3 = largest.code
    where extent.least_3 < extent.largest_3
    union all
    select
        extent.partition,
        extent.row_count,
        extent.attempts,
        4 as attribute,
        largest.position - least.position as width
    from extent
    inner join "sqlanon_dictionary_4" as least on extent.least_4 = least.code
    inner join "sqlanon_dictionary_4" as largest on extent.largest_4 = largest.code
    where extent.least_4 < extent.largest_4
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

-- half: The rows of the open partitions, each in the half where its value lies, rows with the value at the middle go in the order of their other values, then of draws
create temporary table "sqlanon_half" as
with read as (
    select
        splitting.partition,
        splitting.attempts,
        splitting."code_1",
        splitting."code_2",
        splitting."code_3",
        splitting."code_4",
        splitting."draw",
        splitting."tie",
        splitting."sensitive_code",
        choice.partition as cut_partition,
        choice.row_count,
        case choice.attribute
            when 1 then splitting."code_1"
            when 2 then splitting."code_2"
            when 3 then splitting."code_3"
            when 4 then splitting."code_4"
        end as code
    from "sqlanon_reopened" as splitting
    left join "sqlanon_choice" as choice on splitting.partition = choice.partition
)
select
    partition,
    attempts,
    "code_1",
    "code_2",
    "code_3",
    "code_4",
    "draw",
    "tie",
    "sensitive_code",
    cut_partition,
    row_count,
    case
        when cut_partition is null then 0
        when
            row_number() over (
                partition by partition
                order by code asc nulls last, "code_1" asc nulls last, "code_2" asc nulls last, "code_3" asc nulls last, "code_4" asc nulls last, "draw" asc nulls last, "tie" asc nulls last
            ) <= row_count // 2
        then 1
        else 2
    end as side
from read;

-- judged_half: The partitions whose halves may stand: both have k rows, and of each sensitive column l different values, or (`frequent`) no value in more than 1/l of the rows, where that is asked
create temporary table "sqlanon_judged_half" as
with counted as (
    select
        partition,
        side,
        count(*) as row_count,
        count(distinct "sensitive_code") as value_count_1
    from "sqlanon_half"
    where side > 0
    group by partition, side
),

crowded_1 as (
    select distinct held.partition
    from (
        select
            partition,
            side,
            "sensitive_code",
            count(*) as row_count
        from "sqlanon_half"
        where side > 0
        group by partition, side, "sensitive_code"
    ) as held
    inner join counted on held.partition = counted.partition and held.side = counted.side
    where held.row_count * 4 > counted.row_count
)
select counted.partition
from counted
left join crowded_1 on counted.partition = crowded_1.partition
where
    crowded_1.partition is null
group by counted.partition
having
    min(counted.row_count) >= 10
    and min(counted.value_count_1) >= 4;

-- placed: Every row in its half: the parts of p are 2p and 2p + 1
create temporary table "sqlanon_placed" as
with told as (
    select
        half.partition,
        half.attempts,
        half."code_1",
        half."code_2",
        half."code_3",
        half."code_4",
        half."draw",
        half."tie",
        half."sensitive_code",
        half.cut_partition,
        half.row_count,
        case when judged_half.partition is null then 0 else half.side end as taken
    from "sqlanon_half" as half
    left join "sqlanon_judged_half" as judged_half on half.partition = judged_half.partition
)
select
    case taken when 0 then partition when 1 then 2 * partition else 2 * partition + 1 end as partition,
    case taken when 0 then attempts + 1 else 0 end as attempts,
    case
        when cut_partition is null then 0
        when taken = 0 then 1
        when case taken when 1 then row_count // 2 else row_count - row_count // 2 end >= 2 * 10 then 1
        else 0
    end as open,
    "code_1",
    "code_2",
    "code_3",
    "code_4",
    "draw",
    "tie",
    "sensitive_code"
from told;

drop table "sqlanon_reopened";

-- halving
create temporary table "sqlanon_reopened" as
select * from "sqlanon_placed";

drop table "sqlanon_placed";

drop table "sqlanon_judged_half";

drop table "sqlanon_half";

drop table "sqlanon_choice";

-- value_set_4: The values of one attribute in each partition, as a JSON list of texts in their order, NULL stands as null
create temporary table "sqlanon_value_set_4" as
with held as (
    select
        partition,
        "code_4" as code
    from "sqlanon_reopened"
    group by partition, "code_4"
)
select
    held.partition,
    '[' || string_agg(dictionary.shown, ',' order by held.code asc nulls last) || ']' as value_set
from held
inner join "sqlanon_dictionary_4" as dictionary on held.code = dictionary.code
group by held.partition;

-- box: What is published of each partition: the exact bounds of its numbers, the lowest common ancestor of its nodes, its sets of values
create temporary table "sqlanon_box" as
with extent as (
    select
        min(nullif(code_2, 2147483647)) as least_2,
        max(nullif(code_2, 2147483647)) as largest_2,
        max(code_2) = 2147483647 as unknown_2,
        min(nullif(code_3, 2147483647)) as least_3,
        max(nullif(code_3, 2147483647)) as largest_3,
        max(code_3) = 2147483647 as unknown_3,
        min(code_1) as least_1,
        max(code_1) as largest_1,
        partition
    from "sqlanon_reopened"
    group by partition
)
select
    least_2.value as low_2,
    largest_2.value as high_2,
    extent.unknown_2,
    least_3.value as low_3,
    largest_3.value as high_3,
    extent.unknown_3,
    case
        when least_1.value is null then null
        when least_1."level_2" = largest_1."level_2" then least_1."level_2"
        when least_1."level_1" = largest_1."level_1" then least_1."level_1"
        else 'Any'
    end as node_1,
    value_set_4.value_set as set_4,
    extent.partition
from extent
left join "sqlanon_dictionary_2" as least_2 on extent.least_2 = least_2.code
left join "sqlanon_dictionary_2" as largest_2 on extent.largest_2 = largest_2.code
left join "sqlanon_dictionary_3" as least_3 on extent.least_3 = least_3.code
left join "sqlanon_dictionary_3" as largest_3 on extent.largest_3 = largest_3.code
inner join "sqlanon_dictionary_1" as least_1 on extent.least_1 = least_1.code
inner join "sqlanon_dictionary_1" as largest_1 on extent.largest_1 = largest_1.code
inner join "sqlanon_value_set_4" as value_set_4 on extent.partition = value_set_4.partition;

-- data: The published table: each row's box and its exact sensitive value, in an order that depends on nothing but what it shows: boxes are numbered by their columns
create table "sqlanon_data" as
with ordered as (
    select
        box.*,
        dense_rank() over (
            order by
                case when "node_1" is null then 1 else 0 end asc nulls last,
                "node_1" asc nulls last,
                case when "low_2" is null then 1 else 0 end asc nulls last,
                "low_2" asc nulls last,
                case when "high_2" is null then 1 else 0 end asc nulls last,
                "high_2" asc nulls last,
                case when "unknown_2" is null then 1 else 0 end asc nulls last,
                "unknown_2" asc nulls last,
                case when "low_3" is null then 1 else 0 end asc nulls last,
                "low_3" asc nulls last,
                case when "high_3" is null then 1 else 0 end asc nulls last,
                "high_3" asc nulls last,
                case when "unknown_3" is null then 1 else 0 end asc nulls last,
                "unknown_3" asc nulls last,
                case when "set_4" is null then 1 else 0 end asc nulls last,
                "set_4" asc nulls last
        ) as place
    from "sqlanon_box" as box
)
select
    ordered."node_1" as "education",
    ordered."low_2" as "age_low",
    ordered."high_2" as "age_high",
    ordered."unknown_2" as "age_unknown",
    ordered."low_3" as "seen_low",
    ordered."high_3" as "seen_high",
    ordered."unknown_3" as "seen_unknown",
    ordered."set_4" as "sex",
    sensitive_value.sensitive as "disease"
from "sqlanon_reopened" as splitting
inner join ordered on splitting.partition = ordered.partition
inner join "sqlanon_sensitive_value" as sensitive_value on splitting."sensitive_code" = sensitive_value.code
order by
    ordered.place asc nulls last,
    splitting."sensitive_code" asc nulls last;

-- the rest is microdata and the key: forget it
-- 16 relations, the last first

commit;
