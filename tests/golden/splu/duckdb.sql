-- sqlanon splu for duckdb: gamma = {'disease': 5}, residue = drop, epsilon = 0.3, alpha = 3, target_error = 0.1, block = 64, draws = keyed, nulls = refuse, rows_per_person = one
-- Fu, Wang, Wong, Wang and Jiang, Small sum privacy and large sum utility in data publishing, J. Biomedical Informatics 2014
-- It makes "sqlanon_data", and nothing else that it makes may be handed on.
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

-- population: as in anatomy/duckdb.sql

-- persons: as in anatomy/duckdb.sql

-- tally: as in anatomy/duckdb.sql

-- known: as in anatomy/duckdb.sql

-- feasible: nobody can hide a value that more than one in 5 rows have
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with counted as (
            select
                sensitive,
                row_count,
                case when sensitive is null and not false then 0 else row_count end as kept_count
            from "sqlanon_tally"
        ),
        placed as (
            select
                counted.*,
                row_number() over (order by kept_count desc nulls last) - 1 as place,
                cast(sum(kept_count) over () as bigint) as kept_rows,
                cast(sum(kept_count) over (order by kept_count desc nulls last rows unbounded preceding) as bigint) - kept_count as larger_rows
            from counted
        ),
        fitting as (
            -- with the k most frequent values left aside, g groups need (size - k) g rows of the others
            select
                placed.*,
                min(case when place < 5 then (kept_rows - larger_rows) // greatest(1, 5 - place) end) over () as group_count
            from placed
        ),
        figures as (
            select
                coalesce(cast(sum(kept_count) as bigint), 0) as row_count,
                coalesce(cast(sum(case when kept_count > 0 then 1 else 0 end) as bigint), 0) as value_count,
                coalesce(max(kept_count), 0) as largest_count,
                max(case when place = 0 then cast(sensitive as varchar) end) as largest_value,
                coalesce(max(case when place = 0 and sensitive is null then 1 else 0 end), 0) as largest_missing,
                coalesce(max(case when place = 1 then kept_count end), 0) as next_count,
                coalesce(cast(sum(least(kept_count, group_count)) as bigint), 0) as groupable_rows
            from fitting
        ),
        judged as (
            select
                figures.*,
                row_count // greatest(1, largest_count) as feasible,
                row_count // 5 as allowed,
                case when next_count > 0 then (row_count - largest_count) // next_count else 0 end as without,
                -- in steps of 0.1 %, upwards: a share that is allowed has to be enough
                0 - (1000 * (groupable_rows - row_count)) // greatest(1, row_count) as left_over
            from figures
        )
        select
            'gamma' as about,
            feasible as possible,
            row_count,
            largest_count,
            case
                when row_count < 5 then
                    'gamma = 5 needs at least 5 rows; the source has ' || coalesce(format('{:,}', row_count), '')
                when largest_count > allowed then
                    'gamma = 5 is not possible: the most frequent value of ''disease''' || coalesce(cast('' as varchar), '') || ' stands in ' || coalesce(format('{:,}', largest_count), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * largest_count / row_count), '') || '), and gamma = 5 allows ' || coalesce(format('{:,}', allowed), '') || '; '
                    || case
                        when feasible >= 2 then 'the largest gamma that works is ' || coalesce(cast(feasible as varchar), '')
                        else 'no gamma of at least 2 works on this column'
                    end
                    || case
                        when without <= greatest(1, feasible) then ''
                        when largest_missing = 1 then
                            '; with --nulls drop gamma = ' || coalesce(cast(without as varchar), '') || ' works'
                        else '; without the rows of that value gamma = ' || coalesce(cast(without as varchar), '') || ' works'
                    end
                    || case
                        when value_count >= 5 and 2 * left_over <= 1000 and true then
                            '; robust leaves rows over instead: with r = 5 at least ' || coalesce(format('{:.1f}%', 100.0 * left_over / 1000), '') || ' of them (--max-suppressed)'
                        else ''
                    end
                    || case
                        when feasible < 2 and value_count > 1 then '; as one value has more than half of the rows, what works is mondrian (rows alike in k; no confidence is promised), a sensitive column made of this one and another that splits that value, or leaving the column out'
                        else ''
                    end
                    || '; merging values makes none rarer'
            end as refusal
        from judged
    ) as looked_at
) as checked;

