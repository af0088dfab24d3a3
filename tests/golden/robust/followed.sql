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
    cast('0x' || substr(md5('class' || substr(hash, 33, 32) || coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N')), 1, 15) as bigint) as class_mark
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
    case when last_known.person is null then met.identity end as identity,
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

-- arrived
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

-- population_arrived
select *
from "sqlanon_arrived";

-- identified_arrived
select *
from "sqlanon_arrived";

-- signature_tally
select
    "quasi_2",
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population_arrived"
group by
    "quasi_2",
    "sensitive";

-- class
with signed as (
    select
        "quasi_2"
    from "sqlanon_signature_tally"
    group by
        "quasi_2"
),
spelled as (
    select
        "quasi_2",
coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N')
            as signature_text
    from signed
),
hashed as (
    select
        spelled."quasi_2",
        sha256(key.secret || 'robust/disease/release 2/class/' || spelled.signature_text) as hash
    from spelled
    cross join "sqlanon_key" as key
)
select
    "quasi_2",
    row_number() over (order by hash asc nulls last) - 1 as class
from hashed;

-- ranked
with valued as (
    select
        tally."quasi_2",
        class.class,
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'robust/disease/release 2/value/' || cast(class.class as varchar) || '/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_signature_tally" as tally
    inner join "sqlanon_class" as class
        on tally."quasi_2" is not distinct from class."quasi_2"
    cross join "sqlanon_key" as key
    where tally.sensitive is not null or false
),
placed as (
    select
        "quasi_2",
        class,
        sensitive,
        row_count,
        row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as head
    from valued
)
select
    "quasi_2",
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity: as in duckdb.sql

-- kept: as in duckdb.sql

-- wave
with pooled as (
    select
        '' || coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N') as pool,
        sensitive,
0 as moves
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
        cast(sum(row_count - mover_count) as bigint) // 3 as group_count,
        cast(max(row_count) as bigint) as largest_count
    from tallied
    group by pool
),
shown_group as (
    select distinct
        group_id,
        '' || coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N') as pool
    from "sqlanon_matched"
    where is_here and group_id is not null and same_class
),
listed as (
    select
        shown_group.pool,
        coalesce(known_person.published, known_person.code) as code,
        count(*) as line_count
    from ledger.main.person as known_person
    inner join shown_group on shown_group.group_id = known_person.group_id
    group by
        shown_group.pool,
        coalesce(known_person.published, known_person.code)
),
listed_pool as (
    select distinct pool
    from listed
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
        listed.line_count
    from gathered
    inner join listed on listed.pool = gathered.pool
    union all
    select
        gathered.pool,
        gathered.row_count,
        gathered.group_count,
        everywhere.line_count
    from gathered
    cross join everywhere
    left join listed_pool on listed_pool.pool = gathered.pool
    where listed_pool.pool is null
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
        sha256(key.secret || 'robust/disease/release 2/wave/' || gathered.pool) as hash
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

-- capacity_of_wave
with pooled as (
    select
        class,
        '' || coalesce(cast(length(cast("quasi_2" as varchar)) as varchar) || ':' || cast("quasi_2" as varchar), 'N') as pool
    from "sqlanon_class"
)
select
    capacity.class,
    capacity.size,
    case when wave.is_called then capacity.group_count else 0 end as group_count
from "sqlanon_capacity" as capacity
inner join pooled on pooled.class = capacity.class
inner join "sqlanon_wave" as wave on wave.pool = pooled.pool;

-- frequency
with blocked as (
    select
        class,
        group_count,
        greatest(1, group_count // 64) as block_count
    from "sqlanon_capacity_of_wave"
    where size = 3
),
numbered as (
    select
        class,
        group_count,
        block_count,
        cast(sum(block_count) over (order by class asc nulls last rows unbounded preceding) as bigint) - block_count as first_block
    from blocked
),
cut as (
    select
        ranked."quasi_2",
        ranked.class,
        ranked.sensitive,
        ranked.place,
        ranked.row_count,
        least(ranked.row_count, numbered.group_count) as kept_count,
        greatest(1, numbered.group_count) as group_count,
        numbered.block_count,
        numbered.first_block
    from "sqlanon_ranked" as ranked
    inner join numbered on ranked.class = numbered.class
)
select
    "quasi_2",
    class,
    sensitive,
    cast(row_number() over (order by class asc nulls last, place asc nulls last) - 1 as integer) as code,
    row_count,
    kept_count,
    cast(sum(kept_count) over (partition by class order by place asc nulls last rows unbounded preceding) as bigint) - kept_count as first_position,
    group_count,
    block_count,
    first_block
from cut;

-- coded
select
    population."quasi_1",
    population."quasi_2",
    population."quasi_3",
    population."identity",
    population."person",
    population."mark",
    population."class_mark",
    frequency.code
from "sqlanon_identified_arrived" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive is not distinct from frequency.sensitive
    and population."quasi_2" is not distinct from frequency."quasi_2";

-- drawn
with row_key as (
    select substr(sha256(key.secret || 'robust/disease/release 2/row/'), 1, 40) as secret
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
        identified."code",
        sha256(row_key.secret || identified.identity) as hash
    from "sqlanon_coded" as identified
    cross join row_key
)
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "person",
    "mark",
    "class_mark",
    "code",
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "tie"
from hashed;

-- ordered
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "person",
    "mark",
    "class_mark",
    code
from "sqlanon_drawn"
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
        cast('0x' || substr(sha256(key.secret || 'robust/disease/release 2/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
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

-- renumbered
with counted_block as (
    select
        block,
        max(block_groups) as block_groups
    from "sqlanon_block"
    group by block
),
listed as (
    select
        block,
        unnest(generate_series(0, block_groups - 1)) as turn
    from counted_block
),
hashed as (
    select
        listed.block,
        listed.turn,
        sha256(key.secret || 'robust/disease/release 2/group/' || cast(listed.block as varchar) || '/' || cast(listed.turn as varchar)) as hash
    from listed
    cross join "sqlanon_key" as key
),
drawn as (
    select
        block,
        turn,
        cast('0x' || substr(hash, 1, 15) as bigint) as draw,
        cast('0x' || substr(hash, 16, 15) as bigint) as tie
    from hashed
),
counted as (
    select
        draw // 18014398509481984 as shard,
        count(*) as group_count
    from drawn
    group by draw // 18014398509481984
),
shard as (
    select
        shard,
        cast(sum(group_count) over (order by shard asc nulls last rows unbounded preceding) as bigint) - group_count as first_id
    from counted
)
select
    drawn.block,
    drawn.turn,
    shard.first_id + row_number() over (partition by shard.shard order by drawn.draw asc nulls last, drawn.tie asc nulls last) - 1 as group_id
from drawn
inner join shard on drawn.draw // 18014398509481984 = shard.shard;

-- grouped
select
    numbered."quasi_1",
    numbered."quasi_2",
    numbered."quasi_3",
    numbered."person",
    numbered."mark",
    numbered."class_mark",
    numbered.code,
    renumbered.group_id
from "sqlanon_numbered" as numbered
inner join "sqlanon_renumbered" as renumbered
    on numbered.block = renumbered.block and numbered.number % numbered.block_groups = renumbered.turn;

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
    cast(0 as bigint) as moves
from "sqlanon_grouped" as grouped
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
            when matched.same_class and matched.same_value then 'present'
            when matched.same_class and false then 'stale'
            else 'changed'
        end as standing,
        coalesce(matched.mark, matched.known_mark) as mark,
        matched.known_class as class_mark,
        matched.published,
        matched.known_moves as moves
    from "sqlanon_matched" as matched
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

