-- frequency: step 1: of each value at most m rows are kept, m the groups of its class, in positions of the class's own, groups in B = max(1, floor(m / 64)) blocks, which are numbered over all classes
with numbered as (
    select
        class,
        group_count,
        greatest(1, group_count // 64) as block_count,
        cast(sum(greatest(1, group_count // 64)) over (order by class asc nulls last rows unbounded preceding) as bigint) - greatest(1, group_count // 64) as first_block
    from "sqlanon_capacity"
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
    from "sqlanon_ranked" as ranked
    inner join numbered on ranked.class = numbered.class
)
select
    class,
    sensitive,
    cast(row_number() over (order by class asc nulls last, place asc nulls last) - 1 as integer) as code,
    row_count,
    kept_count,
    cast(sum(row_count) over (order by class asc nulls last, place asc nulls last rows unbounded preceding) as bigint) - row_count as first_row,
    cast(sum(kept_count) over (partition by class order by place asc nulls last rows unbounded preceding) as bigint) - kept_count as first_position,
    cast(sum(block_count) over (order by class asc nulls last, place asc nulls last rows unbounded preceding) as bigint) - block_count as first_cell,
    group_count,
    block_count,
    first_block
from cut

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs
select
    population."quasi_1", population."quasi_2", population."quasi_3",
    population.tie,
    population.draw,
    frequency.code
from "sqlanon_population_3" as population
inner join "sqlanon_frequency" as frequency
    on population.sensitive = frequency.sensitive

-- ordered: step 2: the rows by value and random order
with keyed as (
    select
        "quasi_1", "quasi_2", "quasi_3",
        draw,
        tie,
        code,
        cast((draw >> 28) - 2147483648 as integer) as draw_start
    from "sqlanon_coded"
)
select
    "quasi_1", "quasi_2", "quasi_3",
    code
from keyed
order by
    code asc nulls last,
    draw_start asc nulls last,
    draw asc nulls last,
    tie asc nulls last

-- positioned: the position of every row in this order, from 0 on (inside a transaction a table numbers its rows from no known number on)
with first_row as (
    select min(rowid) as number
    from "sqlanon_ordered"
)
select
    ordered."quasi_1", ordered."quasi_2", ordered."quasi_3",
    ordered.code,
    ordered.rowid - first_row.number as position
from "sqlanon_ordered" as ordered
cross join first_row

-- block: step 4: in each block the values stand in a keyed order of their own; a value's rows hold neighbouring seats, so that moving the run to where those before it end numbers the whole block
with run as (
    select
        frequency.*,
        first_position % group_count as first_bucket,
        least(kept_count, group_count - first_position % group_count) as last_count,
        greatest(0, first_position % group_count + kept_count - group_count) as first_count
    from "sqlanon_frequency" as frequency
    where kept_count > 0
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
        cast('0x' || substr(sha256(key.secret || 'anatomy/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)), 1, 15) as bigint) as draw
    from counted
    cross join "sqlanon_key_2" as key
)
select
    cell,
    code,
    block,
    block_count,
    block_groups,
    cast(sum(row_count) over (partition by block) as bigint) as block_rows,
    row_count,
    cast(sum(row_count) over (partition by block order by draw asc nulls last, code asc nulls last rows unbounded preceding) as bigint) - row_count as first_number,
    block_groups - first_seat % block_groups as shift
from hashed

-- numbered: steps 3 and 4: the rows of a value take the buckets from its first position on, bucket mod B is the block, bucket div B the seat in it; who is beyond what is kept has no block
with bucketed as (
    select
        positioned."quasi_1", positioned."quasi_2", positioned."quasi_3",
        frequency.code,
        frequency.first_cell,
        frequency.first_block,
        frequency.block_count,
        case
            when positioned.position - frequency.first_row < frequency.kept_count
            then (frequency.first_position + positioned.position - frequency.first_row) % frequency.group_count
        end as bucket
    from "sqlanon_positioned" as positioned
    inner join "sqlanon_frequency" as frequency on positioned.code = frequency.code
)
select
    bucketed."quasi_1", bucketed."quasi_2", bucketed."quasi_3",
    bucketed.code,
    bucketed.first_block + bucketed.bucket % bucketed.block_count as block,
    bucketed.block_count,
    block.block_groups,
    block.block_rows,
    block.first_number + (bucketed.bucket // bucketed.block_count + block.shift) % block.block_groups as number
from bucketed
inner join "sqlanon_block" as block on bucketed.first_cell + bucketed.bucket % bucketed.block_count = block.cell

-- grouped: step 5: every row with its group, its number in the block mod the groups of the block, made global
select
    "quasi_1", "quasi_2", "quasi_3",
    code,
    (numbered.number % numbered.block_groups) * numbered.block_count + numbered.block as group_id
from "sqlanon_numbered" as numbered

-- spark, frequency:
-- -    greatest(1, "group_count" // 64) as "block_count",
-- -    cast(sum(greatest(1, "group_count" // 64)) over (order by "class" asc nulls last rows between unbounded preceding and current row) as bigint) - greatest(1, "group_count" // 64) as "first_block"
-- +    greatest(1, ("group_count" div 64)) as "block_count",
-- +    cast(sum(greatest(1, ("group_count" div 64))) over (order by "class" asc nulls last rows between unbounded preceding and current row) as bigint) - greatest(1, ("group_count" div 64)) as "first_block"

-- spark, sharded:
-- +with "keyed" as (
-- +  select
-- +    "quasi_1",
-- +    "quasi_2",
-- +    "quasi_3",
-- +    "draw",
-- +    "tie",
-- +    cast("code" as bigint) * 4294967296 + ("draw" div 268435456) as "number"
-- +  from "sqlanon_coded"
-- +), "placed" as (
-- +  select
-- +    "quasi_1",
-- +    "quasi_2",
-- +    "quasi_3",
-- +    "number",
-- +    monotonically_increasing_id() as "place"
-- +  from (
-- +    select
-- +      "quasi_1",
-- +      "quasi_2",
-- +      "quasi_3",
-- +      "number"
-- +    from "keyed"
-- +    distribute by
-- +      ("number" % 4294967296 div 67108864)
-- +    sort by
-- +      "number" asc nulls last,
-- +      "draw" asc nulls last,
-- +      "tie" asc nulls last
-- +  ) as "sorted"
-- +)
-- +select
-- +  "quasi_1",
-- +  "quasi_2",
-- +  "quasi_3",
-- +  ("number" div 67108864) as "cell",
-- +  "place"
-- +from "placed"

-- spark, run:
-- +with "counted" as (
-- +  select
-- +    "cell",
-- +    count(*) as "row_count",
-- +    min("place") as "first_place"
-- +  from "sqlanon_sharded"
-- +  group by
-- +    "cell"
-- +)
-- +select
-- +  "cell",
-- +  ("cell" div 64) as "code",
-- +  "first_place",
-- +  cast(sum("row_count") over (order by "cell" asc nulls last rows between unbounded preceding and current row) as bigint) - "row_count" as "first_position"
-- +from "counted"

-- spark, positioned:
-- -with "first_row" as (
-- -  select
-- -    min("rowid") as "number"
-- -  from "sqlanon_ordered"
-- -)
-- -  "ordered"."quasi_1",
-- -  "ordered"."quasi_2",
-- -  "ordered"."quasi_3",
-- -  "ordered"."code",
-- -  "ordered"."rowid" - "first_row"."number" as "position"
-- -from "sqlanon_ordered" as "ordered"
-- -cross join "first_row"
-- +  "sharded"."quasi_1",
-- +  "sharded"."quasi_2",
-- +  "sharded"."quasi_3",
-- +  "run"."code",
-- +  "run"."first_position" + "sharded"."place" - "run"."first_place" as "position"
-- +from "sqlanon_sharded" as "sharded"
-- +inner join "sqlanon_run" as "run"
-- +  on "sharded"."cell" = "run"."cell"

-- spark, block:
-- -    unnest(generate_series("first_bucket", "first_bucket" + least("last_count", "block_count") - 1)) as "bucket"
-- +    explode(sequence("first_bucket", "first_bucket" + least("last_count", "block_count") - 1)) as "bucket"
-- -    unnest(generate_series(0, least("first_count", "block_count") - 1)) as "bucket"
-- +    explode(sequence(0, least("first_count", "block_count") - 1)) as "bucket"
-- -    (
-- -      "last_count" - "turn" + "block_count" - 1
-- -    ) // "block_count" + (
-- -      "first_count" - "place" + "block_count" - 1
-- -    ) // "block_count" as "row_count"
-- +    (("last_count" - "turn" + "block_count" - 1) div "block_count") + (("first_count" - "place" + "block_count" - 1) div "block_count") as "row_count"
-- -    (
-- -      "counted"."group_count" + "counted"."block_count" - 1 - (
-- -        "counted"."block" - "counted"."first_block"
-- -      )
-- -    ) // "counted"."block_count" as "block_groups",
-- -    (
-- -      "counted"."first_position" % "counted"."group_count" + "counted"."block_count" - 1 - (
-- -        "counted"."block" - "counted"."first_block"
-- -      )
-- -    ) // "counted"."block_count" as "first_seat",
-- -    cast('0x' || substring(
-- -      sha256(
-- -        "key"."secret" || 'anatomy/disease/block/' || cast("counted"."block" as text) || '/' || cast("counted"."code" as text)
-- -      ),
-- -      1,
-- -      15
-- -    ) as bigint) as "draw"
-- +    (("counted"."group_count" + "counted"."block_count" - 1 - ("counted"."block" - "counted"."first_block")) div "counted"."block_count") as "block_groups",
-- +    (("counted"."first_position" % "counted"."group_count" + "counted"."block_count" - 1 - ("counted"."block" - "counted"."first_block")) div "counted"."block_count") as "first_seat",
-- +    cast(conv(substring(sha2("key"."secret" || 'anatomy/disease/block/' || cast("counted"."block" as string) || '/' || cast("counted"."code" as string), 256), 1, 15), 16, 10) as bigint) as "draw"

-- spark, numbered:
-- -    "bucketed"."bucket" // "bucketed"."block_count" + "block"."shift"
-- +    ("bucketed"."bucket" div "bucketed"."block_count") + "block"."shift"

-- postgres, frequency:
-- -    greatest(1, "group_count" // 64) as "block_count",
-- -    cast(sum(greatest(1, "group_count" // 64)) over (order by "class" asc rows between unbounded preceding and current row) as bigint) - greatest(1, "group_count" // 64) as "first_block"
-- +    greatest(1, ("group_count" / 64)) as "block_count",
-- +    cast(sum(greatest(1, ("group_count" / 64))) over (order by "class" asc rows between unbounded preceding and current row) as bigint) - greatest(1, ("group_count" / 64)) as "first_block"

-- postgres, ordered:
-- -    "code",
-- -    cast((
-- +    cast("code" as bigint) * 4294967296 + (
-- -    ) - 2147483648 as int) as "draw_start"
-- +    ) as "number"
-- -  "code"
-- +  cast("number" >> 32 as int) as "code"
-- -  "code" asc,
-- -  "draw_start" asc,
-- +  "number" asc,

-- postgres, positioned:
-- -with "first_row" as (
-- -  select
-- -    min("rowid") as "number"
-- -  from "sqlanon_ordered"
-- -)
-- -  "ordered"."rowid" - "first_row"."number" as "position"
-- +  row_number() over () - 1 as "position"
-- -cross join "first_row"

-- postgres, block:
-- -    unnest(generate_series("first_bucket", "first_bucket" + least("last_count", "block_count") - 1)) as "bucket"
-- +    generate_series("first_bucket", "first_bucket" + least("last_count", "block_count") - 1) as "bucket"
-- -    unnest(generate_series(0, least("first_count", "block_count") - 1)) as "bucket"
-- +    generate_series(0, least("first_count", "block_count") - 1) as "bucket"
-- -    (
-- -      "last_count" - "turn" + "block_count" - 1
-- -    ) // "block_count" + (
-- -      "first_count" - "place" + "block_count" - 1
-- -    ) // "block_count" as "row_count"
-- +    (("last_count" - "turn" + "block_count" - 1) / "block_count") + (("first_count" - "place" + "block_count" - 1) / "block_count") as "row_count"
-- -    (
-- -      "counted"."group_count" + "counted"."block_count" - 1 - (
-- -        "counted"."block" - "counted"."first_block"
-- -      )
-- -    ) // "counted"."block_count" as "block_groups",
-- -    (
-- -      "counted"."first_position" % "counted"."group_count" + "counted"."block_count" - 1 - (
-- -        "counted"."block" - "counted"."first_block"
-- -      )
-- -    ) // "counted"."block_count" as "first_seat",
-- -    cast('0x' || substring(
-- -      sha256(
-- -        "key"."secret" || 'anatomy/disease/block/' || cast("counted"."block" as text) || '/' || cast("counted"."code" as text)
-- -      ),
-- -      1,
-- -      15
-- -    ) as bigint) as "draw"
-- +    (("counted"."group_count" + "counted"."block_count" - 1 - ("counted"."block" - "counted"."first_block")) / "counted"."block_count") as "block_groups",
-- +    (("counted"."first_position" % "counted"."group_count" + "counted"."block_count" - 1 - ("counted"."block" - "counted"."first_block")) / "counted"."block_count") as "first_seat",
-- +    cast(cast('x' || substring((encode(sha256(convert_to("key"."secret" || 'anatomy/disease/block/' || cast("counted"."block" as text) || '/' || cast("counted"."code" as text), 'UTF8')), 'hex') collate "C") from 1 for 15) as bit(60)) as bigint) as "draw"
-- +  offset 0

-- postgres, numbered:
-- -    "bucketed"."bucket" // "bucketed"."block_count" + "block"."shift"
-- +    ("bucketed"."bucket" / "bucketed"."block_count") + "block"."shift"
