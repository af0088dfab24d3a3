-- sqlanon anatomy for duckdb: l = 4, block = 64, release = 2, changed = leave, draws = keyed, nulls = refuse, rows_per_person = one
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

-- nameless: every row has an identifier: nobody could be known again the next time without one
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with counted as (
            select coalesce(cast(sum(case when "identifier_1" is null then 1 else 0 end) as bigint), 0) as nameless_rows
            from "sqlanon_population"
        )
        select
            'id' as about,
            case when nameless_rows > 0 then
                coalesce(cast(nameless_rows as varchar), '') || ' rows have no --id: whose they are cannot be known again the next time'
            end as refusal
        from counted
    ) as looked_at
) as checked;

-- persons: as in duckdb.sql

-- tally: as in duckdb.sql

-- known: as in duckdb.sql

-- uniqueness: as in duckdb.sql

-- own_values_1: as in duckdb.sql

-- key: as in duckdb.sql

-- population: as in duckdb.sql

-- pseudonym: every row under the name that the ledger has for its person, the first half of its row's hash, the other half, which is kept nowhere, hides a mark of the quasi values and one of those that groups have in common
create temporary view "sqlanon_pseudonym" as
with row_key as (
    select substr(sha256(key.secret || 'ledger/person/'), 1, 40) as secret
    from "sqlanon_key" as key
    limit 1
),
hashed as (
    select
        identified.*,
        sha256(row_key.secret || identified.identity) as hash
    from "sqlanon_population_2" as identified
    cross join row_key
)
select
    "quasi_1", "quasi_2", "quasi_3",
    sensitive,
    identity,
    cast(substr(hash, 1, 32) as uuid) as person,
    cast('0x' || substr(md5(concat_ws('/', substr(hash, 33, 16), coalesce(cast("quasi_1" as varchar), ''), coalesce(cast("quasi_2" as varchar), ''), coalesce(cast("quasi_3" as varchar), ''))), 1, 15) as bigint) as mark,
    cast(0 as bigint) as class_mark
from hashed;

-- matched: whether each person's value is the published one, and the class that of the group, and whoever was published and is not in the source, so that the ledger is joined once
create temporary table "sqlanon_matched" as
select
    pseudonym."quasi_1", pseudonym."quasi_2", pseudonym."quasi_3",
    pseudonym.sensitive,
    case when last_known.person is null then pseudonym.identity end as identity,
    coalesce(pseudonym.person, last_known.person) as person,
    pseudonym.mark,
    pseudonym.class_mark,
    last_known.mark as known_mark,
    last_known.group_id,
    last_known.published,
    last_known.code,
    last_known.entered,
    last_known.class_mark as known_class,
    pseudonym.person is not null as is_here,
    last_known.standing as before,
    pseudonym.sensitive is not distinct from known_value.sensitive as same_value,
    pseudonym.class_mark is not distinct from last_known.class_mark as same_class
from "sqlanon_pseudonym" as pseudonym
full join ledger.main.person as last_known on last_known.person = pseudonym.person
left join ledger.main.value as known_value on known_value.code = last_known.code;

-- turnover: a source that nearly everybody has left is hardly the same source
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with today as (
            select
                count(*) as row_count,
                coalesce(sum(case when before in ('present', 'stale') then 1 else 0 end), 0) as still_here,
                coalesce(sum(case when before in ('present', 'stale') and same_value and same_class then 1 else 0 end), 0) as stayed,
                coalesce(sum(case when before in ('departed', 'changed') and same_value and same_class then 1 else 0 end), 0) as returned,
                coalesce(sum(case when before is null then 1 else 0 end), 0) as arrived,
                coalesce(sum(case when before is not null and same_class and not same_value then 1 else 0 end), 0) as changed,
                coalesce(sum(case when before is not null and not same_class then 1 else 0 end), 0) as reclassed,
                coalesce(sum(case when before in ('present', 'stale') and mark <> known_mark then 1 else 0 end), 0) as requalified
            from "sqlanon_matched"
            where is_here
        ),
        earlier as (
            select count(*) as published_before
            from ledger.main.person
            where standing in ('present', 'stale')
        ),
        counted as (
            select
                cast(today.row_count as bigint) as row_count,
                earlier.published_before,
                cast(earlier.published_before - today.still_here as bigint) as left_source,
                cast(today.stayed as bigint) as stayed,
                cast(today.returned as bigint) as returned,
                cast(today.arrived as bigint) as arrived,
                cast(today.changed as bigint) as changed,
                cast(today.reclassed as bigint) as reclassed,
                cast(today.requalified as bigint) as requalified
            from today
            cross join earlier
        )
        select
            counted.*,
            'expect_departures' as about,
            case
                when not false and left_source > 0 and 10 * left_source >= 9 * published_before then
                    coalesce(cast(left_source as varchar), '') || ' of the ' || coalesce(cast(published_before as varchar), '') || ' persons of the last release are not in the source (' || coalesce(format('{:.1f}%', 100.0 * left_source / published_before), '') || '): if this is the right source, say --expect-departures'
            end as refusal
        from counted
    ) as looked_at
) as checked;

