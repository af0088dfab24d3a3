-- sqlanon splu for duckdb: gamma = {'disease': 4}, residue = drop, departed = 0, epsilon = 0.3, alpha = 3, target_error = 0.1, block = 64, release = 2, changed = leave, draws = keyed, nulls = refuse, rows_per_person = one
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

-- source: as in duckdb.sql

-- population: as in duckdb.sql

-- nameless: as in anatomy/followed.sql

-- persons: as in duckdb.sql

-- tally: as in duckdb.sql

-- known: as in duckdb.sql

-- uniqueness: as in duckdb.sql

-- own_values_1: as in duckdb.sql

-- key: as in duckdb.sql

-- population: as in duckdb.sql

-- pseudonym: as in anatomy/followed.sql

-- matched: as in anatomy/followed.sql

-- turnover: as in anatomy/followed.sql

-- population: as in anatomy/followed.sql

-- arrived: as in anatomy/followed.sql

-- wave: as in anatomy/followed.sql, but for
-- -        sha256(key.secret || 'anatomy/disease/release 2/wave/' || gathered.pool) as hash
-- +        sha256(key.secret || 'splu/disease/release 2/wave/' || gathered.pool) as hash

-- gathering: as in anatomy/followed.sql

-- population: as in anatomy/followed.sql

-- tally: as in anatomy/followed.sql

-- class: as in anatomy/followed.sql

-- ranked: as in duckdb.sql, but for
-- -        sha256(key.secret || 'splu/disease/value/' || coalesce(cast(length(cast(valued.sensitive as varchar)) as varchar) || ':' || cast(valued.sensitive as varchar), 'N')) as hash
-- +        sha256(key.secret || 'splu/disease/release 2/value/' || coalesce(cast(length(cast(valued.sensitive as varchar)) as varchar) || ':' || cast(valued.sensitive as varchar), 'N')) as hash

-- capacity: as in duckdb.sql

-- population: as in anatomy/followed.sql, but for
-- -    select substr(sha256(key.secret || 'anatomy/disease/release 2/row/'), 1, 40) as secret
-- +    select substr(sha256(key.secret || 'splu/disease/release 2/row/'), 1, 40) as secret
-- -    cast('0x' || substr(hash, 16, 15) as bigint) as "tie"
-- +    cast('0x' || substr(hash, 16, 15) as bigint) as "slot_draw",
-- +    cast('0x' || substr(hash, 31, 15) as bigint) as "wait_draw",
-- +    cast('0x' || substr(hash, 46, 15) as bigint) as "tie"

-- drift: how far the values of those who come new are from those of whoever was shown before: the share of the former that would have to be others
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
with line as (
    select
        sensitive,
        row_count as arrived,
        cast(0 as bigint) as known
    from "sqlanon_tally_2"
    union all
    select
        known_value.sensitive,
        cast(0 as bigint) as arrived,
        count(*) as known
    from ledger.main.person as known_person
    inner join ledger.main.value as known_value on known_value.code = known_person.code
    group by known_value.sensitive
),
counted as (
    select
        cast(sum(arrived) as double) as arrived,
        cast(sum(known) as double) as known
    from line
    group by sensitive
),
total as (
    select
        sum(arrived) as arrived,
        sum(known) as known
    from counted
)
select
    coalesce(cast(max(total.arrived) as bigint), 0) as arrived_rows,
    count(*) as value_count,
    coalesce(sum(abs(counted.arrived / nullif(total.arrived, 0) - counted.known / nullif(total.known, 0))) / 2, 0) as distance
from counted
cross join total;

-- population: the rows that find a decoy group
create temporary view "sqlanon_population_6" as
with placed as (
    select
        drawn.*,
        capacity.group_count,
        row_number() over (partition by drawn.sensitive order by drawn.wait_draw asc nulls last, drawn.person asc nulls last) as waiting_place
    from "sqlanon_population_5" as drawn
    inner join "sqlanon_ranked" as ranked on drawn.sensitive is not distinct from ranked.sensitive
    inner join "sqlanon_capacity" as capacity on ranked.class = capacity.class
)
select *
from placed
where waiting_place <= group_count;

-- population: the rows, whose draws are made once
create temporary table "sqlanon_population_7" as
select *
from "sqlanon_population_6";

-- draw_range: as in duckdb.sql, but for
-- -    from "sqlanon_population_4"
-- +    from "sqlanon_population_7"
-- -    select max(rows_up_to) % 5 as residue
-- +    select max(rows_up_to) % 4 as residue

-- residue: as in duckdb.sql, but for
-- -    from "sqlanon_population_4" as drawn
-- +    from "sqlanon_population_7" as drawn

-- left_over: the rows that are dropped
create temporary view "sqlanon_left_over" as
select drawn.*
from "sqlanon_population_7" as drawn
cross join "sqlanon_residue" as residue
where drawn.draw <= residue.last_draw;

-- population: the rows without the residue: their draws, given that they are larger than the dropped ones, are as random as before
create temporary view "sqlanon_population_8" as
select drawn.*
from "sqlanon_population_7" as drawn
cross join "sqlanon_residue" as residue
where drawn.draw > residue.last_draw;

