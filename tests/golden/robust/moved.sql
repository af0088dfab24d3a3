-- sqlanon robust for duckdb: r = 2.5, l = 5, backgrounds = [['sex']], guarantee = exact, max_suppressed = 0.01, repair = 0, block = 64, release = 2, changed = move, waiting = together, draws = keyed, nulls = refuse, rows_per_person = one
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

-- matched: as in anatomy/moved.sql

-- turnover: as in followed.sql

-- mover: as in anatomy/moved.sql, but for
-- -        count(*) - cast(sum(known_person.moves) as bigint) - 4 as moves_left
-- +        count(*) - cast(sum(known_person.moves) as bigint) - 3 as moves_left

-- called_mover: as in anatomy/moved.sql, but for
-- -        '' as pool
-- +        '' || coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N') as pool
-- -where placed.turn <= entrant.row_count // 6;
-- +where placed.turn <= entrant.row_count // 5;

-- arrived: as in anatomy/moved.sql

-- population_arrived: as in followed.sql

-- identified_arrived: as in followed.sql

-- signature_tally: as in followed.sql

-- class: as in followed.sql

-- ranked: as in followed.sql

-- capacity: as in duckdb.sql, but for
-- -    where place > 0 and place < 3
-- +    where place > 0 and place < 5

-- kept: as in duckdb.sql

-- capacity_of_new: The groups that each class can give where persons move: as many as there are rows of new persons for, for those who move make no group by themselves
create temporary table "sqlanon_capacity_of_new" as
with entrant as (
    select
        class.class,
        count(*) as row_count
    from "sqlanon_arrived" as arrived
    inner join "sqlanon_class" as class
        on arrived."quasi_2" is not distinct from class."quasi_2"
    where arrived.moves = 0
    group by class.class
)
select
    capacity.class,
    capacity.size,
    least(capacity.group_count, coalesce(entrant.row_count, 0) // 5) as group_count
from "sqlanon_capacity" as capacity
left join entrant on entrant.class = capacity.class;

-- wave: as in followed.sql, but for
-- -0 as moves
-- +moves as moves
-- -        cast(sum(row_count - mover_count) as bigint) // 3 as group_count,
-- +        cast(sum(row_count - mover_count) as bigint) // 5 as group_count,

-- gathering: as in followed.sql

-- capacity_of_wave: as in followed.sql, but for
-- -from "sqlanon_capacity" as capacity
-- +from "sqlanon_capacity_of_new" as capacity

-- frequency: as in followed.sql, but for
-- -    where size = 3
-- +    where size = 5

-- coded: as in followed.sql, but for
-- +    population."moves",

-- drawn: as in followed.sql, but for
-- +        valued."moves",
-- +    "moves",

-- ordered: as in anatomy/moved.sql, but for
-- -    from "sqlanon_coded"
-- +    from "sqlanon_drawn"

-- positioned: as in anatomy/moved.sql

-- block: as in followed.sql

-- numbered: as in anatomy/moved.sql

-- renumbered: as in followed.sql

-- grouped: as in followed.sql, but for
-- +    numbered."moves",

-- grouped_apart: as in anatomy/moved.sql, but for
-- -    having count(*) - cast(sum(moves) as bigint) >= 4
-- +    having count(*) - cast(sum(moves) as bigint) >= 3

-- next_value: as in followed.sql

-- entered: as in anatomy/moved.sql

-- shown_person: as in followed.sql

-- next_person: as in anatomy/moved.sql

-- outcome: as in followed.sql

-- account: as in anatomy/moved.sql

-- line: as in followed.sql

-- qit: as in followed.sql

-- st: as in followed.sql

-- the rest is microdata and the key: forget it
-- 35 relations, the last first

commit;
