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

-- population: as in anatomy/followed.sql

-- nameless: as in anatomy/followed.sql

-- persons: as in anatomy/followed.sql

-- uniqueness: as in duckdb.sql

-- own_values_1: as in duckdb.sql

-- key_of_rows: as in anatomy/followed.sql

-- identified: as in anatomy/followed.sql

-- pseudonym: as in anatomy/followed.sql

-- matched: as in anatomy/followed.sql

-- turnover: as in anatomy/followed.sql

-- arrived: as in anatomy/followed.sql

-- wave: as in anatomy/followed.sql, but for
-- -        sha256(key.secret || 'anatomy/disease/release 2/wave/' || gathered.pool) as hash
-- +        sha256(key.secret || 'splu/disease/release 2/wave/' || gathered.pool) as hash

-- gathering: as in anatomy/followed.sql

-- called: as in anatomy/followed.sql

-- drawn: as in anatomy/followed.sql, but for
-- -    select substr(sha256(key.secret || 'anatomy/disease/release 2/row/'), 1, 40) as secret
-- +    select substr(sha256(key.secret || 'splu/disease/release 2/row/'), 1, 40) as secret
-- -    cast('0x' || substr(hash, 16, 15) as bigint) as "tie",
-- +    cast('0x' || substr(hash, 16, 15) as bigint) as "slot_draw",
-- +    cast('0x' || substr(hash, 31, 15) as bigint) as "wait_draw",
-- +    cast('0x' || substr(hash, 46, 15) as bigint) as "tie",

-- tally_drawn: How often each sensitive value occurs (c_v), NULL included
create temporary table "sqlanon_tally_drawn" as
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_drawn"
group by "sensitive";

