-- sqlanon robust for duckdb: r = 2.5, l = 3, backgrounds = [['sex']], guarantee = exact, max_suppressed = 0.01, repair = 0, block = 64, draws = keyed, nulls = refuse, rows_per_person = one
-- It makes "sqlanon_qit", "sqlanon_st", "sqlanon_st_2", and nothing else that it makes may be handed on.
-- It needs a key of 64 hex digits, and who has the key can undo the release.
-- Make one with: openssl rand -hex 32
-- Hand it over before the script runs: set variable sqlanon_key = '…'
-- publish runs these statements on duckdb, but:
-- * under a key of its own it draws by the numbers of rows, which a script does not have
-- * quasi columns that all hold whole numbers are packed into one number, by their least and greatest values

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

-- limits: as in anatomy/several.sql, but for
-- -            when row_count < 4 then 'l = 4 needs at least 4 rows'
-- -            when largest_count > row_count // 4 then 'l = 4 is not possible: a value of a sensitive column stands in more than 1/4 of the rows'

-- key: as in anatomy/several.sql

-- signature_tally_2: How often each value of a sensitive column occurs with each signature, NULL included
create temporary table "sqlanon_signature_tally_2" as
select
    "quasi_2",
    "sensitive_2" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by
    "quasi_2",
    "sensitive_2";

-- signature_tally_1: How often each value of a sensitive column occurs with each signature, NULL included
create temporary table "sqlanon_signature_tally_1" as
select
    "quasi_2",
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by
    "quasi_2",
    "sensitive";

-- class: The classes: rows with equal signatures, for which every background says the same, numbered in a keyed order, so that the draws of a class depend on no collation
create temporary table "sqlanon_class" as
with signed as (
    select
        "quasi_2"
    from "sqlanon_signature_tally_1"
    group by
        "quasi_2"
),
spelled as (
    select
        "quasi_2",
coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N')
            as signature_text
    from signed
),
hashed as (
    select
        spelled."quasi_2",
        sha256(key.secret || 'robust/disease/class/' || spelled.signature_text) as hash
    from spelled
    cross join "sqlanon_key_2" as key
)
select
    "quasi_2",
    row_number() over (order by hash asc nulls last) - 1 as class
from hashed;

-- ranked_2: The values of each class by falling count c_0 >= c_1 >= …, equal counts in keyed order, each with its place j and tail_j, the rows of the values from its place on
create temporary table "sqlanon_ranked_2" as
with valued as (
    select
        tally."quasi_2",
        class.class,
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'robust/income/value/' || cast(class.class as varchar) || '/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_signature_tally_2" as tally
    inner join "sqlanon_class" as class
        on tally."quasi_2" is not distinct from class."quasi_2"
    cross join "sqlanon_key_2" as key
    where tally.sensitive is not null or false
),
placed as (
    select
        "quasi_2",
        class,
        sensitive,
        row_count,
        row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as head
    from valued
)
select
    "quasi_2",
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity_2: The largest number of groups of l different values that a class can give: m = min over j < l of floor(tail_j / (l - j)), and 0 where it has fewer than l values, for l = `size` and every smaller l from 2 on
create temporary table "sqlanon_capacity_2" as
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_ranked_2"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_ranked_2" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- kept_2: How many rows find a group for each size: of a class's value at most one row a group
create temporary table "sqlanon_kept_2" as
select
    capacity.size,
    ranked.class,
    cast(sum(ranked.row_count) as bigint) as class_rows,
    cast(sum(least(ranked.row_count, capacity.group_count)) as bigint) as kept_rows
from "sqlanon_ranked_2" as ranked
inner join "sqlanon_capacity_2" as capacity on ranked.class = capacity.class
group by
    capacity.size,
    ranked.class;

-- ranked_1: The values of each class by falling count c_0 >= c_1 >= …, equal counts in keyed order, each with its place j and tail_j, the rows of the values from its place on
create temporary table "sqlanon_ranked_1" as
with valued as (
    select
        tally."quasi_2",
        class.class,
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'robust/disease/value/' || cast(class.class as varchar) || '/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_signature_tally_1" as tally
    inner join "sqlanon_class" as class
        on tally."quasi_2" is not distinct from class."quasi_2"
    cross join "sqlanon_key_2" as key
    where tally.sensitive is not null or false
),
placed as (
    select
        "quasi_2",
        class,
        sensitive,
        row_count,
        row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as head
    from valued
)
select
    "quasi_2",
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity_1: The largest number of groups of l different values that a class can give: m = min over j < l of floor(tail_j / (l - j)), and 0 where it has fewer than l values, for l = `size` and every smaller l from 2 on
create temporary table "sqlanon_capacity_1" as
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_ranked_1"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_ranked_1" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- kept_1: How many rows find a group for each size: of a class's value at most one row a group
create temporary table "sqlanon_kept_1" as
select
    capacity.size,
    ranked.class,
    cast(sum(ranked.row_count) as bigint) as class_rows,
    cast(sum(least(ranked.row_count, capacity.group_count)) as bigint) as kept_rows
