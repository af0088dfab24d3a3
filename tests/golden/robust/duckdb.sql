-- sqlanon robust for duckdb: r = 2.5, l = 3, backgrounds = [['sex'], ['sex', 'zipcode']], guarantee = exact, max_suppressed = 0.01, repair = 0, block = 64, draws = keyed, nulls = refuse, rows_per_person = one
-- Wong, Fu, Wang, Xu, Pei and Yu, Probabilistic Inference Protection on Anonymized Data, ICDM 2010
-- It makes "sqlanon_qit", "sqlanon_st", and nothing else that it makes may be handed on.
-- It needs a key of 64 hex digits, and who has the key can undo the release.
-- Make one with: openssl rand -hex 32
-- Hand it over before the script runs: set variable sqlanon_key = '…'
-- publish runs these statements on duckdb, but:
-- * under a key of its own it draws by the numbers of rows, which a script does not have
-- * quasi columns that all hold whole numbers are packed into one number, by their least and greatest values

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

-- source: as in anatomy/duckdb.sql

-- population: The rows that have any sensitive value, NULL counting as one
create temporary view "sqlanon_population" as
select *
from "sqlanon_source";

-- key_of_rows: as in anatomy/duckdb.sql

-- signature_tally: How often each value of a sensitive column occurs with each signature, NULL included
create temporary table "sqlanon_signature_tally" as
select
    "quasi_2",
    "quasi_3",
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by
    "quasi_2",
    "quasi_3",
    "sensitive";

-- class: The classes: rows with equal signatures, for which every background says the same, numbered in a keyed order, so that the draws of a class depend on no collation
create temporary table "sqlanon_class" as
with signed as (
    select
        "quasi_2",
        "quasi_3"
    from "sqlanon_signature_tally"
    group by
        "quasi_2",
        "quasi_3"
),
spelled as (
    select
        "quasi_2",
        "quasi_3",
coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N')
|| coalesce(cast(length(cast("quasi_3" as varchar)) as varchar) || ':' || cast("quasi_3" as varchar), 'N')
            as signature_text
    from signed
),
hashed as (
    select
        spelled."quasi_2",
        spelled."quasi_3",
        sha256(key.secret || 'robust/disease/class/' || spelled.signature_text) as hash
    from spelled
    cross join "sqlanon_key_of_rows" as key
)
select
    "quasi_2",
    "quasi_3",
    row_number() over (order by hash asc nulls last) - 1 as class
from hashed;

