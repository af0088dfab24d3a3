-- sqlanon robust for duckdb: r = 3, l = 3, backgrounds = [['sex']], guarantee = exact, max_suppressed = 0.01, repair = 0, block = 64, draws = keyed, nulls = refuse, rows_per_person = unchecked
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

-- source: as in anatomy/packed.sql

-- population: as in duckdb.sql

-- signature_tally: as in duckdb.sql, but for
-- -    "quasi_3",
-- -    "quasi_3",

-- class: The classes: rows with equal signatures, for which every background says the same, numbered in a keyed order, so that the draws of a class depend on no collation
create temporary table "sqlanon_class" as
with signed as (
    select
        "quasi_2"
    from "sqlanon_signature_tally"
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
    cross join "sqlanon_key" as key
)
select
    "quasi_2",
    row_number() over (order by hash asc nulls last) - 1 as class
from hashed;

-- ranked: as in duckdb.sql, but for
-- -        tally."quasi_3",
-- -        on tally."quasi_2" is not distinct from class."quasi_2" and tally."quasi_3" is not distinct from class."quasi_3"
-- -    cross join "sqlanon_key_of_rows" as key
-- +        on tally."quasi_2" is not distinct from class."quasi_2"
-- +    cross join "sqlanon_key" as key
-- -        "quasi_3",
-- -    "quasi_3",

-- capacity: as in duckdb.sql

-- kept: as in duckdb.sql

-- worst: as in duckdb.sql, but for
-- -|| ', ' || coalesce(cast(class."quasi_3" as varchar), 'NULL')

-- surplus_summary: as in duckdb.sql

-- feasibility: as in duckdb.sql, but for
-- -            when surplus_rows = row_count or surplus_rows * 1000000 > row_count * 10000 then 'r = 2.5 is not possible: more rows than allowed find no group of 3 rows with different values of ''disease'' and one signature'
-- +            when surplus_rows = row_count or surplus_rows * 1000000 > row_count * 10000 then 'r = 3 is not possible: more rows than allowed find no group of 3 rows with different values of ''disease'' and one signature'

-- uniqueness: as in anatomy/packed.sql

-- population_packed: The rows with their quasi values as one number: what goes through the grouping and sorted at a fraction of what columns cost
create temporary view "sqlanon_population_packed" as
select
    valued."quasi_2",
    valued."sensitive",
    valued."row_number",
    coalesce("quasi_1" - layout.least_1, layout.missing_1) * layout.unit_1 +
    coalesce("quasi_2" - layout.least_2, layout.missing_2) * layout.unit_2
    as packed
from "sqlanon_population" as valued
cross join "sqlanon_layout" as layout;

-- frequency: as in duckdb.sql, but for
-- -        ranked."quasi_3",
-- -    "quasi_3",

-- coded: The rows, each with the code of its class and value
create temporary view "sqlanon_coded" as
select
    population."packed",
    population."row_number",
    frequency.code
from "sqlanon_population_packed" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive is not distinct from frequency.sensitive
    and population."quasi_2" is not distinct from frequency."quasi_2";

-- drawn: Draws of a row from a fresh key, where no other engine has to draw the same: neighbouring numbers share hashes, each with a part for itself, of which a draw is what the engine makes
create temporary view "sqlanon_drawn" as
with row_key as (
    select substr(sha256(key.secret || 'robust/disease/row/'), 1, 40) as secret
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

-- ordered: as in anatomy/packed.sql

-- positioned: as in anatomy/packed.sql

-- block: as in anatomy/packed.sql, but for
-- -    select substr(sha256(key.secret || 'anatomy/disease/block/'), 1, 40) as secret
-- +    select substr(sha256(key.secret || 'robust/disease/block/'), 1, 40) as secret

-- numbered: as in anatomy/packed.sql

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
group_key as (
    select substr(sha256(key.secret || 'robust/disease/group/'), 1, 40) as secret
    from "sqlanon_key" as key
),
batch as (
    select distinct
        block,
        turn // 64 as batch_number
    from listed
),
secret as (
    select
        batch.block,
        batch.batch_number,
        cast(hash(sha256(group_key.secret || cast(batch.block as varchar) || '/' || cast(batch.batch_number as varchar))) % 1152921504606846976 as bigint) as number
    from batch
    cross join group_key
),
drawn as (
    select
        listed.block,
        listed.turn,
        cast(hash(secret.number + listed.turn) % 1152921504606846976 as bigint) as draw,
        0 as tie
    from listed
    inner join secret on listed.block = secret.block and listed.turn // 64 = secret.batch_number
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
    numbered."packed",
    numbered.code,
    renumbered.group_id
from "sqlanon_numbered" as numbered
inner join "sqlanon_renumbered" as renumbered
    on numbered.block = renumbered.block and numbered.number % numbered.block_groups = renumbered.turn;

-- suppressed: as in duckdb.sql, but for
-- -            from "sqlanon_population"
-- +            from "sqlanon_population_packed"

-- qit: as in anatomy/packed.sql, but for
-- -    -- one number is sorted, off which all else is read: columns beside it would cost a multiple

-- st: as in anatomy/packed.sql

-- the rest is microdata and the key: forget it
-- 20 relations, the last first

commit;