-- population: the rows of persons who were never published: they are grouped among themselves
create temporary view "sqlanon_population_3" as
select
    "quasi_1", "quasi_2", "quasi_3",
    sensitive,
    identity,
    person,
    mark,
    class_mark
from "sqlanon_matched"
where group_id is null and (sensitive is not null or true);

-- arrived: the same, under a name that stays
create temporary view "sqlanon_arrived" as
select *
from "sqlanon_population_3";

-- wave: where enough have come, some are still put off: where not all find a group, and where a keyed coin says so
create temporary table "sqlanon_wave" as
with pooled as (
    select
        '' as pool,
        sensitive
    from "sqlanon_arrived"
),
tallied as (
    select
        pool,
        sensitive,
        count(*) as row_count
    from pooled
    group by pool, sensitive
),
gathered as (
    select
        pool,
        cast(sum(row_count) as bigint) as row_count,
        cast(sum(row_count) as bigint) // 4 as group_count,
        cast(max(row_count) as bigint) as largest_count
    from tallied
    group by pool
),
everywhere as (
    select
        coalesce(published, code) as code,
        count(*) as line_count
    from ledger.main.person
    group by coalesce(published, code)
),
compared as (
    select
        gathered.pool,
        gathered.row_count,
        gathered.group_count,
        everywhere.line_count
    from gathered
    cross join everywhere
),
shared as (
    select
        pool,
        cast(row_count as double) as n,
        cast(group_count + 1 as double) as a,
        cast(line_count as double) / cast(sum(line_count) over (partition by pool) as double) as p
    from compared
),
bounded as (
    select
        pool,
        sum(
            case
                when n - a < 1 or a <= n * p then cast(1 as double)
                else least(
                    cast(1 as double),
                    exp(greatest(
                        cast(-600 as double),
                        -a * ln(a / (n * p)) - (n - a) * ln((n - a) / (n * (1 - p)))
                        - ln(1 - (n - a) * p / ((a + 1) * (1 - p))) - ln(6.283185307179586 * a * (n - a) / n) / 2
                    ))
                )
            end
        ) as failing
    from shared
    group by pool
),
tossed as (
    select
        gathered.pool,
        sha256(key.secret || 'anatomy/disease/release 2/wave/' || gathered.pool) as hash
    from gathered
    cross join "sqlanon_key_2" as key
),
judged as (
    select
        gathered.*,
        bounded.failing,
        cast(cast('0x' || substr(tossed.hash, 1, 15) as bigint) as double) / 1152921504606846976
        < least(0.5, 10 * bounded.failing) as is_put_off
    from gathered
    inner join bounded on bounded.pool = gathered.pool
    inner join tossed on tossed.pool = gathered.pool
)
select
    pool,
    row_count,
    failing,
    group_count > 0 and failing <= cast('0.05' as double) as is_enough,
    group_count > 0 and failing <= cast('0.05' as double) and not is_put_off and largest_count <= group_count as is_called
from judged;

-- gathering: how many rows look for a group, how many of them wait, how many of these are put off though enough have come, and how likely it still is that not all would find a group, where too few have come
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with counted as (
            select
                coalesce(cast(sum(row_count) as bigint), 0) as gathered_rows,
                coalesce(cast(sum(case when is_called then 0 else row_count end) as bigint), 0) as waiting_rows,
                coalesce(cast(sum(case when is_enough and not is_called then row_count else 0 end) as bigint), 0) as put_off,
                coalesce(min(case when is_enough then null when failing < 1 then failing else 1 end), 0) as failing
            from "sqlanon_wave"
        )
        select
            counted.*,
            'max_suppressed' as about,
            case when waiting_rows * 1000000 > gathered_rows * 1000000 then
                coalesce(format('{:,}', waiting_rows), '') || ' of ' || coalesce(format('{:,}', gathered_rows), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * waiting_rows / gathered_rows), '') || ') would wait for the next release, more than --max-suppressed 100.0%: under a ledger people alike wait together where not all of them find a group; allow more, or choose a smaller r'
            end as refusal
        from counted
    ) as looked_at
) as checked;

