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

-- tally: how often each sensitive value occurs with each signature, NULL included
create temporary table "sqlanon_tally" as
select
    "quasi_2", "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "quasi_2", "sensitive";

-- known: as in duckdb.sql

-- class: a class for each signature, numbered in a keyed order, so that the draws of a class depend on no collation
create temporary table "sqlanon_class" as
with signed as (
    select distinct "quasi_2"
    from "sqlanon_tally"
),
spelled as (
    select
        "quasi_2",
coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N') as signature_text
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
    row_number() over (order by hash asc nulls last) - 1 as class,
    cast(3 as bigint) as needed
from hashed;

-- ranked: as in duckdb.sql, but for
-- -    inner join "sqlanon_class" as class on tally."quasi_2" is not distinct from class."quasi_2" and tally."quasi_3" is not distinct from class."quasi_3"
-- +    inner join "sqlanon_class" as class on tally."quasi_2" is not distinct from class."quasi_2"
-- -    cross join "sqlanon_key_2" as key
-- +    cross join "sqlanon_key" as key

-- capacity: as in duckdb.sql

-- kept: as in duckdb.sql

-- sample: one signature of each class, to say what the class is known to have: those of a class are alike
create temporary table "sqlanon_sample" as
with numbered as (
    select
        "quasi_2",
        class,
        row_number() over (partition by class order by "quasi_2" asc nulls last) as place
    from "sqlanon_class"
)
select
    "quasi_2",
    class
from numbered
where place = 1;

-- worst: as in duckdb.sql, but for
-- -|| ', ' || coalesce(cast(class."quasi_3" as varchar), 'NULL')

-- surplus: as in duckdb.sql

-- few_left_over: as in duckdb.sql, but for
-- -                            'r = 2.5 is not possible: no signature has 3 different values of ''disease''; '
-- +                            'r = 3 is not possible: no signature has 3 different values of ''disease''; '
-- -                            'r = 2.5 is not possible: ' || coalesce(format('{:,}', over_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * over_rows / row_count), '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and --max-suppressed allows 1%'
-- +                            'r = 3 is not possible: ' || coalesce(format('{:,}', over_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * over_rows / row_count), '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and --max-suppressed allows 1%'
-- -                        else '; fewer columns in --background-from leave fewer rows over'
-- +                        else ''

-- uniqueness: as in anatomy/packed.sql

-- own_values_1: as in duckdb.sql

-- population: as in anatomy/packed.sql, but for
-- -    population."sensitive", population."row_number",
-- +    population."quasi_2", population."sensitive", population."row_number",

-- population: as in anatomy/packed.sql, but for
-- -    select substr(sha256(key.secret || 'anatomy/disease/row/'), 1, 40) as secret
-- +    select substr(sha256(key.secret || 'robust/disease/row/'), 1, 40) as secret
-- -    numbered."packed", numbered."sensitive",
-- +    numbered."packed", numbered."quasi_2", numbered."sensitive",

-- frequency: as in duckdb.sql

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    population."packed",
    population.draw,
    frequency.code
from "sqlanon_population_3" as population
inner join "sqlanon_class" as class on population."quasi_2" is not distinct from class."quasi_2"
inner join "sqlanon_frequency" as frequency
    on class.class = frequency.class and population.sensitive = frequency.sensitive;

-- ordered: as in anatomy/packed.sql

-- positioned: as in anatomy/packed.sql

-- block: as in anatomy/packed.sql, but for
-- -    select substr(sha256(key.secret || 'anatomy/disease/block/'), 1, 40) as secret
-- +    select substr(sha256(key.secret || 'robust/disease/block/'), 1, 40) as secret

-- numbered: as in anatomy/packed.sql

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

-- grouped: as in duckdb.sql, but for
-- -    numbered."quasi_1", numbered."quasi_2", numbered."quasi_3",
-- +    numbered."packed",

-- suppressed: as in duckdb.sql

-- few_suppressed: as in duckdb.sql, but for
-- -                            'r = 2.5 is not possible: no signature has 3 different values of ''disease''; '
-- +                            'r = 3 is not possible: no signature has 3 different values of ''disease''; '
-- -                            'r = 2.5 is not possible: ' || coalesce(format('{:,}', over_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * over_rows / row_count), '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and --max-suppressed allows 1%'
-- +                            'r = 3 is not possible: ' || coalesce(format('{:,}', over_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * over_rows / row_count), '') || ') find no group of 3 rows with different values of ''disease'' and one signature, and --max-suppressed allows 1%'
-- -                        else '; fewer columns in --background-from leave fewer rows over'
-- +                        else ''

-- qit: as in anatomy/packed.sql

-- st: as in duckdb.sql

-- the rest is microdata and the key: forget it
-- 22 relations, the last first

commit;
