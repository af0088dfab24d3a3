-- source
select
    "age" as "quasi_1",
    "sex" as "quasi_2",
    "ssn" as "identifier_1",
    "disease" as "sensitive",
    "income" as "sensitive_2"
from "patients";

-- population
select *
from "sqlanon_source";

-- limits
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
        row_number() over (order by is_missing, row_count desc, place, shown) as value_rank,
        row_number() over (order by is_missing desc, place) as null_rank
    from counted
)
select
    coalesce(cast(sum(case when place = 0 then row_count else 0 end) as bigint), 0) as row_count,
    coalesce(max(case when null_rank = 1 then is_missing * row_count end), 0) as null_count,
    coalesce(max(case when null_rank = 1 then place end), 0) as null_place,
    coalesce(max(case when value_rank = 1 then place end), 0) as place,
    coalesce(max(case when value_rank = 1 then (1 - is_missing) * row_count end), 0) as largest_count,
    max(case when value_rank = 1 then shown end) as largest_value
from ranked;

-- signature_tally_2
select
    "quasi_2",
    "sensitive_2" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by
    "quasi_2",
    "sensitive_2";

-- signature_tally
select
    "quasi_2",
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population"
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
        sha256(key.secret || 'robust/disease/class/' || spelled.signature_text) as hash
    from spelled
    cross join "sqlanon_key" as key
)
select
    "quasi_2",
    row_number() over (order by hash) - 1 as class
from hashed;

-- ranked_2
with valued as (
    select
        tally."quasi_2",
        class.class,
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'robust/income/value/' || cast(class.class as varchar) || '/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_signature_tally_2" as tally
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
        row_number() over (partition by class order by row_count desc, hash) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc, hash rows unbounded preceding) as bigint) as head
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

-- capacity_2
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_ranked_2"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_ranked_2" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- kept_2
select
    capacity.size,
    ranked.class,
    cast(sum(ranked.row_count) as bigint) as class_rows,
    cast(sum(least(ranked.row_count, capacity.group_count)) as bigint) as kept_rows
from "sqlanon_ranked_2" as ranked
inner join "sqlanon_capacity_2" as capacity on ranked.class = capacity.class
group by
    capacity.size,
    ranked.class;

-- ranked
with valued as (
    select
        tally."quasi_2",
        class.class,
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'robust/disease/value/' || cast(class.class as varchar) || '/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
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
        row_number() over (partition by class order by row_count desc, hash) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc, hash rows unbounded preceding) as bigint) as head
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

-- capacity
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_ranked"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_ranked" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- kept
select
    capacity.size,
    ranked.class,
    cast(sum(ranked.row_count) as bigint) as class_rows,
    cast(sum(least(ranked.row_count, capacity.group_count)) as bigint) as kept_rows
from "sqlanon_ranked" as ranked
inner join "sqlanon_capacity" as capacity on ranked.class = capacity.class
group by
    capacity.size,
    ranked.class;

-- kept_least
select
    kept.size,
    kept.class,
    kept.class_rows,
    least(kept.kept_rows, further_1.kept_rows) as kept_rows
from "sqlanon_kept" as kept
inner join "sqlanon_kept_2" as further_1
    on kept.size = further_1.size and kept.class = further_1.class;

-- worst
with left_over as (
    select
coalesce(cast(class."quasi_2" as varchar), 'NULL')
            as signature_text,
        kept.class_rows - kept.kept_rows as surplus
    from "sqlanon_kept_least" as kept
    inner join "sqlanon_class" as class on kept.class = class.class
    where kept.size = 3
),
placed as (
    select
        signature_text,
        surplus,
        row_number() over (order by surplus desc, signature_text) as place
    from left_over
    where surplus > 0
)
select
    count(*) as class_count,
    max(case when place = 1 then signature_text end) as worst_1,
    max(case when place = 2 then signature_text end) as worst_2,
    max(case when place = 3 then signature_text end) as worst_3,
    max(case when place = 1 then surplus end) as surplus_1,
    max(case when place = 2 then surplus end) as surplus_2,
    max(case when place = 3 then surplus end) as surplus_3
