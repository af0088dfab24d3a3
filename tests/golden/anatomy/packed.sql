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

-- source: The rows that take part, under names of our own, so that no column of the user's meets one of ours
create temporary view "sqlanon_source" as
select
    "age" as "quasi_1",
    "sex" as "quasi_2",
    "disease" as "sensitive",
    rowid as "row_number"
from "patients";

-- population: as in duckdb.sql

-- tally: as in duckdb.sql

-- feasibility: as in duckdb.sql

-- uniqueness: How far the quasi-identifiers tell rows apart: how many rows stand alone with their combination of values, and for each of `counted_columns`, in order, in how many rows it has a value, and how many different ones
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
with combination as (
    select
        "quasi_1",
        "quasi_2",
        count(*) as row_count
    from "sqlanon_population"
    group by
        "quasi_1",
        "quasi_2"
),
total as (
    select
        coalesce(cast(sum(row_count) as bigint), 0) as row_count,
        coalesce(cast(sum(case when row_count = 1 then 1 else 0 end) as bigint), 0) as unique_rows
    from combination
)
select
    total.row_count,
    total.unique_rows
from total;

-- population_packed: The rows with their quasi values as one number: what goes through the grouping and sorted at a fraction of what columns cost
create temporary view "sqlanon_population_packed" as
select
    valued."sensitive",
    valued."row_number",
    coalesce("quasi_1" - layout.least_1, layout.missing_1) * layout.unit_1 +
    coalesce("quasi_2" - layout.least_2, layout.missing_2) * layout.unit_2
    as packed
from "sqlanon_population" as valued
cross join "sqlanon_layout" as layout;

-- frequency: as in duckdb.sql, but for
-- -    cross join "sqlanon_key_of_rows" as key
-- +    cross join "sqlanon_key" as key

-- coded: The rows, each with its value as the code that `frequency` gave it: a whole number is sorted and joined at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    valued."packed",
    valued."row_number",
    frequency.code
from "sqlanon_population_packed" as valued
inner join "sqlanon_frequency" as frequency
    on valued.sensitive = frequency.sensitive;

-- drawn: Draws of a row from a fresh key, where no other engine has to draw the same: neighbouring numbers share hashes, each with a part for itself, of which a draw is what the engine makes
create temporary view "sqlanon_drawn" as
with row_key as (
    select substr(sha256(key.secret || 'anatomy/disease/row/'), 1, 40) as secret
    from "sqlanon_key" as key
),
stretch as (
    select
        min(row_number) // 8 as first_batch,
        max(row_number) // 8 as last_batch
    from "sqlanon_population_packed"
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
        hash(substr(hash, 1, 16)) as "draw_0",
        hash(substr(hash, 17, 16)) as "draw_1",
        hash(substr(hash, 33, 16)) as "draw_2",
        hash(substr(hash, 49, 16)) as "draw_3",
        batch_number
    from hashed
)
select
    cast(case numbered.row_number % 8
        when 0 then parted."draw_0" >> 4
        when 1 then (parted."draw_0" & 4294967295) << 28
        when 2 then parted."draw_1" >> 4
        when 3 then (parted."draw_1" & 4294967295) << 28
        when 4 then parted."draw_2" >> 4
        when 5 then (parted."draw_2" & 4294967295) << 28
        when 6 then parted."draw_3" >> 4
        when 7 then (parted."draw_3" & 4294967295) << 28
    end as bigint) as "draw",
    numbered."packed",
    numbered."code"
from "sqlanon_coded" as numbered
inner join parted on numbered.row_number // 8 = parted.batch_number;

-- ordered: Step 2: the rows by value and random order
create temporary table "sqlanon_ordered" as
with keyed as (
    select
        "packed",
        code,
        cast((draw >> 28) - 2147483648 as integer) as draw_start
    from "sqlanon_drawn"
)
select
    "packed",
    code
from keyed
order by
    code asc nulls last,
    draw_start asc nulls last;

-- positioned: as in duckdb.sql, but for
-- -    ordered."quasi_1",
-- -    ordered."quasi_2",
-- -    ordered."quasi_3",
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
-- -    cross join "sqlanon_key_of_rows" as key
-- +    inner join secret on counted.block = secret.block

-- numbered: as in duckdb.sql, but for
-- -        positioned."quasi_1",
-- -        positioned."quasi_2",
-- -        positioned."quasi_3",
-- +        positioned."packed",
-- -    bucketed."quasi_1",
-- -    bucketed."quasi_2",
-- -    bucketed."quasi_3",
-- +    bucketed."packed",

-- grouped: Step 5: the group of every row: its number in the block mod m_b, made global
create temporary table "sqlanon_grouped" as
select
    "packed",
    code,
    (numbered.number % numbered.block_groups) * numbered.block_count + numbered.block as group_id
from "sqlanon_numbered" as numbered;

-- qit: The quasi-identifier table (QIT) as `qit_st/qit` has it, from packed rows: one number is sorted, which all else is read off (an engine sorts a number alone at a fraction of what it costs with columns beside it)
create table "sqlanon_qit" as
with line as (
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

-- st: The sensitive table (ST): what values a group holds and how often, in an order that depends on nothing but what it shows
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
-- 13 relations, the last first

commit;