-- tally: how often each sensitive value occurs with each signature, NULL included
create temporary table "sqlanon_tally_3" as
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population_8"
group by "sensitive";

-- class: everybody is of one class, whose groups need `size` different values
create temporary table "sqlanon_class_2" as
select
    0 as class,
    cast(4 as bigint) as needed;

-- ranked: as in duckdb.sql, but for
-- -create temporary table "sqlanon_ranked" as
-- +create temporary table "sqlanon_ranked_2" as
-- -    from "sqlanon_tally_2" as tally
-- -    inner join "sqlanon_class" as class on true
-- +    from "sqlanon_tally_3" as tally
-- +    inner join "sqlanon_class_2" as class on true
-- -        sha256(key.secret || 'splu/disease/value/' || coalesce(cast(length(cast(valued.sensitive as varchar)) as varchar) || ':' || cast(valued.sensitive as varchar), 'N')) as hash
-- +        sha256(key.secret || 'splu/disease/release 2/value/' || coalesce(cast(length(cast(valued.sensitive as varchar)) as varchar) || ':' || cast(valued.sensitive as varchar), 'N')) as hash

-- capacity: the largest number of groups that a class can give: m = min over j < N of floor(tail_j / (N - j)), N the values that its groups need, 0 where it has fewer values
create temporary table "sqlanon_capacity_2" as
with sized as (
    select distinct class, needed
    from "sqlanon_class_2"
)
select
    ranked.class,
    case when count(*) = sized.needed then min(ranked.tail // (sized.needed - ranked.place)) else 0 end as group_count
from "sqlanon_ranked_2" as ranked
inner join sized on ranked.class = sized.class and ranked.place < sized.needed
group by ranked.class, sized.needed;

-- frequency: as in duckdb.sql, but for
-- -    from "sqlanon_capacity"
-- +    from "sqlanon_capacity_2"
-- -    from "sqlanon_ranked" as ranked
-- +    from "sqlanon_ranked_2" as ranked

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    population."quasi_1", population."quasi_2", population."quasi_3", population."slot_draw", population."person", population."mark", population."class_mark",
    population.tie,
    population.draw,
    frequency.code
from "sqlanon_population_8" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive = frequency.sensitive;

-- ordered: as in duckdb.sql, but for
-- -        "quasi_1", "quasi_2", "quasi_3", "slot_draw",
-- +        "quasi_1", "quasi_2", "quasi_3", "slot_draw", "person", "mark", "class_mark",
-- -    "quasi_1", "quasi_2", "quasi_3", "slot_draw",
-- +    "quasi_1", "quasi_2", "quasi_3", "slot_draw", "person", "mark", "class_mark",

-- positioned: as in duckdb.sql, but for
-- -    ordered."quasi_1", ordered."quasi_2", ordered."quasi_3", ordered."slot_draw",
-- +    ordered."quasi_1", ordered."quasi_2", ordered."quasi_3", ordered."slot_draw", ordered."person", ordered."mark", ordered."class_mark",

-- block: as in duckdb.sql, but for
-- -        cast('0x' || substr(sha256(key.secret || 'splu/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
-- +        cast('0x' || substr(sha256(key.secret || 'splu/disease/release 2/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw

-- numbered: as in duckdb.sql, but for
-- -        positioned."quasi_1", positioned."quasi_2", positioned."quasi_3", positioned."slot_draw",
-- +        positioned."quasi_1", positioned."quasi_2", positioned."quasi_3", positioned."slot_draw", positioned."person", positioned."mark", positioned."class_mark",
-- -    bucketed."quasi_1", bucketed."quasi_2", bucketed."quasi_3", bucketed."slot_draw",
-- +    bucketed."quasi_1", bucketed."quasi_2", bucketed."quasi_3", bucketed."slot_draw", bucketed."person", bucketed."mark", bucketed."class_mark",

-- grouped: as in duckdb.sql, but for
-- -    "quasi_1", "quasi_2", "quasi_3", "slot_draw",
-- +    "quasi_1", "quasi_2", "quasi_3", "slot_draw", "person", "mark", "class_mark",

-- next_value: as in anatomy/followed.sql

-- entered: as in anatomy/followed.sql, but for
-- -cast(null as bigint) as published
-- +drawn.code as published
-- +inner join "sqlanon_grouped" as decoy on own.group_id = decoy.group_id and own.slot_draw % own.group_rows = decoy.slot
-- +inner join renumbered as drawn on drawn.place = decoy.code

-- shown_person: as in anatomy/followed.sql, but for
-- +next_value.sensitive as published_1,
-- +    shown.group_id
-- +from shown
-- +inner join "sqlanon_next_value" as next_value on next_value.code = shown.published;

-- next_person: as in anatomy/followed.sql

-- outcome: as in anatomy/followed.sql

-- data: as in duckdb.sql, but for
-- -from "sqlanon_population_6" as randomized
-- +from "sqlanon_shown_person" as randomized

-- the rest is microdata and the key: forget it
-- 38 relations, the last first

commit;