from placed;

-- outlook
with total as (
    select coalesce(cast(sum(row_count) as bigint), 0) as row_count
    from "sqlanon_ranked"
),
missing as (
    select
        coalesce(cast(sum(
            case when sensitive is null and not false then row_count else 0 end
        ) as bigint), 0) as null_count
    from "sqlanon_signature_tally"
),
valued as (
    select sum(row_count) as row_count
    from "sqlanon_ranked"
    group by sensitive
),
held as (
    select
        size,
        cast(sum(kept_rows) as bigint) as kept_rows
    from "sqlanon_kept_least"
    group by size
)
select
    total.row_count,
    missing.null_count,
    total.row_count - coalesce((select kept_rows from held where size = 3), 0) as surplus_rows,
    coalesce((
        select max(held.size)
        from held
        cross join total as every
        where (every.row_count - held.kept_rows) * 1000000 <= every.row_count * 10000
    ), 0) as feasible_size,
    coalesce((select cast(max(row_count) as bigint) from valued), 0) as largest_count,
    worst.class_count,
    worst.worst_1,
    worst.worst_2,
    worst.worst_3,
    worst.surplus_1,
    worst.surplus_2,
    worst.surplus_3
from total
cross join missing
cross join "sqlanon_worst" as worst;

-- feasibility
select
    outlook.row_count
    - coalesce((select cast(sum(kept_rows) as bigint) from "sqlanon_kept" where size = 3), 0)
        as column_surplus_1,
    outlook.row_count
    - coalesce((select cast(sum(kept_rows) as bigint) from "sqlanon_kept_2" where size = 3), 0)
        as column_surplus_2,
    outlook.*
from "sqlanon_outlook" as outlook;

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
        count(*) as row_count
    from "sqlanon_population"
    group by
        "quasi_1",
        "quasi_2"
),
total as (
    select
        coalesce(cast(sum(row_count) as bigint), 0) as row_count,
        coalesce(cast(sum(case when "quasi_1" is null then 0 else row_count end) as bigint), 0) as known_1,
        coalesce(cast(sum(case when "quasi_2" is null then 0 else row_count end) as bigint), 0) as known_2,
        coalesce(cast(sum(case when row_count = 1 then 1 else 0 end) as bigint), 0) as unique_rows
    from combination
),
counted as (
    select
        count(distinct combination."quasi_1") as distinct_1,
        count(distinct combination."quasi_2") as distinct_2,
        count(*) as combination_count
    from combination
    cross join total
    where
        false
        or (total.known_1 > 1 and 5 * total.unique_rows >= 4 * total.known_1)
        or (total.known_2 > 1 and 5 * total.unique_rows >= 4 * total.known_2)
)
select
    total.row_count,
    total.known_1,
    counted.distinct_1,
    total.known_2,
    counted.distinct_2,
    total.unique_rows
from total
cross join counted;

-- identified
select
    "quasi_1",
    "quasi_2",
    "sensitive",
    "sensitive_2",
coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N')
        as identity
from "sqlanon_population";

-- tally_2
select
    "sensitive_2" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive_2";

