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

-- known: as in duckdb.sql

-- feasible: as in duckdb.sql, but for
-- -                min(case when place < 5 then (kept_rows - larger_rows) // greatest(1, 5 - place) end) over () as group_count
-- +                min(case when place < 4 then (kept_rows - larger_rows) // greatest(1, 4 - place) end) over () as group_count
-- -                row_count // 5 as allowed,
-- +                row_count // 4 as allowed,
-- -                when row_count < 5 then
-- -                    'gamma = 5 needs at least 5 rows; the source has ' || coalesce(format('{:,}', row_count), '')
-- +                when row_count < 4 then
-- +                    'gamma = 4 needs at least 4 rows; the source has ' || coalesce(format('{:,}', row_count), '')
-- -                    'gamma = 5 is not possible: the most frequent value of ''disease''' || coalesce(cast('' as varchar), '') || ' stands in ' || coalesce(format('{:,}', largest_count), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * largest_count / row_count), '') || '), and gamma = 5 allows ' || coalesce(format('{:,}', allowed), '') || '; '
-- +                    'gamma = 4 is not possible: the most frequent value of ''disease''' || coalesce(cast('' as varchar), '') || ' stands in ' || coalesce(format('{:,}', largest_count), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * largest_count / row_count), '') || '), and gamma = 4 allows ' || coalesce(format('{:,}', allowed), '') || '; '
-- -                        when value_count >= 5 and 2 * left_over <= 1000 and true then
-- -                            '; robust leaves rows over instead: with r = 5 at least ' || coalesce(format('{:.1f}%', 100.0 * left_over / 1000), '') || ' of them (--max-suppressed)'
-- +                        when value_count >= 4 and 2 * left_over <= 1000 and true then
-- +                            '; robust leaves rows over instead: with r = 4 at least ' || coalesce(format('{:.1f}%', 100.0 * left_over / 1000), '') || ' of them (--max-suppressed)'

-- uniqueness: as in anatomy/packed.sql

-- own_values_1: as in duckdb.sql

-- population: as in anatomy/packed.sql

-- population: as in anatomy/packed.sql, but for
-- -    select substr(sha256(key.secret || 'anatomy/disease/row/'), 1, 40) as secret
-- +    select substr(sha256(key.secret || 'splu/disease/row/'), 1, 40) as secret
-- +    cast(hash(xor(parted.digest_0, cast(numbered.row_number as ubigint))) % 1152921504606846976 as bigint) as "slot_draw",

-- population: as in duckdb.sql

-- draw_range: as in duckdb.sql, but for
-- -    select max(rows_up_to) % 5 as residue
-- +    select max(rows_up_to) % 4 as residue

-- residue: as in duckdb.sql

-- left_out: as in duckdb.sql

-- left_over: as in duckdb.sql

-- population: as in duckdb.sql

-- tally: as in duckdb.sql

-- class: as in anatomy/packed.sql

-- ranked: as in duckdb.sql, but for
-- -    cross join "sqlanon_key_2" as key
-- +    cross join "sqlanon_key" as key

-- capacity: as in duckdb.sql

-- frequency: as in duckdb.sql

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    population."packed", population."slot_draw",
    population.draw,
    frequency.code
from "sqlanon_population_5" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive = frequency.sensitive;

-- ordered: as in anatomy/packed.sql, but for
-- -        "packed",
-- +        "packed", "slot_draw",
-- -    "packed",
-- +    "packed", "slot_draw",

-- positioned: as in duckdb.sql, but for
-- -    ordered."quasi_1", ordered."quasi_2", ordered."quasi_3", ordered."slot_draw",
-- +    ordered."packed", ordered."slot_draw",

-- block: as in anatomy/packed.sql, but for
-- -    select substr(sha256(key.secret || 'anatomy/disease/block/'), 1, 40) as secret
-- +    select substr(sha256(key.secret || 'splu/disease/block/'), 1, 40) as secret

-- numbered: as in duckdb.sql, but for
-- -        positioned."quasi_1", positioned."quasi_2", positioned."quasi_3", positioned."slot_draw",
-- +        positioned."packed", positioned."slot_draw",
-- -    bucketed."quasi_1", bucketed."quasi_2", bucketed."quasi_3", bucketed."slot_draw",
-- +    bucketed."packed", bucketed."slot_draw",

-- grouped: as in duckdb.sql, but for
-- -    "quasi_1", "quasi_2", "quasi_3", "slot_draw",
-- +    "packed", "slot_draw",

-- decoy_group_1: as in duckdb.sql

-- population: every row with the value of a slot of its group, whoever saw the slot's draw could tell which
create temporary view "sqlanon_population_6" as
select
    own."packed" as "packed",
    frequency.sensitive as "published_1"
from "sqlanon_grouped" as own
inner join "sqlanon_grouped" as decoy
    on own.group_id = decoy.group_id and own.slot_draw % own.group_rows = decoy.slot
inner join "sqlanon_frequency" as frequency on decoy.code = frequency.code;

-- data: exact quasi values and drawn sensitive ones, in an order that depends on nothing but what it shows, which verification proves from what was written
create table "sqlanon_data" as
with line as (
    select
        "published_1",
        packed
    from "sqlanon_population_6"
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
-- 24 relations, the last first

commit;
