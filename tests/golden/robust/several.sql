-- sqlanon robust for duckdb: r = 2.5, l = 3, backgrounds = [['sex']], guarantee = exact, max_suppressed = 0.01, repair = 0, block = 64, draws = keyed, nulls = refuse, rows_per_person = one
-- It makes "sqlanon_qit", "sqlanon_st", "sqlanon_st_2", and nothing else that it makes may be handed on.
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

-- source: as in anatomy/several.sql

-- population: as in duckdb.sql

-- persons: as in duckdb.sql

-- everyone: as in anatomy/several.sql

-- counted_1: as in anatomy/several.sql

-- counted_2: as in anatomy/several.sql

-- known_1: as in anatomy/several.sql

-- known_2: as in anatomy/several.sql

-- uniqueness: as in anatomy/several.sql

-- own_values_1: as in duckdb.sql

-- own_values_2: as in anatomy/several.sql

-- key: as in anatomy/several.sql

-- population: as in anatomy/several.sql

-- ranked_1: as in anatomy/several.sql, but for
-- -        sha256(key.secret || 'anatomy/disease/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
-- +        sha256(key.secret || 'robust/disease/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash

-- ranked_2: as in anatomy/several.sql, but for
-- -        sha256(key.secret || 'anatomy/income/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
-- +        sha256(key.secret || 'robust/income/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash

-- pair: as in anatomy/several.sql

-- value_1: as in anatomy/several.sql

-- value_2: as in anatomy/several.sql

-- population: as in anatomy/several.sql

-- tallied: how often each value occurs in each class
create temporary table "sqlanon_tallied" as
with counted as (
    select "quasi_2", 1 as column_number, "code_1" as code, count(*) as row_count
    from "sqlanon_population_3"
    group by "quasi_2", "code_1"
    union all
    select "quasi_2", 2 as column_number, "code_2" as code, count(*) as row_count
    from "sqlanon_population_3"
    group by "quasi_2", "code_2"
),
placed as (
    select
        counted.*,
        row_number() over (partition by "quasi_2", column_number order by row_count desc nulls last, code asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by "quasi_2", column_number) as bigint) as class_rows,
        cast(sum(row_count) over (partition by "quasi_2", column_number order by row_count desc nulls last, code asc nulls last rows unbounded preceding) as bigint) - row_count as head
    from counted
)
select *
from placed;

-- kept: how many rows find a group, by size, class and column
create temporary table "sqlanon_kept" as
with sized as (
    select distinct place + 1 as size
    from "sqlanon_tallied"
    where place > 0 and place < 3
),
bounded as (
    select
        tallied."quasi_2",
        tallied.column_number,
        sized.size,
        case when count(*) = sized.size then min((tallied.class_rows - tallied.head) // (sized.size - tallied.place)) else 0 end as most
    from "sqlanon_tallied" as tallied
    inner join sized on tallied.place < sized.size
    group by tallied."quasi_2", tallied.column_number, sized.size
)
select
    tallied."quasi_2",
    bounded.size,
    tallied.column_number,
    max(tallied.class_rows) as class_rows,
    cast(sum(least(tallied.row_count, bounded.most)) as bigint) as kept_rows
from "sqlanon_tallied" as tallied
inner join bounded on tallied."quasi_2" is not distinct from bounded."quasi_2" and tallied.column_number = bounded.column_number
group by tallied."quasi_2", bounded.size, tallied.column_number;

-- few_left_over: no more rows are left over than may be
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with together as (
            select "quasi_2", size, max(class_rows) as class_rows, min(kept_rows) as kept_rows
            from "sqlanon_kept"
            group by "quasi_2", size
        ),
        total as (
            select coalesce(cast(sum(row_count) as bigint), 0) as row_count
            from "sqlanon_tallied"
            where column_number = 1
        ),
        held as (
            select size, cast(sum(kept_rows) as bigint) as kept_rows
            from together
            group by size
        ),
        alone as (
            select column_number, cast(sum(kept_rows) as bigint) as kept_rows
            from "sqlanon_kept"
            where size = 3
            group by column_number
        ),
        worst_column as (
            select alone.*, row_number() over (order by kept_rows asc nulls last, column_number asc nulls last) as place
            from alone
        ),
        signed as (
            select
        coalesce(cast("quasi_2" as varchar), 'NULL')
                    as signature_text,
                class_rows - kept_rows as surplus
            from together
            where size = 3 and class_rows > kept_rows
        ),
        placed as (
            select signed.*, row_number() over (order by surplus desc nulls last, signature_text asc nulls last) as place
            from signed
        ),
        worst as (
            select
                count(*) as class_count,
                max(case when place = 1 then '(' || signature_text || ') with ' || cast(surplus as varchar) end) as worst_1,
                max(case when place = 2 then '(' || signature_text || ') with ' || cast(surplus as varchar) end) as worst_2,
                max(case when place = 3 then '(' || signature_text || ') with ' || cast(surplus as varchar) end) as worst_3
            from placed
        ),
        figures as (
            select
                total.row_count,
                total.row_count - coalesce((select kept_rows from held where size = 3), 0) as surplus_rows,
                total.row_count - coalesce((select kept_rows from worst_column where place = 1), 0) as column_surplus,
                coalesce((select column_number from worst_column where place = 1), 1) as column_number,
                coalesce((
                    select max(held.size)
                    from held
                    cross join total as every
                    where held.size < 3
                        and (every.row_count - held.kept_rows) * 1000000 <= every.row_count * 10000
                ), 0) as feasible_size,
                worst.*
            from total
            cross join worst
        )
        select
            'r' as about,
            case when row_count > 0 and (surplus_rows = row_count or surplus_rows * 1000000 > row_count * 10000) then
                'r = 2.5 is not possible: at least ' || coalesce(format('{:,}', surplus_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * surplus_rows / row_count), '') || ') find no group of 3 rows of one signature that differ in every one of ''disease'' and ''income'', and --max-suppressed allows 1%'
                || case when worst_1 is null then '' else
                    '; most of them have the signature ' || coalesce(cast(worst_1 || coalesce(', ' || worst_2, '') || coalesce(', ' || worst_3, '') as varchar), '') || ' (' || coalesce(cast(class_count as varchar), '') || ' signatures leave rows over)'
                end
                || '; ' || coalesce(cast(case column_number when 1 then '''disease''' when 2 then '''income''' end as varchar), '') || ' by itself leaves ' || coalesce(cast(column_surplus as varchar), '') || ' rows over; '
                || case
                    when feasible_size >= 2 then 'the largest whole r that no column stands in the way of is ' || coalesce(cast(feasible_size as varchar), '')
                    else 'no r above 1 works with these columns and backgrounds'
                end
                || case
                    when surplus_rows < row_count then
                        ', and --max-suppressed would have to be ' || coalesce(cast(cast(cast(cast((0 - floor(0 - 1000000.0 * surplus_rows / row_count)) / 1000000.0 as decimal(18, 6)) as double) as varchar) as varchar), '') || ' or more'
                    else ''
                end
            end as refusal
        from figures
    ) as looked_at
) as checked;

-- population: as in anatomy/several.sql, but for
-- -    select substr(sha256(key.secret || 'anatomy/disease/row/'), 1, 40) as secret
-- +    select substr(sha256(key.secret || 'robust/disease/row/'), 1, 40) as secret

-- population: the rows, whose draws are made once
create temporary table "sqlanon_population_5" as
select *
from "sqlanon_population_4";

-- load: how many groups each class gives in every column, and in how many of its rows a value stands at most
create temporary table "sqlanon_load" as
with counted as (
    select "quasi_2", 1 as column_number, "code_1" as code, count(*) as row_count
    from "sqlanon_population_5"
    group by "quasi_2", "code_1"
    union all
    select "quasi_2", 2 as column_number, "code_2" as code, count(*) as row_count
    from "sqlanon_population_5"
    group by "quasi_2", "code_2"
),
placed as (
    select
        counted.*,
        row_number() over (partition by "quasi_2", column_number order by row_count desc nulls last, code asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by "quasi_2", column_number) as bigint) as class_rows,
        cast(sum(row_count) over (partition by "quasi_2", column_number order by row_count desc nulls last, code asc nulls last rows unbounded preceding) as bigint) - row_count as head
    from counted
),
bounded as (
    select
        "quasi_2", 
        column_number,
        max(row_count) as largest,
        case when count(*) = 3 then min((class_rows - head) // (3 - place)) else 0 end as most
    from placed
    where place < 3
    group by "quasi_2", column_number
)
select "quasi_2", max(largest) as largest, min(most) as most
from bounded
group by "quasi_2";

-- thinning: turn 1 of 1

-- population: the rows that their classes keep
create temporary table "sqlanon_population_next" as
with placed as (
    select
        rows_left.*,
        row_number() over (partition by "quasi_2", "code_1" order by "draw" asc nulls last, "tie" asc nulls last) as place_1,
        row_number() over (partition by "quasi_2", "code_2" order by "draw" asc nulls last, "tie" asc nulls last) as place_2
    from "sqlanon_population_5" as rows_left
)
select placed."quasi_1", placed."quasi_2", placed."code_1", placed."code_2", placed."sensitive", placed."draw", placed."tie"
from placed
inner join "sqlanon_load" as load on placed."quasi_2" is not distinct from load."quasi_2"
where placed.place_1 <= load.most and placed.place_2 <= load.most;

drop table "sqlanon_population_5";

-- thinning
create temporary table "sqlanon_population_5" as
select * from "sqlanon_population_next";

-- load: the same of the rows that are kept
create temporary table "sqlanon_load_next" as
with counted as (
    select "quasi_2", 1 as column_number, "code_1" as code, count(*) as row_count
    from "sqlanon_population_5"
    group by "quasi_2", "code_1"
    union all
    select "quasi_2", 2 as column_number, "code_2" as code, count(*) as row_count
    from "sqlanon_population_5"
    group by "quasi_2", "code_2"
),
placed as (
    select
        counted.*,
        row_number() over (partition by "quasi_2", column_number order by row_count desc nulls last, code asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by "quasi_2", column_number) as bigint) as class_rows,
        cast(sum(row_count) over (partition by "quasi_2", column_number order by row_count desc nulls last, code asc nulls last rows unbounded preceding) as bigint) - row_count as head
    from counted
),
bounded as (
    select
        "quasi_2", 
        column_number,
        max(row_count) as largest,
        case when count(*) = 3 then min((class_rows - head) // (3 - place)) else 0 end as most
    from placed
    where place < 3
    group by "quasi_2", column_number
)
select "quasi_2", max(largest) as largest, min(most) as most
from bounded
group by "quasi_2";

drop table "sqlanon_load";

-- thinning
create temporary table "sqlanon_load" as
select * from "sqlanon_load_next";

drop table "sqlanon_load_next";

drop table "sqlanon_population_next";

-- tally: how often each sensitive value occurs with each signature, NULL included
create temporary table "sqlanon_tally" as
select
    "quasi_2", "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population_5"
group by "quasi_2", "sensitive";

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
    cross join "sqlanon_key_2" as key
)
select
    "quasi_2",
    row_number() over (order by hash asc nulls last) - 1 as class,
    cast(3 as bigint) as needed
from hashed;

-- ranked: as in duckdb.sql, but for
-- -    inner join "sqlanon_class" as class on tally."quasi_2" is not distinct from class."quasi_2" and tally."quasi_3" is not distinct from class."quasi_3"
-- +    inner join "sqlanon_class" as class on tally."quasi_2" is not distinct from class."quasi_2"

-- capacity: as in duckdb.sql

-- frequency: as in duckdb.sql

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    population."quasi_1", population."quasi_2", population."code_1", population."code_2",
    population.tie,
    population.draw,
    frequency.code
from "sqlanon_population_5" as population
inner join "sqlanon_class" as class on population."quasi_2" is not distinct from class."quasi_2"
inner join "sqlanon_frequency" as frequency
    on class.class = frequency.class and population.sensitive = frequency.sensitive;

-- ordered: as in anatomy/several.sql

-- positioned: as in anatomy/several.sql

-- block: as in duckdb.sql

-- numbered: as in anatomy/several.sql

-- renumbered: as in duckdb.sql

-- grouped: step 5: every kept row with the final number of its group
create temporary table "sqlanon_grouped" as
select
    numbered."quasi_1", numbered."quasi_2", numbered."code_1", numbered."code_2",
    numbered.code,
    numbered.block,
    numbered.number,
    renumbered.group_id
from "sqlanon_numbered" as numbered
inner join "sqlanon_renumbered" as renumbered
    on numbered.block = renumbered.block and numbered.number % numbered.block_groups = renumbered.turn;

-- seated: as in anatomy/several.sql

-- party: every group, and its class
create temporary table "sqlanon_party" as
with led as (
    select group_id, min(code) as code
    from "sqlanon_seated"
    group by group_id
)
select led.group_id, frequency.class
from led
inner join "sqlanon_frequency" as frequency on led.code = frequency.code;

-- clash: as in anatomy/several.sql

-- moved: as in anatomy/several.sql

-- exchange: turn 1 of 1

-- offer: as in anatomy/several.sql

-- near: as in anatomy/several.sql

        seated.seat,
        coalesce(moved.group_id, seated.group_id) as group_id
    from "sqlanon_seated" as seated
    left join "sqlanon_moved" as moved on seated.seat = moved.seat
),
close as (
    select present.*
    from present
    inner join concerned on present.group_id = concerned.group_id
),
held as (
    select seat, group_id, "code_1" as held_code
    from close
    union all
    select seat, group_id, "code_2" as held_code
    from close
)
select *
from held;

