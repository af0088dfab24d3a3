-- sqlanon anatomy for duckdb: l = 4, max_suppressed = 0.005, block = 64, draws = keyed, nulls = refuse, rows_per_person = one
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

-- source: the rows under names of our own, so that no column of the user's meets one of ours
create temporary view "sqlanon_source" as
select
    "age" as "quasi_1",
    "sex" as "quasi_2",
    "ssn" as "identifier_1",
    "disease" as "sensitive",
    "income" as "sensitive_2"
from "patients";

-- population: as in duckdb.sql

-- persons: as in duckdb.sql

-- everyone: how many there are to publish
create temporary table "sqlanon_everyone" as
select count(*) as row_count
from "sqlanon_population";

-- counted_1: how often each value of a sensitive column occurs
create temporary table "sqlanon_counted_1" as
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive";

-- counted_2: how often each value of a sensitive column occurs
create temporary table "sqlanon_counted_2" as
select
    "sensitive_2" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive_2";

-- known_1: every row has a value of this sensitive column, or it is said what becomes of those without
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with figures as (
            select
                coalesce(cast(sum(row_count) as bigint), 0) as row_count,
                coalesce(cast(sum(case when sensitive is null then row_count else 0 end) as bigint), 0) as null_count
            from "sqlanon_counted_1"
        )
        select
            case when null_count > 0 then 'disease' end as about,
            case
                when null_count > 0 and true then
                    coalesce(cast(null_count as varchar), '') || ' rows have no value in the sensitive column ''disease''; say --nulls value (NULL is a value like any other) or --nulls drop (leave them out, which tells who had none to somebody who knows who was in the table)'
                when row_count = 0 then 'the source has no rows to publish'
            end as refusal
        from figures
    ) as looked_at
) as checked;

-- known_2: every row has a value of this sensitive column, or it is said what becomes of those without
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with figures as (
            select
                coalesce(cast(sum(row_count) as bigint), 0) as row_count,
                coalesce(cast(sum(case when sensitive is null then row_count else 0 end) as bigint), 0) as null_count
            from "sqlanon_counted_2"
        )
        select
            case when null_count > 0 then 'income' end as about,
            case
                when null_count > 0 and true then
                    coalesce(cast(null_count as varchar), '') || ' rows have no value in the sensitive column ''income''; say --nulls value (NULL is a value like any other) or --nulls drop (leave them out, which tells who had none to somebody who knows who was in the table)'
                when row_count = 0 then 'the source has no rows to publish'
            end as refusal
        from figures
    ) as looked_at
) as checked;

-- feasible: nobody can hide a value that more than one in 4 have
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with counted as (
            select
                1 as place,
                '''disease''' as shown_column,
                cast(sensitive as varchar) as shown_value,
                row_count
            from "sqlanon_counted_1"
            union all
            select
                2 as place,
                '''income''' as shown_column,
                cast(sensitive as varchar) as shown_value,
                row_count
            from "sqlanon_counted_2"
        ),
        ranked as (
            select
                counted.*,
                row_number() over (order by row_count desc nulls last, place asc nulls last, shown_value asc nulls last) as value_rank
            from counted
        ),
        judged as (
            select
                ranked.*,
                everyone.row_count as everyone_count,
                everyone.row_count // 4 as allowed,
                everyone.row_count // ranked.row_count as feasible
            from ranked
            cross join "sqlanon_everyone" as everyone
            where ranked.value_rank = 1
        )
        select
            'l' as about,
            feasible as possible,
            case
                when everyone_count < 4 then
                    'l = 4 needs at least 4 rows; the source has ' || coalesce(format('{:,}', everyone_count), '')
                when row_count > allowed then
                    'l = 4 is not possible: the most frequent value of ' || coalesce(cast(shown_column as varchar), '') || coalesce(cast('' as varchar), '') || ' stands in ' || coalesce(format('{:,}', row_count), '') || ' of ' || coalesce(format('{:,}', everyone_count), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * row_count / everyone_count), '') || '), and l = 4 allows ' || coalesce(format('{:,}', allowed), '') || ' in every column; '
                    || case
                        when feasible >= 2 then 'the largest l that no column stands in the way of is ' || coalesce(cast(feasible as varchar), '')
                        else 'no l of at least 2 works on this column'
                    end
                    || '; merging values makes none rarer, and splu has the same limit'
            end as refusal
        from judged
    ) as looked_at
) as checked;

