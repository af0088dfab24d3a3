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
create temporary view "sqlanon_source" as
select
    "age" as "quasi_1",
    "sex" as "quasi_2",
    "zipcode" as "quasi_3",
    "ssn" as "identifier_1",
    "disease" as "sensitive"
from "patients";

-- population: the rows that are published
create temporary view "sqlanon_population" as
select *
from "sqlanon_source"
where true;

-- persons: nobody has several rows, for the guarantee is per row
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
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
            'id' as about,
            case when repeating_persons > 0 and true then
                coalesce(format('{:,}', repeating_persons), '') || ' persons have more than one row (' || coalesce(format('{:,}', row_count), '') || ' rows of ' || coalesce(format('{:,}', person_count), '') || ' persons): the guarantee is per row, and the groups of one person''s rows intersect; publish one row per person, or say --rows-per-person many'
            end as refusal
        from counted
    ) as looked_at
) as checked;

-- tally: how often each sensitive value occurs with each signature, NULL included
create temporary table "sqlanon_tally" as
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive";

-- known: every row has a sensitive value, or it is said what becomes of those without
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with counted as (
            select
                coalesce(cast(sum(row_count) as bigint), 0) as row_count,
                coalesce(cast(sum(case when sensitive is null then row_count else 0 end) as bigint), 0) as null_count
            from "sqlanon_tally"
        )
        select
            case when null_count > 0 then 'disease' end as about,
            case
                when null_count > 0 and true then
                    coalesce(cast(null_count as varchar), '') || ' rows have no value in the sensitive column ''disease''; say --nulls value (NULL is a value like any other) or --nulls drop (leave them out, which tells who had none to somebody who knows who was in the table)'
                when row_count = 0 then 'the source has no rows to publish'
            end as refusal
        from counted
    ) as looked_at
) as checked;

-- feasible: nobody can hide a value that more than one in 4 rows have
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
                min(case when place < 4 then (kept_rows - larger_rows) // greatest(1, 4 - place) end) over () as group_count
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
                row_count // 4 as allowed,
                case when next_count > 0 then (row_count - largest_count) // next_count else 0 end as without,
                -- in steps of 0.1 %, upwards: a share that is allowed has to be enough
                0 - (1000 * (groupable_rows - row_count)) // greatest(1, row_count) as left_over
            from figures
        )
        select
            'l' as about,
            feasible as possible,
            row_count,
            largest_count,
            case
                when row_count < 4 then
                    'l = 4 needs at least 4 rows; the source has ' || coalesce(format('{:,}', row_count), '')
                when largest_count > allowed then
                    'l = 4 is not possible: the most frequent value of ''disease''' || coalesce(cast('' as varchar), '') || ' stands in ' || coalesce(format('{:,}', largest_count), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * largest_count / row_count), '') || '), and l = 4 allows ' || coalesce(format('{:,}', allowed), '') || '; '
                    || case
                        when feasible >= 2 then 'the largest l that works is ' || coalesce(cast(feasible as varchar), '')
                        else 'no l of at least 2 works on this column'
                    end
                    || case
                        when without <= greatest(1, feasible) then ''
                        when largest_missing = 1 then
                            '; with --nulls drop l = ' || coalesce(cast(without as varchar), '') || ' works'
                        else '; without the rows of that value l = ' || coalesce(cast(without as varchar), '') || ' works'
                    end
                    || case
                        when value_count >= 4 and 2 * left_over <= 1000 and true then
                            '; robust leaves rows over instead: with r = 4 at least ' || coalesce(format('{:.1f}%', 100.0 * left_over / 1000), '') || ' of them (--max-suppressed)'
                        else ''
                    end
                    || case
                        when feasible < 2 and value_count > 1 then '; as one value has more than half of the rows, what works is mondrian (rows alike in k; no confidence is promised), a sensitive column made of this one and another that splits that value, or leaving the column out'
                        else ''
                    end
                    || '; merging values makes none rarer, and splu has the same limit'
            end as refusal
        from judged
    ) as looked_at
) as checked;

