-- source: as in duckdb.sql

-- population: as in duckdb.sql

-- nameless
select coalesce(sum(case when "identifier_1" is null then 1 else 0 end), 0) as nameless_rows
from "sqlanon_population";

-- persons
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
from person;

-- uniqueness
with combination as (
    select
        "quasi_1",
        "quasi_2",
        "quasi_3",
        count(*) as row_count
    from "sqlanon_population"
    group by
        "quasi_1",
        "quasi_2",
        "quasi_3"
),
total as (
    select
        coalesce(cast(sum(row_count) as bigint), 0) as row_count,
        coalesce(cast(sum(case when "quasi_1" is null then 0 else row_count end) as bigint), 0) as known_1,
        coalesce(cast(sum(case when "quasi_2" is null then 0 else row_count end) as bigint), 0) as known_2,
        coalesce(cast(sum(case when "quasi_3" is null then 0 else row_count end) as bigint), 0) as known_3,
        coalesce(cast(sum(case when row_count = 1 then 1 else 0 end) as bigint), 0) as unique_rows
    from combination
),
counted as (
    select
        count(distinct combination."quasi_1") as distinct_1,
        count(distinct combination."quasi_2") as distinct_2,
        count(distinct combination."quasi_3") as distinct_3,
        count(*) as combination_count
    from combination
    cross join total
    where
        combination.row_count > 0 and (
            false
            or (total.known_1 > 1 and 5 * total.unique_rows >= 4 * total.known_1)
            or (total.known_2 > 1 and 5 * total.unique_rows >= 4 * total.known_2)
            or (total.known_3 > 1 and 5 * total.unique_rows >= 4 * total.known_3)
        )
)
select
    total.row_count,
    total.known_1,
    counted.distinct_1,
    total.known_2,
    counted.distinct_2,
    total.known_3,
    counted.distinct_3,
    total.unique_rows
from total
cross join counted;

-- identified: as in duckdb.sql

-- met
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

-- matched
with last_known as (
    select *
    from ledger.main.person
    where standing <> 'moved'
)
select
    met."quasi_1",
    met."quasi_2",
    met."quasi_3",
    met.sensitive,
    case when last_known.person is null or not (met.sensitive is not distinct from known_value.sensitive) then met.identity end as identity,
    coalesce(met.person, last_known.person) as person,
    met.mark,
    met.class_mark,
    last_known.mark as known_mark,
    last_known.group_id,
    last_known.published,
    last_known.code,
    last_known.entered,
    last_known.class_mark as known_class,
    last_known.moves as known_moves,
    met.person is not null as is_here,
    last_known.standing as before,
    met.sensitive is not distinct from known_value.sensitive as same_value,
    met.class_mark is not distinct from last_known.class_mark as same_class
from "sqlanon_met" as met
full join last_known on last_known.person = met.person
left join ledger.main.value as known_value on known_value.code = last_known.code;

-- turnover
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

-- mover
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

-- called_mover
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

-- arrived
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