-- uniqueness: as in duckdb.sql, but for
-- -                "quasi_1", "quasi_2", "quasi_3",
-- +                "quasi_1", "quasi_2",
-- -            group by "quasi_1", "quasi_2", "quasi_3"
-- +            group by "quasi_1", "quasi_2"
-- -                coalesce(cast(sum(case when "quasi_3" is null then 0 else row_count end) as bigint), 0) as known_3,
-- -                count(distinct combination."quasi_3") as distinct_3,
-- -                    or (total.known_3 > 1 and 5 * total.unique_rows >= 4 * total.known_3)
-- -            total.known_3,
-- -            counted.distinct_3,
-- -                when total.known_3 >= 100 and counted.distinct_3 = total.known_3
-- -                    and 2 * total.known_3 > total.row_count then 'zipcode'
-- -                when total.known_3 >= 100 and counted.distinct_3 = total.known_3
-- -                    and 2 * total.known_3 > total.row_count
-- -                then 'the quasi column ''zipcode'' has a value of its own in each of ' || coalesce(format('{:,}', total.known_3), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with --id, or say --unique-quasi keep'

-- own_values_1: as in duckdb.sql

-- own_values_2: most rows share their sensitive value with others
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with counted as (
            select count("sensitive_2") as known_count
            from "sqlanon_population"
            group by "sensitive_2"
        ),
        figures as (
            select
                coalesce(cast(sum(known_count) as bigint), 0) as known_rows,
                coalesce(cast(sum(case when known_count = 1 then 1 else 0 end) as bigint), 0) as lone_rows
            from counted
        )
        select
            'income' as about,
            case when known_rows >= 100 and 2 * lone_rows > known_rows and not false then
                'the sensitive column ''income'' has a value of its own in ' || coalesce(format('{:,}', lone_rows), '') || ' of ' || coalesce(format('{:,}', known_rows), '') || ' rows: such values tell whose they are, as numbers of people and free texts do, and would be published; leave it out, publish classes of it, or say --unique-sensitive keep'
            end as refusal
        from figures
    ) as looked_at
) as checked;

