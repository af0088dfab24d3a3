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

-- population: as in anatomy/duckdb.sql

-- persons: as in anatomy/duckdb.sql

-- key: as in anatomy/duckdb.sql

-- tally: how often each sensitive value occurs with each signature, NULL included
create temporary table "sqlanon_tally" as
select
    "quasi_2", "quasi_3", "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "quasi_2", "quasi_3", "sensitive";

-- known: as in anatomy/duckdb.sql

-- class: a class for each signature, numbered in a keyed order, so that the draws of a class depend on no collation
create temporary table "sqlanon_class" as
with signed as (
    select distinct "quasi_2", "quasi_3"
    from "sqlanon_tally"
),
spelled as (
    select
        "quasi_2", "quasi_3",
coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N') || coalesce(cast(length(cast("quasi_3" as varchar)) as varchar) || ':' || cast("quasi_3" as varchar), 'N') as signature_text
    from signed
),
hashed as (
    select
        spelled."quasi_2", spelled."quasi_3",
        sha256(key.secret || 'robust/disease/class/' || spelled.signature_text) as hash
    from spelled
    cross join "sqlanon_key_2" as key
)
select
    "quasi_2", "quasi_3",
    row_number() over (order by hash asc nulls last) - 1 as class,
    cast(3 as bigint) as needed
from hashed;