from "sqlanon_ranked_1" as ranked
inner join "sqlanon_capacity_1" as capacity on ranked.class = capacity.class
group by
    capacity.size,
    ranked.class;

-- kept_least: How many rows of a class find a group for each size at most: no more than by any one column
create temporary table "sqlanon_kept_least" as
select
    kept.size,
    kept.class,
    kept.class_rows,
    least(kept.kept_rows, further_1.kept_rows) as kept_rows
from "sqlanon_kept_1" as kept
inner join "sqlanon_kept_2" as further_1
    on kept.size = further_1.size and kept.class = further_1.class;

-- worst: as in duckdb.sql, but for
-- -|| ', ' || coalesce(cast(class."quasi_3" as varchar), 'NULL')
-- -    from "sqlanon_kept" as kept
-- -    inner join "sqlanon_sample" as class on kept.class = class.class
-- +    from "sqlanon_kept_least" as kept
-- +    inner join "sqlanon_class" as class on kept.class = class.class

-- surplus_summary: What decides whether few enough rows are left over: N, the NULLs, the rows that find no group of `size` values in their class, the largest smaller size that leaves few enough (millionths of N), and the rows of the most frequent value
create temporary table "sqlanon_surplus_summary" as
with total as (
    select coalesce(cast(sum(row_count) as bigint), 0) as row_count
    from "sqlanon_ranked_1"
),
missing as (
    select
        coalesce(cast(sum(
            case when sensitive is null and not false then row_count else 0 end
        ) as bigint), 0) as null_count
    from "sqlanon_signature_tally_1"
),
valued as (
    select sum(row_count) as row_count
    from "sqlanon_ranked_1"
    group by sensitive
),
held as (
    select
        size,
        cast(sum(kept_rows) as bigint) as kept_rows
    from "sqlanon_kept_least"
    group by size
)
select
    total.row_count,
    missing.null_count,
    total.row_count - coalesce((select kept_rows from held where size = 3), 0) as surplus_rows,
    coalesce((
        select max(held.size)
        from held
        cross join total as every
        where (every.row_count - held.kept_rows) * 1000000 <= every.row_count * 10000
    ), 0) as feasible_size,
    coalesce((select cast(max(row_count) as bigint) from valued), 0) as largest_count,
    worst.class_count,
    worst.worst_1,
    worst.worst_2,
    worst.worst_3,
    worst.surplus_1,
    worst.surplus_2,
    worst.surplus_3
from total
cross join missing
cross join "sqlanon_worst" as worst;

-- feasibility: What decides whether rows are drawn for, with the rows that each column by itself leaves over: one row
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select
        case
            when surplus_rows = row_count or surplus_rows * 1000000 > row_count * 10000 then 'r = 2.5 is not possible: more rows than allowed find no group of 3 rows of one signature that differ in every one of ''disease'' and ''income'''
        end as refusal
    from (
        select
            surplus_summary.row_count
            - coalesce((select cast(sum(kept_rows) as bigint) from "sqlanon_kept_1" where size = 3), 0)
                as column_surplus_1,
            surplus_summary.row_count
            - coalesce((select cast(sum(kept_rows) as bigint) from "sqlanon_kept_2" where size = 3), 0)
                as column_surplus_2,
            surplus_summary.*
        from "sqlanon_surplus_summary" as surplus_summary
    ) as looked_at
) as checked;

-- uniqueness: as in anatomy/several.sql

-- own_values_1: as in duckdb.sql

-- own_values_2: as in anatomy/several.sql

-- population: as in anatomy/several.sql

