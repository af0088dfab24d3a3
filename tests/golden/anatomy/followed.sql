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

-- population: The rows that have any sensitive value, NULL counting as one
create temporary view "sqlanon_population" as
select *
from "sqlanon_source";

-- nameless: How many rows lack an identifier: nobody could be known again by it
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
select coalesce(sum(case when "identifier_1" is null then 1 else 0 end), 0) as nameless_rows
from "sqlanon_population";

-- persons: How many rows share their identifier with another row: the guarantees are per row
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select
        case
            when repeating_persons > 0 then 'persons have more than one row, and the guarantee is per row'
        end as refusal
    from (
        with person as (
            select count(*) as row_count
            from "sqlanon_population"
            group by
                "identifier_1"
        )
        select
            coalesce(cast(sum(row_count) as bigint), 0) as row_count,
            count(*) as person_count,
            coalesce(sum(case when row_count > 1 then 1 else 0 end), 0) as repeating_persons
        from person
    ) as looked_at
) as checked;

-- uniqueness: as in duckdb.sql

-- own_values_1: as in duckdb.sql

-- key_of_rows: The secret of all draws: of the key and of the rows, so that two tables of one key have no draw in common, and one row that differs makes all draws others
create temporary table "sqlanon_key_of_rows" as
with row_key as (
    select substr(sha256(key.secret || 'rows/'), 1, 40) as secret
    from "sqlanon_key" as key
),
hashed as (
    select sha256(row_key.secret || coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N') || coalesce(cast(length(cast("sensitive" as varchar)) as varchar) || ':' || cast("sensitive" as varchar), 'N')) as hash
    from "sqlanon_population" as population
    cross join row_key
),
drawn as (
    select cast('0x' || substr(hash, 1, 15) as bigint) as draw
    from hashed
),
summed as (
    select
        count(*) as row_count,
        coalesce(cast(sum(draw // 1073741824) as bigint), 0) as sum_1,
        coalesce(cast(sum(draw % 1073741824) as bigint), 0) as sum_2
    from drawn
)
select
    sha256(key.secret || 'draws/' || cast(summed.row_count as varchar) || '/' || cast(summed.sum_1 as varchar) || '/' || cast(summed.sum_2 as varchar)) as secret
from summed
cross join "sqlanon_key" as key;

-- identified: Row identity under a given key: the identifier columns, which are unique
create temporary view "sqlanon_identified" as
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "sensitive",
coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N')
        as identity
from "sqlanon_population";

-- pseudonym: Every row under the pseudonym that the ledger has for its person: the first half of its row's hash
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
    from "sqlanon_identified" as identified
    cross join row_key
)
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    sensitive,
    identity,
    cast(substr(hash, 1, 32) as uuid) as person,
    cast('0x' || substr(md5(concat_ws('/', substr(hash, 33, 16), coalesce(cast("quasi_1" as varchar), ''), coalesce(cast("quasi_2" as varchar), ''), coalesce(cast("quasi_3" as varchar), ''))), 1, 15) as bigint) as mark,
    cast(0 as bigint) as class_mark
from hashed;

-- matched: Who was published before, by the person's name in the ledger, and whether the sensitive value is the published one, and the class that of the group, and whoever was published and is not in the source (`is_here`), so that the ledger is joined once
create temporary table "sqlanon_matched" as
select
    pseudonym."quasi_1",
    pseudonym."quasi_2",
    pseudonym."quasi_3",
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

-- turnover: What has become of the persons since the last release: who was published then and who is in the source today
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
with today as (
    select
        count(*) as row_count,
        coalesce(sum(case when sensitive is null then 1 else 0 end), 0) as null_count,
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
)
select
    cast(today.row_count as bigint) as row_count,
    cast(today.null_count as bigint) as null_count,
    earlier.published_before,
    cast(earlier.published_before - today.still_here as bigint) as left_source,
    cast(today.stayed as bigint) as stayed,
    cast(today.returned as bigint) as returned,
    cast(today.arrived as bigint) as arrived,
    cast(today.changed as bigint) as changed,
    cast(today.reclassed as bigint) as reclassed,
    cast(today.requalified as bigint) as requalified
from today
cross join earlier;

-- arrived: The rows of persons who were never published: they are grouped among themselves
create temporary view "sqlanon_arrived" as
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    sensitive,
    identity,
    person,
    mark,
    class_mark
from "sqlanon_matched"
where group_id is null and (sensitive is not null or true);

-- wave: Whether those who look for a group are taken now, all who are alike in `class_names` together, or wait together
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
    cross join "sqlanon_key_of_rows" as key
),
judged as (
    select
        gathered.pool,
        gathered.row_count,
        gathered.group_count,
        gathered.largest_count,
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

-- gathering: How many rows look for a group, how many of them wait, how many of these are put off though enough have come, and how likely it still is that not all of them would find a group, where too few have come
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
select
    coalesce(cast(sum(row_count) as bigint), 0) as gathered_rows,
    coalesce(cast(sum(case when is_called then 0 else row_count end) as bigint), 0) as waiting_rows,
    coalesce(cast(sum(case when is_enough and not is_called then row_count else 0 end) as bigint), 0) as put_off,
    coalesce(min(case when is_enough then null when failing < 1 then failing else 1 end), 0) as failing
from "sqlanon_wave";

-- called: Those of the rows that look for a group who are taken now: all of them or none
create temporary table "sqlanon_called" as
select
    arrived."quasi_1",
    arrived."quasi_2",
    arrived."quasi_3",
    arrived."sensitive",
    arrived."identity",
    arrived."person",
    arrived."mark",
    arrived."class_mark"
from "sqlanon_arrived" as arrived
cross join "sqlanon_wave" as wave
where wave.is_called;

-- tally: How often each sensitive value occurs (c_v), NULL included
create temporary table "sqlanon_tally" as
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_called"
group by "sensitive";

-- drawn: Draws of a row, of sha256(row key || identity), the row key being the first 40 hex digits of sha256(key || purpose): 15 hex digits each, or, where no other engine has to draw the same, what the engine makes of 16
create temporary table "sqlanon_drawn" as
with row_key as (
    select substr(sha256(key.secret || 'anatomy/disease/release 2/row/'), 1, 40) as secret
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
        valued."sensitive",
        sha256(row_key.secret || valued.identity) as hash
    from "sqlanon_called" as valued
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
    "sensitive"
from hashed;

-- frequency: Step 1 of the grouping, for rows that need not all find a group: m is the largest number of groups of l different values, the least of floor((N - the rows of the k most frequent values) / (l - k)) over k < l, and of a value at most m rows are kept
create temporary table "sqlanon_frequency" as
with valued as (
    select
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'anatomy/disease/release 2/value/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_tally" as tally
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

-- coded: The rows, each with its value as the code that `frequency` gave it: a whole number is sorted and joined at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    valued."quasi_1",
    valued."quasi_2",
    valued."quasi_3",
    valued."person",
    valued."mark",
    valued."class_mark",
    valued."draw",
    valued."tie",
    frequency.code
from "sqlanon_drawn" as valued
inner join "sqlanon_frequency" as frequency
    on valued.sensitive is not distinct from frequency.sensitive;

-- ordered: Step 2: the rows by value and random order
create temporary table "sqlanon_ordered" as
with keyed as (
    select
        "quasi_1",
        "quasi_2",
        "quasi_3",
        "person",
        "mark",
        "class_mark",
draw, "tie",
        code,
        cast((draw >> 28) - 2147483648 as integer) as draw_start
    from "sqlanon_coded"
)
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "person",
    "mark",
    "class_mark",
    code
from keyed
order by
    code asc nulls last,
    draw_start asc nulls last,
    draw asc nulls last,
    "tie" asc nulls last;

-- positioned: The position of every row in the order by value and draw, 0 …: how far a table's row lies behind the first one (a table numbers its rows as they were written, inside a transaction from no known number on), else as rows come (by_rowid)
create temporary view "sqlanon_positioned" as
with first_row as (
    select min(rowid) as number
    from "sqlanon_ordered"
)
select
    ordered."quasi_1",
    ordered."quasi_2",
    ordered."quasi_3",
    ordered."person",
    ordered."mark",
    ordered."class_mark",
    ordered.code,
    ordered.rowid - first_row.number as position
from "sqlanon_ordered" as ordered
cross join first_row;

-- block: as in duckdb.sql, but for
-- -        cast('0x' || substr(sha256(key.secret || 'anatomy/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
-- +        cast('0x' || substr(sha256(key.secret || 'anatomy/disease/release 2/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
-- -    cross join "sqlanon_key_2" as key
-- +    cross join "sqlanon_key_of_rows" as key

-- numbered: as in duckdb.sql, but for
-- -        positioned."quasi_1", positioned."quasi_2", positioned."quasi_3",
-- +        positioned."quasi_1",
-- +        positioned."quasi_2",
-- +        positioned."quasi_3",
-- +        positioned."person",
-- +        positioned."mark",
-- +        positioned."class_mark",
-- -    bucketed."quasi_1", bucketed."quasi_2", bucketed."quasi_3",
-- +    bucketed."quasi_1",
-- +    bucketed."quasi_2",
-- +    bucketed."quasi_3",
-- +    bucketed."person",
-- +    bucketed."mark",
-- +    bucketed."class_mark",

-- grouped: Step 5: the group of every row: its number in the block mod m_b, made global
create temporary table "sqlanon_grouped" as
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "person",
    "mark",
    "class_mark",
    code,
    (numbered.number % numbered.block_groups) * numbered.block_count + numbered.block as group_id
from "sqlanon_numbered" as numbered;

-- next_value: The sensitive values as the ledger numbers them: those of before keep their numbers, others follow
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

-- entered: The rows that enter with this release: their groups are numbered after all that there ever were, their values as the ledger numbers them
create temporary table "sqlanon_entered" as
with taken as (
    select coalesce(max(group_id) + 1, 0) as first_group
    from ledger.main.person
)
select
    grouped."quasi_1",
    grouped."quasi_2",
    grouped."quasi_3",
    next_value.sensitive,
    grouped.person,
    grouped.mark,
    grouped.class_mark,
    grouped.group_id + taken.first_group as group_id,
    next_value.code,
    cast(null as bigint) as published
from "sqlanon_grouped" as grouped
inner join "sqlanon_frequency" as frequency on frequency.code = grouped.code
inner join "sqlanon_next_value" as next_value on next_value.sensitive is not distinct from frequency.sensitive
cross join taken;

-- shown_person: Everybody whom this release shows, with today's quasi values: who stays in a group of before or comes back to it, and who enters
create temporary table "sqlanon_shown_person" as
with shown as (
    select
        "quasi_1",
        "quasi_2",
        "quasi_3",
        sensitive,
        group_id
    from "sqlanon_matched"
    where is_here and group_id is not null and same_class and (same_value or false)
    union all
    select
        "quasi_1",
        "quasi_2",
        "quasi_3",
        sensitive,
        group_id
    from "sqlanon_entered"
)
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    sensitive,
    group_id
from shown;

-- next_person: The ledger after this release: a line for every person ever published, whose group and value never change, with what has become of them: present, stale (shown with a value that changed since), changed (left for that) or departed
create temporary table "sqlanon_next_person" as
with registered as (
    select
        matched.*,
        case
            when not matched.is_here then 'departed'
            when matched.same_class and matched.same_value then 'present'
            when matched.same_class and false then 'stale'
            else 'changed'
        end as standing
    from "sqlanon_matched" as matched
    where matched.group_id is not null
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

-- outcome: How many rows of the source this release shows, how many wait for others to form a group with, and how many it leaves out in all, how many whom releases have shown it does not show
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
select
    (select count(*) from "sqlanon_matched" where is_here) as row_count,
    (select count(*) from "sqlanon_shown_person") as shown,
    (select count(*) from "sqlanon_arrived") - (select count(*) from "sqlanon_entered") as waiting,
    (select count(*) from "sqlanon_matched" where is_here) - (select count(*) from "sqlanon_shown_person") as withheld,
    (select count(*) from "sqlanon_next_person") - (select count(*) from "sqlanon_shown_person") as departed;

-- line: The lines of ST: what everybody brought who was ever in a group that still shows somebody
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

-- st: The sensitive table (ST): what values a group holds and how often, in an order that depends on nothing but what it shows
create table "sqlanon_st" as
select
    grouped.group_id as "group_id",
    frequency.sensitive as "disease",
    cast(1 as bigint) as "count"
from "sqlanon_line" as grouped
inner join "sqlanon_next_value" as frequency on grouped.code = frequency.code
order by
    grouped.group_id asc nulls last,
    frequency.sensitive asc nulls last;

-- the rest is microdata and the key: forget it
-- 24 relations, the last first

commit;
