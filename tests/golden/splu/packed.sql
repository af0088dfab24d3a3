-- sqlanon splu for duckdb: gamma = {'disease': 4}, residue = drop, epsilon = 0.3, alpha = 3, target_error = 0.1, block = 64, draws = keyed, nulls = refuse, rows_per_person = unchecked
-- It makes "sqlanon_data", and nothing else that it makes may be handed on.
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

-- source: as in anatomy/packed.sql

-- population: as in duckdb.sql

-- tally: as in duckdb.sql

-- feasibility: as in duckdb.sql, but for
-- -            when row_count < 5 then 'gamma = 5 needs at least 5 rows'
-- -            when largest_count > row_count // 5 then 'gamma = 5 is not possible: a value of ''disease'' stands in more than 1/5 of the rows'
-- +            when row_count < 4 then 'gamma = 4 needs at least 4 rows'
-- +            when largest_count > row_count // 4 then 'gamma = 4 is not possible: a value of ''disease'' stands in more than 1/4 of the rows'
-- -                    when place < 5
-- -                    then (kept_rows - larger_rows) // greatest(1, 5 - place)
-- +                    when place < 4
-- +                    then (kept_rows - larger_rows) // greatest(1, 4 - place)

-- uniqueness: as in anatomy/packed.sql

-- lone_values_1: as in duckdb.sql

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

-- drawn: Draws of a row from a fresh key, where no other engine has to draw the same: neighbouring numbers share hashes, each with a part for itself, of which a draw is what the engine makes
create temporary table "sqlanon_drawn" as
with row_key as (
    select substr(sha256(key.secret || 'splu/disease/row/'), 1, 40) as secret
    from "sqlanon_key" as key
),
stretch as (
    select
        min(row_number) // 4 as first_batch,
        max(row_number) // 4 as last_batch
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
        hash(substr(hash, 1, 16) || 'slot_draw') as "slot_draw_0",
        hash(substr(hash, 17, 16) || 'slot_draw') as "slot_draw_1",
        hash(substr(hash, 33, 16) || 'slot_draw') as "slot_draw_2",
        hash(substr(hash, 49, 16) || 'slot_draw') as "slot_draw_3",
        batch_number
    from hashed
)
select
    cast(case numbered.row_number % 4
        when 0 then parted."draw_0" >> 4
        when 1 then parted."draw_1" >> 4
        when 2 then parted."draw_2" >> 4
        when 3 then parted."draw_3" >> 4
    end as bigint) as "draw",
    cast(case numbered.row_number % 4
        when 0 then parted."slot_draw_0" >> 4
        when 1 then parted."slot_draw_1" >> 4
        when 2 then parted."slot_draw_2" >> 4
        when 3 then parted."slot_draw_3" >> 4
    end as bigint) as "slot_draw",
    numbered."packed",
    numbered."sensitive"
from "sqlanon_population_packed" as numbered
inner join parted on numbered.row_number // 4 = parted.batch_number;

-- draw_range: as in duckdb.sql, but for
-- -    select max(rows_up_to) % 5 as residue
-- +    select max(rows_up_to) % 4 as residue

-- residue: as in duckdb.sql

-- left_out: as in duckdb.sql

-- kept: The rows without the residue: a multiple of gamma
create temporary view "sqlanon_kept" as
select
    drawn."packed",
    drawn."sensitive",
    drawn."draw",
    drawn."slot_draw"
from "sqlanon_drawn" as drawn
cross join "sqlanon_residue" as residue
where drawn.draw > residue.last_draw;

-- tally_randomized: as in duckdb.sql

-- frequency: as in duckdb.sql, but for
-- -    cross join "sqlanon_key_of_rows" as key
-- +    cross join "sqlanon_key" as key
-- -        cast(sum(row_count) over () as bigint) // 5 as group_count
-- +        cast(sum(row_count) over () as bigint) // 4 as group_count

-- coded: The rows, each with its value as the code that `frequency` gave it: a whole number is sorted and joined at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    valued."packed",
    valued."slot_draw",
    valued."draw",
    frequency.code
from "sqlanon_kept" as valued
inner join "sqlanon_frequency" as frequency
    on valued.sensitive = frequency.sensitive;

-- ordered: as in anatomy/packed.sql, but for
-- +        "slot_draw",
-- -    from "sqlanon_drawn"
-- +    from "sqlanon_coded"
-- +    "slot_draw",

-- positioned: as in anatomy/packed.sql, but for
-- +    ordered."slot_draw",

-- block: as in anatomy/packed.sql, but for
-- -    select substr(sha256(key.secret || 'anatomy/disease/block/'), 1, 40) as secret
-- +    select substr(sha256(key.secret || 'splu/disease/block/'), 1, 40) as secret

-- numbered: as in anatomy/packed.sql, but for
-- +        positioned."slot_draw",
-- +    bucketed."slot_draw",

-- decoy_group: The decoy groups: gamma rows (gamma + 1 where a residue is kept) of different values, a slot each
create temporary table "sqlanon_decoy_group" as
select
    "packed",
    "slot_draw",
    code,
    (numbered.number % numbered.block_groups) * numbered.block_count + numbered.block as group_id,
    (numbered.block_rows + numbered.block_groups - 1 - numbered.number % numbered.block_groups) // numbered.block_groups as group_rows,
    number // block_groups as slot
from "sqlanon_numbered" as numbered;

-- randomized: Each row publishes the value of a slot of its decoy group drawn uniformly, its own included (p = q = 1/gamma)
create temporary view "sqlanon_randomized" as
select
    decoy_group."packed" as "packed",
    frequency.sensitive as "published_1"
from "sqlanon_decoy_group" as decoy_group
inner join "sqlanon_decoy_group" as decoy
    on decoy_group.group_id = decoy.group_id and decoy_group.slot_draw % decoy_group.group_rows = decoy.slot
inner join "sqlanon_frequency" as frequency on decoy.code = frequency.code;

-- data: The published table of SPLU-Gen as `splu/data` has it, from packed rows: exact quasi values are read off their number, and drawn sensitive values stand beside it
create table "sqlanon_data" as
with line as (
    select
        "published_1",
        packed
    from "sqlanon_randomized"
    order by
        packed asc nulls last,
        "published_1" asc nulls last
)
select
    cast(nullif((line.packed >> cast(layout.shift_1 as integer)) & layout.missing_1, layout.missing_1) + layout.least_1 as INTEGER) as "age",
    cast(nullif((line.packed >> cast(layout.shift_2 as integer)) & layout.missing_2, layout.missing_2) + layout.least_2 as TINYINT) as "sex",
    line."published_1" as "disease"
from line
cross join "sqlanon_layout" as layout;

-- the rest is microdata and the key: forget it
-- 18 relations, the last first

commit;
