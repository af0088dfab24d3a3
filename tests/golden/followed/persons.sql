-- pseudonym: every row under the name that the ledger has for its person, the first half of its row's hash; the other half, which is kept nowhere, hides a mark of the quasi values and one of those that groups have in common
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
from hashed

-- matched: whether each person's value is the published one, and the class that of the group; and whoever was published and is not in the source, so that the ledger is joined once
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
left join ledger.main.value as known_value on known_value.code = last_known.code

-- turnover: a source that nearly everybody has left is hardly the same source
with today as (
    select
        count(*) as row_count,
        count(case when before in ('present', 'stale') then 1 end) as still_here,
        count(case when before in ('present', 'stale') and same_value and same_class then 1 end) as stayed,
        count(case when before in ('departed', 'changed') and same_value and same_class then 1 end) as returned,
        count(case when before is null then 1 end) as arrived,
        count(case when before is not null and same_class and not same_value then 1 end) as changed,
        count(case when before is not null and not same_class then 1 end) as reclassed,
        count(case when before in ('present', 'stale') and mark <> known_mark then 1 end) as requalified
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
        today.*,
        earlier.published_before,
        earlier.published_before - today.still_here as left_source
    from today
    cross join earlier
)
select
    counted.*,
    'expect_departures' as about,
    case
        when not false and left_source > 0 and 10 * left_source >= 9 * published_before then
            coalesce(cast(left_source as varchar), '') || ' of the ' || coalesce(cast(published_before as varchar), '') || ' persons of the last release are not in the source (' || coalesce(format('{:.1f}%', 100.0 * left_source / published_before), '') || '): if this is the right source, say expect_departuresTrue'
    end as refusal
from counted

-- population: the rows of persons who were never published: they are grouped among themselves
select
    "quasi_1", "quasi_2", "quasi_3",
    sensitive,
    identity,
    person,
    mark,
    class_mark
from "sqlanon_matched"
where group_id is null and (sensitive is not null or true)

-- arrived: the same, under a name that stays
select *
from "sqlanon_population_3"
