-- sqlanon anatomy for duckdb: l = 4, block = 64, draws = keyed, nulls = refuse, rows_per_person = one
-- Xiao and Tao, Anatomy: Simple and Effective Privacy Preservation, VLDB 2006
-- It makes "sqlanon_qit", "sqlanon_st", and nothing else that it makes may be handed on.
-- It needs a key of 64 hex digits, and who has the key can undo the release.
-- Make one with: openssl rand -hex 32
-- Hand it over before the script runs: set variable sqlanon_key = '…'
-- publish runs these statements on duckdb, but:
-- * under a key of its own it draws by the numbers of rows, which a script does not have
-- * quasi columns that all hold whole numbers are packed into one number, by their least and greatest values

-- no macro may have the name of a function that this script calls
select
    system.main.error(
        system.main.concat('the macro ', planted.function_name, ' has the name of a function of DuckDB: drop it')
    ) as refusal
from system.main.duckdb_functions() as planted
where not planted.internal
    and system.main.lower(planted.function_name) in (
        select system.main.lower(own.function_name) from system.main.duckdb_functions() as own where own.internal
    );

begin transaction;

-- key: what the session was given
create temporary table "sqlanon_key" as
select lower(cast(getvariable('sqlanon_key') as varchar)) as "secret";

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

-- source: the rows under names of our own, so that no column of the user's meets one of ours

-- population: the rows that are published

-- persons: nobody has several rows, for the guarantee is per row

-- tally: how often each sensitive value occurs with each signature, NULL included

-- known: every row has a sensitive value, or it is said what becomes of those without

-- feasible: nobody can hide a value that more than one in 4 rows have

-- uniqueness: no quasi column has a value of its own in most rows

-- own_values_1: most rows share their sensitive value with others

-- key: rows are hashed under the key, each as it is told apart with its sensitive values, and the hashes summed up: in one scan, in any order

-- class: everybody is of one class, whose groups need `size` different values

-- ranked: the values of each class by falling count, equal counts in keyed order, tail: the rows of the values from its place on
create temporary table "sqlanon_ranked" as
with valued as (
    select
        class.class,
        tally.sensitive,
        cast(sum(tally.row_count) as bigint) as row_count
    from "sqlanon_tally" as tally
    inner join "sqlanon_class" as class on true
    where tally.sensitive is not null or false
    group by class.class, tally.sensitive
),
hashed as (
    select
        valued.*,
        sha256(key.secret || 'anatomy/disease/value/' || coalesce(cast(length(cast(valued.sensitive as varchar)) as varchar) || ':' || cast(valued.sensitive as varchar), 'N')) as hash
    from valued
    cross join "sqlanon_key_2" as key
),
placed as (
    select
        hashed.*,
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

-- capacity: the largest number of groups that a class can give: m = min over j < N of floor(tail_j / (N - j)), N the values that its groups need, 0 where it has fewer values
create temporary table "sqlanon_capacity" as
with sized as (
    select distinct class, needed
    from "sqlanon_class"
)
select
    ranked.class,
    case when count(*) = sized.needed then min(ranked.tail // (sized.needed - ranked.place)) else 0 end as group_count
from "sqlanon_ranked" as ranked
inner join sized on ranked.class = sized.class and ranked.place < sized.needed
group by ranked.class, sized.needed;

-- population: every row with the text that identifies it: its identifier columns, which are unique

-- population: every row with its draws: from the key and what tells the row apart, alike on every engine

-- frequency: step 1: of each value at most m rows are kept, m the groups of its class, in positions of the class's own, groups in B = max(1, floor(m / 64)) blocks, which are numbered over all classes

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs

-- ordered: step 2: the rows by value and random order

-- positioned: the position of every row in this order, from 0 on (inside a transaction a table numbers its rows from no known number on)

-- block: step 4: in each block the values stand in a keyed order of their own, a value's rows hold neighbouring seats, so that moving the run to where those before it end numbers the whole block
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
        cast('0x' || substr(sha256(key.secret || 'anatomy/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
    from counted
    cross join "sqlanon_key_2" as key
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

-- numbered: steps 3 and 4: the rows of a value take the buckets from its first position on, bucket mod B is the block, bucket div B the seat in it, who is beyond what is kept has no block
create temporary view "sqlanon_numbered" as
with bucketed as (
    select
        positioned."quasi_1", positioned."quasi_2", positioned."quasi_3",
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
    bucketed."quasi_1", bucketed."quasi_2", bucketed."quasi_3",
    bucketed.code,
    bucketed.first_block + bucketed.bucket % bucketed.block_count as block,
    bucketed.block_count,
    block.block_groups,
    block.block_rows,
    block.first_number + (bucketed.bucket // bucketed.block_count + block.shift) % block.block_groups as number
from bucketed
inner join "sqlanon_block" as block on bucketed.first_cell + bucketed.bucket % bucketed.block_count = block.cell;

-- grouped: step 5: every row with its group, its number in the block mod the groups of the block, made global

-- qit: the quasi-identifier table: everybody's exact quasi values and the group

-- st: the sensitive table: each group's values, each of which stands in a group once

-- the rest is microdata and the key: forget it
drop table "sqlanon_grouped";
drop view "sqlanon_numbered";
drop table "sqlanon_block";
drop view "sqlanon_positioned";
drop table "sqlanon_ordered";
drop view "sqlanon_coded";
drop table "sqlanon_frequency";
drop view "sqlanon_population_3";
drop view "sqlanon_population_2";
drop table "sqlanon_capacity";
drop table "sqlanon_ranked";
drop table "sqlanon_class";
drop table "sqlanon_key_2";
drop table "sqlanon_tally";
drop view "sqlanon_population";
drop view "sqlanon_source";
drop table "sqlanon_key";

commit;