-- exchange: as in anatomy/several.sql

-- outcome: as in anatomy/several.sql

-- moved: as in anatomy/several.sql

drop table "sqlanon_moved";

-- exchange: as in anatomy/several.sql

-- clash: as in anatomy/several.sql

drop table "sqlanon_clash";

-- exchange: as in anatomy/several.sql

drop table "sqlanon_clash_next";

drop table "sqlanon_moved_next";

drop table "sqlanon_outcome";

drop table "sqlanon_exchange";

drop table "sqlanon_near";

drop table "sqlanon_offer";

-- crowded: as in anatomy/several.sql

        seated.seat,
        coalesce(moved.group_id, seated.group_id) as group_id
    from "sqlanon_seated" as seated
    left join "sqlanon_moved" as moved on seated.seat = moved.seat
),
close as (
    select present.*
    from present
    inner join "sqlanon_clash" as clash on present.group_id = clash.group_id
),
held as (
    select seat, group_id, "code_1" as held_code
    from close
    union all
    select seat, group_id, "code_2" as held_code
    from close
)
select *
from held;

-- staying: as in anatomy/several.sql

-- leaving: turn 1 of 1

-- staying: as in anatomy/several.sql

drop table "sqlanon_staying";

-- leaving: as in anatomy/several.sql

