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

-- population: as in anatomy/followed.sql

-- nameless: as in anatomy/followed.sql

-- persons: as in anatomy/followed.sql

-- uniqueness: as in duckdb.sql

-- own_values_1: as in duckdb.sql

-- key_of_rows: as in anatomy/followed.sql

-- identified: as in anatomy/followed.sql

-- pseudonym: as in anatomy/followed.sql, but for
-- -    cast(0 as bigint) as class_mark
-- +    cast('0x' || substr(md5('class' || substr(hash, 33, 32) || coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N')), 1, 15) as bigint) as class_mark

-- matched: as in anatomy/followed.sql

-- turnover: as in anatomy/followed.sql

-- arrived: as in anatomy/followed.sql

-- population_arrived: The rows that have any sensitive value, NULL counting as one
create temporary view "sqlanon_population_arrived" as
select *
from "sqlanon_arrived";

-- identified_arrived: The rows that have any sensitive value, NULL counting as one
create temporary view "sqlanon_identified_arrived" as
select *
from "sqlanon_arrived";

-- signature_tally: How often each value of a sensitive column occurs with each signature, NULL included
create temporary table "sqlanon_signature_tally" as
select
    "quasi_2",
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population_arrived"
group by
    "quasi_2",
    "sensitive";

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
        sha256(key.secret || 'robust/disease/release 2/class/' || spelled.signature_text) as hash
    from spelled
    cross join "sqlanon_key_of_rows" as key
)
select
    "quasi_2",
    row_number() over (order by hash asc nulls last) - 1 as class
from hashed;

-- ranked: The values of each class by falling count c_0 >= c_1 >= …, equal counts in keyed order, each with its place j and tail_j, the rows of the values from its place on
create temporary table "sqlanon_ranked" as
with valued as (
    select
        tally."quasi_2",
        class.class,
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'robust/disease/release 2/value/' || cast(class.class as varchar) || '/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_signature_tally" as tally
    inner join "sqlanon_class" as class
        on tally."quasi_2" is not distinct from class."quasi_2"
    cross join "sqlanon_key_of_rows" as key
    where tally.sensitive is not null or false
),
placed as (
    select
        "quasi_2",
        class,
        sensitive,
        row_count,
        row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as head
    from valued
)
select
    "quasi_2",
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity: The largest number of groups of l different values that a class can give: m = min over j < l of floor(tail_j / (l - j)), and 0 where it has fewer than l values, for l = `size` and every smaller l from 2 on
create temporary table "sqlanon_capacity" as
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_ranked"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_ranked" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- kept: How many rows find a group for each size: of a class's value at most one row a group
create temporary table "sqlanon_kept" as
select
    capacity.size,
    ranked.class,
    cast(sum(ranked.row_count) as bigint) as class_rows,
    cast(sum(least(ranked.row_count, capacity.group_count)) as bigint) as kept_rows
from "sqlanon_ranked" as ranked
inner join "sqlanon_capacity" as capacity on ranked.class = capacity.class
group by
    capacity.size,
    ranked.class;

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

-- gathering: as in anatomy/followed.sql

-- capacity_of_wave: The groups that each class gives: none where those of its rows who look for a group wait together
create temporary table "sqlanon_capacity_of_wave" as
with pooled as (
    select
        class,
        '' || coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N') as pool
    from "sqlanon_class"
)
select
    capacity.class,
    capacity.size,
    case when wave.is_called then capacity.group_count else 0 end as group_count
from "sqlanon_capacity" as capacity
inner join pooled on pooled.class = capacity.class
inner join "sqlanon_wave" as wave on wave.pool = pooled.pool;

-- frequency: as in duckdb.sql, but for
-- -    from "sqlanon_capacity"
-- +    from "sqlanon_capacity_of_wave"
-- +    where size = 3
-- -        blocked.*,
-- +        class,
-- +        group_count,
-- +        block_count,
-- +        ranked."quasi_2",
-- +    "quasi_2",

-- coded: The rows, each with the code of its class and value
create temporary view "sqlanon_coded" as
select
    population."quasi_1",
    population."quasi_2",
    population."quasi_3",
    population."identity",
    population."person",
    population."mark",
    population."class_mark",
    frequency.code
from "sqlanon_identified_arrived" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive is not distinct from frequency.sensitive
    and population."quasi_2" is not distinct from frequency."quasi_2";

-- drawn: Draws of a row, of sha256(row key || identity), the row key being the first 40 hex digits of sha256(key || purpose): 15 hex digits each, or, where no other engine has to draw the same, what the engine makes of 16
create temporary view "sqlanon_drawn" as
with row_key as (
    select substr(sha256(key.secret || 'robust/disease/release 2/row/'), 1, 40) as secret
    from "sqlanon_key_of_rows" as key
),
hashed as (
    select
        valued."quasi_1",
        valued."quasi_2",
        valued."quasi_3",
        valued."person",
        valued."mark",
        valued."class_mark",
        valued."code",
        sha256(row_key.secret || valued.identity) as hash
    from "sqlanon_coded" as valued
    cross join row_key
)
select
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "tie",
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "person",
    "mark",
    "class_mark",
    "code"
from hashed;

-- ordered: as in anatomy/followed.sql, but for
-- -    from "sqlanon_coded"
-- +    from "sqlanon_drawn"

-- positioned: as in anatomy/followed.sql

-- block: as in anatomy/followed.sql, but for
-- -        cast('0x' || substr(sha256(key.secret || 'anatomy/disease/release 2/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
-- +        cast('0x' || substr(sha256(key.secret || 'robust/disease/release 2/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw

-- numbered: as in anatomy/followed.sql

-- renumbered: as in duckdb.sql, but for
-- -        sha256(key.secret || 'robust/disease/group/' || cast(listed.block as varchar) || '/' || cast(listed.turn as varchar)) as hash
-- +        sha256(key.secret || 'robust/disease/release 2/group/' || cast(listed.block as varchar) || '/' || cast(listed.turn as varchar)) as hash
-- -    cross join "sqlanon_key_2" as key
-- +    cross join "sqlanon_key_of_rows" as key

-- grouped: The group of every row that is kept, under the group's final number
create temporary table "sqlanon_grouped" as
select
    numbered."quasi_1",
    numbered."quasi_2",
    numbered."quasi_3",
    numbered."person",
    numbered."mark",
    numbered."class_mark",
    numbered.code,
    renumbered.group_id
from "sqlanon_numbered" as numbered
inner join "sqlanon_renumbered" as renumbered
    on numbered.block = renumbered.block and numbered.number % numbered.block_groups = renumbered.turn;

-- next_value: as in anatomy/followed.sql

-- entered: as in anatomy/followed.sql

-- shown_person: as in anatomy/followed.sql

-- next_person: as in anatomy/followed.sql

-- outcome: as in anatomy/followed.sql

-- line: as in anatomy/followed.sql

-- qit: as in anatomy/followed.sql

-- st: as in anatomy/followed.sql

-- the rest is microdata and the key: forget it
-- 31 relations, the last first

commit;