-- frequency_2
with valued as (
    select
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'robust/income/value/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_tally_2" as tally
    cross join "sqlanon_key" as key
    where tally.sensitive is not null or false
),
total as (
    select cast(sum(row_count) as bigint) // 3 as group_count
    from valued
),
ordered as (
    select
        sensitive,
        row_count,
        cast(row_number() over (order by row_count desc, hash) - 1 as integer) as code,
        cast(sum(row_count) over (order by row_count desc, hash rows unbounded preceding) as bigint) as last_position
    from valued
)
select
    ordered.sensitive,
    ordered.code,
    ordered.row_count as kept_count,
    ordered.last_position - ordered.row_count as first_position,
    total.group_count,
    greatest(1, total.group_count // 64) as block_count,
    0 as first_block
from ordered
cross join total;

-- classed
select
    population."quasi_1",
    population."quasi_2",
    population."sensitive",
    population."sensitive_2",
    population."identity",
    class.class
from "sqlanon_identified" as population
inner join "sqlanon_class" as class
    on population."quasi_2" is not distinct from class."quasi_2";

-- drawn
with row_key as (
    select substr(sha256(key.secret || 'robust/disease/row/'), 1, 40) as secret
    from "sqlanon_key" as key
),
hashed as (
    select
        identified."quasi_1",
        identified."quasi_2",
        identified."sensitive_2",
        identified."sensitive",
        identified."class",
        sha256(row_key.secret || identified.identity) as hash
    from "sqlanon_classed" as identified
    cross join row_key
)
select
    "quasi_1",
    "quasi_2",
    "sensitive_2",
    "sensitive",
    "class",
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "swap_draw",
    cast('0x' || substr(hash, 31, 15) as bigint) as "tie"
from hashed;

-- thinned
select
    drawn.*,
    0 as is_settled
from "sqlanon_drawn" as drawn;

-- unsettled
select count(*) as left_over
from "sqlanon_thinned"
where is_settled = 0;

-- held_turn_2
with counted as (
    select
        class,
        "sensitive_2" as sensitive,
        count(*) as row_count
    from "sqlanon_thinned"
    group by
        class,
        "sensitive_2"
),
hashed as (
    select
        counted.*,
        sha256(key.secret || 'robust/income/kept/' || cast(counted.class as varchar) || '/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from counted
    cross join "sqlanon_key" as key
),
placed as (
    select
        class,
        sensitive,
        row_count,
        row_number() over (partition by class order by row_count desc, hash) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc, hash rows unbounded preceding) as bigint) as head
    from hashed
)
select
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity_turn_2
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_held_turn_2"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_held_turn_2" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- held_turn
with counted as (
    select
        class,
        "sensitive" as sensitive,
        count(*) as row_count
    from "sqlanon_thinned"
    group by
        class,
        "sensitive"
),
hashed as (
    select
        counted.*,
        sha256(key.secret || 'robust/disease/kept/' || cast(counted.class as varchar) || '/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from counted
    cross join "sqlanon_key" as key
),
placed as (
    select
        class,
        sensitive,
        row_count,
        row_number() over (partition by class order by row_count desc, hash) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc, hash rows unbounded preceding) as bigint) as head
    from hashed
)
select
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity_turn
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_held_turn"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_held_turn" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- room_turn
select
    capacity.class,
    capacity.size,
    least(capacity.group_count, further_1.group_count) as group_count
from "sqlanon_capacity_turn" as capacity
inner join "sqlanon_capacity_turn_2" as further_1
    on capacity.class = further_1.class and capacity.size = further_1.size;

-- kept_rows
with limited_0 as (
    select
        thinned.*,
        coalesce(room.group_count, 0) as group_count,
        count(*) over (partition by thinned.class) as rows_before
    from "sqlanon_thinned" as thinned
    left join "sqlanon_room_turn" as room
        on thinned.class = room.class and room.size = 3
),
ranked_1 as (
    select
        limited_0.*,
        row_number() over (
            partition by class, "sensitive"
            order by draw, "tie"
        ) as place_1
    from limited_0
),
limited_1 as (
    select *
    from ranked_1
    where place_1 <= group_count
),
ranked_2 as (
    select
        limited_1.*,
        row_number() over (
            partition by class, "sensitive_2"
            order by draw, "tie"
        ) as place_2
    from limited_1
),
limited_2 as (
    select *
    from ranked_2
    where place_2 <= group_count
)
select
    "quasi_1",
    "quasi_2",
    "sensitive_2",
    "sensitive",
    "draw",
    "swap_draw",
    "tie",
    class,
    case when count(*) over (partition by class) = rows_before then 1 else 0 end as is_settled
