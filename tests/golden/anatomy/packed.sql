-- sqlanon anatomy for duckdb: l = 4, block = 64, draws = keyed, nulls = refuse, rows_per_person = unchecked
-- It makes "sqlanon_qit", "sqlanon_st", and nothing else that it makes may be handed on.
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

-- source: the rows under names of our own, so that no column of the user's meets one of ours
create temporary view "sqlanon_source" as
select
    "age" as "quasi_1",
    "sex" as "quasi_2",
    "disease" as "sensitive",
    rowid as "row_number"
from "patients";

-- population: as in duckdb.sql

-- tally: as in duckdb.sql

-- known: as in duckdb.sql

-- feasible: as in duckdb.sql

-- uniqueness: no quasi column has a value of its own in most rows
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with combination as (
            select
                "quasi_1", "quasi_2",
                count(*) as row_count
            from "sqlanon_population"
            group by "quasi_1", "quasi_2"
        ),
        total as (
            select
                coalesce(cast(sum(row_count) as bigint), 0) as row_count,
                coalesce(cast(sum(case when row_count = 1 then 1 else 0 end) as bigint), 0) as unique_rows
            from combination
        ),
        counted as (
            select
                count(*) as combination_count
            from combination
            cross join total
            where
                combination.row_count > 0 and (
                    false
                )
        )
        select
            total.row_count,
            total.unique_rows,
            case
                when false then ''
            end as about,
            case
                when false then ''
            end as refusal
        from total
        cross join counted
    ) as looked_at
) as checked;

-- own_values_1: as in duckdb.sql

-- class: as in duckdb.sql

-- ranked: as in duckdb.sql, but for
-- -    cross join "sqlanon_key_2" as key
-- +    cross join "sqlanon_key" as key

-- capacity: as in duckdb.sql

-- population: the rows with their quasi values as one number
create temporary view "sqlanon_population_2" as
select
    population."sensitive", population."row_number",
    coalesce("quasi_1" - layout.least_1, layout.missing_1) * layout.unit_1 +
    coalesce("quasi_2" - layout.least_2, layout.missing_2) * layout.unit_2
    as packed
from "sqlanon_population" as population
cross join "sqlanon_layout" as layout;

-- population: every row with its draws: from a fresh key and the row's number
create temporary view "sqlanon_population_3" as
with row_key as (
    select substr(sha256(key.secret || 'anatomy/disease/row/'), 1, 40) as secret
    from "sqlanon_key" as key
),
stretch as (
    select
        min(row_number) // 8 as first_batch,
        max(row_number) // 8 as last_batch
    from "sqlanon_population_2"
    group by row_number // 65536
),
batch as (
    select unnest(generate_series(first_batch, last_batch)) as batch_number
    from stretch
),
hashed as (
    select
        batch.batch_number,
        sha256(row_key.secret || cast(batch.batch_number as varchar)) as hash
    from batch
    cross join row_key
),
parted as materialized (
    select
        batch_number,
        hash(substr(hash, 1, 16)) as digest_0,
        hash(substr(hash, 17, 16)) as digest_1,
        hash(substr(hash, 33, 16)) as digest_2,
        hash(substr(hash, 49, 16)) as digest_3
    from hashed
)
select
    numbered."packed", numbered."sensitive",
    cast(
        case numbered.row_number % 8
            when 0 then parted.digest_0 >> 4
            when 1 then (parted.digest_0 & 4294967295) << 28
            when 2 then parted.digest_1 >> 4
            when 3 then (parted.digest_1 & 4294967295) << 28
            when 4 then parted.digest_2 >> 4
            when 5 then (parted.digest_2 & 4294967295) << 28
            when 6 then parted.digest_3 >> 4
            when 7 then (parted.digest_3 & 4294967295) << 28
        end as bigint
    ) as draw
from "sqlanon_population_2" as numbered
inner join parted on numbered.row_number // 8 = parted.batch_number;

-- frequency: as in duckdb.sql

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    population."packed",
    population.draw,
    frequency.code
from "sqlanon_population_3" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive = frequency.sensitive;

-- ordered: step 2: the rows by value and random order
create temporary table "sqlanon_ordered" as
with keyed as (
    select
        "packed",
        code,
        cast((draw >> 28) - 2147483648 as integer) as draw_start
    from "sqlanon_coded"
)
select
    "packed",
    code
from keyed
order by
    code asc nulls last,
    draw_start asc nulls last;

-- positioned: as in duckdb.sql, but for
-- -    ordered."quasi_1", ordered."quasi_2", ordered."quasi_3",
-- +    ordered."packed",

-- block: as in duckdb.sql, but for
-- +block_key as (
-- +    select substr(sha256(key.secret || 'anatomy/disease/block/'), 1, 40) as secret
-- +    from "sqlanon_key" as key
-- +),
-- +last_block as (
-- +    select max(block) as block
-- +    from counted
-- +),
-- +numbered_block as (
-- +    select unnest(generate_series(0, block)) as block
-- +    from last_block
-- +),
-- +secret as (
-- +    select
-- +        numbered_block.block,
-- +        cast(hash(sha256(block_key.secret || cast(numbered_block.block as varchar))) % 1152921504606846976 as bigint) as number
-- +    from numbered_block
-- +    cross join block_key
-- +),
-- -        cast('0x' || substr(sha256(key.secret || 'anatomy/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
-- +        cast(hash(secret.number + counted.code) % 1152921504606846976 as bigint) as draw
-- -    cross join "sqlanon_key_2" as key
-- +    inner join secret on counted.block = secret.block

-- numbered: as in duckdb.sql, but for
-- -        positioned."quasi_1", positioned."quasi_2", positioned."quasi_3",
-- +        positioned."packed",
-- -    bucketed."quasi_1", bucketed."quasi_2", bucketed."quasi_3",
-- +    bucketed."packed",

-- grouped: step 5: every row with its group, its number in the block mod the groups of the block, made global
create temporary table "sqlanon_grouped" as
select
    "packed",
    code,
    (numbered.number % numbered.block_groups) * numbered.block_count + numbered.block as group_id
from "sqlanon_numbered" as numbered;

-- qit: the quasi-identifier table: everybody's exact quasi values and the group
create table "sqlanon_qit" as
with line as (
    -- one number is sorted, off which all else is read: columns beside it would cost a multiple
    select packed + group_id as number
    from "sqlanon_grouped"
    order by number asc nulls last
)
select
    cast(nullif((line.number >> cast(layout.shift_1 as integer)) & layout.missing_1, layout.missing_1) + layout.least_1 as INTEGER) as "age",
    cast(nullif((line.number >> cast(layout.shift_2 as integer)) & layout.missing_2, layout.missing_2) + layout.least_2 as TINYINT) as "sex",
    line.number & (layout.groups - 1) as "group_id"
from line
cross join "sqlanon_layout" as layout;

-- st: as in duckdb.sql

-- the rest is microdata and the key: forget it
-- 16 relations, the last first

commit;
