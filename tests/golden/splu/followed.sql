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

-- wave
with pooled as (
    select
        '' as pool,
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
        cast(sum(row_count - mover_count) as bigint) // 4 as group_count,
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
        sha256(key.secret || 'splu/disease/release 2/wave/' || gathered.pool) as hash
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
    arrived."class_mark"
from "sqlanon_arrived" as arrived
cross join "sqlanon_wave" as wave
where wave.is_called;

-- drawn
with row_key as (
    select substr(sha256(key.secret || 'splu/disease/release 2/row/'), 1, 40) as secret
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
    "sensitive",
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "slot_draw",
    cast('0x' || substr(hash, 31, 15) as bigint) as "wait_draw",
    cast('0x' || substr(hash, 46, 15) as bigint) as "tie"
from hashed;

-- tally_drawn
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_drawn"
group by "sensitive";

-- drift
with line as (
    select
        sensitive,
        row_count as arrived,
        cast(0 as bigint) as known
    from "sqlanon_tally_drawn"
    union all
    select
        known_value.sensitive,
        cast(0 as bigint) as arrived,
        count(*) as known
    from ledger.main.person as known_person
    inner join ledger.main.value as known_value on known_value.code = known_person.code
    group by known_value.sensitive
),
counted as (
    select
        cast(sum(arrived) as double) as arrived,
        cast(sum(known) as double) as known
    from line
    group by sensitive
),
total as (
    select
        sum(arrived) as arrived,
        sum(known) as known
    from counted
)
select
    coalesce(cast(max(total.arrived) as bigint), 0) as arrived_rows,
    count(*) as value_count,
    coalesce(sum(abs(counted.arrived / nullif(total.arrived, 0) - counted.known / nullif(total.known, 0))) / 2, 0) as distance
from counted
cross join total;

-- fitting
with valued as (
    select
        tally.sensitive,
        tally.row_count,
        tally.row_count as new_count,
        sha256(key.secret || 'splu/disease/release 2/value/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_tally_drawn" as tally
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
            when count(*) = 4
                then least(
                    max(new_rows) // 4,
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

-- fitted
with placed as (
    select
        drawn."quasi_1",
        drawn."quasi_2",
        drawn."quasi_3",
        drawn."person",
        drawn."mark",
        drawn."class_mark",
        drawn."sensitive",
        drawn."tie",
        drawn."draw",
        drawn."slot_draw",
        drawn."wait_draw",
        fitting.kept_count,
        row_number() over (partition by drawn.sensitive order by drawn.wait_draw asc nulls last, drawn.person asc nulls last) as place
    from "sqlanon_drawn" as drawn
    inner join "sqlanon_fitting" as fitting on drawn."sensitive" is not distinct from fitting."sensitive"
)
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "person",
    "mark",
    "class_mark",
    "sensitive",
    "tie",
    "draw",
    "slot_draw",
    "wait_draw"
from placed
where place <= kept_count;

-- lot
with counted as (
    select
        draw // 281474976710656 as lot,
        count(*) as row_count
    from "sqlanon_fitted"
    group by draw // 281474976710656
),
running as (
    select
        lot,
        cast(sum(row_count) over (order by lot asc nulls last rows unbounded preceding) as bigint) as rows_up_to
    from counted
),
total as (
    select max(rows_up_to) % 4 as residue
    from running
)
select
    running.lot,
    running.rows_up_to,
    total.residue
from running
cross join total;

-- residue
with bound as (
    select
        min(case when rows_up_to >= residue then lot end) as last_lot,
        max(residue) as residue
    from "sqlanon_lot"
    where residue > 0
),
candidate as (
    select
        drawn.draw,
        bound.residue,
        row_number() over (order by drawn.draw asc nulls last) as draw_rank
    from "sqlanon_fitted" as drawn
    cross join bound
    where drawn.draw // 281474976710656 <= bound.last_lot
)
select
    coalesce(max(case when draw_rank <= residue then draw end), 0 - 1) as last_draw,
    coalesce(sum(case when draw_rank <= residue then 1 else 0 end), 0) as dropped_rows
from candidate;

-- kept
select
    drawn."quasi_1",
    drawn."quasi_2",
    drawn."quasi_3",
    drawn."person",
    drawn."mark",
    drawn."class_mark",
    drawn."sensitive",
    drawn."tie",
    drawn."draw",
    drawn."slot_draw",
    drawn."wait_draw"
from "sqlanon_fitted" as drawn
cross join "sqlanon_residue" as residue
where drawn.draw > residue.last_draw;

-- tally_randomized: as in duckdb.sql

-- frequency
with valued as (
    select
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'splu/disease/release 2/value/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_tally_randomized" as tally
    cross join "sqlanon_key" as key
    where tally.sensitive is not null or false
),
ordered as (
    select
        sensitive,
        row_count,
        cast(row_number() over (order by row_count desc nulls last, hash asc nulls last) - 1 as integer) as code,
        cast(sum(row_count) over (order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as last_position,
        cast(sum(row_count) over () as bigint) // 4 as group_count
    from valued
)
select
    sensitive,
    code,
    row_count as kept_count,
    last_position - row_count as first_position,
    group_count,
    greatest(1, group_count // 64) as block_count,
    0 as first_block
from ordered;

-- coded
select
    valued."quasi_1",
    valued."quasi_2",
    valued."quasi_3",
    valued."slot_draw",
    valued."person",
    valued."mark",
    valued."class_mark",
    valued."draw",
    valued."tie",
    frequency.code
from "sqlanon_kept" as valued
inner join "sqlanon_frequency" as frequency
    on valued.sensitive is not distinct from frequency.sensitive;

-- ordered
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "slot_draw",
    "person",
    "mark",
    "class_mark",
    code
from "sqlanon_coded"
order by
    code asc nulls last,
    draw asc nulls last,
    "tie" asc nulls last;

-- block
with run as (
    select
        code,
        first_position,
        group_count,
        block_count,
        first_block,
        code * block_count as first_cell,
        first_position % group_count as first_bucket,
        least(kept_count, group_count - first_position % group_count) as last_count,
        greatest(0, first_position % group_count + kept_count - group_count) as first_count
    from "sqlanon_frequency"
),
met as (
    select
        run.*,
        unnest(generate_series(first_bucket, first_bucket + least(last_count, block_count) - 1)) as bucket
    from run
    union all
    select
        run.*,
        unnest(generate_series(0, least(first_count, block_count) - 1)) as bucket
    from run
    where first_count > 0
),
turned as (
    select
        met.*,
        bucket % block_count as place,
        (bucket % block_count + block_count - first_bucket % block_count) % block_count as turn
    from met
),
counted as (
    select
        code,
        first_position,
        group_count,
        block_count,
        first_block,
        first_cell + place as cell,
        first_block + place as block,
        (last_count - turn + block_count - 1) // block_count
        + (first_count - place + block_count - 1) // block_count as row_count
    from turned
    where bucket >= first_bucket or turn >= last_count
),
hashed as (
    select
        counted.cell,
        counted.code,
        counted.block,
        counted.row_count,
        counted.block_count,
        (counted.group_count + counted.block_count - 1 - (counted.block - counted.first_block))
            // counted.block_count as block_groups,
        (counted.first_position % counted.group_count + counted.block_count - 1
            - (counted.block - counted.first_block)) // counted.block_count as first_seat,
        cast('0x' || substr(sha256(key.secret || 'splu/disease/release 2/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
    from counted
    cross join "sqlanon_key" as key
)
select
    cell,
    block_groups,
    cast(sum(row_count) over (partition by block) as bigint) as block_rows,
    cast(sum(row_count) over (partition by block order by draw asc nulls last, code asc nulls last rows unbounded preceding) as bigint) - row_count as first_number,
    block_groups - first_seat % block_groups as shift
from hashed;

-- decoy_group
with first_row as (
    select min(rowid) as number
    from "sqlanon_ordered"
),
bucketed as (
    select
        ordered."quasi_1",
        ordered."quasi_2",
        ordered."quasi_3",
        ordered."slot_draw",
        ordered."person",
        ordered."mark",
        ordered."class_mark",
        frequency.code,
        frequency.block_count,
        (ordered.rowid - first_row.number) % frequency.group_count as bucket
    from "sqlanon_ordered" as ordered
    cross join first_row
    inner join "sqlanon_frequency" as frequency on ordered.code = frequency.code
),
numbered as (
    select
        bucketed."quasi_1",
        bucketed."quasi_2",
        bucketed."quasi_3",
        bucketed."slot_draw",
        bucketed."person",
        bucketed."mark",
        bucketed."class_mark",
        bucketed.code,
        bucketed.block_count,
        bucketed.bucket % bucketed.block_count as block,
        block.block_groups,
        block.block_rows,
        block.first_number + (bucketed.bucket // bucketed.block_count + block.shift) % block.block_groups as number
    from bucketed
    inner join "sqlanon_block" as block
        on bucketed.code * bucketed.block_count + bucketed.bucket % bucketed.block_count = block.cell
)
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "slot_draw",
    "person",
    "mark",
    "class_mark",
    code,
    (number % block_groups) * block_count + block as group_id,
    (block_rows + block_groups - 1 - number % block_groups) // block_groups as group_rows,
    number // block_groups as slot
from numbered;

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
),
numbered as (
    select
        frequency.code as place,
        next_value.code
    from "sqlanon_frequency" as frequency
    inner join "sqlanon_next_value" as next_value on next_value.sensitive is not distinct from frequency.sensitive
)
select
    decoy_group."quasi_1",
    decoy_group."quasi_2",
    decoy_group."quasi_3",
    decoy_group.person,
    decoy_group.mark,
    decoy_group.class_mark,
    decoy_group.group_id + taken.first_group as group_id,
    own.code,
    shown.code as published,
    cast(0 as bigint) as moves
from "sqlanon_decoy_group" as decoy_group
inner join "sqlanon_decoy_group" as decoy
    on decoy_group.group_id = decoy.group_id and decoy_group.slot_draw % decoy_group.group_rows = decoy.slot
inner join numbered as own on own.place = decoy_group.code
inner join numbered as shown on shown.place = decoy.code
cross join taken;

-- settled
with shown as (
    select
        "quasi_1",
        "quasi_2",
        "quasi_3",
        published
    from "sqlanon_matched"
    where is_here and group_id is not null and (same_value or false)
    union all
    select
        "quasi_1",
        "quasi_2",
        "quasi_3",
        published
    from "sqlanon_entered"
)
select
    shown."quasi_1",
    shown."quasi_2",
    shown."quasi_3",
    next_value.sensitive as published_1
from shown
inner join "sqlanon_next_value" as next_value on next_value.code = shown.published;

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

-- data
select
    randomized."quasi_1" as "age",
    randomized."quasi_2" as "sex",
    randomized."quasi_3" as "zipcode",
    randomized."published_1" as "disease"
from "sqlanon_settled" as randomized
order by
    randomized."quasi_1" asc nulls last,
    randomized."quasi_2" asc nulls last,
    randomized."quasi_3" asc nulls last,
    randomized."published_1" asc nulls last;