from limited_2;

-- held_last_2
with counted as (
    select
        class,
        "sensitive_2" as sensitive,
        count(*) as row_count
    from "sqlanon_thinned"
    group by
        class,
        "sensitive_2"
),
hashed as (
    select
        counted.*,
        sha256(key.secret || 'robust/income/kept/' || cast(counted.class as varchar) || '/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from counted
    cross join "sqlanon_key" as key
),
placed as (
    select
        class,
        sensitive,
        row_count,
        row_number() over (partition by class order by row_count desc, hash) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc, hash rows unbounded preceding) as bigint) as head
    from hashed
)
select
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity_last_2
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_held_last_2"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_held_last_2" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- held_last
with counted as (
    select
        class,
        "sensitive" as sensitive,
        count(*) as row_count
    from "sqlanon_thinned"
    group by
        class,
        "sensitive"
),
hashed as (
    select
        counted.*,
        sha256(key.secret || 'robust/disease/kept/' || cast(counted.class as varchar) || '/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from counted
    cross join "sqlanon_key" as key
),
placed as (
    select
        class,
        sensitive,
        row_count,
        row_number() over (partition by class order by row_count desc, hash) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc, hash rows unbounded preceding) as bigint) as head
    from hashed
)
select
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity_last
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_held_last"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_held_last" as ranked
    inner join candidate on ranked.place < candidate.size
    group by
        ranked.class,
        candidate.size
)
select
    class,
    size,
    case when value_count = size then group_count else 0 end as group_count
from bounded;

-- room_last
select
    capacity.class,
    capacity.size,
    least(capacity.group_count, further_1.group_count) as group_count
from "sqlanon_capacity_last" as capacity
inner join "sqlanon_capacity_last_2" as further_1
    on capacity.class = further_1.class and capacity.size = further_1.size;

