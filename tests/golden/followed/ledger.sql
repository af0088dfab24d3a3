-- next_value: the sensitive values as the ledger numbers them: those of before keep their numbers, others follow
with unknown as (
    select distinct frequency.sensitive
    from "sqlanon_frequency" as frequency
    left join ledger.main.value as known_value on known_value.sensitive is not distinct from frequency.sensitive
    where known_value.code is null and frequency.kept_count > 0
),
taken as (
    select coalesce(max(code) + 1, 0) as first_code
    from ledger.main.value
)
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

-- entered: the rows that enter with this release: their groups are numbered after all that there ever were
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
cross join taken

-- shown_person: everybody whom this release shows, with today's quasi values: who stays in a group of before or comes back to it, and who enters; who is of another class than the group never stays
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
from shown

-- next_person: the ledger after this release: a line for every person ever published, whose group and value never change, with what has become of them: present, stale (shown with a value that changed since), changed (left for that) or departed
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
)
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

-- outcome: how many rows of the source this release shows, how many wait for others to form a group with, and how many it leaves out in all; how many whom releases have shown it does not show
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

-- line: the lines of ST: what everybody brought who was ever in a group that still shows somebody
with shown as (
    select distinct group_id
    from "sqlanon_shown_person"
)
select
    next_person.group_id,
    next_person.code
from "sqlanon_next_person" as next_person
inner join shown on shown.group_id = next_person.group_id