-- population: those who are taken now: all or none
create temporary view "sqlanon_population_4" as
select arrived.*
from "sqlanon_arrived" as arrived
cross join "sqlanon_wave" as wave
where wave.is_called;

-- tally: how often each sensitive value occurs with each signature, NULL included
create temporary table "sqlanon_tally_2" as
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population_4"
group by "sensitive";

-- class: as in duckdb.sql

-- ranked: as in duckdb.sql, but for
-- -    from "sqlanon_tally" as tally
-- +    from "sqlanon_tally_2" as tally
-- -        sha256(key.secret || 'anatomy/disease/value/' || coalesce(cast(length(cast(valued.sensitive as varchar)) as varchar) || ':' || cast(valued.sensitive as varchar), 'N')) as hash
-- +        sha256(key.secret || 'anatomy/disease/release 2/value/' || coalesce(cast(length(cast(valued.sensitive as varchar)) as varchar) || ':' || cast(valued.sensitive as varchar), 'N')) as hash

-- capacity: as in duckdb.sql

-- population: every row with its draws: from the key and what tells the row apart, alike on every engine
create temporary view "sqlanon_population_5" as
with row_key as (
    select substr(sha256(key.secret || 'anatomy/disease/release 2/row/'), 1, 40) as secret
    from "sqlanon_key_2" as key
),
hashed as (
    select
        valued."quasi_1", valued."quasi_2", valued."quasi_3", valued."person", valued."mark", valued."class_mark", valued."sensitive",
        sha256(row_key.secret || valued.identity) as hash
    from "sqlanon_population_4" as valued
    cross join row_key
)
select
    "quasi_1", "quasi_2", "quasi_3", "person", "mark", "class_mark", "sensitive",
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "tie"
from hashed;

-- frequency: as in duckdb.sql

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    population."quasi_1", population."quasi_2", population."quasi_3", population."person", population."mark", population."class_mark",
    population.tie,
    population.draw,
    frequency.code
from "sqlanon_population_5" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive = frequency.sensitive;

-- ordered: as in duckdb.sql, but for
-- -        "quasi_1", "quasi_2", "quasi_3",
-- +        "quasi_1", "quasi_2", "quasi_3", "person", "mark", "class_mark",
-- -    "quasi_1", "quasi_2", "quasi_3",
-- +    "quasi_1", "quasi_2", "quasi_3", "person", "mark", "class_mark",

-- positioned: as in duckdb.sql, but for
-- -    ordered."quasi_1", ordered."quasi_2", ordered."quasi_3",
-- +    ordered."quasi_1", ordered."quasi_2", ordered."quasi_3", ordered."person", ordered."mark", ordered."class_mark",