-- frequency
with blocked as (
    select
        class,
        group_count,
        greatest(1, group_count // 64) as block_count
    from "sqlanon_room_last"
    where size = 3
),
numbered as (
    select
        class,
        group_count,
        block_count,
        cast(sum(block_count) over (order by class rows unbounded preceding) as bigint) - block_count as first_block
    from blocked
),
cut as (
    select
        ranked.class,
        ranked.sensitive,
        ranked.place,
        ranked.row_count,
        least(ranked.row_count, numbered.group_count) as kept_count,
        greatest(1, numbered.group_count) as group_count,
        numbered.block_count,
        numbered.first_block
    from "sqlanon_held_last" as ranked
    inner join numbered on ranked.class = numbered.class
)
select
    class,
    sensitive,
    cast(row_number() over (order by class, place) - 1 as integer) as code,
    row_count,
    kept_count,
    cast(sum(kept_count) over (partition by class order by place rows unbounded preceding) as bigint) - kept_count as first_position,
    group_count,
    block_count,
    first_block
from cut;

-- drawn_coded
select
    thinned."quasi_1",
    thinned."quasi_2",
    thinned."sensitive_2",
    thinned."swap_draw",
    thinned."draw",
    thinned."tie",
    frequency.code
from "sqlanon_thinned" as thinned
inner join "sqlanon_frequency" as frequency
    on thinned.class = frequency.class
    and thinned.sensitive is not distinct from frequency.sensitive;

-- shard
with counted as (
    select
        code,
        draw // 72057594037927936 as shard,
        count(*) as row_count
    from "sqlanon_drawn_coded"
    group by code, draw // 72057594037927936
)
select
    cast(code * 16 + shard as integer) as cell,
    code,
    cast(sum(row_count) over (partition by code order by shard rows unbounded preceding) as bigint) - row_count as first_rank
from counted;

-- positioned
with ranked as (
    select
        "quasi_1",
        "quasi_2",
        "sensitive_2",
        "swap_draw",
        cast(code * 16 + draw // 72057594037927936 as integer) as cell,
        row_number() over (
            partition by cast(code * 16 + draw // 72057594037927936 as integer)
            order by draw, "tie"
        ) - 1 as cell_rank
    from "sqlanon_drawn_coded"
),
bucketed as (
    select
        ranked."quasi_1",
        ranked."quasi_2",
        ranked."sensitive_2",
        ranked."swap_draw",
        frequency.code,
        frequency.block_count,
        frequency.first_block,
        (frequency.first_position + shard.first_rank + ranked.cell_rank) % frequency.group_count as bucket
    from ranked
    inner join "sqlanon_shard" as shard on ranked.cell = shard.cell
    inner join "sqlanon_frequency" as frequency on shard.code = frequency.code
    where shard.first_rank + ranked.cell_rank < frequency.kept_count
)
select
    "quasi_1",
    "quasi_2",
    "sensitive_2",
    "swap_draw",
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
        sha256(key.secret || 'robust/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)) as hash
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
    cast(sum(row_count) over (partition by block order by cast('0x' || substr(hash, 1, 15) as bigint), hash rows unbounded preceding) as bigint) - row_count as first_number
from hashed;

-- numbered
select
    positioned."quasi_1",
    positioned."quasi_2",
    positioned."sensitive_2",
    positioned."swap_draw",
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

-- numbered_coded_2
select
    numbered.*,
    frequency.code as "code_2"
from "sqlanon_numbered" as numbered
inner join "sqlanon_frequency_2" as frequency
    on numbered."sensitive_2" is not distinct from frequency.sensitive;

-- seated
select
    numbered.block,
    numbered.number,
    numbered.block_count,
    frequency.first_block,
    numbered."code",
    numbered."code_2",
    numbered.swap_draw as draw,
    cast(numbered.block as bigint) * 4294967296 + numbered.number % numbered.block_groups as group_id,
    0 as turn
from "sqlanon_numbered_coded_2" as numbered
inner join "sqlanon_frequency" as frequency on numbered.code = frequency.code;

-- left_over
with held as (
    select count(*) as row_count
    from "sqlanon_seated"
    group by group_id, "code_2"
)
select coalesce(cast(sum(row_count - 1) as bigint), 0) as left_over
from held;

-- clashing
with held as (
    select
        group_id,
        count(*) as row_count
    from "sqlanon_seated"
    group by group_id, "code_2"
),
concerned as (
    select distinct group_id
    from held
    where row_count > 1
),
ranked as (
    select
        seated.*,
        greatest(
            row_number() over (partition by seated.group_id, seated."code_2" order by seated.draw, seated.block, seated.number),
            1
        ) as place
    from "sqlanon_seated" as seated
    inner join concerned on seated.group_id = concerned.group_id
)
select *
from ranked
where place > 1;

-- proposed
with candidate as (
    select
        clashing.block,
        clashing.number,
        clashing.group_id,
        partner.block as partner_block,
        partner.number as partner_number,
        partner.group_id as partner_group,
        clashing."code",
        partner."code" as "partner_code",
        clashing."code_2",
        partner."code_2" as "partner_code_2",
        (clashing.draw + partner.draw) % 1000000007 as priority
    from "sqlanon_clashing" as clashing
    inner join "sqlanon_seated" as partner
        on clashing.block = partner.block and clashing.code = partner.code
    where clashing.group_id <> partner.group_id
)
select
    candidate.block,
    candidate.number,
    candidate.group_id,
    candidate.partner_block,
    candidate.partner_number,
    candidate.partner_group,
    candidate.priority
from candidate
left join "sqlanon_seated" as there_1
    on candidate.partner_group = there_1.group_id
    and candidate."code_2" = there_1."code_2"
    and (candidate.partner_block <> there_1.block or candidate.partner_number <> there_1.number)
left join "sqlanon_seated" as here_1
    on candidate.group_id = here_1.group_id
    and candidate."partner_code_2" = here_1."code_2"
    and (candidate.block <> here_1.block or candidate.number <> here_1.number)
where
    there_1.group_id is null
    and here_1.group_id is null;

-- exchange
with preferred as (
    select
        proposed.*,
        row_number() over (
            partition by block, number order by priority, partner_block, partner_number
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
        row_number() over (partition by touched_group order by priority, block, number) as place
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

-- reseated
select
    seated.block,
    seated.number,
    seated.block_count,
    seated.first_block,
    seated."code",
    seated."code_2",
    seated.draw,
    coalesce(exchange.group_id, seated.group_id) as group_id,
    seated.turn + 1 as turn
from "sqlanon_seated" as seated
left join "sqlanon_exchange" as exchange
    on seated.block = exchange.block and seated.number = exchange.number;

-- left_over
with held as (
    select count(*) as row_count
    from "sqlanon_seated"
    group by group_id, "code_2"
)
select coalesce(cast(sum(row_count - 1) as bigint), 0) as left_over
from held;

-- clashing
with held as (
    select
        group_id,
        count(*) as row_count
    from "sqlanon_seated"
    group by group_id, "code_2"
),
concerned as (
    select distinct group_id
    from held
    where row_count > 1
),
ranked as (
    select
        seated.*,
        greatest(
            row_number() over (partition by seated.group_id, seated."code_2" order by seated.draw, seated.block, seated.number),
            1
        ) as place
    from "sqlanon_seated" as seated
    inner join concerned on seated.group_id = concerned.group_id
)
select *
from ranked
where place > 1;

-- proposed
with candidate as (
    select
        clashing.block,
        clashing.number,
        clashing.group_id,
        partner.block as partner_block,
        partner.number as partner_number,
        partner.group_id as partner_group,
        clashing."code",
        partner."code" as "partner_code",
        clashing."code_2",
        partner."code_2" as "partner_code_2",
        (clashing.draw + partner.draw) % 1000000007 as priority
    from "sqlanon_clashing" as clashing
    inner join "sqlanon_seated" as partner
        on clashing.first_block + (clashing.block - clashing.first_block + clashing.turn) % clashing.block_count = partner.block
        and (partner.number + clashing.turn) % (case when clashing.turn < 4 then 4 when clashing.turn < 6 then 2 else 1 end) = 0
    where clashing.group_id <> partner.group_id
)
select
    candidate.block,
    candidate.number,
    candidate.group_id,
    candidate.partner_block,
    candidate.partner_number,
    candidate.partner_group,
    candidate.priority
from candidate
left join "sqlanon_seated" as there_1
    on candidate.partner_group = there_1.group_id
    and candidate."code" = there_1."code"
    and (candidate.partner_block <> there_1.block or candidate.partner_number <> there_1.number)
left join "sqlanon_seated" as here_1
    on candidate.group_id = here_1.group_id
    and candidate."partner_code" = here_1."code"
    and (candidate.block <> here_1.block or candidate.number <> here_1.number)
left join "sqlanon_seated" as there_2
    on candidate.partner_group = there_2.group_id
    and candidate."code_2" = there_2."code_2"
    and (candidate.partner_block <> there_2.block or candidate.partner_number <> there_2.number)
left join "sqlanon_seated" as here_2
    on candidate.group_id = here_2.group_id
    and candidate."partner_code_2" = here_2."code_2"
    and (candidate.block <> here_2.block or candidate.number <> here_2.number)
where
    there_1.group_id is null
    and here_1.group_id is null and
    there_2.group_id is null
    and here_2.group_id is null;

-- exchange
with preferred as (
    select
        proposed.*,
        row_number() over (
            partition by block, number order by priority, partner_block, partner_number
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
        row_number() over (partition by touched_group order by priority, block, number) as place
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

-- reseated
select
    seated.block,
    seated.number,
    seated.block_count,
    seated.first_block,
    seated."code",
    seated."code_2",
    seated.draw,
    coalesce(exchange.group_id, seated.group_id) as group_id,
    seated.turn + 1 as turn
from "sqlanon_seated" as seated
left join "sqlanon_exchange" as exchange
    on seated.block = exchange.block and seated.number = exchange.number;

-- clashing_last
with held as (
    select
        group_id,
        count(*) as row_count
    from "sqlanon_seated"
    group by group_id, "code_2"
),
concerned as (
    select distinct group_id
    from held
    where row_count > 1
),
ranked as (
    select
        seated.*,
        greatest(
            row_number() over (partition by seated.group_id, seated."code_2" order by seated.draw, seated.block, seated.number),
            1
        ) as place
    from "sqlanon_seated" as seated
    inner join concerned on seated.group_id = concerned.group_id
)
select *
from ranked
where place > 1;

-- settled
with staying as (
    select
        seated.*,
        count(*) over (partition by seated.group_id) as group_rows
    from "sqlanon_seated" as seated
    left join "sqlanon_clashing_last" as clashing
        on seated.block = clashing.block and seated.number = clashing.number
    where clashing.number is null
),
whole as (
    select
        group_id,
        row_number() over (order by group_id) - 1 as final_id
    from staying
    where group_rows >= 3
    group by group_id
)
select
    staying.block,
    staying.number,
    staying."code",
    staying."code_2",
    whole.final_id as group_id
from staying
inner join whole on staying.group_id = whole.group_id;

-- settled_renumbered
with made as (
    select distinct group_id
    from "sqlanon_settled"
),
hashed as (
    select
        made.group_id,
        sha256(key.secret || 'robust/disease/group/' || cast(made.group_id as varchar)) as hash
    from made
    cross join "sqlanon_key" as key
),
renumbered as (
    select
        group_id,
        row_number() over (order by hash) - 1 as final_id
    from hashed
)
select
    settled.block,
    settled.number,
    settled."code",
    settled."code_2",
    renumbered.final_id as group_id
from "sqlanon_settled" as settled
inner join renumbered on settled.group_id = renumbered.group_id;

-- grouped
select
    numbered."quasi_1",
    numbered."quasi_2",
    settled."code",
    settled."code_2",
    settled.group_id
from "sqlanon_numbered_coded_2" as numbered
inner join "sqlanon_settled_renumbered" as settled
    on numbered.block = settled.block and numbered.number = settled.number;

-- shown_2
select
    group_id,
    "code_2" as code
from "sqlanon_grouped";

-- suppressed
with everyone as (
    select count(*) as everyone_count
    from "sqlanon_population"
),
published as (
    select count(*) as published_count
    from "sqlanon_grouped"
)
select
    everyone.everyone_count - published.published_count as dropped_rows,
    outlook.*
from "sqlanon_outlook" as outlook
cross join everyone
cross join published;

-- qit
select
    grouped.quasi_1 as "age",
    grouped.quasi_2 as "sex",
    grouped.group_id as "group_id"
from "sqlanon_grouped" as grouped
order by
    grouped.quasi_1 asc nulls last,
    grouped.quasi_2 asc nulls last,
    grouped.group_id asc;

-- st
select
    grouped.group_id as "group_id",
    frequency.sensitive as "disease",
    cast(1 as bigint) as "count"
from "sqlanon_grouped" as grouped
inner join "sqlanon_frequency" as frequency on grouped.code = frequency.code
order by
    grouped.group_id asc,
    frequency.sensitive asc nulls last;

-- st_2
select
    grouped.group_id as "group_id",
    frequency.sensitive as "income",
    cast(1 as bigint) as "count"
from "sqlanon_shown_2" as grouped
inner join "sqlanon_frequency_2" as frequency on grouped.code = frequency.code
order by
    grouped.group_id asc,
    frequency.sensitive asc nulls last;