-- key: as in duckdb.sql, but for
-- -    select sha256(row_key.secret || coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N') || coalesce(cast(length(cast("sensitive" as varchar)) as varchar) || ':' || cast("sensitive" as varchar), 'N')) as hash
-- +    select sha256(row_key.secret || coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N') || coalesce(cast(length(cast("sensitive" as varchar)) as varchar) || ':' || cast("sensitive" as varchar), 'N') || coalesce(cast(length(cast("sensitive_2" as varchar)) as varchar) || ':' || cast("sensitive_2" as varchar), 'N')) as hash

-- population: every row with the text that identifies it: its identifier columns, which are unique
create temporary view "sqlanon_population_2" as
select
    "quasi_1", "quasi_2", "sensitive", "sensitive_2",
coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N')
    as identity
from "sqlanon_population";

-- ranked_1: the values of a column by falling count, equal counts in keyed order
create temporary table "sqlanon_ranked_1" as
with hashed as (
    select
        counted.*,
        sha256(key.secret || 'anatomy/disease/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from "sqlanon_counted_1" as counted
    cross join "sqlanon_key_2" as key
)
select
    sensitive,
    row_count,
    row_number() over (order by row_count desc nulls last, hash asc nulls last) as place
from hashed;

-- ranked_2: the values of a column by falling count, equal counts in keyed order
create temporary table "sqlanon_ranked_2" as
with hashed as (
    select
        counted.*,
        sha256(key.secret || 'anatomy/income/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from "sqlanon_counted_2" as counted
    cross join "sqlanon_key_2" as key
)
select
    sensitive,
    row_count,
    row_number() over (order by row_count desc nulls last, hash asc nulls last) as place
from hashed;

-- pair: the values of all columns by falling count
create temporary table "sqlanon_pair" as
with listed as (
    select 1 as column_number, place, row_count
    from "sqlanon_ranked_1"
    union all
    select 2 as column_number, place, row_count
    from "sqlanon_ranked_2"
)
select
    column_number,
    place,
    cast(row_number() over (order by row_count desc nulls last, column_number asc nulls last, place asc nulls last) - 1 as integer) as code
from listed;

-- value_1: the values of a column with their numbers
create temporary table "sqlanon_value_1" as
select ranked.sensitive, ranked.row_count, pair.code
from "sqlanon_ranked_1" as ranked
inner join "sqlanon_pair" as pair on ranked.place = pair.place and pair.column_number = 1;

-- value_2: the values of a column with their numbers
create temporary table "sqlanon_value_2" as
select ranked.sensitive, ranked.row_count, pair.code
from "sqlanon_ranked_2" as ranked
inner join "sqlanon_pair" as pair on ranked.place = pair.place and pair.column_number = 2;

-- population: the rows with the numbers of their values
create temporary view "sqlanon_population_3" as
select
    population."quasi_1", population."quasi_2", population."identity",
    value_1.code as code_1,
    value_2.code as code_2,
    least(value_1.code, value_2.code) as sensitive
from "sqlanon_population_2" as population
inner join "sqlanon_value_1" as value_1
    on population."sensitive" = value_1.sensitive
inner join "sqlanon_value_2" as value_2
    on population."sensitive_2" = value_2.sensitive;

-- tally: how often each sensitive value occurs with each signature, NULL included
create temporary table "sqlanon_tally" as
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population_3"
group by "sensitive";

-- class: as in duckdb.sql

-- ranked: as in duckdb.sql

-- capacity: as in duckdb.sql

-- population: every row with its draws: from the key and what tells the row apart, alike on every engine
create temporary view "sqlanon_population_4" as
with row_key as (
    select substr(sha256(key.secret || 'anatomy/disease/row/'), 1, 40) as secret
    from "sqlanon_key_2" as key
),
hashed as (
    select
        valued."quasi_1", valued."quasi_2", valued."code_1", valued."code_2", valued."sensitive",
        sha256(row_key.secret || valued.identity) as hash
    from "sqlanon_population_3" as valued
    cross join row_key
)
select
    "quasi_1", "quasi_2", "code_1", "code_2", "sensitive",
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "tie"
from hashed;

-- frequency: as in duckdb.sql

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
    population."quasi_1", population."quasi_2", population."code_1", population."code_2",
    population.tie,
    population.draw,
    frequency.code
from "sqlanon_population_4" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive = frequency.sensitive;

-- ordered: as in duckdb.sql, but for
-- -        "quasi_1", "quasi_2", "quasi_3",
-- +        "quasi_1", "quasi_2", "code_1", "code_2",
-- -    "quasi_1", "quasi_2", "quasi_3",
-- +    "quasi_1", "quasi_2", "code_1", "code_2",

-- positioned: as in duckdb.sql, but for
-- -    ordered."quasi_1", ordered."quasi_2", ordered."quasi_3",
-- +    ordered."quasi_1", ordered."quasi_2", ordered."code_1", ordered."code_2",

-- block: as in duckdb.sql

-- numbered: as in duckdb.sql, but for
-- -        positioned."quasi_1", positioned."quasi_2", positioned."quasi_3",
-- +        positioned."quasi_1", positioned."quasi_2", positioned."code_1", positioned."code_2",
-- -    bucketed."quasi_1", bucketed."quasi_2", bucketed."quasi_3",
-- +    bucketed."quasi_1", bucketed."quasi_2", bucketed."code_1", bucketed."code_2",

-- grouped: step 5: every row with its group, its number in the block mod the groups of the block, made global
create temporary table "sqlanon_grouped" as
select
    "quasi_1", "quasi_2", "code_1", "code_2",
    code,
    block,
    number,
    (numbered.number % numbered.block_groups) * numbered.block_count + numbered.block as group_id
from "sqlanon_numbered" as numbered;

-- seated: everybody by the seat that was dealt
create temporary view "sqlanon_seated" as
select
    "quasi_1", "quasi_2", "code_1", "code_2",
    cast(block as bigint) * 4294967296 + number as seat,
    code,
    group_id
from "sqlanon_grouped";

-- party: every group, and its class
create temporary table "sqlanon_party" as
with last_group as (
    select max(group_id) as group_id
    from "sqlanon_seated"
)
select unnest(generate_series(0, group_id)) as group_id, 0 as class
from last_group;

-- clash: the groups in which a value is held more than once, and how many times too often
create temporary table "sqlanon_clash" as
with held as (
    select seat, group_id, "code_1" as held_code
    from "sqlanon_seated"
    union all
    select seat, group_id, "code_2" as held_code
    from "sqlanon_seated"
),
shared as (
    select group_id, held_code, count(*) - 1 as excess
    from held
    group by group_id, held_code
    having count(*) > 1
)
select group_id, cast(sum(excess) as bigint) as clashes
from shared
group by group_id;

-- moved: who is no longer in the group that was dealt: nobody yet
create temporary table "sqlanon_moved" as
select seat, group_id
from "sqlanon_seated"
where false;

-- exchange: turn 1 of 1

-- offer: every group that clashes asks several that do not, the fewer there are that ask, the more each asks
create temporary table "sqlanon_offer" as
with asking as (
    select
        clash.group_id,
        clash.clashes,
        party.class,
        row_number() over (partition by party.class order by ((clash.group_id + 1) % 2147483647) * (48271 + 69621 * 0) % 2147483647 asc nulls last, clash.group_id asc nulls last) - 1 as number
    from "sqlanon_clash" as clash
    inner join "sqlanon_party" as party on clash.group_id = party.group_id
),
counted as (
    select class, count(*) as askers
    from asking
    group by class
),
asked as (
    select
        party.group_id,
        party.class,
        counted.askers,
        row_number() over (partition by party.class order by ((party.group_id + 1) % 2147483647) * (48271 + 69621 * 0) % 2147483647 asc nulls last, party.group_id asc nulls last) - 1 as number
    from "sqlanon_party" as party
    inner join counted on party.class = counted.class
    left join "sqlanon_clash" as clash on party.group_id = clash.group_id
    where clash.group_id is null
),
paired as (
    select group_id, class, number % askers as asker, number // askers as round
    from asked
    where number < greatest(2 * askers, 4096)
)
select
    paired.group_id as other_id,
    asking.group_id as first_id,
    asking.clashes,
    paired.round
from paired
inner join asking on paired.class = asking.class and paired.asker = asking.number;

-- near: the people of these groups, a row a value
create temporary table "sqlanon_near" as
with concerned as (
    select first_id as group_id from "sqlanon_offer"
    union
    select other_id as group_id from "sqlanon_offer"
),
present as (
    select
        seated."code_1", seated."code_2",

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

-- exchange: of a group that clashes its people who share a value, in turn, each for anybody of another group
create temporary table "sqlanon_exchange" as
with twice as (
    select near.group_id, near.held_code
    from "sqlanon_near" as near
    inner join "sqlanon_clash" as clash on near.group_id = clash.group_id
    group by near.group_id, near.held_code
    having count(*) > 1
),
sharing as (
    select near.group_id, near.seat, count(*) as shared
    from "sqlanon_near" as near
    inner join twice on near.group_id = twice.group_id and near.held_code = twice.held_code
    group by near.group_id, near.seat
),
asking as (
    select
        sharing.*,
        row_number() over (partition by group_id order by ((seat + 1) % 2147483647) * (48271 + 69621 * 0) % 2147483647 asc nulls last, seat asc nulls last) - 1 as place,
        count(*) over (partition by group_id) as people
    from sharing
),
called as (
    select group_id, min(((seat + 1) % 2147483647) * (48271 + 69621 * 0) % 2147483647) as draw
    from "sqlanon_near"
    group by group_id
),
answering as (
    select near.group_id, min(near.seat) as seat
    from "sqlanon_near" as near
    inner join called on near.group_id = called.group_id and ((near.seat + 1) % 2147483647) * (48271 + 69621 * 0) % 2147483647 = called.draw
    group by near.group_id
)
select
    offer.*,
    asking.seat as first_seat,
    asking.shared,
    answering.seat as other_seat
from "sqlanon_offer" as offer
inner join asking on offer.first_id = asking.group_id and asking.place = offer.round % asking.people
inner join answering on offer.other_id = answering.group_id;

-- outcome: the best exchange of each group, if it leaves no more clashes than before
create temporary table "sqlanon_outcome" as
with brought as (
    select exchange.other_id as offer, exchange.other_id as group_id, exchange.other_seat as leaving, near.held_code
    from "sqlanon_exchange" as exchange
    inner join "sqlanon_near" as near on exchange.first_seat = near.seat
    union all
    select exchange.other_id as offer, exchange.first_id as group_id, exchange.first_seat as leaving, near.held_code
    from "sqlanon_exchange" as exchange
    inner join "sqlanon_near" as near on exchange.other_seat = near.seat
),
met as (
    select distinct brought.offer, brought.group_id, brought.held_code
    from brought
    inner join "sqlanon_near" as near on brought.group_id = near.group_id and brought.held_code = near.held_code
    where near.seat <> brought.leaving
),
counted as (
    select offer, group_id, count(*) as clashes
    from met
    group by offer, group_id
),
judged as (
    select
        exchange.*,
        exchange.clashes - exchange.shared + coalesce(own.clashes, 0) as first_clashes,
        coalesce(others.clashes, 0) as other_clashes
    from "sqlanon_exchange" as exchange
    left join counted as own on exchange.other_id = own.offer and exchange.first_id = own.group_id
    left join counted as others on exchange.other_id = others.offer and exchange.other_id = others.group_id
),
preferred as (
    select
        judged.*,
        row_number() over (partition by first_id order by first_clashes + other_clashes asc nulls last, ((other_id + 1) % 2147483647) * (48271 + 69621 * 0) % 2147483647 asc nulls last, other_id asc nulls last) as preference
    from judged
    where first_clashes + other_clashes <= clashes
)
select *
from preferred
where preference = 1;

-- moved: who is elsewhere after these exchanges
create temporary table "sqlanon_moved_next" as
with exchanged as (
    select first_seat as seat, other_id as group_id from "sqlanon_outcome"
    union all
    select other_seat as seat, first_id as group_id from "sqlanon_outcome"
),
later as (
    select moved.seat, moved.group_id
    from "sqlanon_moved" as moved
    left join exchanged on moved.seat = exchanged.seat
    where exchanged.seat is null
    union all
    select seat, group_id
    from exchanged
)
select *
from later;

drop table "sqlanon_moved";

-- exchange
create temporary table "sqlanon_moved" as
select * from "sqlanon_moved_next";

-- clash: the groups that clash now
create temporary table "sqlanon_clash_next" as
with judged as (
    select clash.group_id, coalesce(outcome.first_clashes, clash.clashes) as clashes
    from "sqlanon_clash" as clash
    left join "sqlanon_outcome" as outcome on clash.group_id = outcome.first_id
    union all
    select other_id as group_id, other_clashes as clashes
    from "sqlanon_outcome"
)
select *
from judged
where clashes > 0;

drop table "sqlanon_clash";

-- exchange
create temporary table "sqlanon_clash" as
select * from "sqlanon_clash_next";

drop table "sqlanon_clash_next";

drop table "sqlanon_moved_next";

drop table "sqlanon_outcome";

drop table "sqlanon_exchange";

drop table "sqlanon_near";

drop table "sqlanon_offer";

-- crowded: the people of groups that still clash, a row a value
create temporary table "sqlanon_crowded" as
with present as (
    select
        seated."code_1", seated."code_2",

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

-- staying: those of them who stay: all, so far
create temporary table "sqlanon_staying" as
select *
from "sqlanon_crowded";

-- leaving: turn 1 of 1

-- staying: of each group whoever shares most values leaves
create temporary table "sqlanon_staying_next" as
with counted as (
    select
        staying.*,
        count(*) over (partition by group_id, held_code) - 1 as others
    from "sqlanon_staying" as staying
),
person as (
    select group_id, seat, sum(others) as shared
    from counted
    group by group_id, seat
),
ranked as (
    select person.*, row_number() over (partition by group_id order by shared desc nulls last, seat asc nulls last) as place
    from person
)
select staying.*
from "sqlanon_staying" as staying
inner join ranked on staying.seat = ranked.seat
where ranked.place > 1 or ranked.shared = 0;

drop table "sqlanon_staying";

-- leaving
create temporary table "sqlanon_staying" as
select * from "sqlanon_staying_next";

drop table "sqlanon_staying_next";

-- gone: groups that are too small without those who left: all of such a group leave
create temporary table "sqlanon_gone" as
with counted as (
    select group_id, count(distinct seat) as people
    from "sqlanon_staying"
    group by group_id
)
select distinct crowded.group_id
from "sqlanon_crowded" as crowded
left join counted on crowded.group_id = counted.group_id
where coalesce(counted.people, 0) < 4;

-- renamed: the last groups take the numbers of those that left, so that no gap tells of one
create temporary table "sqlanon_renamed" as
with kept as (
    select (select count(*) from "sqlanon_party") - (select count(*) from "sqlanon_gone") as group_count
),
gap as (
    select gone.group_id as final_id, row_number() over (order by gone.group_id asc nulls last) as place
    from "sqlanon_gone" as gone
    cross join kept
    where gone.group_id < kept.group_count
),
beyond as (
    select party.group_id, row_number() over (order by party.group_id asc nulls last) as place
    from "sqlanon_party" as party
    cross join kept
    left join "sqlanon_gone" as gone on party.group_id = gone.group_id
    where party.group_id >= kept.group_count and gone.group_id is null
)
select beyond.group_id, gap.final_id
from beyond
inner join gap on beyond.place = gap.place;

-- left_out: whoever finds no group
create temporary table "sqlanon_left_out" as
select distinct crowded.seat
from "sqlanon_crowded" as crowded
left join "sqlanon_staying" as staying on crowded.seat = staying.seat
left join "sqlanon_gone" as gone on crowded.group_id = gone.group_id
where staying.seat is null or gone.group_id is not null;

-- grouped: everybody who is kept, with the group
create temporary table "sqlanon_grouped_2" as
select
    seated."quasi_1", seated."quasi_2", seated."code_1", seated."code_2",
    seated.code,
    coalesce(renamed.final_id, moved.group_id, seated.group_id) as group_id
from "sqlanon_seated" as seated
left join "sqlanon_moved" as moved on seated.seat = moved.seat
left join "sqlanon_renamed" as renamed on coalesce(moved.group_id, seated.group_id) = renamed.group_id
left join "sqlanon_left_out" as left_out on seated.seat = left_out.seat
where left_out.seat is null;

-- suppressed: no more are left out than may be
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select refusal from (
        with figures as (
            select
                everyone.row_count,
                everyone.row_count - (select count(*) from "sqlanon_grouped_2") as dropped_rows
            from "sqlanon_everyone" as everyone
        )
        select
            dropped_rows,
            'l' as about,
            case
                when row_count = dropped_rows then
                    'l = 4 is not possible: there are no groups whose rows differ in every one of ''disease'' and ''income''; frequent values of these columns go together'
                when dropped_rows * 1000000 > row_count * 5000 then
                    'l = 4 is not possible: ' || coalesce(format('{:,}', dropped_rows), '') || ' of ' || coalesce(format('{:,}', row_count), '') || ' rows (' || coalesce(format('{:.2f}%', 100.0 * dropped_rows / row_count), '') || ') find no group in which they differ in every one of ''disease'' and ''income'', and --max-suppressed allows 0.5%; frequent values of these columns go together; --max-suppressed ' || coalesce(cast(cast(cast(cast((0 - floor(0 - 1000000.0 * dropped_rows / row_count)) / 1000000.0 as decimal(18, 6)) as double) as varchar) as varchar), '') || ' leaves these rows out, and a smaller l may leave fewer'
            end as refusal
        from figures
    ) as looked_at
) as checked;

-- qit: the quasi-identifier table: everybody's exact quasi values and the group
create table "sqlanon_qit" as
select
    grouped.quasi_1 as "age",
    grouped.quasi_2 as "sex",
    grouped.group_id as "group_id"
from "sqlanon_grouped_2" as grouped
order by
    grouped.quasi_1 asc nulls last,
    grouped.quasi_2 asc nulls last,
    grouped.group_id asc nulls last;

-- st: the sensitive table of a column: each group's values, each of which stands in a group once
create table "sqlanon_st" as
with line as (
    select
        grouped.group_id,
        held.sensitive
    from "sqlanon_grouped_2" as grouped
    inner join "sqlanon_value_1" as held on grouped.code_1 = held.code
    order by
        grouped.group_id asc nulls last,
        held.sensitive asc nulls last
)
select
    line.group_id as "group_id",
    line.sensitive as "disease",
    cast(1 as bigint) as "count"
from line;

-- st_2: the sensitive table of a column: each group's values, each of which stands in a group once
create table "sqlanon_st_2" as
with line as (
    select
        grouped.group_id,
        held.sensitive
    from "sqlanon_grouped_2" as grouped
    inner join "sqlanon_value_2" as held on grouped.code_2 = held.code
    order by
        grouped.group_id asc nulls last,
        held.sensitive asc nulls last
)
select
    line.group_id as "group_id",
    line.sensitive as "income",
    cast(1 as bigint) as "count"
from line;

-- the rest is microdata and the key: forget it
-- 36 relations, the last first

commit;