-- uniqueness: as in anatomy/duckdb.sql

-- own_values_1: as in anatomy/duckdb.sql

-- key: as in anatomy/duckdb.sql

-- population: as in anatomy/duckdb.sql

-- population: every row with its draws: from the key and what tells the row apart, alike on every engine
create temporary view "sqlanon_population_3" as
with row_key as (
    select substr(sha256(key.secret || 'splu/disease/row/'), 1, 40) as secret
    from "sqlanon_key_2" as key
),
hashed as (
    select
        valued."quasi_1", valued."quasi_2", valued."quasi_3", valued."sensitive",
        sha256(row_key.secret || valued.identity) as hash
    from "sqlanon_population_2" as valued
    cross join row_key
)
select
    "quasi_1", "quasi_2", "quasi_3", "sensitive",
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "slot_draw",
    cast('0x' || substr(hash, 31, 15) as bigint) as "tie"
from hashed;

-- population: the rows, whose draws are made once
create temporary table "sqlanon_population_4" as
select *
from "sqlanon_population_3";

-- draw_range: the rows in 4,096 ranges of draws, and how many stand in each and those before it, so that the smallest draws are found without a sort of the table
create temporary table "sqlanon_draw_range" as
with counted as (
    select
        draw // 281474976710656 as draw_range,
        count(*) as row_count
    from "sqlanon_population_4"
    group by draw // 281474976710656
),
running as (
    select
        draw_range,
        cast(sum(row_count) over (order by draw_range asc nulls last rows unbounded preceding) as bigint) as rows_up_to
    from counted
),
total as (
    select max(rows_up_to) % 5 as residue
    from running
)
select
    running.draw_range,
    running.rows_up_to,
    total.residue
from running
cross join total;

-- residue: the largest of the N mod gamma smallest draws (below 0: none is to be dropped)
create temporary table "sqlanon_residue" as
with bound as (
    select
        min(case when rows_up_to >= residue then draw_range end) as last_range,
        max(residue) as residue
    from "sqlanon_draw_range"
    where residue > 0
),
candidate as (
    select
        drawn.draw,
        bound.residue,
        row_number() over (order by drawn.draw asc nulls last) as draw_rank
    from "sqlanon_population_4" as drawn
    cross join bound
    where drawn.draw // 281474976710656 <= bound.last_range
)
select
    coalesce(max(case when draw_rank <= residue then draw end), 0 - 1) as last_draw,
    coalesce(sum(case when draw_rank <= residue then 1 else 0 end), 0) as dropped_rows
from candidate;

-- left_out: how many rows are dropped so that the rest is a multiple of gamma
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
select cast(dropped_rows as bigint) as dropped_rows
from "sqlanon_residue";

-- left_over: the rows that are dropped
create temporary view "sqlanon_left_over" as
select drawn.*
from "sqlanon_population_4" as drawn
cross join "sqlanon_residue" as residue
where drawn.draw <= residue.last_draw;

-- population: the rows without the residue: their draws, given that they are larger than the dropped ones, are as random as before
create temporary view "sqlanon_population_5" as
select drawn.*
from "sqlanon_population_4" as drawn
cross join "sqlanon_residue" as residue
where drawn.draw > residue.last_draw;

-- tally: how often each sensitive value occurs with each signature, NULL included
create temporary table "sqlanon_tally_2" as
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population_5"
group by "sensitive";

-- class: everybody is of one class, whose groups need `size` different values
create temporary table "sqlanon_class" as
select
    0 as class,
    cast(5 as bigint) as needed;