-- block: as in duckdb.sql, but for
-- -        cast('0x' || substr(sha256(key.secret || 'anatomy/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
-- +        cast('0x' || substr(sha256(key.secret || 'anatomy/disease/release 2/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw

-- numbered: as in duckdb.sql, but for
-- -        positioned."quasi_1", positioned."quasi_2", positioned."quasi_3",
-- +        positioned."quasi_1", positioned."quasi_2", positioned."quasi_3", positioned."person", positioned."mark", positioned."class_mark",
-- -    bucketed."quasi_1", bucketed."quasi_2", bucketed."quasi_3",
-- +    bucketed."quasi_1", bucketed."quasi_2", bucketed."quasi_3", bucketed."person", bucketed."mark", bucketed."class_mark",

-- grouped: step 5: every row with its group, its number in the block mod the groups of the block, made global
create temporary table "sqlanon_grouped" as
select
    "quasi_1", "quasi_2", "quasi_3", "person", "mark", "class_mark",
    code,
    (numbered.number % numbered.block_groups) * numbered.block_count + numbered.block as group_id
from "sqlanon_numbered" as numbered;

-- next_value: the sensitive values as the ledger numbers them: those of before keep their numbers, others follow
create temporary table "sqlanon_next_value" as
with unknown as (
    select distinct frequency.sensitive
    from "sqlanon_frequency" as frequency
    left join ledger.main.value as known_value on known_value.sensitive is not distinct from frequency.sensitive
    where known_value.code is null and frequency.kept_count > 0
),
taken as (
    select coalesce(max(code) + 1, 0) as first_code
    from ledger.main.value
),
numbered as (
    select
        code,
        sensitive
    from ledger.main.value
    union all
    select
        taken.first_code + row_number() over (order by unknown.sensitive asc nulls last) - 1 as code,
        unknown.sensitive
    from unknown
    cross join taken
)
select
    code,
    sensitive
from numbered;

-- entered: the rows that enter with this release: their groups are numbered after all that there ever were
create temporary table "sqlanon_entered" as
with taken as (
    select coalesce(max(group_id) + 1, 0) as first_group
    from ledger.main.person
),
renumbered as (
    select
        frequency.code as place,
        next_value.code,
        next_value.sensitive
    from "sqlanon_frequency" as frequency
    inner join "sqlanon_next_value" as next_value on next_value.sensitive is not distinct from frequency.sensitive
)
select
    own."quasi_1", own."quasi_2", own."quasi_3",
    value.sensitive,
    own.person,
    own.mark,
    own.class_mark,
    own.group_id + taken.first_group as group_id,
    value.code,
cast(null as bigint) as published
from "sqlanon_grouped" as own
inner join renumbered as value on value.place = own.code
cross join taken;

-- shown_person: everybody whom this release shows, with today's quasi values: who stays in a group of before or comes back to it, and who enters, who is of another class than the group never stays
create temporary table "sqlanon_shown_person" as
with shown as (
    select
        "quasi_1", "quasi_2", "quasi_3",
        sensitive,
        group_id,
        published
    from "sqlanon_matched"
    where is_here and group_id is not null and same_class and (same_value or false)
    union all
    select
        "quasi_1", "quasi_2", "quasi_3",
        sensitive,
        group_id,
        published
    from "sqlanon_entered"
)
select
    shown."quasi_1", shown."quasi_2", shown."quasi_3",
    shown.sensitive,

    shown.group_id
from shown;

-- next_person: the ledger after this release: a line for every person ever published, whose group and value never change, with what has become of them: present, stale (shown with a value that changed since), changed (left for that) or departed
create temporary table "sqlanon_next_person" as
with registered as (
    select
        matched.*,
        case
            when not is_here then 'departed'
            when same_class and same_value then 'present'
            when same_class and false then 'stale'
            else 'changed'
        end as standing
    from "sqlanon_matched" as matched
    where group_id is not null
),
listed as (
    select
        person,
        group_id,
        code,
        entered,
        standing,
        coalesce(mark, known_mark) as mark,
        known_class as class_mark,
        published
    from registered
    union all
    select
        person,
        group_id,
        code,
        cast(2 as bigint) as entered,
        'present' as standing,
        mark,
        class_mark,
        published
    from "sqlanon_entered"
)
select *
from listed;

-- outcome: how many rows of the source this release shows, how many wait for others to form a group with, and how many it leaves out in all, how many whom releases have shown it does not show
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with figures as (
            select
                (select count(*) from "sqlanon_matched" where is_here) as row_count,
                (select count(*) from "sqlanon_shown_person") as shown,
                (select count(*) from "sqlanon_arrived") - (select count(*) from "sqlanon_entered") as waiting,
                (select count(*) from "sqlanon_next_person") as ever_shown
        )
        select
            row_count,
            shown,
            waiting,
            row_count - shown as withheld,
            row_count - shown as dropped_rows,
            ever_shown - shown as departed,
            case when shown = 0 then
                'nobody of the source can be shown: ' || coalesce(format('{:,}', waiting), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows wait for others to form a group with'
            end as refusal
        from figures
    ) as looked_at
) as checked;

-- line: the lines of ST: what everybody brought who was ever in a group that still shows somebody
create temporary table "sqlanon_line" as
with shown as (
    select distinct group_id
    from "sqlanon_shown_person"
)
select
    next_person.group_id,
    next_person.code
from "sqlanon_next_person" as next_person
inner join shown on shown.group_id = next_person.group_id;

-- qit: as in duckdb.sql, but for
-- -from "sqlanon_grouped" as grouped
-- +from "sqlanon_shown_person" as grouped

-- st: as in duckdb.sql, but for
-- -    from "sqlanon_grouped" as grouped
-- -    inner join "sqlanon_frequency" as frequency on grouped.code = frequency.code
-- +    from "sqlanon_line" as grouped
-- +    inner join "sqlanon_next_value" as frequency on grouped.code = frequency.code

-- the rest is microdata and the key: forget it
-- 29 relations, the last first

commit;
