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

-- limits: What decides whether groups of l rows can differ in each of several columns: N, the NULLs, and the most frequent value of all columns, place is the number of its column (from 0), null_place that of the first column with NULLs
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select
        case
            when null_count > 0 then 'rows have no value in a sensitive column'
            when row_count = 0 then 'the source has no rows to publish'
            when row_count < 4 then 'l = 4 needs at least 4 rows'
            when largest_count > row_count // 4 then 'l = 4 is not possible: a value of a sensitive column stands in more than 1/4 of the rows'
        end as refusal
    from (
        with counted as (
            select
                0 as place,
                cast("sensitive" as varchar) as shown,
                case when "sensitive" is null and not false then 1 else 0 end as is_missing,
                count(*) as row_count
            from "sqlanon_population"
            group by "sensitive"
            union all
            select
                1 as place,
                cast("sensitive_2" as varchar) as shown,
                case when "sensitive_2" is null and not false then 1 else 0 end as is_missing,
                count(*) as row_count
            from "sqlanon_population"
            group by "sensitive_2"
        ),
        ranked as (
            select
                counted.*,
                row_number() over (order by is_missing asc nulls last, row_count desc nulls last, place asc nulls last, shown asc nulls last) as value_rank,
                row_number() over (order by is_missing desc nulls last, place asc nulls last) as null_rank
            from counted
        )
        select
            coalesce(cast(sum(case when place = 0 then row_count else 0 end) as bigint), 0) as row_count,
            coalesce(max(case when null_rank = 1 then is_missing * row_count end), 0) as null_count,
            coalesce(max(case when null_rank = 1 then place end), 0) as null_place,
            coalesce(max(case when value_rank = 1 then place end), 0) as place,
            coalesce(max(case when value_rank = 1 then (1 - is_missing) * row_count end), 0) as largest_count,
            max(case when value_rank = 1 then shown end) as largest_value
        from ranked
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

-- value_1: the values of a column by falling count, equal counts in keyed order
create temporary table "sqlanon_value_1" as
with counted as (
    select
        "sensitive" as sensitive,
        count(*) as row_count
    from "sqlanon_population_2"
    group by "sensitive"
),
hashed as (
    select
        counted.*,
        sha256(key.secret || 'anatomy/disease/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from counted
    cross join "sqlanon_key_2" as key
)
select
    sensitive,
    row_count,
    cast(row_number() over (order by row_count desc nulls last, hash asc nulls last) - 1 as integer) as code
from hashed;

-- value_2: the values of a column by falling count, equal counts in keyed order
create temporary table "sqlanon_value_2" as
with counted as (
    select
        "sensitive_2" as sensitive,
        count(*) as row_count
    from "sqlanon_population_2"
    group by "sensitive_2"
),
hashed as (
    select
        counted.*,
        sha256(key.secret || 'anatomy/income/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from counted
    cross join "sqlanon_key_2" as key
)
select
    sensitive,
    row_count,
    cast(row_number() over (order by row_count desc nulls last, hash asc nulls last) - 1 as integer) as code
from hashed;

-- foremost: the column by which rows are seated, from 1
create temporary table "sqlanon_foremost" as
with counted as (
    select
        1 as place,
        max(row_count) as row_count
    from "sqlanon_value_1"
    union all
    select
        2 as place,
        max(row_count) as row_count
    from "sqlanon_value_2"
),
ranked as (
    select
        place,
        row_number() over (order by row_count desc nulls last, place asc nulls last) as precedence
    from counted
)
select place
from ranked
where precedence = 1;

-- population: the rows with the codes of their values
create temporary view "sqlanon_population_3" as
select
    population."quasi_1", population."quasi_2", population."identity",
    value_1.code as code_1,
    value_2.code as code_2,
    case foremost.place
        when 1 then value_1.code
        when 2 then value_2.code
    end as sensitive
from "sqlanon_population_2" as population
inner join "sqlanon_value_1" as value_1
    on population."sensitive" is not distinct from value_1.sensitive
inner join "sqlanon_value_2" as value_2
    on population."sensitive_2" is not distinct from value_2.sensitive
cross join "sqlanon_foremost" as foremost;

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

-- blocks: The blocks: how many rows each holds, and the blocks of its class, among which rows may change places
create temporary table "sqlanon_blocks" as
select
    block.block,
    max(block.block_rows) as block_rows,
    max(frequency.first_block) as first_block,
    max(frequency.block_count) as block_count
from "sqlanon_block" as block
inner join "sqlanon_frequency" as frequency on block.code = frequency.code
group by block.block;

-- clashing: The rows of groups in which a value stands twice, each with its place among those that share a value with it: who has the first place stays, the others stand
create temporary table "sqlanon_clashing" as
with concerned as (
    select seated.group_id
    from "sqlanon_grouped" as seated
    cross join "sqlanon_foremost" as foremost
    where foremost.place <> 1
    group by seated.group_id, seated."code_1"
    having count(*) > 1
    union all
    select seated.group_id
    from "sqlanon_grouped" as seated
    cross join "sqlanon_foremost" as foremost
    where foremost.place <> 2
    group by seated.group_id, seated."code_2"
    having count(*) > 1
),
crowded as (
    select distinct group_id
    from concerned
),
member as (
    select
        seated.block,
        seated.number,
        seated."code",
        seated."code_1",
        seated."code_2",
        seated.group_id
    from "sqlanon_grouped" as seated
    inner join crowded on seated.group_id = crowded.group_id
)
select
    member.block,
    member.number,
    member."code",
    member."code_1",
    member."code_2",
    member.group_id,
    0 as is_moved,
    0 as turn,
    greatest(
            row_number() over (partition by member.group_id, member."code_1" order by member.block asc nulls last, member.number asc nulls last),
            row_number() over (partition by member.group_id, member."code_2" order by member.block asc nulls last, member.number asc nulls last),
            1
        ) as place
from member;

-- rotation: turn 1 of 1

-- rotated: A turn: every row that stands takes the seat of the next one that does and has the value by which both are seated, in an order that is another in each turn, and is looked at there
create temporary table "sqlanon_rotated" as
with waiting as (
    select
        clashing.block,
        clashing.number,
        blocks.first_block,
        clashing."code" as seated_by,
        clashing.group_id,
        ((clashing.block * 1000003 + clashing.number + 1) % 2147483647) * (48271 + 69621 * clashing.turn) % 2147483647 as draw
    from "sqlanon_clashing" as clashing
    inner join "sqlanon_blocks" as blocks on clashing.block = blocks.block
    where clashing.place > 1
),
lined_up as (
    select
        waiting.*,
        row_number() over (partition by first_block, seated_by order by draw asc nulls last, block asc nulls last, number asc nulls last) as place,
        count(*) over (partition by first_block, seated_by) as row_count
    from waiting
),
called as (
    select
        lined_up.block,
        lined_up.number,
        follower.group_id
    from lined_up
    inner join lined_up as follower
        on lined_up.first_block = follower.first_block
        and lined_up.seated_by = follower.seated_by
        and lined_up.place % lined_up.row_count + 1 = follower.place
),
moved as (
    select
        clashing.block,
        clashing.number,
        clashing."code",
        clashing."code_1",
        clashing."code_2",
        coalesce(called.group_id, clashing.group_id) as group_id,
        case when called.group_id is null then clashing.is_moved else 1 end as is_moved,
        clashing.turn + 1 as turn
    from "sqlanon_clashing" as clashing
    left join called on clashing.block = called.block and clashing.number = called.number
),
placed as (
    select
        moved.*,
        greatest(
            row_number() over (partition by moved.group_id, moved."code_1" order by moved.block asc nulls last, moved.number asc nulls last),
            row_number() over (partition by moved.group_id, moved."code_2" order by moved.block asc nulls last, moved.number asc nulls last),
            1
        ) as place
    from moved
),
judged as (
    select
        placed.*,
        max(place) over (partition by group_id) as last_place
    from placed
)
select
    block,
    number,
    "code",
    "code_1",
    "code_2",
    group_id,
    is_moved,
    turn,
    place
from judged
where last_place > 1 or is_moved = 1;

drop table "sqlanon_clashing";

-- rotation
create temporary table "sqlanon_clashing" as
select * from "sqlanon_rotated";

drop table "sqlanon_rotated";

-- exchange_places: turn 1 of 1

-- offered: For every row that still stands some seats, anywhere in its class, whose rows it may ask to change places: as many as the turn asks, more when fewer rows stand
create temporary table "sqlanon_offered" as
with ahead as (
    select 0 as place
    union all
    select 1 as place
    union all
    select 2 as place
    union all
    select 3 as place
    union all
    select 4 as place
    union all
    select 5 as place
    union all
    select 6 as place
    union all
    select 7 as place
    union all
    select 8 as place
    union all
    select 9 as place
    union all
    select 10 as place
    union all
    select 11 as place
    union all
    select 12 as place
    union all
    select 13 as place
    union all
    select 14 as place
    union all
    select 15 as place
    union all
    select 16 as place
    union all
    select 17 as place
    union all
    select 18 as place
    union all
    select 19 as place
    union all
    select 20 as place
    union all
    select 21 as place
    union all
    select 22 as place
    union all
    select 23 as place
    union all
    select 24 as place
    union all
    select 25 as place
    union all
    select 26 as place
    union all
    select 27 as place
    union all
    select 28 as place
    union all
    select 29 as place
    union all
    select 30 as place
    union all
    select 31 as place
    union all
    select 32 as place
    union all
    select 33 as place
    union all
    select 34 as place
    union all
    select 35 as place
    union all
    select 36 as place
    union all
    select 37 as place
    union all
    select 38 as place
    union all
    select 39 as place
    union all
    select 40 as place
    union all
    select 41 as place
    union all
    select 42 as place
    union all
    select 43 as place
    union all
    select 44 as place
    union all
    select 45 as place
    union all
    select 46 as place
    union all
    select 47 as place
    union all
    select 48 as place
    union all
    select 49 as place
    union all
    select 50 as place
    union all
    select 51 as place
    union all
    select 52 as place
    union all
    select 53 as place
    union all
    select 54 as place
    union all
    select 55 as place
    union all
    select 56 as place
    union all
    select 57 as place
    union all
    select 58 as place
    union all
    select 59 as place
    union all
    select 60 as place
    union all
    select 61 as place
    union all
    select 62 as place
    union all
    select 63 as place
    union all
    select 64 as place
    union all
    select 65 as place
    union all
    select 66 as place
    union all
    select 67 as place
    union all
    select 68 as place
    union all
    select 69 as place
    union all
    select 70 as place
    union all
    select 71 as place
    union all
    select 72 as place
    union all
    select 73 as place
    union all
    select 74 as place
    union all
    select 75 as place
    union all
    select 76 as place
    union all
    select 77 as place
    union all
    select 78 as place
    union all
    select 79 as place
    union all
    select 80 as place
    union all
    select 81 as place
    union all
    select 82 as place
    union all
    select 83 as place
    union all
    select 84 as place
    union all
    select 85 as place
    union all
    select 86 as place
    union all
    select 87 as place
    union all
    select 88 as place
    union all
    select 89 as place
    union all
    select 90 as place
    union all
    select 91 as place
    union all
    select 92 as place
    union all
    select 93 as place
    union all
    select 94 as place
    union all
    select 95 as place
),
asking as (
    select
        clashing.block,
        clashing.number,
        blocks.block_count,
        blocks.first_block,
        ((clashing.block * 1000003 + clashing.number + 1) % 2147483647) * (48271 + 69621 * (clashing.turn * 128 + ahead.place)) % 2147483647 as draw
    from "sqlanon_clashing" as clashing
    inner join "sqlanon_blocks" as blocks on clashing.block = blocks.block
    inner join ahead on ahead.place < 8 * (clashing.turn - 3 + 1)
    where clashing.place > 1
),
called as (
    select
        block,
        number,
        first_block + draw % block_count as partner_block,
        draw
    from asking
)
select
    called.block,
    called.number,
    called.partner_block,
    (called.draw // 7) % blocks.block_rows as partner_number,
    called.draw as priority
from called
inner join "sqlanon_blocks" as blocks on called.partner_block = blocks.block;

-- near: All rows of the groups of rows that stand, and of those that they may ask
create temporary table "sqlanon_near" as
with present as (
    select
        seated.block,
        seated.number,
        seated."code",
        seated."code_1",
        seated."code_2",
        coalesce(clashing.group_id, seated.group_id) as group_id
    from "sqlanon_grouped" as seated
    left join "sqlanon_clashing" as clashing
        on seated.block = clashing.block and seated.number = clashing.number
),
asked as (
    select distinct
        partner_block,
        partner_number
    from "sqlanon_offered"
),
chosen as (
    select present.group_id
    from present
    inner join asked on present.block = asked.partner_block and present.number = asked.partner_number
    union
    select group_id
    from "sqlanon_clashing"
    where place > 1
)
select present.*
from present
inner join chosen on present.group_id = chosen.group_id;

-- proposed: Of the offers those in which neither row brings a value that the other's group has
create temporary table "sqlanon_proposed" as
with pair as (
    select
        offered.block,
        offered.number,
        offered.partner_block,
        offered.partner_number,
        asking.group_id,
        partner.group_id as partner_group,
        asking."code",
        partner."code" as "partner_code",
        asking."code_1",
        partner."code_1" as "partner_code_1",
        asking."code_2",
        partner."code_2" as "partner_code_2",
        offered.priority
    from "sqlanon_offered" as offered
    inner join "sqlanon_near" as asking on offered.block = asking.block and offered.number = asking.number
    inner join "sqlanon_near" as partner
        on offered.partner_block = partner.block and offered.partner_number = partner.number
    where asking.group_id <> partner.group_id
),
refused as (
    select
        pair.block,
        pair.number,
        pair.partner_block,
        pair.partner_number
    from pair
    inner join "sqlanon_near" as there on pair.partner_group = there.group_id
    where (pair.partner_block <> there.block or pair.partner_number <> there.number)
        and (pair."code" = there."code" or pair."code_1" = there."code_1" or pair."code_2" = there."code_2")
    union
    select
        pair.block,
        pair.number,
        pair.partner_block,
        pair.partner_number
    from pair
    inner join "sqlanon_near" as here on pair.group_id = here.group_id
    where (pair.block <> here.block or pair.number <> here.number)
        and (pair."partner_code" = here."code" or pair."partner_code_1" = here."code_1" or pair."partner_code_2" = here."code_2")
)
select
    pair.block,
    pair.number,
    pair.group_id,
    pair.partner_block,
    pair.partner_number,
    pair.partner_group,
    pair.priority
from pair
left join refused
    on pair.block = refused.block and pair.number = refused.number
    and pair.partner_block = refused.partner_block and pair.partner_number = refused.partner_number
where refused.number is null;

-- exchange: Of the proposals one for each row and at most one for each group, so that what was looked at is what happens
create temporary table "sqlanon_exchange" as
with preferred as (
    select
        proposed.*,
        row_number() over (
            partition by block, number order by priority asc nulls last, partner_block asc nulls last, partner_number asc nulls last
        ) as preference
    from "sqlanon_proposed" as proposed
),
chosen as (
    select *
    from preferred
    where preference = 1
),
side as (
    select
        block,
        number,
        priority,
        group_id as touched_group
    from chosen
    union all
    select
        block,
        number,
        priority,
        partner_group as touched_group
    from chosen
),
ranked as (
    select
        block,
        number,
        row_number() over (partition by touched_group order by priority asc nulls last, block asc nulls last, number asc nulls last) as place
    from side
),
judged as (
    select
        block,
        number,
        max(place) as worst_place
    from ranked
    group by block, number
),
won as (
    select
        block,
        number
    from judged
    where worst_place = 1
),
moved as (
    select
        chosen.block,
        chosen.number,
        chosen.partner_group as group_id
    from chosen
    inner join won on chosen.block = won.block and chosen.number = won.number
    union all
    select
        chosen.partner_block as block,
        chosen.partner_number as number,
        chosen.group_id
    from chosen
    inner join won on chosen.block = won.block and chosen.number = won.number
)
select *
from moved;

-- reseated: A turn's outcome: rows that changed places are in each other's groups
create temporary table "sqlanon_reseated" as
with moved as (
    select
        clashing.block,
        clashing.number,
        clashing."code",
        clashing."code_1",
        clashing."code_2",
        coalesce(exchange.group_id, clashing.group_id) as group_id,
        case when exchange.group_id is null then clashing.is_moved else 1 end as is_moved
    from "sqlanon_clashing" as clashing
    left join "sqlanon_exchange" as exchange
        on clashing.block = exchange.block and clashing.number = exchange.number
    union all
    select
        near.block,
        near.number,
        near."code",
        near."code_1",
        near."code_2",
        exchange.group_id,
        1 as is_moved
    from "sqlanon_near" as near
    inner join "sqlanon_exchange" as exchange
        on near.block = exchange.block and near.number = exchange.number
    left join "sqlanon_clashing" as clashing
        on near.block = clashing.block and near.number = clashing.number
    where clashing.number is null
),
placed as (
    select
        moved.*,
        greatest(
            row_number() over (partition by moved.group_id, moved."code" order by moved.block asc nulls last, moved.number asc nulls last),
            row_number() over (partition by moved.group_id, moved."code_1" order by moved.block asc nulls last, moved.number asc nulls last),
            row_number() over (partition by moved.group_id, moved."code_2" order by moved.block asc nulls last, moved.number asc nulls last),
            1
        ) as place
    from moved
),
judged as (
    select
        placed.*,
        max(place) over (partition by group_id) as last_place
    from placed
)
select
    judged.block,
    judged.number,
    judged."code",
    judged."code_1",
    judged."code_2",
    judged.group_id,
    judged.is_moved,
    taken.turn + 1 as turn,
    judged.place
from judged
cross join (select max(turn) as turn from "sqlanon_clashing") as taken
where judged.last_place > 1 or judged.is_moved = 1;

drop table "sqlanon_clashing";

-- exchange_places
create temporary table "sqlanon_clashing" as
select * from "sqlanon_reseated";

drop table "sqlanon_reseated";

drop table "sqlanon_exchange";

drop table "sqlanon_proposed";

drop table "sqlanon_near";

drop table "sqlanon_offered";

-- resettled: Rows that are elsewhere than they were seated, or nowhere: who still stands leaves the group, and a group that is then below l leaves whole
create temporary table "sqlanon_resettled" as
with counted as (
    select
        clashing.*,
        max(place) over (partition by group_id) as last_place,
        sum(case when place = 1 then 1 else 0 end) over (partition by group_id) as group_rows
    from "sqlanon_clashing" as clashing
)
select
    block,
    number,
    group_id,
    case when place > 1 or (last_place > 1 and group_rows < 4) then 1 else 0 end as is_out
from counted
where is_moved = 1 or last_place > 1;

-- renamed: The last groups take the numbers of those that left, so that no gap tells of one
create temporary table "sqlanon_renamed" as
with gone as (
    select group_id
    from "sqlanon_resettled"
    group by group_id
    having min(is_out) = 1
),
counted as (
    select count(*) as gone_count
    from gone
),
kept as (
    select max(seated.group_id) + 1 - max(counted.gone_count) as group_count
    from "sqlanon_grouped" as seated
    cross join counted
),
gap as (
    select
        gone.group_id as final_id,
        row_number() over (order by gone.group_id asc nulls last) as place
    from gone
    cross join kept
    where gone.group_id < kept.group_count
),
beyond as (
    select distinct seated.group_id
    from "sqlanon_grouped" as seated
    cross join kept
    left join gone on seated.group_id = gone.group_id
    where seated.group_id >= kept.group_count and gone.group_id is null
),
ordered as (
    select
        group_id,
        row_number() over (order by group_id asc nulls last) as place
    from beyond
)
select
    ordered.group_id,
    gap.final_id
from ordered
inner join gap on ordered.place = gap.place;

-- grouped_settled: The group of every row that is kept
create temporary table "sqlanon_grouped_settled" as
with present as (
    select
        seated."quasi_1",
        seated."quasi_2",
        seated."code_1",
        seated."code_2",
        coalesce(resettled.group_id, seated.group_id) as group_id
    from "sqlanon_grouped" as seated
    left join "sqlanon_resettled" as resettled
        on seated.block = resettled.block and seated.number = resettled.number
    where coalesce(resettled.is_out, 0) = 0
)
select
    present."quasi_1",
    present."quasi_2",
    present."code_1",
    present."code_2",
    coalesce(renamed.final_id, present.group_id) as group_id
from present
left join "sqlanon_renamed" as renamed on present.group_id = renamed.group_id;

-- suppressed: How many rows no group holds in the end
select case when refusal is not null then system.main.error(refusal) end as checked
from (
    select
        case
            when dropped_rows = row_count then 'the source has no rows to publish'
            when dropped_rows * 1000000 > row_count * 5000 then 'l = 4 is not possible: more rows than allowed find no group in which they differ from all others in every sensitive column'
        end as refusal
    from (
        with everyone as (
            select coalesce(cast(sum(row_count) as bigint), 0) as row_count
            from "sqlanon_tally"
        ),
        published as (
            select count(*) as row_count
            from "sqlanon_grouped_settled"
        )
        select
            everyone.row_count,
            everyone.row_count - published.row_count as dropped_rows
        from everyone
        cross join published
    ) as looked_at
) as checked;

-- qit: The quasi-identifier table (QIT): exact quasi values and the group, in an order that depends on nothing but what it shows
create table "sqlanon_qit" as
select
    grouped.quasi_1 as "age",
    grouped.quasi_2 as "sex",
    grouped.group_id as "group_id"
from "sqlanon_grouped_settled" as grouped
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
    from "sqlanon_grouped_settled" as grouped
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
    from "sqlanon_grouped_settled" as grouped
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
-- 26 relations, the last first

commit;