-- ranked: The values of each class by falling count c_0 >= c_1 >= …, equal counts in keyed order, each with its place j and tail_j, the rows of the values from its place on
create temporary table "sqlanon_ranked" as
with valued as (
    select
        tally."quasi_2",
        tally."quasi_3",
        class.class,
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'robust/disease/value/' || cast(class.class as varchar) || '/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_signature_tally" as tally
    inner join "sqlanon_class" as class
        on tally."quasi_2" is not distinct from class."quasi_2" and tally."quasi_3" is not distinct from class."quasi_3"
    cross join "sqlanon_key_of_rows" as key
    where tally.sensitive is not null or false
),
placed as (
    select
        "quasi_2",
        "quasi_3",
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
    "quasi_3",
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity: The largest number of groups of l different values that a class can give: m = min over j < l of floor(tail_j / (l - j)), and 0 where it has fewer than l values, for l = `size` and every smaller l from 2 on
create temporary table "sqlanon_capacity" as
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_ranked"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_ranked" as ranked
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

-- kept: How many rows find a group for each size: of a class's value at most one row a group
create temporary table "sqlanon_kept" as
select
    capacity.size,
    ranked.class,
    cast(sum(ranked.row_count) as bigint) as class_rows,
    cast(sum(least(ranked.row_count, capacity.group_count)) as bigint) as kept_rows
from "sqlanon_ranked" as ranked
inner join "sqlanon_capacity" as capacity on ranked.class = capacity.class
group by
    capacity.size,
    ranked.class;

-- worst: The signatures that leave most rows over at this size, three at most, as texts
create temporary table "sqlanon_worst" as
with left_over as (
    select
coalesce(cast(class."quasi_2" as varchar), 'NULL')
|| ', ' || coalesce(cast(class."quasi_3" as varchar), 'NULL')
            as signature_text,
        kept.class_rows - kept.kept_rows as surplus
    from "sqlanon_kept" as kept
    inner join "sqlanon_class" as class on kept.class = class.class
    where kept.size = 3
),
placed as (
    select
        signature_text,
        surplus,
        row_number() over (order by surplus desc nulls last, signature_text asc nulls last) as place
    from left_over
    where surplus > 0
)
select
    count(*) as class_count,
    max(case when place = 1 then signature_text end) as worst_1,
    max(case when place = 2 then signature_text end) as worst_2,
    max(case when place = 3 then signature_text end) as worst_3,
    max(case when place = 1 then surplus end) as surplus_1,
    max(case when place = 2 then surplus end) as surplus_2,
    max(case when place = 3 then surplus end) as surplus_3
from placed;

-- surplus_summary: What decides whether few enough rows are left over: N, the NULLs, the rows that find no group of `size` values in their class, the largest smaller size that leaves few enough (millionths of N), and the rows of the most frequent value
create temporary table "sqlanon_surplus_summary" as
with total as (
    select coalesce(cast(sum(row_count) as bigint), 0) as row_count
    from "sqlanon_ranked"
),
missing as (
    select
        coalesce(cast(sum(
            case when sensitive is null and not false then row_count else 0 end
        ) as bigint), 0) as null_count
    from "sqlanon_signature_tally"
),
valued as (
    select sum(row_count) as row_count
    from "sqlanon_ranked"
    group by sensitive
),
held as (
    select
        size,
        cast(sum(kept_rows) as bigint) as kept_rows
    from "sqlanon_kept"
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

-- feasibility: What decides whether rows are drawn for: one row
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select
        case
            when null_count > 0 then 'rows have no value in the sensitive column ''disease'''
            when row_count = 0 then 'the source has no rows to publish'
            when surplus_rows = row_count or surplus_rows * 1000000 > row_count * 10000 then 'r = 2.5 is not possible: more rows than allowed find no group of 3 rows with different values of ''disease'' and one signature'
        end as refusal
    from (
        select *
        from "sqlanon_surplus_summary"
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

-- uniqueness: as in anatomy/duckdb.sql

-- identified: Row identity under a given key: the identifier columns, which are unique
create temporary view "sqlanon_identified" as
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "sensitive",
coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N')
        as identity
from "sqlanon_population";

-- frequency: Step 1 of the grouping, class by class: of a value at most m rows are kept, m the groups of its class (none where m = 0), in positions of the class's own, groups in B = max(1, floor(m / 64)) blocks, numbered over all
create temporary table "sqlanon_frequency" as
with blocked as (
    select
        class,
        group_count,
        greatest(1, group_count // 64) as block_count
    from "sqlanon_capacity"
    where size = 3
),
numbered as (
    select
        class,
        group_count,
        block_count,
        cast(sum(block_count) over (order by class asc nulls last rows unbounded preceding) as bigint) - block_count as first_block
    from blocked
),
cut as (
    select
        ranked."quasi_2",
        ranked."quasi_3",
        ranked.class,
        ranked.sensitive,
        ranked.place,
        ranked.row_count,
        least(ranked.row_count, numbered.group_count) as kept_count,
        greatest(1, numbered.group_count) as group_count,
        numbered.block_count,
        numbered.first_block
    from "sqlanon_ranked" as ranked
    inner join numbered on ranked.class = numbered.class
)
select
    "quasi_2",
    "quasi_3",
    class,
    sensitive,
    cast(row_number() over (order by class asc nulls last, place asc nulls last) - 1 as integer) as code,
    row_count,
    kept_count,
    cast(sum(row_count) over (order by class asc nulls last, place asc nulls last rows unbounded preceding) as bigint) - row_count as first_row,
    cast(sum(kept_count) over (partition by class order by place asc nulls last rows unbounded preceding) as bigint) - kept_count as first_position,
    cast(sum(block_count) over (order by class asc nulls last, place asc nulls last rows unbounded preceding) as bigint) - block_count as first_cell,
    group_count,
    block_count,
    first_block
from cut;

-- coded: The rows, each with the code of its class and value
create temporary view "sqlanon_coded" as
select
    population."quasi_1",
    population."quasi_2",
    population."quasi_3",
    population."identity",
    frequency.code
from "sqlanon_identified" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive is not distinct from frequency.sensitive
    and population."quasi_2" is not distinct from frequency."quasi_2"
    and population."quasi_3" is not distinct from frequency."quasi_3";

-- drawn: Draws of a row, of sha256(row key || identity), the row key being the first 40 hex digits of sha256(key || purpose): 15 hex digits each, or, where no other engine has to draw the same, what the engine makes of 16
create temporary view "sqlanon_drawn" as
with row_key as (
    select substr(sha256(key.secret || 'robust/disease/row/'), 1, 40) as secret
    from "sqlanon_key_of_rows" as key
),
hashed as (
    select
        valued."quasi_1",
        valued."quasi_2",
        valued."quasi_3",
        valued."code",
        sha256(row_key.secret || valued.identity) as hash
    from "sqlanon_coded" as valued
    cross join row_key
)
select
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "tie",
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "code"
from hashed;

-- ordered: Step 2: the rows by value and random order
create temporary table "sqlanon_ordered" as
with keyed as (
    select
        "quasi_1",
        "quasi_2",
        "quasi_3",
draw, "tie",
        code,
        cast((draw >> 28) - 2147483648 as integer) as draw_start
    from "sqlanon_drawn"
)
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    code
from keyed
order by
    code asc nulls last,
    draw_start asc nulls last,
    draw asc nulls last,
    "tie" asc nulls last;

-- positioned: The position of every row in the order by value and draw, 0 …: how far a table's row lies behind the first one (a table numbers its rows as they were written, inside a transaction from no known number on), else as rows come (by_rowid)
create temporary view "sqlanon_positioned" as
with first_row as (
    select min(rowid) as number
    from "sqlanon_ordered"
)
select
    ordered."quasi_1",
    ordered."quasi_2",
    ordered."quasi_3",
    ordered.code,
    ordered.rowid - first_row.number as position
from "sqlanon_ordered" as ordered
cross join first_row;

-- block: Step 4: inside each block the values stand in a keyed order of their own
create temporary table "sqlanon_block" as
with run as (
    select
        code,
        first_position,
        group_count,
        block_count,
        first_block,
        first_cell,
        first_position % group_count as first_bucket,
        least(kept_count, group_count - first_position % group_count) as last_count,
        greatest(0, first_position % group_count + kept_count - group_count) as first_count
    from "sqlanon_frequency"
    where kept_count > 0
),
met as (
    select
        run.*,
        unnest(generate_series(first_bucket, first_bucket + least(last_count, block_count) - 1)) as bucket
    from run
    union all
    select
        run.*,
        unnest(generate_series(0, least(first_count, block_count) - 1)) as bucket
    from run
    where first_count > 0
),
turned as (
    select
        met.*,
        bucket % block_count as place,
        (bucket % block_count + block_count - first_bucket % block_count) % block_count as turn
    from met
),
counted as (
    select
        code,
        first_position,
        group_count,
        block_count,
        first_block,
        first_cell + place as cell,
        first_block + place as block,
        (last_count - turn + block_count - 1) // block_count
        + (first_count - place + block_count - 1) // block_count as row_count
    from turned
    where bucket >= first_bucket or turn >= last_count
),
hashed as (
    select
        counted.cell,
        counted.code,
        counted.block,
        counted.row_count,
        counted.block_count,
        (counted.group_count + counted.block_count - 1 - (counted.block - counted.first_block))
            // counted.block_count as block_groups,
        (counted.first_position % counted.group_count + counted.block_count - 1
            - (counted.block - counted.first_block)) // counted.block_count as first_seat,
        cast('0x' || substr(sha256(key.secret || 'robust/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
    from counted
    cross join "sqlanon_key_of_rows" as key
)
select
    cell,
    code,
    block,
    block_count,
    block_groups,
    cast(sum(row_count) over (partition by block) as bigint) as block_rows,
    row_count,
    cast(sum(row_count) over (partition by block order by draw asc nulls last, code asc nulls last rows unbounded preceding) as bigint) - row_count as first_number,
    block_groups - first_seat % block_groups as shift
from hashed;

-- numbered: Steps 3 and 4: every row's number in its block, 0 …: its value's rows take the buckets from the value's first position on, bucket = position mod m, the block is bucket mod B, the seat in it bucket div B, in the block the value's first number, then its seats in turn
create temporary view "sqlanon_numbered" as
with bucketed as (
    select
        positioned."quasi_1",
        positioned."quasi_2",
        positioned."quasi_3",
        frequency.code,
        frequency.first_cell,
        frequency.first_block,
        frequency.block_count,
        case
            when positioned.position - frequency.first_row < frequency.kept_count
            then (frequency.first_position + positioned.position - frequency.first_row) % frequency.group_count
        end as bucket
    from "sqlanon_positioned" as positioned
    inner join "sqlanon_frequency" as frequency on positioned.code = frequency.code
)
select
    bucketed."quasi_1",
    bucketed."quasi_2",
    bucketed."quasi_3",
    bucketed.code,
    bucketed.first_block + bucketed.bucket % bucketed.block_count as block,
    bucketed.block_count,
    block.block_groups,
    block.block_rows,
    block.first_number + (bucketed.bucket // bucketed.block_count + block.shift) % block.block_groups as number
from bucketed
inner join "sqlanon_block" as block on bucketed.first_cell + bucketed.bucket % bucketed.block_count = block.cell;

-- renumbered: The groups in a keyed random order of their own, so that an id tells nothing of the class that made the group: each is known by its block and its turn there
create temporary table "sqlanon_renumbered" as
with counted_block as (
    select
        block,
        max(block_groups) as block_groups
    from "sqlanon_block"
    group by block
),
listed as (
    select
        block,
        unnest(generate_series(0, block_groups - 1)) as turn
    from counted_block
)
,
hashed as (
    select
        listed.block,
        listed.turn,
        sha256(key.secret || 'robust/disease/group/' || cast(listed.block as varchar) || '/' || cast(listed.turn as varchar)) as hash
    from listed
    cross join "sqlanon_key_of_rows" as key
),
drawn as (
    select
        block,
        turn,
        cast('0x' || substr(hash, 1, 15) as bigint) as draw,
        cast('0x' || substr(hash, 16, 15) as bigint) as tie
    from hashed
),
counted as (
    select
        draw // 18014398509481984 as shard,
        count(*) as group_count
    from drawn
    group by draw // 18014398509481984
),
shard as (
    select
        shard,
        cast(sum(group_count) over (order by shard asc nulls last rows unbounded preceding) as bigint) - group_count as first_id
    from counted
)
select
    drawn.block,
    drawn.turn,
    shard.first_id + row_number() over (partition by shard.shard order by drawn.draw asc nulls last, drawn.tie asc nulls last) - 1 as group_id
from drawn
inner join shard on drawn.draw // 18014398509481984 = shard.shard;

-- grouped: The group of every row that is kept, under the group's final number
create temporary table "sqlanon_grouped" as
select
    numbered."quasi_1",
    numbered."quasi_2",
    numbered."quasi_3",
    numbered.code,
    renumbered.group_id
from "sqlanon_numbered" as numbered
inner join "sqlanon_renumbered" as renumbered
    on numbered.block = renumbered.block and numbered.number % numbered.block_groups = renumbered.turn;

-- suppressed: How many rows no group holds in the end, beside what was to be expected
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select
        case
            when dropped_rows = row_count then 'the source has no rows to publish'
        end as refusal
    from (
        with everyone as (
            select count(*) as everyone_count
            from "sqlanon_population"
        ),
        published as (
            select count(*) as published_count
            from "sqlanon_grouped"
        )
        select
            everyone.everyone_count - published.published_count as dropped_rows,
            surplus_summary.*
        from "sqlanon_surplus_summary" as surplus_summary
        cross join everyone
        cross join published
    ) as looked_at
) as checked;

-- qit: as in anatomy/duckdb.sql

-- st: The sensitive table (ST): what values a group holds and how often, in an order that depends on nothing but what it shows
create table "sqlanon_st" as
select
    grouped.group_id as "group_id",
    frequency.sensitive as "disease",
    cast(1 as bigint) as "count"
from "sqlanon_grouped" as grouped
inner join "sqlanon_frequency" as frequency on grouped.code = frequency.code
order by
    grouped.group_id asc nulls last,
    frequency.sensitive asc nulls last;

-- the rest is microdata and the key: forget it
-- 21 relations, the last first

commit;