drop table "sqlanon_staying_next";

-- gone: as in anatomy/several.sql, but for
-- -where coalesce(counted.people, 0) < 4;
-- +where coalesce(counted.people, 0) < 3;

-- renamed: as in anatomy/several.sql

-- left_out: as in anatomy/several.sql

-- grouped: as in anatomy/several.sql

-- suppressed: as in anatomy/several.sql, but for
-- -            'l' as about,
-- +            'r' as about,
-- -                    'l = 4 is not possible: there are no groups whose rows differ in every one of ''disease'' and ''income''; frequent values of these columns go together'
-- -                when dropped_rows * 1000000 > row_count * 5000 then
-- -                    'l = 4 is not possible: ' || coalesce(format('{:,}', dropped_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * dropped_rows / row_count), '') || ') find no group in which they differ in every one of ''disease'' and ''income'', and --max-suppressed allows 0.5%; frequent values of these columns go together; --max-suppressed ' || coalesce(cast(cast(cast(cast((0 - floor(0 - 1000000.0 * dropped_rows / row_count)) / 1000000.0 as decimal(18, 6)) as double) as varchar) as varchar), '') || ' leaves these rows out, and a smaller l may leave fewer'
-- +                    'r = 2.5 is not possible: there are no groups whose rows differ in every one of ''disease'' and ''income''; frequent values of these columns go together'
-- +                when dropped_rows * 1000000 > row_count * 10000 then
-- +                    'r = 2.5 is not possible: ' || coalesce(format('{:,}', dropped_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * dropped_rows / row_count), '') || ') find no group of 3 rows of one signature that differ in every one of ''disease'' and ''income'', and --max-suppressed allows 1%; frequent values of these columns go together; --max-suppressed ' || coalesce(cast(cast(cast(cast((0 - floor(0 - 1000000.0 * dropped_rows / row_count)) / 1000000.0 as decimal(18, 6)) as double) as varchar) as varchar), '') || ' leaves these rows out, and a smaller r may leave fewer'

-- qit: as in anatomy/several.sql

-- st: as in anatomy/several.sql

-- st_2: as in anatomy/several.sql

-- the rest is microdata and the key: forget it
-- 41 relations, the last first

commit;
