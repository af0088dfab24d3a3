-- source
select
    "age" as "quasi_1",
    "sex" as "quasi_2",
    "disease" as "sensitive",
    rowid as "row_number"
from "patients";

-- population: as in duckdb.sql

-- tally: as in duckdb.sql

-- feasibility
with counted as (
    select
        sensitive,
        row_count,
        case when sensitive is null and not false then 0 else row_count end as kept_count
    from "sqlanon_tally"
),
placed as (
    select
        counted.*,
        row_number() over (order by kept_count desc nulls last) - 1 as place,
        cast(sum(kept_count) over () as bigint) as kept_rows,
        cast(sum(kept_count) over (order by kept_count desc nulls last rows unbounded preceding) as bigint) - kept_count as larger_rows
    from counted
),
fitting as (
    select
        placed.*,
        min(case
            when place < 4
            then (kept_rows - larger_rows) // greatest(1, 4 - place)
        end) over () as group_count
    from placed
)
select
    coalesce(cast(sum(fitting.kept_count) as bigint), 0) as row_count,
    coalesce(cast(sum(case when fitting.sensitive is null then fitting.row_count else 0 end) as bigint), 0) as null_count,
    coalesce(cast(sum(case when fitting.kept_count > 0 then 1 else 0 end) as bigint), 0) as value_count,
    coalesce(max(fitting.kept_count), 0) as largest_count,
    max(case when fitting.place = 0 then cast(fitting.sensitive as varchar) end) as largest_value,
    coalesce(max(case when fitting.place = 0 and fitting.sensitive is null then 1 else 0 end), 0) as largest_missing,
    coalesce(max(case when fitting.place = 1 then fitting.kept_count end), 0) as next_count,
    coalesce(cast(sum(least(fitting.kept_count, fitting.group_count)) as bigint), 0) as groupable_rows
from fitting;

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
    valued."sensitive",
    valued."row_number",
    coalesce("quasi_1" - layout.least_1, layout.missing_1) * layout.unit_1 +
    coalesce("quasi_2" - layout.least_2, layout.missing_2) * layout.unit_2
    as packed
from "sqlanon_population" as valued
cross join "sqlanon_layout" as layout;

-- drawn
with row_key as (
    select substr(sha256(key.secret || 'splu/disease/row/'), 1, 40) as secret
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
        cast(hash(substr(hash, 1, 16) || 'slot_draw') % 1152921504606846976 as bigint) as "slot_draw_0",
        cast(hash(substr(hash, 17, 16) || 'slot_draw') % 1152921504606846976 as bigint) as "slot_draw_1",
        cast(hash(substr(hash, 33, 16) || 'slot_draw') % 1152921504606846976 as bigint) as "slot_draw_2",
        cast(hash(substr(hash, 49, 16) || 'slot_draw') % 1152921504606846976 as bigint) as "slot_draw_3",
        batch_number
    from hashed
)
select
    population."packed",
    population."sensitive",
    case population.row_number % 4
        when 0 then parted."draw_0"
        when 1 then parted."draw_1"
        when 2 then parted."draw_2"
        when 3 then parted."draw_3"
    end as "draw",
    case population.row_number % 4
        when 0 then parted."slot_draw_0"
        when 1 then parted."slot_draw_1"
        when 2 then parted."slot_draw_2"
        when 3 then parted."slot_draw_3"
    end as "slot_draw"
from "sqlanon_population_packed" as population
inner join parted on population.row_number // 4 = parted.batch_number;

-- lot
with counted as (
    select
        draw // 281474976710656 as lot,
        count(*) as row_count
    from "sqlanon_drawn"
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

-- residue: as in duckdb.sql

-- left_out: as in duckdb.sql

-- kept
select
    drawn."packed",
    drawn."sensitive",
    drawn."draw",
    drawn."slot_draw"
from "sqlanon_drawn" as drawn
cross join "sqlanon_residue" as residue
where drawn.draw > residue.last_draw;

-- tally_randomized: as in duckdb.sql

-- frequency
with valued as (
    select
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'splu/disease/value/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
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
    valued."packed",
    valued."slot_draw",
    valued."draw",
    frequency.code
from "sqlanon_kept" as valued
inner join "sqlanon_frequency" as frequency
    on valued.sensitive = frequency.sensitive;

-- ordered
select
    "packed",
    "slot_draw",
    code
from "sqlanon_coded"
order by
    code asc nulls last,
    draw asc nulls last;

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
block_key as (
    select substr(sha256(key.secret || 'splu/disease/block/'), 1, 40) as secret
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
        ordered."packed",
        ordered."slot_draw",
        frequency.code,
        frequency.block_count,
        (ordered.rowid - first_row.number) % frequency.group_count as bucket
    from "sqlanon_ordered" as ordered
    cross join first_row
    inner join "sqlanon_frequency" as frequency on ordered.code = frequency.code
),
numbered as (
    select
        bucketed."packed",
        bucketed."slot_draw",
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
    "packed",
    "slot_draw",
    code,
    (number % block_groups) * block_count + block as group_id,
    (block_rows + block_groups - 1 - number % block_groups) // block_groups as group_rows,
    number // block_groups as slot
from numbered;

-- randomized
select
    decoy_group."packed" as "packed",
    frequency.sensitive as "published_1"
from "sqlanon_decoy_group" as decoy_group
inner join "sqlanon_decoy_group" as decoy
    on decoy_group.group_id = decoy.group_id and decoy_group.slot_draw % decoy_group.group_rows = decoy.slot
inner join "sqlanon_frequency" as frequency on decoy.code = frequency.code;

-- data
with line as (
    select
        "published_1",
        packed
    from "sqlanon_randomized"
    order by
        packed asc nulls last,
        "published_1" asc nulls last
)
select
    cast(nullif(line.packed // layout.unit_1 % layout.span_1, layout.missing_1) + layout.least_1 as INTEGER) as "age",
    cast(nullif(line.packed // layout.unit_2 % layout.span_2, layout.missing_2) + layout.least_2 as TINYINT) as "sex",
    line."published_1" as "disease"
from line
cross join "sqlanon_layout" as layout;