-- ranked: the values of each class by falling count, equal counts in keyed order, tail: the rows of the values from its place on
create temporary table "sqlanon_ranked" as
with valued as (
    select
        class.class,
        tally.sensitive,
        cast(sum(tally.row_count) as bigint) as row_count
    from "sqlanon_tally_2" as tally
    inner join "sqlanon_class" as class on true
    where tally.sensitive is not null or false
    group by class.class, tally.sensitive
),
hashed as (
    select
        valued.*,
        sha256(key.secret || 'splu/disease/value/' || coalesce(cast(length(cast(valued.sensitive as varchar)) as varchar) || ':' || cast(valued.sensitive as varchar), 'N')) as hash
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

-- capacity: as in anatomy/duckdb.sql

-- frequency: as in anatomy/duckdb.sql

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    population."quasi_1", population."quasi_2", population."quasi_3", population."slot_draw",
    population.tie,
    population.draw,
    frequency.code
from "sqlanon_population_5" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive = frequency.sensitive;

-- ordered: step 2: the rows by value and random order
create temporary table "sqlanon_ordered" as
with keyed as (
    select
        "quasi_1", "quasi_2", "quasi_3", "slot_draw",
        draw,
        tie,
        code,
        cast((draw >> 28) - 2147483648 as integer) as draw_start
    from "sqlanon_coded"
)
select
    "quasi_1", "quasi_2", "quasi_3", "slot_draw",
    code
from keyed
order by
    code asc nulls last,
    draw_start asc nulls last,
    draw asc nulls last,
    tie asc nulls last;

-- positioned: the position of every row in this order, from 0 on (inside a transaction a table numbers its rows from no known number on)
create temporary view "sqlanon_positioned" as
with first_row as (
    select min(rowid) as number
    from "sqlanon_ordered"
)
select
    ordered."quasi_1", ordered."quasi_2", ordered."quasi_3", ordered."slot_draw",
    ordered.code,
    ordered.rowid - first_row.number as position
from "sqlanon_ordered" as ordered
cross join first_row;

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
        cast('0x' || substr(sha256(key.secret || 'splu/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
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
        positioned."quasi_1", positioned."quasi_2", positioned."quasi_3", positioned."slot_draw",
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
    bucketed."quasi_1", bucketed."quasi_2", bucketed."quasi_3", bucketed."slot_draw",
    bucketed.code,
    bucketed.first_block + bucketed.bucket % bucketed.block_count as block,
    bucketed.block_count,
    block.block_groups,
    block.block_rows,
    block.first_number + (bucketed.bucket // bucketed.block_count + block.shift) % block.block_groups as number
from bucketed
inner join "sqlanon_block" as block on bucketed.first_cell + bucketed.bucket % bucketed.block_count = block.cell;

-- grouped: step 5: every row with its group, its number in the block mod the groups of the block, made global
create temporary table "sqlanon_grouped" as
select
    "quasi_1", "quasi_2", "quasi_3", "slot_draw",
    code,
    (numbered.block_rows + numbered.block_groups - 1 - numbered.number % numbered.block_groups) // numbered.block_groups as group_rows,
    number // block_groups as slot,
    (numbered.number % numbered.block_groups) * numbered.block_count + numbered.block as group_id
from "sqlanon_numbered" as numbered;

-- decoy_group_1: the decoy groups: gamma rows (gamma + 1 where a residue is kept) of different values
create temporary view "sqlanon_decoy_group_1" as
select
    grouped.*,
    frequency.sensitive
from "sqlanon_grouped" as grouped
inner join "sqlanon_frequency" as frequency on grouped.code = frequency.code;

-- population: every row with the value of a slot of its group, whoever saw the slot's draw could tell which
create temporary view "sqlanon_population_6" as
select
    own."quasi_1" as "quasi_1",
    own."quasi_2" as "quasi_2",
    own."quasi_3" as "quasi_3",
    frequency.sensitive as "published_1"
from "sqlanon_grouped" as own
inner join "sqlanon_grouped" as decoy
    on own.group_id = decoy.group_id and own.slot_draw % own.group_rows = decoy.slot
inner join "sqlanon_frequency" as frequency on decoy.code = frequency.code;

-- data: exact quasi values and drawn sensitive ones, in an order that depends on nothing but what it shows, which verification proves from what was written
create table "sqlanon_data" as
select
    randomized.quasi_1 as "age",
    randomized.quasi_2 as "sex",
    randomized.quasi_3 as "zipcode",
    randomized."published_1" as "disease"
from "sqlanon_population_6" as randomized
order by
    randomized.quasi_1 asc nulls last,
    randomized.quasi_2 asc nulls last,
    randomized.quasi_3 asc nulls last,
    randomized."published_1" asc nulls last;

-- the rest is microdata and the key: forget it
-- 25 relations, the last first

commit;
