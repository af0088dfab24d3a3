-- source
select
    "age" as "quasi_1",
    "sex" as "quasi_2",
    "ssn" as "identifier_1",
    "disease" as "sensitive",
    "income" as "sensitive_2"
from "patients";

-- population: as in duckdb.sql

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

-- signature_tally_1
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
    from "sqlanon_signature_tally_1"
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
    row_number() over (order by hash asc nulls last) - 1 as class
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

-- ranked_1
with valued as (
    select
        tally."quasi_2",
        class.class,
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'robust/disease/value/' || cast(class.class as varchar) || '/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_signature_tally_1" as tally
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

-- capacity_1
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_ranked_1"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_ranked_1" as ranked
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

-- kept_1
select
    capacity.size,
    ranked.class,
    cast(sum(ranked.row_count) as bigint) as class_rows,
    cast(sum(least(ranked.row_count, capacity.group_count)) as bigint) as kept_rows
from "sqlanon_ranked_1" as ranked
inner join "sqlanon_capacity_1" as capacity on ranked.class = capacity.class
group by
    capacity.size,
    ranked.class;

-- kept_least
select
    kept.size,
    kept.class,
    kept.class_rows,
    least(kept.kept_rows, further_1.kept_rows) as kept_rows
from "sqlanon_kept_1" as kept
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
        row_number() over (order by surplus desc nulls last, signature_text asc nulls last) as place
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
    from "sqlanon_ranked_1"
),
missing as (
    select
        coalesce(cast(sum(
            case when sensitive is null and not false then row_count else 0 end
        ) as bigint), 0) as null_count
    from "sqlanon_signature_tally_1"
),
valued as (
    select sum(row_count) as row_count
    from "sqlanon_ranked_1"
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
    - coalesce((select cast(sum(kept_rows) as bigint) from "sqlanon_kept_1" where size = 3), 0)
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
        combination.row_count > 0 and (
            false
            or (total.known_1 > 1 and 5 * total.unique_rows >= 4 * total.known_1)
            or (total.known_2 > 1 and 5 * total.unique_rows >= 4 * total.known_2)
        )
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

-- tally_1
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive";

-- tally_2
select
    "sensitive_2" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive_2";

-- foremost
with counted as (
    select
        0 as place,
        max(row_count) as row_count
    from "sqlanon_tally_1"
    union all
    select
        1 as place,
        max(row_count) as row_count
    from "sqlanon_tally_2"
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

-- frequency_1
with valued as (
    select
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'robust/disease/value/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_tally_1" as tally
    cross join "sqlanon_key" as key
    where tally.sensitive is not null or false
),
ordered as (
    select
        sensitive,
        row_count,
        cast(row_number() over (order by row_count desc nulls last, hash asc nulls last) - 1 as integer) as code,
        cast(sum(row_count) over (order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as last_position,
        cast(sum(row_count) over () as bigint) // 3 as group_count
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
ordered as (
    select
        sensitive,
        row_count,
        cast(row_number() over (order by row_count desc nulls last, hash asc nulls last) - 1 as integer) as code,
        cast(sum(row_count) over (order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as last_position,
        cast(sum(row_count) over () as bigint) // 3 as group_count
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

-- coded_by_value
with given as (
    select
        valued."quasi_1",
        valued."quasi_2",
        valued."identity",
        "number_1".code as "number_1",
        "number_2".code as "number_2"
    from "sqlanon_identified" as valued
    inner join "sqlanon_frequency_1" as "number_1"
        on valued."sensitive" is not distinct from "number_1".sensitive
    inner join "sqlanon_frequency_2" as "number_2"
        on valued."sensitive_2" is not distinct from "number_2".sensitive
)
select
    given."quasi_1",
    given."quasi_2",
    given."identity",
    case foremost.place
        when 0 then given."number_1"
        when 1 then given."number_2"
    end as "code_1",
    case foremost.place
        when 0 then given."number_2"
        when 1 then given."number_1"
    end as "code_2"
from given
cross join "sqlanon_foremost" as foremost;

-- classed
select
    coded."quasi_1",
    coded."quasi_2",
    coded."identity",
    coded."code_1",
    coded."code_2",
    class.class
from "sqlanon_coded_by_value" as coded
inner join "sqlanon_class" as class
    on coded."quasi_2" is not distinct from class."quasi_2";

-- drawn_1
with row_key as (
    select substr(sha256(key.secret || 'robust/disease/row/'), 1, 40) as secret
    from "sqlanon_key" as key
),
hashed as (
    select
        identified."quasi_1",
        identified."quasi_2",
        identified."code_1",
        identified."code_2",
        identified."class",
        sha256(row_key.secret || identified.identity) as hash
    from "sqlanon_classed" as identified
    cross join row_key
)
select
    "quasi_1",
    "quasi_2",
    "code_1",
    "code_2",
    "class",
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "tie"
from hashed;

-- room_first
select
    capacity.class,
    capacity.size,
    least(capacity.group_count, further_1.group_count) as group_count
from "sqlanon_capacity_1" as capacity
inner join "sqlanon_capacity_2" as further_1
    on capacity.class = further_1.class and capacity.size = further_1.size;

-- short
with held as (
    select
        class,
        max(row_count) as row_count
    from "sqlanon_ranked_1"
    group by class
    union all
    select
        class,
        max(row_count) as row_count
    from "sqlanon_ranked_2"
    group by class
)
select distinct held.class
from held
left join "sqlanon_room_first" as room on held.class = room.class and room.size = 3
where held.row_count > coalesce(room.group_count, 0);

-- thinned
select
    drawn.*,
    0 as is_settled
from "sqlanon_drawn_1" as drawn
inner join "sqlanon_short" as short on drawn.class = short.class;

-- unsettled
select count(*) as left_over
from "sqlanon_thinned"
where is_settled = 0;

-- held_turn_1
with counted as (
    select
        class,
        "code_1" as sensitive,
        count(*) as row_count
    from "sqlanon_thinned"
    group by
        class,
        "code_1"
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
        row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as head
    from hashed
)
select
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity_turn_1
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_held_turn_1"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_held_turn_1" as ranked
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

-- held_turn_2
with counted as (
    select
        class,
        "code_2" as sensitive,
        count(*) as row_count
    from "sqlanon_thinned"
    group by
        class,
        "code_2"
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
        row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as head
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

-- room_turn
select
    capacity.class,
    capacity.size,
    least(capacity.group_count, further_1.group_count) as group_count
from "sqlanon_capacity_turn_1" as capacity
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
            partition by class, "code_1"
            order by draw asc nulls last, "tie" asc nulls last
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
            partition by class, "code_2"
            order by draw asc nulls last, "tie" asc nulls last
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
    "code_1",
    "code_2",
    "draw",
    "tie",
    class,
    case when count(*) over (partition by class) = rows_before then 1 else 0 end as is_settled
from limited_2;

-- thinned_rejoined
with kept as (
    select
        drawn."quasi_1",
        drawn."quasi_2",
        drawn."code_1",
        drawn."code_2",
        drawn."draw",
        drawn."tie",
        drawn.class
    from "sqlanon_drawn_1" as drawn
    left join "sqlanon_short" as short on drawn.class = short.class
    where short.class is null
    union all
    select
        "quasi_1",
        "quasi_2",
        "code_1",
        "code_2",
        "draw",
        "tie",
        class
    from "sqlanon_thinned"
)
select *
from kept;

-- held_last_1
with counted as (
    select
        class,
        "code_1" as sensitive,
        count(*) as row_count
    from "sqlanon_thinned_rejoined"
    group by
        class,
        "code_1"
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
        row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as head
    from hashed
)
select
    class,
    sensitive,
    row_count,
    place,
    class_rows - head + row_count as tail
from placed;

-- capacity_last_1
with candidate as (
    select distinct place + 1 as size
    from "sqlanon_held_last_1"
    where place > 0 and place < 3
),
bounded as (
    select
        ranked.class,
        candidate.size,
        count(*) as value_count,
        min(ranked.tail // (candidate.size - ranked.place)) as group_count
    from "sqlanon_held_last_1" as ranked
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

-- held_last_2
with counted as (
    select
        class,
        "code_2" as sensitive,
        count(*) as row_count
    from "sqlanon_thinned_rejoined"
    group by
        class,
        "code_2"
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
        row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
        cast(sum(row_count) over (partition by class) as bigint) as class_rows,
        cast(sum(row_count) over (partition by class order by row_count desc nulls last, hash asc nulls last rows unbounded preceding) as bigint) as head
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

-- room_last
select
    capacity.class,
    capacity.size,
    least(capacity.group_count, further_1.group_count) as group_count
from "sqlanon_capacity_last_1" as capacity
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
        cast(sum(block_count) over (order by class asc nulls last rows unbounded preceding) as bigint) - block_count as first_block
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
    from "sqlanon_held_last_1" as ranked
    inner join numbered on ranked.class = numbered.class
)
select
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

-- drawn_coded
select
    thinned."quasi_1",
    thinned."quasi_2",
    thinned."code_1",
    thinned."code_2",
    thinned."draw",
    thinned."tie",
    frequency.code
from "sqlanon_thinned_rejoined" as thinned
inner join "sqlanon_frequency" as frequency
    on thinned.class = frequency.class
    and thinned."code_1" = frequency.sensitive;

-- ordered_1
select
    "quasi_1",
    "quasi_2",
    "code_1",
    "code_2",
    code
from "sqlanon_drawn_coded"
order by
    code asc nulls last,
    draw asc nulls last,
    "tie" asc nulls last;

-- first_row_1
select
    code,
    min(rowid) as first_row
from "sqlanon_ordered_1"
group by code;

-- positioned_1
with ranked as (
    select
        ordered."quasi_1",
        ordered."quasi_2",
        ordered."code_1",
        ordered."code_2",
        ordered.code,
        ordered.rowid - first_row.first_row as value_rank
    from "sqlanon_ordered_1" as ordered
    inner join "sqlanon_first_row_1" as first_row on ordered.code = first_row.code
),
bucketed as (
    select
        ranked."quasi_1",
        ranked."quasi_2",
        ranked."code_1",
        ranked."code_2",
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
    "code_1",
    "code_2",
    code,
    first_block + bucket % block_count as block,
    bucket // block_count as seat
from bucketed;

-- block_1
with counted as (
    select
        code,
        block,
        count(*) as row_count
    from "sqlanon_positioned_1"
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
        cast('0x' || substr(sha256(key.secret || 'robust/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
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

-- numbered_1
select
    positioned."quasi_1",
    positioned."quasi_2",
    positioned."code_1",
    positioned."code_2",
    positioned.code,
    positioned.block,
    block.block_count,
    block.block_groups,
    block.block_rows,
    block.first_number
    + (positioned.seat + block.block_groups - block.first_seat % block.block_groups) % block.block_groups as number
from "sqlanon_positioned_1" as positioned
inner join "sqlanon_block_1" as block
    on positioned.block = block.block and positioned.code = block.code;

-- renumbered
with hashed as (
    select
        numbered.block,
        numbered.number as turn,
        sha256(key.secret || 'robust/disease/group/' || cast(numbered.block as varchar) || '/' || cast(numbered.number as varchar)) as hash
    from "sqlanon_numbered_1" as numbered
    cross join "sqlanon_key" as key
    where numbered.number < numbered.block_groups
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

-- seated
select
    numbered."quasi_1",
    numbered."quasi_2",
    numbered."code_1",
    numbered."code_2",
    numbered."block",
    numbered."number",
    numbered.code,
    renumbered.group_id
from "sqlanon_numbered_1" as numbered
inner join "sqlanon_renumbered" as renumbered
    on numbered.block = renumbered.block and numbered.number % numbered.block_groups = renumbered.turn;

-- blocks
select
    block.block,
    max(block.block_rows) as block_rows,
    max(frequency.first_block) as first_block,
    max(frequency.block_count) as block_count
from "sqlanon_block_1" as block
inner join "sqlanon_frequency" as frequency on block.code = frequency.code
group by block.block;

-- standing
with concerned as (
    select group_id
    from "sqlanon_seated"
    group by group_id, "code_2"
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
        seated."code_1",
        seated."code_2",
        seated.group_id
    from "sqlanon_seated" as seated
    inner join crowded on seated.group_id = crowded.group_id
)
select
    member.block,
    member.number,
    member."code_1",
    member."code_2",
    member.group_id,
    0 as is_moved,
    0 as turn,
    greatest(
            row_number() over (partition by member.group_id, member."code_2" order by member.block asc nulls last, member.number asc nulls last),
            1
        ) as place
from member;

-- waiting
select count(*) as left_over
from "sqlanon_standing"
where place > 1;

-- rotated
with waiting as (
    select
        standing.block,
        standing.number,
        blocks.first_block,
        standing."code_1" as seated_by,
        standing.group_id,
        ((standing.block * 1000003 + standing.number + 1) % 2147483647) * (48271 + 69621 * standing.turn) % 2147483647 as draw
    from "sqlanon_standing" as standing
    inner join "sqlanon_blocks" as blocks on standing.block = blocks.block
    where standing.place > 1
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
        standing.block,
        standing.number,
        standing."code_1",
        standing."code_2",
        coalesce(called.group_id, standing.group_id) as group_id,
        case when called.group_id is null then standing.is_moved else 1 end as is_moved,
        standing.turn + 1 as turn
    from "sqlanon_standing" as standing
    left join called on standing.block = called.block and standing.number = called.number
),
placed as (
    select
        moved.*,
        greatest(
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
    "code_1",
    "code_2",
    group_id,
    is_moved,
    turn,
    place
from judged
where last_place > 1 or is_moved = 1;

-- waiting
select count(*) as left_over
from "sqlanon_standing"
where place > 1;

-- offered
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
        standing.block,
        standing.number,
        blocks.block_count,
        blocks.first_block,
        ((standing.block * 1000003 + standing.number + 1) % 2147483647) * (48271 + 69621 * (standing.turn * 128 + ahead.place)) % 2147483647 as draw
    from "sqlanon_standing" as standing
    inner join "sqlanon_blocks" as blocks on standing.block = blocks.block
    inner join ahead on ahead.place < 8 * (standing.turn - 3 + 1)
    where standing.place > 1
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

-- near
with present as (
    select
        seated.block,
        seated.number,
        seated."code_1",
        seated."code_2",
        coalesce(standing.group_id, seated.group_id) as group_id
    from "sqlanon_seated" as seated
    left join "sqlanon_standing" as standing
        on seated.block = standing.block and seated.number = standing.number
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
    from "sqlanon_standing"
    where place > 1
)
select present.*
from present
inner join chosen on present.group_id = chosen.group_id;

-- proposed
with pair as (
    select
        offered.block,
        offered.number,
        offered.partner_block,
        offered.partner_number,
        asking.group_id,
        partner.group_id as partner_group,
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
        and (pair."code_1" = there."code_1" or pair."code_2" = there."code_2")
    union
    select
        pair.block,
        pair.number,
        pair.partner_block,
        pair.partner_number
    from pair
    inner join "sqlanon_near" as here on pair.group_id = here.group_id
    where (pair.block <> here.block or pair.number <> here.number)
        and (pair."partner_code_1" = here."code_1" or pair."partner_code_2" = here."code_2")
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

-- exchange
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

-- reseated
with moved as (
    select
        standing.block,
        standing.number,
        standing."code_1",
        standing."code_2",
        coalesce(exchange.group_id, standing.group_id) as group_id,
        case when exchange.group_id is null then standing.is_moved else 1 end as is_moved
    from "sqlanon_standing" as standing
    left join "sqlanon_exchange" as exchange
        on standing.block = exchange.block and standing.number = exchange.number
    union all
    select
        near.block,
        near.number,
        near."code_1",
        near."code_2",
        exchange.group_id,
        1 as is_moved
    from "sqlanon_near" as near
    inner join "sqlanon_exchange" as exchange
        on near.block = exchange.block and near.number = exchange.number
    left join "sqlanon_standing" as standing
        on near.block = standing.block and near.number = standing.number
    where standing.number is null
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
    judged.block,
    judged.number,
    judged."code_1",
    judged."code_2",
    judged.group_id,
    judged.is_moved,
    taken.turn + 1 as turn,
    judged.place
from judged
cross join (select max(turn) as turn from "sqlanon_standing") as taken
where judged.last_place > 1 or judged.is_moved = 1;

-- resettled
with counted as (
    select
        standing.*,
        max(place) over (partition by group_id) as last_place,
        sum(case when place = 1 then 1 else 0 end) over (partition by group_id) as group_rows
    from "sqlanon_standing" as standing
)
select
    block,
    number,
    group_id,
    case when place > 1 or (last_place > 1 and group_rows < 3) then 1 else 0 end as is_out
from counted
where is_moved = 1 or last_place > 1;

-- renamed
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
    from "sqlanon_seated" as seated
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
    from "sqlanon_seated" as seated
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

-- grouped
with present as (
    select
        seated."quasi_1",
        seated."quasi_2",
        seated."code_1",
        seated."code_2",
        coalesce(resettled.group_id, seated.group_id) as group_id
    from "sqlanon_seated" as seated
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

-- shown_1
select
    grouped.group_id,
    case foremost.place
        when 0 then grouped."code_1"
        when 1 then grouped."code_2"
    end as code
from "sqlanon_grouped" as grouped
cross join "sqlanon_foremost" as foremost;

-- shown_2
select
    grouped.group_id,
    case foremost.place
        when 0 then grouped."code_2"
        when 1 then grouped."code_1"
    end as code
from "sqlanon_grouped" as grouped
cross join "sqlanon_foremost" as foremost;

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
    grouped.group_id asc nulls last;

-- st
select
    grouped.group_id as "group_id",
    frequency.sensitive as "disease",
    cast(1 as bigint) as "count"
from "sqlanon_shown_1" as grouped
inner join "sqlanon_frequency_1" as frequency on grouped.code = frequency.code
order by
    grouped.group_id asc nulls last,
    frequency.sensitive asc nulls last;

-- st_2
select
    grouped.group_id as "group_id",
    frequency.sensitive as "income",
    cast(1 as bigint) as "count"
from "sqlanon_shown_2" as grouped
inner join "sqlanon_frequency_2" as frequency on grouped.code = frequency.code
order by
    grouped.group_id asc nulls last,
    frequency.sensitive asc nulls last;

