-- source
select
    "age" as "quasi_1",
    "sex" as "quasi_2",
    "disease" as "sensitive",
    rowid as "row_number"
from "patients";

-- population: as in duckdb.sql

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
    row_number() over (order by hash asc nulls last) - 1 as class
from hashed;

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

-- worst
with left_over as (
    select
coalesce(cast(class."quasi_2" as varchar), 'NULL')
            as signature_text,
        kept.class_rows - kept.kept_rows as surplus
    from "sqlanon_kept" as kept
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

-- outlook: as in duckdb.sql

-- feasibility
select *
from "sqlanon_outlook";

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
        coalesce(cast(sum(case when row_count = 1 then 1 else 0 end) as bigint), 0) as unique_rows
    from combination
)
select
    total.row_count,
    total.unique_rows
from total;

-- population_packed
select
    valued."quasi_2",
    valued."sensitive",
    valued."row_number",
    coalesce("quasi_1" - layout.least_1, layout.missing_1) * layout.unit_1 +
    coalesce("quasi_2" - layout.least_2, layout.missing_2) * layout.unit_2
    as packed
from "sqlanon_population" as valued
cross join "sqlanon_layout" as layout;

-- frequency
with blocked as (
    select
        class,
        group_count,
        greatest(1, group_count // 64) as block_count
    from "sqlanon_capacity"
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
    population."packed",
    population."row_number",
    frequency.code
from "sqlanon_population_packed" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive is not distinct from frequency.sensitive
    and population."quasi_2" is not distinct from frequency."quasi_2";

-- drawn
with row_key as (
    select substr(sha256(key.secret || 'robust/disease/row/'), 1, 40) as secret
    from "sqlanon_key" as key
),
batch as (
    select distinct row_number // 4 as batch_number
    from "sqlanon_population_packed"
),
hashed as (
    select
        batch.batch_number,
        sha256(row_key.secret || cast(batch.batch_number as varchar)) as hash
    from batch
    cross join row_key
),
parted as (
    select
        cast(hash(substr(hash, 1, 16)) % 1152921504606846976 as bigint) as "draw_0",
        cast(hash(substr(hash, 17, 16)) % 1152921504606846976 as bigint) as "draw_1",
        cast(hash(substr(hash, 33, 16)) % 1152921504606846976 as bigint) as "draw_2",
        cast(hash(substr(hash, 49, 16)) % 1152921504606846976 as bigint) as "draw_3",
        batch_number
    from hashed
)
select
    population."packed",
    population."code",
    case population.row_number % 4
        when 0 then parted."draw_0"
        when 1 then parted."draw_1"
        when 2 then parted."draw_2"
        when 3 then parted."draw_3"
    end as "draw"
from "sqlanon_coded" as population
inner join parted on population.row_number // 4 = parted.batch_number;

-- ordered
select
    "packed",
    code
from "sqlanon_drawn"
order by
    code asc nulls last,
    draw asc nulls last;

-- seating: as in duckdb.sql

-- block
with run as (
    select
        code,
        first_position,
        group_count,
        block_count,
        first_block,
        first_cell as first_cell,
        first_position % group_count as first_bucket,
        least(kept_count, group_count - first_position % group_count) as last_count,
        greatest(0, first_position % group_count + kept_count - group_count) as first_count
    from "sqlanon_seating"
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
block_key as (
    select substr(sha256(key.secret || 'robust/disease/block/'), 1, 40) as secret
    from "sqlanon_key" as key
),
last_block as (
    select max(block) as block
    from counted
),
numbered_block as (
    select unnest(generate_series(0, block)) as block
    from last_block
),
secret as (
    select
        numbered_block.block,
        cast(hash(sha256(block_key.secret || cast(numbered_block.block as varchar))) % 1152921504606846976 as bigint) as number
    from numbered_block
    cross join block_key
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
        cast(hash(secret.number + counted.code) % 1152921504606846976 as bigint) as draw
    from counted
    inner join secret on counted.block = secret.block
),
placed as (
    select
        cell,
        first_seat,
        block_groups,
        block_count,
        row_count,
        cast(sum(row_count) over (partition by block order by draw asc nulls last, code asc nulls last rows unbounded preceding) as bigint) - row_count as first_number
    from hashed
)
select
    cell,
    block_groups,
    block_count,
    (first_number + block_groups - first_seat % block_groups) % block_groups as shift
from placed;

-- renumbered
with class_seating as (
    select distinct
        first_group,
        group_count,
        block_count,
        first_block
    from "sqlanon_seating"
    where kept_count > 0
),
listed as (
    select
        first_group,
        block_count,
        first_block,
        unnest(generate_series(0, group_count - 1)) as class_place
    from class_seating
),
group_key as (
    select substr(sha256(key.secret || 'robust/disease/group/'), 1, 40) as secret
    from "sqlanon_key" as key
),
batch as (
    select distinct (first_group + class_place) // 64 as batch_number
    from listed
),
secret as (
    select
        batch.batch_number,
        cast(hash(sha256(group_key.secret || cast(batch.batch_number as varchar))) % 1152921504606846976 as bigint) as number
    from batch
    cross join group_key
),
drawn as (
    select
        listed.first_group + listed.class_place as place,
        cast(hash(secret.number + listed.first_group + listed.class_place) % 1152921504606846976 as bigint) as draw,
        0 as tie
    from listed
    inner join secret on (listed.first_group + listed.class_place) // 64 = secret.batch_number
)
select place
from drawn
order by
    draw asc nulls last,
    tie asc nulls last;

-- grouped
with first_row as (
    select min(rowid) as number
    from "sqlanon_ordered"
),
first_group as (
    select min(rowid) as number
    from "sqlanon_renumbered"
),
renumbered as (
    select
        renumbered.place,
        renumbered.rowid - first_group.number as group_id
    from "sqlanon_renumbered" as renumbered
    cross join first_group
),
bucketed as (
    select
        ordered."packed",
        seating.code,
        seating.block_count,
        case when ordered.rowid - first_row.number - seating.first_row < seating.kept_count then seating.first_cell end as first_cell,
        seating.first_group,
        (seating.first_position + ordered.rowid - first_row.number - seating.first_row) % seating.group_count as bucket
    from "sqlanon_ordered" as ordered
    cross join first_row
    inner join "sqlanon_seating" as seating on ordered.code = seating.code
),
placed as (
    select
        bucketed."packed",
        bucketed.code,
        bucketed.first_group + (bucketed.bucket // bucketed.block_count + block.shift) % block.block_groups * bucketed.block_count
    + bucketed.bucket % bucketed.block_count as place
    from bucketed
    inner join "sqlanon_block" as block
        on bucketed.first_cell + bucketed.bucket % bucketed.block_count = block.cell
)
select
    placed."packed",
    placed.code,
    renumbered.group_id
from placed
inner join renumbered on placed.place = renumbered.place;

-- suppressed
with everyone as (
    select count(*) as everyone_count
    from "sqlanon_population_packed"
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
with line as (
    select packed + group_id as number
    from "sqlanon_grouped"
    order by number asc nulls last
)
select
    cast(nullif(line.number // layout.unit_1 % layout.span_1, layout.missing_1) + layout.least_1 as INTEGER) as "age",
    cast(nullif(line.number // layout.unit_2 % layout.span_2, layout.missing_2) + layout.least_2 as TINYINT) as "sex",
    line.number % layout.groups as "group_id"
from line
cross join "sqlanon_layout" as layout;

-- st: as in duckdb.sql