-- uniqueness: no quasi column has a value of its own in most rows
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with combination as (
            select
                "quasi_1", "quasi_2", "quasi_3",
                count(*) as row_count
            from "sqlanon_population"
            group by "quasi_1", "quasi_2", "quasi_3"
        ),
        total as (
            select
                coalesce(cast(sum(row_count) as bigint), 0) as row_count,
                coalesce(cast(sum(case when "quasi_1" is null then 0 else row_count end) as bigint), 0) as known_1,
                coalesce(cast(sum(case when "quasi_2" is null then 0 else row_count end) as bigint), 0) as known_2,
                coalesce(cast(sum(case when "quasi_3" is null then 0 else row_count end) as bigint), 0) as known_3,
                coalesce(cast(sum(case when row_count = 1 then 1 else 0 end) as bigint), 0) as unique_rows
            from combination
        ),
        counted as (
            select
                count(distinct combination."quasi_1") as distinct_1,
                count(distinct combination."quasi_2") as distinct_2,
                count(distinct combination."quasi_3") as distinct_3,
                count(*) as combination_count
            from combination
            cross join total
            where
                combination.row_count > 0 and (
                    false
                    or (total.known_1 > 1 and 5 * total.unique_rows >= 4 * total.known_1)
                    or (total.known_2 > 1 and 5 * total.unique_rows >= 4 * total.known_2)
                    or (total.known_3 > 1 and 5 * total.unique_rows >= 4 * total.known_3)
                )
        )
        select
            total.row_count,
            total.known_1,
            counted.distinct_1,
            total.known_2,
            counted.distinct_2,
            total.known_3,
            counted.distinct_3,
            total.unique_rows,
            case
                when total.known_1 >= 100 and counted.distinct_1 = total.known_1
                    and 2 * total.known_1 > total.row_count then 'age'
                when total.known_2 >= 100 and counted.distinct_2 = total.known_2
                    and 2 * total.known_2 > total.row_count then 'sex'
                when total.known_3 >= 100 and counted.distinct_3 = total.known_3
                    and 2 * total.known_3 > total.row_count then 'zipcode'
                when false then ''
            end as about,
            case
                when total.known_1 >= 100 and counted.distinct_1 = total.known_1
                    and 2 * total.known_1 > total.row_count
                then 'the quasi column ''age'' has a value of its own in each of ' || coalesce(format('{:,}', total.known_1), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with --id, or say --unique-quasi keep'
                when total.known_2 >= 100 and counted.distinct_2 = total.known_2
                    and 2 * total.known_2 > total.row_count
                then 'the quasi column ''sex'' has a value of its own in each of ' || coalesce(format('{:,}', total.known_2), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with --id, or say --unique-quasi keep'
                when total.known_3 >= 100 and counted.distinct_3 = total.known_3
                    and 2 * total.known_3 > total.row_count
                then 'the quasi column ''zipcode'' has a value of its own in each of ' || coalesce(format('{:,}', total.known_3), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with --id, or say --unique-quasi keep'
                when false then ''
            end as refusal
        from total
        cross join counted
    ) as looked_at
) as checked;

-- own_values_1: most rows share their sensitive value with others
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with counted as (
            select count("sensitive") as known_count
            from "sqlanon_population"
            group by "sensitive"
        ),
        figures as (
            select
                coalesce(cast(sum(known_count) as bigint), 0) as known_rows,
                coalesce(cast(sum(case when known_count = 1 then 1 else 0 end) as bigint), 0) as lone_rows
            from counted
        )
        select
            'disease' as about,
            case when known_rows >= 100 and 2 * lone_rows > known_rows and not false then
                'the sensitive column ''disease'' has a value of its own in ' || coalesce(format('{:,}', lone_rows), '') || ' of ' || coalesce(format('{:,}', known_rows), '') || ' rows: such values tell whose they are, as numbers of people and free texts do, and would be published; leave it out, publish classes of it, or say --unique-sensitive keep'
            end as refusal
        from figures
    ) as looked_at
) as checked;

-- key: rows are hashed under the key, each as it is told apart with its sensitive values, and the hashes summed up: in one scan, in any order
create temporary table "sqlanon_key_2" as
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

-- class: everybody is of one class, whose groups need `size` different values
create temporary table "sqlanon_class" as
select
    0 as class,
    cast(4 as bigint) as needed;

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
create temporary view "sqlanon_population_2" as
select
    "quasi_1", "quasi_2", "quasi_3", "sensitive",
coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N')
    as identity
from "sqlanon_population";

-- population: every row with its draws: from the key and what tells the row apart, alike on every engine
create temporary view "sqlanon_population_3" as
with row_key as (
    select substr(sha256(key.secret || 'anatomy/disease/row/'), 1, 40) as secret
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
    cast('0x' || substr(hash, 16, 15) as bigint) as "tie"
from hashed;

-- frequency: step 1: of each value at most m rows are kept, m the groups of its class, in positions of the class's own, groups in B = max(1, floor(m / 64)) blocks, which are numbered over all classes
create temporary table "sqlanon_frequency" as
with blocked as (
    select
        class,
        group_count,
        greatest(1, group_count // 64) as block_count
    from "sqlanon_capacity"
),
numbered as (
    select
        blocked.*,
        cast(sum(block_count) over (order by class asc nulls last rows unbounded preceding) as bigint) - block_count as first_block
    from blocked
),
cut as (
    select
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

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    population."quasi_1", population."quasi_2", population."quasi_3",
    population.tie,
    population.draw,
    frequency.code
from "sqlanon_population_3" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive = frequency.sensitive;

-- ordered: step 2: the rows by value and random order
create temporary table "sqlanon_ordered" as
with keyed as (
    select
        "quasi_1", "quasi_2", "quasi_3",
        draw,
        tie,
        code,
        cast((draw >> 28) - 2147483648 as integer) as draw_start
    from "sqlanon_coded"
)
select
    "quasi_1", "quasi_2", "quasi_3",
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
    ordered."quasi_1", ordered."quasi_2", ordered."quasi_3",
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
create temporary table "sqlanon_grouped" as
select
    "quasi_1", "quasi_2", "quasi_3",
    code,
    (numbered.number % numbered.block_groups) * numbered.block_count + numbered.block as group_id
from "sqlanon_numbered" as numbered;

-- qit: the quasi-identifier table: everybody's exact quasi values and the group
create table "sqlanon_qit" as
select
    grouped.quasi_1 as "age",
    grouped.quasi_2 as "sex",
    grouped.quasi_3 as "zipcode",
    grouped.group_id as "group_id"
from "sqlanon_grouped" as grouped
order by
    grouped.quasi_1 asc nulls last,
    grouped.quasi_2 asc nulls last,
    grouped.quasi_3 asc nulls last,
    grouped.group_id asc nulls last;

-- st: the sensitive table: each group's values, each of which stands in a group once
create table "sqlanon_st" as
with line as (
    select
        grouped.group_id,
        frequency.sensitive
    from "sqlanon_grouped" as grouped
    inner join "sqlanon_frequency" as frequency on grouped.code = frequency.code
    order by
        grouped.group_id asc nulls last,
        frequency.sensitive asc nulls last
)
select
    line.group_id as "group_id",
    line.sensitive as "disease",
    cast(1 as bigint) as "count"
from line;

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