-- value_1: as in anatomy/several.sql, but for
-- -        sha256(key.secret || 'anatomy/disease/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
-- +        sha256(key.secret || 'robust/disease/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash

-- value_2: as in anatomy/several.sql, but for
-- -        sha256(key.secret || 'anatomy/income/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
-- +        sha256(key.secret || 'robust/income/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash

-- foremost: as in anatomy/several.sql

-- population: as in anatomy/several.sql

-- population_classed: The rows, each with its class: draws are made for all, before any is left over
create temporary view "sqlanon_population_classed" as
select
    coded."quasi_1",
    coded."quasi_2",
    coded."code_1",
    coded."code_2",
    coded."sensitive",
    coded."identity",
    class.class
from "sqlanon_population_3" as coded
inner join "sqlanon_class" as class
    on coded."quasi_2" is not distinct from class."quasi_2";

-- population: every row with its draws: from the key and what tells the row apart, alike on every engine
create temporary view "sqlanon_population_4" as
with row_key as (
    select substr(sha256(key.secret || 'robust/disease/row/'), 1, 40) as secret
    from "sqlanon_key_2" as key
),
hashed as (
    select
        valued."quasi_1", valued."quasi_2", valued."code_1", valued."code_2", valued."class", valued."sensitive",
        sha256(row_key.secret || valued.identity) as hash
    from "sqlanon_population_classed" as valued
    cross join row_key
)
select
    "quasi_1", "quasi_2", "code_1", "code_2", "class", "sensitive",
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "tie"
from hashed;

-- drawn: The rows that have any sensitive value, NULL counting as one
create temporary table "sqlanon_drawn" as
select *
from "sqlanon_population_4";

-- room_first: The largest number of groups that a class can give: the least of what each column allows
create temporary table "sqlanon_room_first" as
select
    capacity.class,
    capacity.size,
    least(capacity.group_count, further_1.group_count) as group_count
from "sqlanon_capacity_1" as capacity
inner join "sqlanon_capacity_2" as further_1
    on capacity.class = further_1.class and capacity.size = further_1.size;

-- short: The classes in which a value is too frequent for the groups that the class can give: rows of the others all find one as far as any column by itself goes
create temporary table "sqlanon_short" as
with held as (
    select
        class,
        max(row_count) as row_count
    from "sqlanon_ranked_1"
    group by class
    union all
    select
        class,
        max(row_count) as row_count
    from "sqlanon_ranked_2"
    group by class
)
select distinct held.class
from held
left join "sqlanon_room_first" as room on held.class = room.class and room.size = 3
where held.row_count > coalesce(room.group_count, 0);

-- thinned: The drawn rows of classes that are short of groups, before any is left over
create temporary table "sqlanon_thinned" as
select
    drawn.*,
    0 as is_final
from "sqlanon_drawn" as drawn
inner join "sqlanon_short" as short on drawn.class = short.class;

-- thinning: turn 1 of 1

-- held_turn_1: The values of one column in each class, of the rows that are kept so far: by falling count c_0 >= c_1 >= …, equal counts in keyed order, each with its place j and tail_j, the rows of the values from its place on
create temporary table "sqlanon_held_turn_1" as
with counted as (
    select
        class,
        "code_1" as sensitive,
        count(*) as row_count
    from "sqlanon_thinned"
    group by
        class,
        "code_1"
),
hashed as (
    select
        counted.*,
        sha256(key.secret || 'robust/disease/kept/' || cast(counted.class as varchar) || '/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from counted
    cross join "sqlanon_key_2" as key
),
placed as (
    select
        class,
        sensitive,
        row_count,
        row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as head
    from hashed
)
select
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity_turn_1: The largest number of groups of l different values that a class can give: m = min over j < l of floor(tail_j / (l - j)), and 0 where it has fewer than l values, for l = `size` and every smaller l from 2 on
create temporary table "sqlanon_capacity_turn_1" as
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_held_turn_1"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_held_turn_1" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- held_turn_2: The values of one column in each class, of the rows that are kept so far: by falling count c_0 >= c_1 >= …, equal counts in keyed order, each with its place j and tail_j, the rows of the values from its place on
create temporary table "sqlanon_held_turn_2" as
with counted as (
    select
        class,
        "code_2" as sensitive,
        count(*) as row_count
    from "sqlanon_thinned"
    group by
        class,
        "code_2"
),
hashed as (
    select
        counted.*,
        sha256(key.secret || 'robust/income/kept/' || cast(counted.class as varchar) || '/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from counted
    cross join "sqlanon_key_2" as key
),
placed as (
    select
        class,
        sensitive,
        row_count,
        row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as head
    from hashed
)
select
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity_turn_2: The largest number of groups of l different values that a class can give: m = min over j < l of floor(tail_j / (l - j)), and 0 where it has fewer than l values, for l = `size` and every smaller l from 2 on
create temporary table "sqlanon_capacity_turn_2" as
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_held_turn_2"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_held_turn_2" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- room_turn: The largest number of groups that a class can give: the least of what each column allows
create temporary table "sqlanon_room_turn" as
select
    capacity.class,
    capacity.size,
    least(capacity.group_count, further_1.group_count) as group_count
from "sqlanon_capacity_turn_1" as capacity
inner join "sqlanon_capacity_turn_2" as further_1
    on capacity.class = further_1.class and capacity.size = further_1.size;

-- kept_rows: The rows that are kept after one more turn: of every value of every column at most one a group of its class, in the order of draws
create temporary table "sqlanon_kept_rows" as
with limited_0 as (
    select
        thinned.*,
        coalesce(room.group_count, 0) as group_count,
        count(*) over (partition by thinned.class) as rows_before
    from "sqlanon_thinned" as thinned
    left join "sqlanon_room_turn" as room
        on thinned.class = room.class and room.size = 3
),
ranked_1 as (
    select
        limited_0.*,
        row_number() over (
            partition by class, "code_1"
            order by draw asc nulls last, "tie" asc nulls last
        ) as place_1
    from limited_0
),
limited_1 as (
    select *
    from ranked_1
    where place_1 <= group_count
),
ranked_2 as (
    select
        limited_1.*,
        row_number() over (
            partition by class, "code_2"
            order by draw asc nulls last, "tie" asc nulls last
        ) as place_2
    from limited_1
),
limited_2 as (
    select *
    from ranked_2
    where place_2 <= group_count
)
select
    "quasi_1",
    "quasi_2",
    "code_1",
    "code_2",
    "sensitive",
    "draw",
    "tie",
    class,
    case when count(*) over (partition by class) = rows_before then 1 else 0 end as is_final
from limited_2;

drop table "sqlanon_thinned";

-- thinning
create temporary table "sqlanon_thinned" as
select * from "sqlanon_kept_rows";

drop table "sqlanon_kept_rows";

drop table "sqlanon_room_turn";

drop table "sqlanon_capacity_turn_2";

drop table "sqlanon_held_turn_2";

drop table "sqlanon_capacity_turn_1";

drop table "sqlanon_held_turn_1";

-- population_kept: The rows that are kept: of the classes that were short of groups, and all of the others
create temporary view "sqlanon_population_kept" as
with kept as (
    select
        drawn."quasi_1",
        drawn."quasi_2",
        drawn."code_1",
        drawn."code_2",
        drawn."sensitive",
        drawn."draw",
        drawn."tie",
        drawn.class
    from "sqlanon_drawn" as drawn
    left join "sqlanon_short" as short on drawn.class = short.class
    where short.class is null
    union all
    select
        "quasi_1",
        "quasi_2",
        "code_1",
        "code_2",
        "sensitive",
        "draw",
        "tie",
        class
    from "sqlanon_thinned"
)
select *
from kept;

-- held_last_1: The values of one column in each class, of the rows that are kept so far: by falling count c_0 >= c_1 >= …, equal counts in keyed order, each with its place j and tail_j, the rows of the values from its place on
create temporary table "sqlanon_held_last_1" as
with counted as (
    select
        class,
        "code_1" as sensitive,
        count(*) as row_count
    from "sqlanon_population_kept"
    group by
        class,
        "code_1"
),
hashed as (
    select
        counted.*,
        sha256(key.secret || 'robust/disease/kept/' || cast(counted.class as varchar) || '/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from counted
    cross join "sqlanon_key_2" as key
),
placed as (
    select
        class,
        sensitive,
        row_count,
        row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as head
    from hashed
)
select
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity_last_1: The largest number of groups of l different values that a class can give: m = min over j < l of floor(tail_j / (l - j)), and 0 where it has fewer than l values, for l = `size` and every smaller l from 2 on
create temporary table "sqlanon_capacity_last_1" as
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_held_last_1"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_held_last_1" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- held_last_2: The values of one column in each class, of the rows that are kept so far: by falling count c_0 >= c_1 >= …, equal counts in keyed order, each with its place j and tail_j, the rows of the values from its place on
create temporary table "sqlanon_held_last_2" as
with counted as (
    select
        class,
        "code_2" as sensitive,
        count(*) as row_count
    from "sqlanon_population_kept"
    group by
        class,
        "code_2"
),
hashed as (
    select
        counted.*,
        sha256(key.secret || 'robust/income/kept/' || cast(counted.class as varchar) || '/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from counted
    cross join "sqlanon_key_2" as key
),
placed as (
    select
        class,
        sensitive,
        row_count,
        row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as head
    from hashed
)
select
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity_last_2: The largest number of groups of l different values that a class can give: m = min over j < l of floor(tail_j / (l - j)), and 0 where it has fewer than l values, for l = `size` and every smaller l from 2 on
create temporary table "sqlanon_capacity_last_2" as
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_held_last_2"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_held_last_2" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- room_last: The largest number of groups that a class can give: the least of what each column allows
create temporary table "sqlanon_room_last" as
select
    capacity.class,
    capacity.size,
    least(capacity.group_count, further_1.group_count) as group_count
from "sqlanon_capacity_last_1" as capacity
inner join "sqlanon_capacity_last_2" as further_1
    on capacity.class = further_1.class and capacity.size = further_1.size;

-- class: the classes, whose rows carry their number, and need groups of so many different values
create temporary table "sqlanon_class_2" as
select
    class,
    cast(3 as bigint) as needed
from "sqlanon_class";

-- tally: how often each sensitive value occurs with each signature, NULL included
create temporary table "sqlanon_tally" as
select
    "class", "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population_kept"
group by "class", "sensitive";

-- ranked: as in duckdb.sql, but for
-- -    inner join "sqlanon_class" as class on tally."quasi_2" is not distinct from class."quasi_2" and tally."quasi_3" is not distinct from class."quasi_3"
-- +    inner join "sqlanon_class_2" as class on tally."class" is not distinct from class."class"

-- capacity: as in duckdb.sql, but for
-- -    from "sqlanon_class"
-- +    from "sqlanon_class_2"

-- capacity: the number of groups for which every column has values enough, whichever column rows are seated by
create temporary table "sqlanon_capacity_3" as
select
    class,
    group_count
from "sqlanon_room_last"
where size = 3;

-- frequency: as in duckdb.sql, but for
-- -    from "sqlanon_capacity"
-- +    from "sqlanon_capacity_3"

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    population."quasi_1", population."quasi_2", population."code_1", population."code_2",
    population.tie,
    population.draw,
    frequency.code
from "sqlanon_population_kept" as population
inner join "sqlanon_class_2" as class on population."class" is not distinct from class."class"
inner join "sqlanon_frequency" as frequency
    on class.class = frequency.class and population.sensitive = frequency.sensitive;

-- ordered: as in anatomy/several.sql

-- positioned: as in anatomy/several.sql

-- block: as in duckdb.sql

-- numbered: as in anatomy/several.sql

-- renumbered: as in duckdb.sql

-- grouped: step 5: every kept row with the final number of its group
create temporary table "sqlanon_grouped" as
select
    numbered."quasi_1", numbered."quasi_2", numbered."code_1", numbered."code_2",
    numbered.code,
    numbered.block,
    numbered.number,
    renumbered.group_id
from "sqlanon_numbered" as numbered
inner join "sqlanon_renumbered" as renumbered
    on numbered.block = renumbered.block and numbered.number % numbered.block_groups = renumbered.turn;

-- blocks: as in anatomy/several.sql

-- clashing: as in anatomy/several.sql

-- rotation: turn 1 of 1

-- rotated: as in anatomy/several.sql

drop table "sqlanon_clashing";

-- rotation: as in anatomy/several.sql

drop table "sqlanon_rotated";

-- exchange_places: turn 1 of 1

-- offered: as in anatomy/several.sql

-- near: as in anatomy/several.sql

-- proposed: as in anatomy/several.sql

-- exchange: as in anatomy/several.sql

-- reseated: as in anatomy/several.sql

drop table "sqlanon_clashing";

-- exchange_places: as in anatomy/several.sql

drop table "sqlanon_reseated";

drop table "sqlanon_exchange";

drop table "sqlanon_proposed";

drop table "sqlanon_near";

drop table "sqlanon_offered";

-- resettled: as in anatomy/several.sql, but for
-- -    case when place > 1 or (last_place > 1 and group_rows < 4) then 1 else 0 end as is_out
-- +    case when place > 1 or (last_place > 1 and group_rows < 3) then 1 else 0 end as is_out

-- renamed: as in anatomy/several.sql

-- grouped_settled: as in anatomy/several.sql

-- suppressed: How many rows no group holds in the end, beside what was to be expected
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select
        case
            when dropped_rows = row_count or dropped_rows * 1000000 > row_count * 10000 then 'r = 2.5 is not possible: more rows than allowed find no group of 3 rows of one signature that differ in every one of ''disease'' and ''income'''
        end as refusal
    from (
        with everyone as (
            select count(*) as everyone_count
            from "sqlanon_population_classed"
        ),
        published as (
            select count(*) as published_count
            from "sqlanon_grouped_settled"
        )
        select
            everyone.everyone_count - published.published_count as dropped_rows,
            surplus_summary.*
        from "sqlanon_surplus_summary" as surplus_summary
        cross join everyone
        cross join published
    ) as looked_at
) as checked;

-- qit: as in anatomy/several.sql

-- st: as in anatomy/several.sql

-- st_2: as in anatomy/several.sql

-- the rest is microdata and the key: forget it
-- 51 relations, the last first

commit;