-- ranked: the values of each class by falling count, equal counts in keyed order, tail: the rows of the values from its place on
create temporary table "sqlanon_ranked" as
with valued as (
    select
        class.class,
        tally.sensitive,
        cast(sum(tally.row_count) as bigint) as row_count
    from "sqlanon_tally" as tally
    inner join "sqlanon_class" as class on tally."quasi_2" is not distinct from class."quasi_2" and tally."quasi_3" is not distinct from class."quasi_3"
    where tally.sensitive is not null or false
    group by class.class, tally.sensitive
),
hashed as (
    select
        valued.*,
        sha256(key.secret || 'robust/disease/value/' || cast(valued.class as varchar) || '/' || coalesce(cast(length(cast(valued.sensitive as varchar)) as varchar) || ':' || cast(valued.sensitive as varchar), 'N')) as hash
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

-- kept: how many rows find a group, by class for the size that was asked for, together for each smaller one
create temporary table "sqlanon_kept" as
with expected as (
    select
        cast(3 as bigint) as size,
        ranked.class,
        cast(sum(ranked.row_count) as bigint) as class_rows,
        cast(sum(least(ranked.row_count, capacity.group_count)) as bigint) as kept_rows
    from "sqlanon_ranked" as ranked
    inner join "sqlanon_capacity" as capacity on ranked.class = capacity.class
    group by ranked.class
),
candidate as (
    select distinct place + 1 as size
    from "sqlanon_ranked"
    where place > 0 and place + 1 < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        case when count(*) = candidate.size then min(ranked.tail // (candidate.size - ranked.place)) else 0 end as group_count
    from "sqlanon_ranked" as ranked
    inner join candidate on ranked.place < candidate.size
    group by ranked.class, candidate.size
),
smaller as (
    select bounded.size, cast(sum(least(ranked.row_count, bounded.group_count)) as bigint) as kept_rows
    from "sqlanon_ranked" as ranked
    inner join bounded on ranked.class = bounded.class
    group by bounded.size
),
counted as (
    select size, class, class_rows, kept_rows
    from expected
    union all
    select size, 0 - 1 as class, cast(0 as bigint) as class_rows, kept_rows
    from smaller
)
select *
from counted;

-- sample: one signature of each class, to say what the class is known to have: those of a class are alike
create temporary table "sqlanon_sample" as
with numbered as (
    select
        "quasi_2", "quasi_3",
        class,
        row_number() over (partition by class order by "quasi_2" asc nulls last, "quasi_3" asc nulls last) as place
    from "sqlanon_class"
)
select
    "quasi_2", "quasi_3",
    class
from numbered
where place = 1;

-- worst: the signatures that leave most rows over at this size, three at most, as texts
create temporary table "sqlanon_worst" as
with left_over as (
    select
coalesce(cast(class."quasi_2" as varchar), 'NULL')
|| ', ' || coalesce(cast(class."quasi_3" as varchar), 'NULL')
            as signature_text,
        kept.class_rows - kept.kept_rows as surplus
    from "sqlanon_kept" as kept
    inner join "sqlanon_sample" as class on kept.class = class.class
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

-- surplus: the rows, those that find no group, and the largest smaller size that leaves few enough
create temporary table "sqlanon_surplus" as
with total as (
    select coalesce(cast(sum(row_count) as bigint), 0) as row_count
    from "sqlanon_ranked"
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
cross join "sqlanon_worst" as worst;

-- few_left_over: no more rows are left over than may be
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        select about, possible, refusal
        from (
            with figures as (
            select
                looked_at.*,
                surplus_rows as over_rows,
                row_count > 0 and (surplus_rows * 1000000 > row_count * 10000 or surplus_rows = row_count) as too_many
            from "sqlanon_surplus" as looked_at
        )
        select
            over_rows as dropped_rows,
            'r' as about,
        feasible_size as possible,
            case
                when too_many then
                    case
                        when over_rows = row_count then
                            'r = 2.5 is not possible: no signature has 3 different values of ''disease''; '
                        else
                            'r = 2.5 is not possible: ' || coalesce(format('{:,}', over_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * over_rows / row_count), '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and --max-suppressed allows 1%'
                            || case when surplus_1 is null then '' else
                                '; most of them have the signature (' || coalesce(cast(worst_1 as varchar), '') || ') with ' || coalesce(cast(surplus_1 as varchar), '')
                                || coalesce(', (' || worst_2 || ') with ' || cast(surplus_2 as varchar), '')
                                || coalesce(', (' || worst_3 || ') with ' || cast(surplus_3 as varchar), '')
                                || ' (' || coalesce(cast(class_count as varchar), '') || ' signatures leave rows over)'
                            end
                            || '; '
                    end
                    || case
                        when feasible_size >= 2 then
                            'the largest r that works is ' || coalesce(cast(feasible_size as varchar), '')
                        else 'no r above 1 works with these backgrounds'
                    end
                    || case
                        when over_rows < row_count then
                            '; --max-suppressed ' || coalesce(cast(cast(cast(cast((0 - floor(0 - 1000000.0 * over_rows / row_count)) / 1000000.0 as decimal(18, 6)) as double) as varchar) as varchar), '') || ' leaves them out'
                        else ''
                    end
                    || case
                        when largest_count * 3 > row_count then
                            '; the most frequent value stands in ' || coalesce(format('{:.1f}%', 100.0 * largest_count / row_count), '') || ' of the rows: any r above ' || coalesce(cast(cast(cast(cast(1.0 * row_count / largest_count as decimal(18, 3)) as double) as varchar) as varchar), '') || ' leaves rows over'
                            || case
                                when 2 * largest_count > row_count then '; as one value has more than half of the rows, what works is mondrian (rows alike in k; no confidence is promised), a sensitive column made of this one and another that splits that value, or leaving the column out'
                                else ''
                            end
                        else '; fewer columns in --background-from leave fewer rows over'
                    end
            end as refusal
        from figures
        ) as looked_at
    ) as looked_at
) as checked;

-- uniqueness: as in anatomy/duckdb.sql

-- own_values_1: as in anatomy/duckdb.sql

-- population: as in anatomy/duckdb.sql

-- population: every row with its draws: from the key and what tells the row apart, alike on every engine
create temporary view "sqlanon_population_3" as
with row_key as (
    select substr(sha256(key.secret || 'robust/disease/row/'), 1, 40) as secret
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

-- frequency: as in anatomy/duckdb.sql

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    population."quasi_1", population."quasi_2", population."quasi_3",
    population.tie,
    population.draw,
    frequency.code
from "sqlanon_population_3" as population
inner join "sqlanon_class" as class on population."quasi_2" is not distinct from class."quasi_2" and population."quasi_3" is not distinct from class."quasi_3"
inner join "sqlanon_frequency" as frequency
    on class.class = frequency.class and population.sensitive = frequency.sensitive;

-- ordered: as in anatomy/duckdb.sql

-- positioned: as in anatomy/duckdb.sql

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
        cast('0x' || substr(sha256(key.secret || 'robust/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
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

-- numbered: as in anatomy/duckdb.sql

-- renumbered: groups are numbered anew, for made class by class their order would tell the class of each
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
),
hashed as (
    select
        listed.block,
        listed.turn,
        sha256(key.secret || 'robust/disease/group/' || cast(listed.block as varchar) || '/' || cast(listed.turn as varchar)) as hash
    from listed
    cross join "sqlanon_key_2" as key
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

-- grouped: step 5: every kept row with the final number of its group
create temporary table "sqlanon_grouped" as
select
    numbered."quasi_1", numbered."quasi_2", numbered."quasi_3",
    numbered.code,
    renumbered.group_id
from "sqlanon_numbered" as numbered
inner join "sqlanon_renumbered" as renumbered
    on numbered.block = renumbered.block and numbered.number % numbered.block_groups = renumbered.turn;

-- suppressed: how many rows no group holds, beside what was to be expected
create temporary table "sqlanon_suppressed" as
select
    (select coalesce(cast(sum(row_count) as bigint), 0) from "sqlanon_tally") - (select count(*) from "sqlanon_grouped") as left_out_rows,
    surplus.*
from "sqlanon_surplus" as surplus;

-- few_suppressed: no more rows are left out than may be
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with figures as (
            select
                looked_at.*,
                left_out_rows as over_rows,
                row_count > 0 and (left_out_rows * 1000000 > row_count * 10000 or left_out_rows = row_count) as too_many
            from "sqlanon_suppressed" as looked_at
        )
        select
            over_rows as dropped_rows,
            'r' as about,
        feasible_size as possible,
            case
                when too_many then
                    case
                        when over_rows = row_count then
                            'r = 2.5 is not possible: no signature has 3 different values of ''disease''; '
                        else
                            'r = 2.5 is not possible: ' || coalesce(format('{:,}', over_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * over_rows / row_count), '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and --max-suppressed allows 1%'
                            || case when surplus_1 is null then '' else
                                '; most of them have the signature (' || coalesce(cast(worst_1 as varchar), '') || ') with ' || coalesce(cast(surplus_1 as varchar), '')
                                || coalesce(', (' || worst_2 || ') with ' || cast(surplus_2 as varchar), '')
                                || coalesce(', (' || worst_3 || ') with ' || cast(surplus_3 as varchar), '')
                                || ' (' || coalesce(cast(class_count as varchar), '') || ' signatures leave rows over)'
                            end
                            || '; '
                    end
                    || case
                        when feasible_size >= 2 then
                            'the largest r that works is ' || coalesce(cast(feasible_size as varchar), '')
                        else 'no r above 1 works with these backgrounds'
                    end
                    || case
                        when over_rows < row_count then
                            '; --max-suppressed ' || coalesce(cast(cast(cast(cast((0 - floor(0 - 1000000.0 * over_rows / row_count)) / 1000000.0 as decimal(18, 6)) as double) as varchar) as varchar), '') || ' leaves them out'
                        else ''
                    end
                    || case
                        when largest_count * 3 > row_count then
                            '; the most frequent value stands in ' || coalesce(format('{:.1f}%', 100.0 * largest_count / row_count), '') || ' of the rows: any r above ' || coalesce(cast(cast(cast(cast(1.0 * row_count / largest_count as decimal(18, 3)) as double) as varchar) as varchar), '') || ' leaves rows over'
                            || case
                                when 2 * largest_count > row_count then '; as one value has more than half of the rows, what works is mondrian (rows alike in k; no confidence is promised), a sensitive column made of this one and another that splits that value, or leaving the column out'
                                else ''
                            end
                        else '; fewer columns in --background-from leave fewer rows over'
                    end
            end as refusal
        from figures
    ) as looked_at
) as checked;

-- qit: as in anatomy/duckdb.sql

-- st: as in anatomy/duckdb.sql

-- the rest is microdata and the key: forget it
-- 23 relations, the last first

commit;