-- drift: How far the values of those who come new are from those of whoever was shown before: the share of the former that would have to be others
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
with line as (
    select
        sensitive,
        row_count as arrived,
        cast(0 as bigint) as known
    from "sqlanon_tally_drawn"
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

-- fitting: Step 1 of the grouping, for rows that need not all find a group: m is the largest number of groups of l different values, the least of floor((N - the rows of the k most frequent values) / (l - k)) over k < l, and of a value at most m rows are kept
create temporary table "sqlanon_fitting" as
with valued as (
    select
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'splu/disease/release 2/value/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_tally_drawn" as tally
    cross join "sqlanon_key_of_rows" as key
    where tally.sensitive is not null or true
),
ordered as (
    select
        sensitive,
        row_count,
        row_number() over (order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over () as bigint) as total_count,
        cast(sum(row_count) over (order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) - row_count as larger_count
    from valued
),
fitting as (
    select
        case
            when count(*) = 4
                then least(
                    max(total_count) // 4,
                    min((total_count - larger_count) // (4 - place))
                )
            else 0
        end as group_count
    from ordered
    where place < 4
),
cut as (
    select
        ordered.sensitive,
        ordered.place,
        ordered.larger_count,
        least(ordered.row_count, fitting.group_count) as kept_count,
        greatest(1, fitting.group_count) as group_count,
        greatest(1, fitting.group_count // 64) as block_count
    from ordered
    cross join fitting
)
select
    sensitive,
    cast(place as integer) as code,
    kept_count,
    larger_count as first_row,
    cast(sum(kept_count) over (order by place asc nulls last rows unbounded preceding) as bigint) - kept_count as first_position,
    place * block_count as first_cell,
    group_count,
    block_count,
    0 as first_block
from cut;

-- fitted: The rows for which there are decoy groups: of a value that is more frequent than there are groups as many as these, drawn evenly, the others wait
create temporary table "sqlanon_fitted" as
with placed as (
    select
        drawn."quasi_1",
        drawn."quasi_2",
        drawn."quasi_3",
        drawn."person",
        drawn."mark",
        drawn."class_mark",
        drawn."sensitive",
        drawn."tie",
        drawn."draw",
        drawn."slot_draw",
        drawn."wait_draw",
        fitting.kept_count,
        row_number() over (partition by drawn.sensitive order by drawn.wait_draw asc nulls last, drawn.person asc nulls last) as place
    from "sqlanon_drawn" as drawn
    inner join "sqlanon_fitting" as fitting on drawn."sensitive" is not distinct from fitting."sensitive"
)
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "person",
    "mark",
    "class_mark",
    "sensitive",
    "tie",
    "draw",
    "slot_draw",
    "wait_draw"
from placed
where place <= kept_count;

-- draw_range: as in duckdb.sql, but for
-- -    from "sqlanon_population_4"
-- +    from "sqlanon_fitted"
-- -    select max(rows_up_to) % 5 as residue
-- +    select max(rows_up_to) % 4 as residue

-- residue: as in duckdb.sql, but for
-- -    from "sqlanon_population_4" as drawn
-- +    from "sqlanon_fitted" as drawn

-- kept: The rows without the residue: a multiple of gamma
create temporary view "sqlanon_kept" as
select
    drawn."quasi_1",
    drawn."quasi_2",
    drawn."quasi_3",
    drawn."person",
    drawn."mark",
    drawn."class_mark",
    drawn."sensitive",
    drawn."tie",
    drawn."draw",
    drawn."slot_draw",
    drawn."wait_draw"
from "sqlanon_fitted" as drawn
cross join "sqlanon_residue" as residue
where drawn.draw > residue.last_draw;

-- tally_randomized: How often each sensitive value occurs (c_v), NULL included
create temporary table "sqlanon_tally_randomized" as
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_kept"
group by "sensitive";

-- frequency: Step 1 of the grouping: the values by falling count c_v, equal counts in keyed order, each with the first position of its rows, m = floor(N / l), l the group size, groups in B = max(1, floor(m / 64)) blocks
create temporary table "sqlanon_frequency" as
with valued as (
    select
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'splu/disease/release 2/value/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_tally_randomized" as tally
    cross join "sqlanon_key_of_rows" as key
    where tally.sensitive is not null or false
),
ordered as (
    select
        sensitive,
        row_count,
        cast(row_number() over (order by row_count desc nulls last, hash asc nulls last) - 1 as integer) as code,
        cast(sum(row_count) over (order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as last_position,
        cast(sum(row_count) over () as bigint) // 4 as group_count
    from valued
),
blocked as (
    select
        ordered.*,
        greatest(1, group_count // 64) as block_count
    from ordered
)
select
    sensitive,
    code,
    row_count as kept_count,
    last_position - row_count as first_row,
    last_position - row_count as first_position,
    code * block_count as first_cell,
    group_count,
    block_count,
    0 as first_block
from blocked;

-- coded: as in anatomy/followed.sql, but for
-- +    valued."slot_draw",
-- -from "sqlanon_drawn" as valued
-- +from "sqlanon_kept" as valued

-- ordered: as in anatomy/followed.sql, but for
-- +        "slot_draw",
-- +    "slot_draw",

-- positioned: as in anatomy/followed.sql, but for
-- +    ordered."slot_draw",

-- block: as in anatomy/followed.sql, but for
-- -        cast('0x' || substr(sha256(key.secret || 'anatomy/disease/release 2/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
-- +        cast('0x' || substr(sha256(key.secret || 'splu/disease/release 2/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw

-- numbered: as in anatomy/followed.sql, but for
-- +        positioned."slot_draw",
-- +    bucketed."slot_draw",

-- decoy_group: The decoy groups: gamma rows (gamma + 1 where a residue is kept) of different values, a slot each
create temporary table "sqlanon_decoy_group" as
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "slot_draw",
    "person",
    "mark",
    "class_mark",
    code,
    (numbered.number % numbered.block_groups) * numbered.block_count + numbered.block as group_id,
    (numbered.block_rows + numbered.block_groups - 1 - numbered.number % numbered.block_groups) // numbered.block_groups as group_rows,
    number // block_groups as slot
from "sqlanon_numbered" as numbered;

-- next_value: as in anatomy/followed.sql

-- entered: The persons who enter with this release, and the value that each publishes from now on: that of a slot of the decoy group, drawn uniformly, the own one included
create temporary table "sqlanon_entered" as
with taken as (
    select coalesce(max(group_id) + 1, 0) as first_group
    from ledger.main.person
),
numbered as (
    select
        frequency.code as place,
        next_value.code
    from "sqlanon_frequency" as frequency
    inner join "sqlanon_next_value" as next_value on next_value.sensitive is not distinct from frequency.sensitive
)
select
    decoy_group."quasi_1",
    decoy_group."quasi_2",
    decoy_group."quasi_3",
    decoy_group.person,
    decoy_group.mark,
    decoy_group.class_mark,
    decoy_group.group_id + taken.first_group as group_id,
    own.code,
    shown.code as published
from "sqlanon_decoy_group" as decoy_group
inner join "sqlanon_decoy_group" as decoy
    on decoy_group.group_id = decoy.group_id and decoy_group.slot_draw % decoy_group.group_rows = decoy.slot
inner join numbered as own on own.place = decoy_group.code
inner join numbered as shown on shown.place = decoy.code
cross join taken;

-- shown_person: Everybody whom this release shows, with today's quasi values and the value that the person publishes ever since: who stays or comes back, and who enters
create temporary table "sqlanon_shown_person" as
with shown as (
    select
        "quasi_1",
        "quasi_2",
        "quasi_3",
        published
    from "sqlanon_matched"
    where is_here and group_id is not null and (same_value or false)
    union all
    select
        "quasi_1",
        "quasi_2",
        "quasi_3",
        published
    from "sqlanon_entered"
)
select
    shown."quasi_1",
    shown."quasi_2",
    shown."quasi_3",
    next_value.sensitive as published_1
from shown
inner join "sqlanon_next_value" as next_value on next_value.code = shown.published;

-- next_person: as in anatomy/followed.sql

-- outcome: as in anatomy/followed.sql

-- data: The published table: exact quasi values, randomized sensitive values, in an order that depends on nothing but what it shows
create table "sqlanon_data" as
select
    randomized."quasi_1" as "age",
    randomized."quasi_2" as "sex",
    randomized."quasi_3" as "zipcode",
    randomized."published_1" as "disease"
from "sqlanon_shown_person" as randomized
order by
    randomized."quasi_1" asc nulls last,
    randomized."quasi_2" asc nulls last,
    randomized."quasi_3" asc nulls last,
    randomized."published_1" asc nulls last;

-- the rest is microdata and the key: forget it
-- 29 relations, the last first

commit;