-- wave
with pooled as (
    select
        '' as pool,
        sensitive,
moves as moves
    from "sqlanon_arrived"
),
tallied as (
    select
        pool,
        sensitive,
        count(*) as row_count,
        cast(sum(moves) as bigint) as mover_count
    from pooled
    group by pool, sensitive
),
gathered as (
    select
        pool,
        cast(sum(row_count) as bigint) as row_count,
        cast(sum(row_count - mover_count) as bigint) // 6 as group_count,
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
    cross join "sqlanon_key" as key
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

-- gathering
select
    coalesce(cast(sum(row_count) as bigint), 0) as gathered_rows,
    coalesce(cast(sum(case when is_called then 0 else row_count end) as bigint), 0) as waiting_rows,
    coalesce(cast(sum(case when is_enough and not is_called then row_count else 0 end) as bigint), 0) as put_off,
    coalesce(min(case when is_enough then null when failing < 1 then failing else 1 end), 0) as failing
from "sqlanon_wave";

-- called
select
    arrived."quasi_1",
    arrived."quasi_2",
    arrived."quasi_3",
    arrived."sensitive",
    arrived."identity",
    arrived."person",
    arrived."mark",
    arrived."class_mark",
    arrived."moves"
from "sqlanon_arrived" as arrived
cross join "sqlanon_wave" as wave
where wave.is_called;

-- tally
select
    sensitive,
    count(*) as row_count,
    count(*) - cast(sum(moves) as bigint) as new_count
from "sqlanon_called"
group by sensitive;

-- drawn
with row_key as (
    select substr(sha256(key.secret || 'anatomy/disease/release 2/row/'), 1, 40) as secret
    from "sqlanon_key" as key
),
hashed as (
    select
        identified."quasi_1",
        identified."quasi_2",
        identified."quasi_3",
        identified."person",
        identified."mark",
        identified."class_mark",
        identified."moves",
        identified."sensitive",
        sha256(row_key.secret || identified.identity) as hash
    from "sqlanon_called" as identified
    cross join row_key
)
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "person",
    "mark",
    "class_mark",
    "moves",
    "sensitive",
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "tie"
from hashed;

-- frequency
with valued as (
    select
        tally.sensitive,
        tally.row_count,
        tally.new_count as new_count,
        sha256(key.secret || 'anatomy/disease/release 2/value/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_tally" as tally
    cross join "sqlanon_key" as key
    where tally.sensitive is not null or true
),
ordered as (
    select
        sensitive,
        row_count,
        row_number() over (order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over () as bigint) as total_count,
        cast(sum(new_count) over () as bigint) as new_rows,
        cast(sum(row_count) over (order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) - row_count as larger_count
    from valued
),
fitting as (
    select
        case
            when count(*) = 6
                then least(
                    max(new_rows) // 6,
                    min((total_count - larger_count) // (6 - place))
                )
            else 0
        end as group_count
    from ordered
    where place < 6
),
cut as (
    select
        ordered.sensitive,
        ordered.place,
        least(ordered.row_count, fitting.group_count) as kept_count,
        greatest(1, fitting.group_count) as group_count
    from ordered
    cross join fitting
)
select
    sensitive,
    cast(place as integer) as code,
    kept_count,
    cast(sum(kept_count) over (order by place asc nulls last rows unbounded preceding) as bigint) - kept_count as first_position,
    group_count,
    greatest(1, group_count // 64) as block_count,
    0 as first_block
from cut;

-- coded
select
    valued."quasi_1",
    valued."quasi_2",
    valued."quasi_3",
    valued."person",
    valued."mark",
    valued."class_mark",
    valued."moves",
    valued."draw",
    valued."tie",
    frequency.code
from "sqlanon_drawn" as valued
inner join "sqlanon_frequency" as frequency
    on valued.sensitive is not distinct from frequency.sensitive;

-- ordered
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "person",
    "mark",
    "class_mark",
    "moves",
    code
from "sqlanon_coded"
order by
    code asc nulls last,
    draw asc nulls last,
    "tie" asc nulls last;

-- first_row
select
    code,
    min(rowid) as first_row
from "sqlanon_ordered"
group by code;

-- positioned
with ranked as (
    select
        ordered."quasi_1",
        ordered."quasi_2",
        ordered."quasi_3",
        ordered."person",
        ordered."mark",
        ordered."class_mark",
        ordered."moves",
        ordered.code,
        ordered.rowid - first_row.first_row as value_rank
    from "sqlanon_ordered" as ordered
    inner join "sqlanon_first_row" as first_row on ordered.code = first_row.code
),
bucketed as (
    select
        ranked."quasi_1",
        ranked."quasi_2",
        ranked."quasi_3",
        ranked."person",
        ranked."mark",
        ranked."class_mark",
        ranked."moves",
        frequency.code,
        frequency.block_count,
        frequency.first_block,
        (frequency.first_position + ranked.value_rank) % frequency.group_count as bucket
    from ranked
    inner join "sqlanon_frequency" as frequency on ranked.code = frequency.code
    where ranked.value_rank < frequency.kept_count
)
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "person",
    "mark",
    "class_mark",
    "moves",
    code,
    first_block + bucket % block_count as block,
    bucket // block_count as seat
from bucketed;

-- block
with counted as (
    select
        code,
        block,
        count(*) as row_count
    from "sqlanon_positioned"
    group by code, block
),
hashed as (
    select
        counted.code,
        counted.block,
        counted.row_count,
        frequency.block_count,
        (frequency.group_count + frequency.block_count - 1 - (counted.block - frequency.first_block))
            // frequency.block_count as block_groups,
        (frequency.first_position % frequency.group_count + frequency.block_count - 1
            - (counted.block - frequency.first_block)) // frequency.block_count as first_seat,
        cast('0x' || substr(sha256(key.secret || 'anatomy/disease/release 2/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
    from counted
    inner join "sqlanon_frequency" as frequency on counted.code = frequency.code
    cross join "sqlanon_key" as key
)
select
    code,
    block,
    first_seat,
    block_groups,
    block_count,
    cast(sum(row_count) over (partition by block) as bigint) as block_rows,
    cast(sum(row_count) over (partition by block order by draw asc nulls last, code asc nulls last rows unbounded preceding) as bigint) - row_count as first_number
from hashed;

-- numbered
select
    positioned."quasi_1",
    positioned."quasi_2",
    positioned."quasi_3",
    positioned."person",
    positioned."mark",
    positioned."class_mark",
    positioned."moves",
    positioned.code,
    positioned.block,
    block.block_count,
    block.block_groups,
    block.block_rows,
    block.first_number
    + (positioned.seat + block.block_groups - block.first_seat % block.block_groups) % block.block_groups as number
from "sqlanon_positioned" as positioned
inner join "sqlanon_block" as block
    on positioned.block = block.block and positioned.code = block.code;

-- grouped
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "person",
    "mark",
    "class_mark",
    "moves",
    code,
    (number % block_groups) * block_count + block as group_id
from "sqlanon_numbered";

-- grouped_apart
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

-- next_value
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

-- entered
with taken as (
    select coalesce(max(group_id) + 1, 0) as first_group
    from ledger.main.person
)
select
    grouped."quasi_1",
    grouped."quasi_2",
    grouped."quasi_3",
    grouped.person,
    grouped.mark,
    grouped.class_mark,
    grouped.group_id + taken.first_group as group_id,
    next_value.code,
    cast(null as bigint) as published,
    cast(grouped.moves as bigint) as moves
from "sqlanon_grouped_apart" as grouped
inner join "sqlanon_frequency" as frequency on frequency.code = grouped.code
inner join "sqlanon_next_value" as next_value on next_value.sensitive is not distinct from frequency.sensitive
cross join taken;

-- settled
with shown as (
    select
        "quasi_1",
        "quasi_2",
        "quasi_3",
        group_id
    from "sqlanon_matched"
    where is_here and group_id is not null and same_class and (same_value or false)
    union all
    select
        "quasi_1",
        "quasi_2",
        "quasi_3",
        group_id
    from "sqlanon_entered"
)
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    group_id
from shown;

-- next_person
with mover as (
    select person
    from "sqlanon_entered"
    where moves > 0
),
registered as (
    select
        matched.person,
        matched.group_id,
        matched.code,
        matched.entered,
        case
            when not matched.is_here then 'departed'
            when mover.person is not null then 'moved'
            when matched.same_class and matched.same_value then 'present'
            when matched.same_class and false then 'stale'
            else 'changed'
        end as standing,
        coalesce(matched.mark, matched.known_mark) as mark,
        matched.known_class as class_mark,
        matched.published,
        matched.known_moves + case when mover.person is null then 0 else 1 end as moves
    from "sqlanon_matched" as matched
    left join mover on mover.person = matched.person
    where matched.group_id is not null
    union all
    select
        person,
        group_id,
        code,
        entered,
        standing,
        mark,
        class_mark,
        published,
        moves
    from ledger.main.person
    where standing = 'moved'
    union all
    select
        person,
        group_id,
        code,
        cast(2 as bigint) as entered,
        'present' as standing,
        mark,
        class_mark,
        published,
        moves
    from "sqlanon_entered"
)
select
    person,
    group_id,
    code,
    entered,
    standing,
    mark,
    class_mark,
    published,
    moves
from registered;

-- outcome
select
    (select count(*) from "sqlanon_matched" where is_here) as row_count,
    (select count(*) from "sqlanon_settled") as shown,
    (select count(*) from "sqlanon_arrived") - (select count(*) from "sqlanon_entered") as waiting,
    (select count(*) from "sqlanon_matched" where is_here) - (select count(*) from "sqlanon_settled") as withheld,
    (select count(*) from "sqlanon_entered" where moves > 0) as moved,
    (select count(*) from "sqlanon_next_person") - (select count(*) from "sqlanon_settled") as departed;

-- account
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

-- line
with shown as (
    select distinct group_id
    from "sqlanon_settled"
)
select
    next_person.group_id,
    next_person.code
from "sqlanon_next_person" as next_person
inner join shown on shown.group_id = next_person.group_id;

-- qit
select
    grouped.quasi_1 as "age",
    grouped.quasi_2 as "sex",
    grouped.quasi_3 as "zipcode",
    grouped.group_id as "group_id"
from "sqlanon_settled" as grouped
order by
    grouped.quasi_1 asc nulls last,
    grouped.quasi_2 asc nulls last,
    grouped.quasi_3 asc nulls last,
    grouped.group_id asc nulls last;

-- st
select
    grouped.group_id as "group_id",
    frequency.sensitive as "disease",
    cast(1 as bigint) as "count"
from "sqlanon_line" as grouped
inner join "sqlanon_next_value" as frequency on grouped.code = frequency.code
order by
    grouped.group_id asc nulls last,
    frequency.sensitive asc nulls last;

