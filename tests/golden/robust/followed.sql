-- sqlanon robust for duckdb: r = 2.5, l = 3, backgrounds = [['sex']], guarantee = exact, max_suppressed = 0.01, repair = 0, block = 64, release = 2, changed = leave, draws = keyed, nulls = refuse, rows_per_person = one
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

-- source: as in duckdb.sql

-- population: as in duckdb.sql

-- nameless: as in anatomy/followed.sql

-- persons: as in duckdb.sql

-- tally: as in anatomy/followed.sql

-- known: as in duckdb.sql

-- uniqueness: as in duckdb.sql

-- own_values_1: as in duckdb.sql

-- key: as in duckdb.sql

-- population: as in duckdb.sql

-- pseudonym: as in anatomy/followed.sql, but for
-- -    cast(0 as bigint) as class_mark
-- +    cast('0x' || substr(md5('class' || substr(hash, 33, 32) || coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N')), 1, 15) as bigint) as class_mark

-- matched: as in anatomy/followed.sql

-- turnover: as in anatomy/followed.sql

-- population: as in anatomy/followed.sql

-- arrived: as in anatomy/followed.sql

-- tally: how often each sensitive value occurs with each signature, NULL included
create temporary table "sqlanon_tally_2" as
select
    "quasi_2", "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population_3"
group by "quasi_2", "sensitive";

-- class: a class for each signature, numbered in a keyed order, so that the draws of a class depend on no collation
create temporary table "sqlanon_class" as
with signed as (
    select distinct "quasi_2"
    from "sqlanon_tally_2"
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
        sha256(key.secret || 'robust/disease/release 2/class/' || spelled.signature_text) as hash
    from spelled
    cross join "sqlanon_key_2" as key
)
select
    "quasi_2",
    row_number() over (order by hash asc nulls last) - 1 as class,
    cast(3 as bigint) as needed
from hashed;

-- ranked: as in anatomy/followed.sql, but for
-- -    inner join "sqlanon_class" as class on true
-- +    inner join "sqlanon_class" as class on tally."quasi_2" is not distinct from class."quasi_2"
-- -        sha256(key.secret || 'anatomy/disease/release 2/value/' || coalesce(cast(length(cast(valued.sensitive as varchar)) as varchar) || ':' || cast(valued.sensitive as varchar), 'N')) as hash
-- +        sha256(key.secret || 'robust/disease/release 2/value/' || cast(valued.class as varchar) || '/' || coalesce(cast(length(cast(valued.sensitive as varchar)) as varchar) || ':' || cast(valued.sensitive as varchar), 'N')) as hash

-- capacity: as in duckdb.sql

-- wave: as in anatomy/followed.sql, but for
-- -        '' as pool,
-- +        '' || coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N') as pool,
-- -        cast(sum(row_count) as bigint) // 4 as group_count,
-- +        cast(sum(row_count) as bigint) // 3 as group_count,
-- +),
-- +shown_group as (
-- +    select distinct
-- +        group_id,
-- +        '' || coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N') as pool
-- +    from "sqlanon_matched"
-- +    where is_here and group_id is not null and same_class
-- +),
-- +listed as (
-- +    select
-- +        shown_group.pool,
-- +        coalesce(known_person.published, known_person.code) as code,
-- +        count(*) as line_count
-- +    from ledger.main.person as known_person
-- +    inner join shown_group on shown_group.group_id = known_person.group_id
-- +    group by
-- +        shown_group.pool,
-- +        coalesce(known_person.published, known_person.code)
-- +),
-- +listed_pool as (
-- +    select distinct pool
-- +    from listed
-- +        listed.line_count
-- +    from gathered
-- +    inner join listed on listed.pool = gathered.pool
-- +    union all
-- +    select
-- +        gathered.pool,
-- +        gathered.row_count,
-- +        gathered.group_count,
-- +    left join listed_pool on listed_pool.pool = gathered.pool
-- +    where listed_pool.pool is null
-- -        sha256(key.secret || 'anatomy/disease/release 2/wave/' || gathered.pool) as hash
-- +        sha256(key.secret || 'robust/disease/release 2/wave/' || gathered.pool) as hash

-- gathering: as in anatomy/followed.sql, but for
-- -                coalesce(format('{:,}', waiting_rows), '') || ' of ' || coalesce(format('{:,}', gathered_rows), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * waiting_rows / gathered_rows), '') || ') would wait for the next release, more than --max-suppressed 100.0%: under a ledger people alike wait together where not all of them find a group; allow more, or choose a smaller r'
-- +                coalesce(format('{:,}', waiting_rows), '') || ' of ' || coalesce(format('{:,}', gathered_rows), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * waiting_rows / gathered_rows), '') || ') would wait for the next release, more than --max-suppressed 1.0%: under a ledger people alike wait together where not all of them find a group; allow more, or choose a smaller r'

-- capacity: the groups that each class gives: none where those of its rows who look for a group wait together
create temporary table "sqlanon_capacity_2" as
with pooled as (
    select
        class,
        '' || coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N') as pool
    from "sqlanon_class"
)
select
    capacity.class,
    case when wave.is_called then capacity.group_count else 0 end as group_count
from "sqlanon_capacity" as capacity
inner join pooled on pooled.class = capacity.class
inner join "sqlanon_wave" as wave on wave.pool = pooled.pool;

-- population: every row with its draws: from the key and what tells the row apart, alike on every engine
create temporary view "sqlanon_population_4" as
with row_key as (
    select substr(sha256(key.secret || 'robust/disease/release 2/row/'), 1, 40) as secret
    from "sqlanon_key_2" as key
),
hashed as (
    select
        valued."quasi_1", valued."quasi_2", valued."quasi_3", valued."person", valued."mark", valued."class_mark", valued."sensitive",
        sha256(row_key.secret || valued.identity) as hash
    from "sqlanon_population_3" as valued
    cross join row_key
)
select
    "quasi_1", "quasi_2", "quasi_3", "person", "mark", "class_mark", "sensitive",
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "tie"
from hashed;

-- frequency: as in duckdb.sql, but for
-- -    from "sqlanon_capacity"
-- +    from "sqlanon_capacity_2"

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    population."quasi_1", population."quasi_2", population."quasi_3", population."person", population."mark", population."class_mark",
    population.tie,
    population.draw,
    frequency.code
from "sqlanon_population_4" as population
inner join "sqlanon_class" as class on population."quasi_2" is not distinct from class."quasi_2"
inner join "sqlanon_frequency" as frequency
    on class.class = frequency.class and population.sensitive = frequency.sensitive;

-- ordered: as in anatomy/followed.sql

-- positioned: as in anatomy/followed.sql

-- block: as in duckdb.sql, but for
-- -        cast('0x' || substr(sha256(key.secret || 'robust/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
-- +        cast('0x' || substr(sha256(key.secret || 'robust/disease/release 2/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw

-- numbered: as in anatomy/followed.sql

-- renumbered: as in duckdb.sql, but for
-- -        sha256(key.secret || 'robust/disease/group/' || cast(listed.block as varchar) || '/' || cast(listed.turn as varchar)) as hash
-- +        sha256(key.secret || 'robust/disease/release 2/group/' || cast(listed.block as varchar) || '/' || cast(listed.turn as varchar)) as hash

-- grouped: as in duckdb.sql, but for
-- -    numbered."quasi_1", numbered."quasi_2", numbered."quasi_3",
-- +    numbered."quasi_1", numbered."quasi_2", numbered."quasi_3", numbered."person", numbered."mark", numbered."class_mark",

-- next_value: as in anatomy/followed.sql

-- entered: as in anatomy/followed.sql

-- shown_person: as in anatomy/followed.sql

    shown.group_id
from shown;

-- next_person: as in anatomy/followed.sql

-- outcome: as in anatomy/followed.sql

-- line: as in anatomy/followed.sql

-- qit: as in anatomy/followed.sql

-- st: as in anatomy/followed.sql

-- the rest is microdata and the key: forget it
-- 30 relations, the last first

commit;
