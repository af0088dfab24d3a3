-- sqlanon anatomy for duckdb: l = 4, reserve = 2, block = 64, release = 2, changed = move, waiting = together, draws = keyed, nulls = refuse, rows_per_person = one
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

-- nameless: as in followed.sql

-- persons: as in duckdb.sql

-- uniqueness: as in duckdb.sql

-- key_of_rows: as in duckdb.sql

-- identified: as in duckdb.sql

-- pseudonym: as in followed.sql

-- matched: as in followed.sql, but for
-- -    case when last_known.person is null then pseudonym.identity end as identity,
-- +    case when last_known.person is null or not (pseudonym.sensitive is not distinct from known_value.sensitive) then pseudonym.identity end as identity,

-- turnover: as in followed.sql

-- mover: Whose value changed and who may leave the group for another: as many of a group as its reserve has left, in the order of their names
create temporary table "sqlanon_mover" as
with changed as (
    select
        person,
        group_id,
        row_number() over (partition by group_id order by person asc nulls last) as turn
    from "sqlanon_matched"
    where
        is_here and group_id is not null and same_class and not same_value
        and (sensitive is not null or true)
),
touched as (
    select distinct group_id
    from changed
),
reserve as (
    select
        known_person.group_id,
        count(*) - cast(sum(known_person.moves) as bigint) - 4 as moves_left
    from ledger.main.person as known_person
    inner join touched on touched.group_id = known_person.group_id
    group by known_person.group_id
)
select changed.person
from changed
inner join reserve on reserve.group_id = changed.group_id
where changed.turn <= reserve.moves_left;

-- called_mover: Those who may move now, where all who look for a group wait together: of those who are alike in `class_names` at most one for each group that persons who are new make room for, in the order of their names, whatever their values are
create temporary table "sqlanon_called_mover" as
with candidate as (
    select
        person,
        group_id,
        '' as pool
    from "sqlanon_matched"
    where is_here and (sensitive is not null or true)
),
pooled as (
    select
        candidate.group_id,
        candidate.pool,
        mover.person as mover
    from candidate
    left join "sqlanon_mover" as mover on mover.person = candidate.person
),
entrant as (
    select
        pool,
        count(*) as row_count
    from pooled
    where group_id is null
    group by pool
),
placed as (
    select
        pool,
        mover,
        row_number() over (partition by pool order by mover asc nulls last) as turn
    from pooled
    where mover is not null
)
select placed.mover as person
from placed
inner join entrant on entrant.pool = placed.pool
where placed.turn <= entrant.row_count // 6;

-- arrived: The rows that look for a group: of persons who were never published, and of those who may move (`moves` 1)
create temporary view "sqlanon_arrived" as
select
    matched."quasi_1",
    matched."quasi_2",
    matched."quasi_3",
    matched.sensitive,
    matched.identity,
    matched.person,
    matched.mark,
    matched.class_mark,
    cast(case when mover.person is null then 0 else 1 end as bigint) as moves
from "sqlanon_matched" as matched
left join "sqlanon_called_mover" as mover on mover.person = matched.person
where
    (matched.group_id is null or mover.person is not null)
    and (matched.sensitive is not null or true);

-- wave: as in followed.sql, but for
-- -0 as moves
-- +moves as moves
-- -        cast(sum(row_count - mover_count) as bigint) // 4 as group_count,
-- +        cast(sum(row_count - mover_count) as bigint) // 6 as group_count,

-- gathering: as in followed.sql

-- called: as in followed.sql, but for
-- -    arrived."class_mark"
-- +    arrived."class_mark",
-- +    arrived."moves"

-- tally: How often each sensitive value occurs among those who look for a group, and how often among those who are new
create temporary table "sqlanon_tally" as
select
    sensitive,
    count(*) as row_count,
    count(*) - cast(sum(moves) as bigint) as new_count
from "sqlanon_called"
group by sensitive;

-- drawn: as in followed.sql, but for
-- +        valued."moves",
-- +    "moves",

-- frequency: as in followed.sql, but for
-- -        tally.row_count as new_count,
-- +        tally.new_count as new_count,
-- -            when count(*) = 4
-- +            when count(*) = 6
-- -                    max(new_rows) // 4,
-- -                    min((total_count - larger_count) // (4 - place))
-- +                    max(new_rows) // 6,
-- +                    min((total_count - larger_count) // (6 - place))
-- -    where place < 4
-- +    where place < 6

-- coded: as in followed.sql, but for
-- +    valued."moves",

-- ordered: as in followed.sql, but for
-- +        "moves",
-- +    "moves",

-- positioned: as in followed.sql, but for
-- +    ordered."moves",

-- block: as in followed.sql

-- numbered: as in followed.sql, but for
-- +        positioned."moves",
-- +    bucketed."moves",

-- grouped: as in followed.sql, but for
-- +    "moves",

-- grouped_apart: The groups that hold `least_apart` persons at least who came without a move, the rows of others wait
create temporary table "sqlanon_grouped_apart" as
with held as (
    select group_id
    from "sqlanon_grouped"
    group by group_id
    having count(*) - cast(sum(moves) as bigint) >= 4
)
select
    grouped."quasi_1",
    grouped."quasi_2",
    grouped."quasi_3",
    grouped."person",
    grouped."mark",
    grouped."class_mark",
    grouped."moves",
    grouped.code,
    grouped.group_id
from "sqlanon_grouped" as grouped
inner join held on held.group_id = grouped.group_id;

-- next_value: as in followed.sql

-- entered: as in followed.sql, but for
-- -    cast(0 as bigint) as moves
-- -from "sqlanon_grouped" as grouped
-- +    cast(grouped.moves as bigint) as moves
-- +from "sqlanon_grouped_apart" as grouped

-- shown_person: as in followed.sql

-- next_person: as in followed.sql, but for
-- -        matched.known_moves as moves,
-- +        matched.known_moves + case when mover.person is null then 0 else 1 end as moves,
-- +            when mover.person is not null then 'moved'
-- +    left join mover on mover.person = matched.person

-- outcome: as in followed.sql

-- account: What has become of those whose value changed: how many have moved, how many wait for a group, and how many stay out because the group that they were in has no reserve left
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
with found as (
    select
        (select count(*) from "sqlanon_entered" where moves > 0) as moved,
        (select count(*) from "sqlanon_mover") as asked,
        (
            select count(*) from "sqlanon_matched"
            where
                is_here and group_id is not null and same_class and not same_value
                and (sensitive is not null or true)
        ) as changed
)
select
    moved,
    asked - moved as waiting,
    changed - asked as spent
from found;

-- line: as in followed.sql

-- qit: as in followed.sql

-- st: as in followed.sql

-- the rest is microdata and the key: forget it
-- 27 relations, the last first

commit;
