-- sqlanon splu for spark: gamma = {'disease': 5}, residue = drop, epsilon = 0.3, alpha = 3, target_error = 0.1, block = 64, draws = keyed, nulls = refuse, rows_per_person = one
-- Fu, Wang, Wong, Wang and Jiang, SPLU-Gen: small sum privacy and large sum utility, 2014
-- It makes `sqlanon_data`, and nothing else that it makes may be handed on.
-- It needs a key of 64 hex digits, and who has the key can undo the release.
-- Make one with: openssl rand -hex 32
-- Hand it over before the script runs: set sqlanon.key=…
-- The engine puts the key into the text of the queries that it logs.
-- publish runs these statements on spark, but:
-- * under a key of its own it draws by the numbers of rows, which a script does not have
-- * quasi columns that all hold whole numbers are packed into one number, by their least and greatest values

-- key: what the session was given
create temporary view `sqlanon_key` as
select lower('${sqlanon.key}') as `secret`;

select case when refusal is not null then raise_error(refusal) end as checked
from (
    select
      case
        when `key_count` <> 1 or `key_length` <> 64
        then 'the key is missing: hand over 64 hex digits'
      end as `refusal`
    from (
      select
        count(*) as `key_count`,
        coalesce(max(length(`secret`)), 0) as `key_length`
      from `sqlanon_key`
    ) as `looked_at`
) as checked;

-- source: The rows that take part, under names of our own, so that no column of the user's meets one of ours
create temporary view `sqlanon_source` as
select
  `age` as `quasi_1`,
  `sex` as `quasi_2`,
  `zipcode` as `quasi_3`,
  `ssn` as `identifier_1`,
  `disease` as `sensitive`
from `patients`;

-- population: The rows that have any sensitive value, NULL counting as one
create temporary view `sqlanon_population` as
select
  *
from `sqlanon_source`;

-- tally: How often each sensitive value occurs (c_v), NULL included
create table `sqlanon_tally` using parquet as
select
  `sensitive` as `sensitive`,
  count(*) as `row_count`
from `sqlanon_population`
group by
  `sensitive`;

-- feasibility: What decides whether l groups can be told apart: N, the NULLs, and the most frequent value, and what else could be done where they cannot: the count of the next value, and the most rows that groups of l different values can hold
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `counted` as (
      select
        `sensitive`,
        `row_count`,
        case when `sensitive` is null and not false then 0 else `row_count` end as `kept_count`
      from `sqlanon_tally`
    ), `placed` as (
      select
        `counted`.*,
        row_number() over (order by `kept_count` desc) - 1 as `place`,
        cast(sum(`kept_count`) over () as bigint) as `kept_rows`,
        cast(sum(`kept_count`) over (order by `kept_count` desc rows between unbounded preceding and current row) as bigint) - `kept_count` as `larger_rows`
      from `counted`
    ), `fitting` as (
      select
        `placed`.*,
        min(
          case
            when `place` < 5
            then ((`kept_rows` - `larger_rows`) div greatest(1, 5 - `place`))
          end
        ) over () as `group_count`
      from `placed`
    )
    select
      case
        when `null_count` > 0
        then 'rows have no value in the sensitive column \'disease\''
        when `row_count` = 0
        then 'the source has no rows to publish'
        when `row_count` < 5
        then 'gamma = 5 needs at least 5 rows'
        when `largest_count` > (`row_count` div 5)
        then 'gamma = 5 is not possible: a value of \'disease\' stands in more than 1/5 of the rows'
      end as `refusal`
    from (
      select
        coalesce(cast(sum(`fitting`.`kept_count`) as bigint), 0) as `row_count`,
        coalesce(
          cast(sum(case when `fitting`.`sensitive` is null then `fitting`.`row_count` else 0 end) as bigint),
          0
        ) as `null_count`,
        coalesce(cast(sum(case when `fitting`.`kept_count` > 0 then 1 else 0 end) as bigint), 0) as `value_count`,
        coalesce(max(`fitting`.`kept_count`), 0) as `largest_count`,
        max(case when `fitting`.`place` = 0 then cast(`fitting`.`sensitive` as string) end) as `largest_value`,
        coalesce(
          max(
            case when `fitting`.`place` = 0 and `fitting`.`sensitive` is null then 1 else 0 end
          ),
          0
        ) as `largest_missing`,
        coalesce(max(case when `fitting`.`place` = 1 then `fitting`.`kept_count` end), 0) as `next_count`,
        coalesce(cast(sum(least(`fitting`.`kept_count`, `fitting`.`group_count`)) as bigint), 0) as `groupable_rows`
      from `fitting`
    ) as `looked_at`
) as checked;

-- persons: How many rows share their identifier with another row: the guarantees are per row
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `person` as (
      select
        count(*) as `row_count`
      from `sqlanon_population`
      group by
        `identifier_1`
    )
    select
      case
        when `repeating_persons` > 0
        then 'persons have more than one row, and the guarantee is per row'
      end as `refusal`
    from (
      select
        coalesce(cast(sum(`row_count`) as bigint), 0) as `row_count`,
        count(*) as `person_count`,
        coalesce(sum(case when `row_count` > 1 then 1 else 0 end), 0) as `repeating_persons`
      from `person`
    ) as `looked_at`
) as checked;

-- uniqueness: How far the quasi-identifiers tell rows apart: how many rows stand alone with their combination of values, and for each of `counted_columns`, in order, in how many rows it has a value, and how many different ones
select case when refusal is not null then raise_error(refusal) end as checked
from (
    with `combination` as (
      select
        `quasi_1`,
        `quasi_2`,
        `quasi_3`,
        count(*) as `row_count`
      from `sqlanon_population`
      group by
        `quasi_1`,
        `quasi_2`,
        `quasi_3`
    ), `total` as (
      select
        coalesce(cast(sum(`row_count`) as bigint), 0) as `row_count`,
        coalesce(cast(sum(case when `quasi_1` is null then 0 else `row_count` end) as bigint), 0) as `known_1`,
        coalesce(cast(sum(case when `quasi_2` is null then 0 else `row_count` end) as bigint), 0) as `known_2`,
        coalesce(cast(sum(case when `quasi_3` is null then 0 else `row_count` end) as bigint), 0) as `known_3`,
        coalesce(cast(sum(case when `row_count` = 1 then 1 else 0 end) as bigint), 0) as `unique_rows`
      from `combination`
    ), `counted` as (
      select
        count(distinct `combination`.`quasi_1`) as `distinct_1`,
        count(distinct `combination`.`quasi_2`) as `distinct_2`,
        count(distinct `combination`.`quasi_3`) as `distinct_3`,
        count(*) as `combination_count`
      from `combination`
      cross join `total`
      where
        `combination`.`row_count` > 0
        and (
          false
          or (
            `total`.`known_1` > 1 and 5 * `total`.`unique_rows` >= 4 * `total`.`known_1`
          )
          or (
            `total`.`known_2` > 1 and 5 * `total`.`unique_rows` >= 4 * `total`.`known_2`
          )
          or (
            `total`.`known_3` > 1 and 5 * `total`.`unique_rows` >= 4 * `total`.`known_3`
          )
        )
    )
    select
      case
        when `known_1` >= 100 and `known_1` = `distinct_1` and 2 * `known_1` > `row_count`
        then 'the quasi column \'age\' has a value of its own in each row: it identifies people'
        when `known_2` >= 100 and `known_2` = `distinct_2` and 2 * `known_2` > `row_count`
        then 'the quasi column \'sex\' has a value of its own in each row: it identifies people'
        when `known_3` >= 100 and `known_3` = `distinct_3` and 2 * `known_3` > `row_count`
        then 'the quasi column \'zipcode\' has a value of its own in each row: it identifies people'
      end as `refusal`
    from (
      select
        `total`.`row_count`,
        `total`.`known_1`,
        `counted`.`distinct_1`,
        `total`.`known_2`,
        `counted`.`distinct_2`,
        `total`.`known_3`,
        `counted`.`distinct_3`,
        `total`.`unique_rows`
      from `total`
      cross join `counted`
    ) as `looked_at`
) as checked;

-- identified: Row identity under a given key: the identifier columns, which are unique
create temporary view `sqlanon_identified` as
select
  `quasi_1`,
  `quasi_2`,
  `quasi_3`,
  `sensitive`,
  coalesce(
    cast(length(cast(`identifier_1` as string)) as string) || ':' || cast(`identifier_1` as string),
    'N'
  ) as `identity`
from `sqlanon_population`;

-- drawn: Draws of a row: 15 hex digits each of sha256(row key || identity), the row key being the first 40 hex digits of sha256(key || purpose)
create table `sqlanon_drawn` using parquet as
with `row_key` as (
  select
    substring(sha2(`key`.`secret` || 'splu/disease/row/', 256), 1, 40) as `secret`
  from `sqlanon_key` as `key`
), `hashed` as (
  select
    `identified`.`quasi_1`,
    `identified`.`quasi_2`,
    `identified`.`quasi_3`,
    `identified`.`sensitive`,
    sha2(`row_key`.`secret` || `identified`.`identity`, 256) as `hash`
  from `sqlanon_identified` as `identified`
  cross join `row_key`
)
select
  `quasi_1`,
  `quasi_2`,
  `quasi_3`,
  `sensitive`,
  cast(conv(substring(`hash`, 1, 15), 16, 10) as bigint) as `draw`,
  cast(conv(substring(`hash`, 16, 15), 16, 10) as bigint) as `slot_draw`,
  cast(conv(substring(`hash`, 31, 15), 16, 10) as bigint) as `tie`
from `hashed`;

-- lot: The rows in 4,096 lots by their draw, and how many stand in each lot and those before it: so that the smallest draws of the table are found without sorting the table
create table `sqlanon_lot` using parquet as
with `counted` as (
  select
    (`draw` div 281474976710656) as `lot`,
    count(*) as `row_count`
  from `sqlanon_drawn`
  group by
    (`draw` div 281474976710656)
), `running` as (
  select
    `lot`,
    cast(sum(`row_count`) over (order by `lot` asc rows between unbounded preceding and current row) as bigint) as `rows_up_to`
  from `counted`
), `total` as (
  select
    max(`rows_up_to`) % 5 as `residue`
  from `running`
)
select
  `running`.`lot`,
  `running`.`rows_up_to`,
  `total`.`residue`
from `running`
cross join `total`;

-- residue: The largest of the N mod gamma smallest draws (below 0: none is to be dropped)
create table `sqlanon_residue` using parquet as
with `bound` as (
  select
    min(case when `rows_up_to` >= `residue` then `lot` end) as `last_lot`,
    max(`residue`) as `residue`
  from `sqlanon_lot`
  where
    `residue` > 0
), `candidate` as (
  select
    `drawn`.`draw`,
    `bound`.`residue`,
    row_number() over (order by `drawn`.`draw` asc) as `draw_rank`
  from `sqlanon_drawn` as `drawn`
  cross join `bound`
  where
    (`drawn`.`draw` div 281474976710656) <= `bound`.`last_lot`
)
select
  coalesce(max(case when `draw_rank` <= `residue` then `draw` end), 0 - 1) as `last_draw`,
  coalesce(sum(case when `draw_rank` <= `residue` then 1 else 0 end), 0) as `dropped_rows`
from `candidate`;

-- left_out: How many rows are dropped so that the rest is a multiple of gamma
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
select
  cast(`dropped_rows` as bigint) as `dropped_rows`
from `sqlanon_residue`;

-- kept: The rows without the residue: a multiple of gamma
create temporary view `sqlanon_kept` as
select
  `drawn`.`quasi_1`,
  `drawn`.`quasi_2`,
  `drawn`.`quasi_3`,
  `drawn`.`sensitive`,
  `drawn`.`tie`,
  `drawn`.`draw`,
  `drawn`.`slot_draw`
from `sqlanon_drawn` as `drawn`
cross join `sqlanon_residue` as `residue`
where
  `drawn`.`draw` > `residue`.`last_draw`;

-- tally_randomized: How often each sensitive value occurs (c_v), NULL included
create table `sqlanon_tally_randomized` using parquet as
select
  `sensitive` as `sensitive`,
  count(*) as `row_count`
from `sqlanon_kept`
group by
  `sensitive`;

-- frequency: Step 1 of the grouping: the values by falling count c_v, equal counts in keyed order, each with the first position of its rows, m = floor(N / l), l the group size, groups in B = max(1, floor(m / 64)) blocks
create table `sqlanon_frequency` using parquet as
with `valued` as (
  select
    `tally`.`sensitive`,
    `tally`.`row_count`,
    sha2(`key`.`secret` || 'splu/disease/value/' || coalesce(cast(length(cast(`tally`.`sensitive` as string)) as string) || ':' || cast(`tally`.`sensitive` as string), 'N'), 256) as `hash`
  from `sqlanon_tally_randomized` as `tally`
  cross join `sqlanon_key` as `key`
  where
    not `tally`.`sensitive` is null or false
), `ordered` as (
  select
    `sensitive`,
    `row_count`,
    cast(row_number() over (order by `row_count` desc, `hash` asc) - 1 as int) as `code`,
    cast(sum(`row_count`) over (
      order by `row_count` desc, `hash` asc
      rows between unbounded preceding and current row
    ) as bigint) as `last_position`,
    (cast(sum(`row_count`) over () as bigint) div 5) as `group_count`
  from `valued`
)
select
  `sensitive`,
  `code`,
  `row_count` as `kept_count`,
  `last_position` - `row_count` as `first_position`,
  `group_count`,
  greatest(1, (`group_count` div 64)) as `block_count`,
  0 as `first_block`
from `ordered`;

-- coded: The rows, each with its value as the code that `frequency` gave it: a whole number is sorted and joined at a fraction of what a text costs
create temporary view `sqlanon_coded` as
select
  `valued`.`quasi_1`,
  `valued`.`quasi_2`,
  `valued`.`quasi_3`,
  `valued`.`slot_draw`,
  `valued`.`draw`,
  `valued`.`tie`,
  `frequency`.`code`
from `sqlanon_kept` as `valued`
inner join `sqlanon_frequency` as `frequency`
  on `valued`.`sensitive` = `frequency`.`sensitive`;

-- shard: The rows of a value in 16 shards by the first 4 of the 60 bits of their draws, so that no window holds a whole value: where in the value's random order, which the shards leave as it is, each shard begins
create table `sqlanon_shard` using parquet as
with `counted` as (
  select
    `code`,
    (`draw` div 72057594037927936) as `shard`,
    count(*) as `row_count`
  from `sqlanon_coded`
  group by
    `code`,
    (`draw` div 72057594037927936)
)
select
  cast(`code` * 16 + `shard` as int) as `cell`,
  `code`,
  cast(sum(`row_count`) over (
    partition by `code`
    order by `shard` asc
    rows between unbounded preceding and current row
  ) as bigint) - `row_count` as `first_rank`
from `counted`;

-- positioned: Step 2 and the first half of step 3: position = first position of the value + random rank among its rows, bucket = position mod m, the block is bucket mod B, the seat in the block bucket div B
create table `sqlanon_positioned` using parquet as
with `ranked` as (
  select
    `quasi_1`,
    `quasi_2`,
    `quasi_3`,
    `slot_draw`,
    cast(`code` * 16 + (`draw` div 72057594037927936) as int) as `cell`,
    row_number() over (
      partition by cast(`code` * 16 + (`draw` div 72057594037927936) as int)
      order by `draw` asc, `tie` asc
    ) - 1 as `cell_rank`
  from `sqlanon_coded`
), `bucketed` as (
  select
    `ranked`.`quasi_1`,
    `ranked`.`quasi_2`,
    `ranked`.`quasi_3`,
    `ranked`.`slot_draw`,
    `frequency`.`code`,
    `frequency`.`block_count`,
    `frequency`.`first_block`,
    (
      `frequency`.`first_position` + `shard`.`first_rank` + `ranked`.`cell_rank`
    ) % `frequency`.`group_count` as `bucket`
  from `ranked`
  inner join `sqlanon_shard` as `shard`
    on `ranked`.`cell` = `shard`.`cell`
  inner join `sqlanon_frequency` as `frequency`
    on `shard`.`code` = `frequency`.`code`
  where
    `shard`.`first_rank` + `ranked`.`cell_rank` < `frequency`.`kept_count`
)
select
  `quasi_1`,
  `quasi_2`,
  `quasi_3`,
  `slot_draw`,
  `code`,
  `first_block` + `bucket` % `block_count` as `block`,
  (`bucket` div `block_count`) as `seat`
from `bucketed`;

-- block: Step 4: inside each block the values stand in a keyed order of their own
create table `sqlanon_block` using parquet as
with `counted` as (
  select
    `code`,
    `block`,
    count(*) as `row_count`
  from `sqlanon_positioned`
  group by
    `code`,
    `block`
), `hashed` as (
  select
    `counted`.`code`,
    `counted`.`block`,
    `counted`.`row_count`,
    `frequency`.`block_count`,
    ((`frequency`.`group_count` + `frequency`.`block_count` - 1 - (`counted`.`block` - `frequency`.`first_block`)) div `frequency`.`block_count`) as `block_groups`,
    ((`frequency`.`first_position` % `frequency`.`group_count` + `frequency`.`block_count` - 1 - (`counted`.`block` - `frequency`.`first_block`)) div `frequency`.`block_count`) as `first_seat`,
    cast(conv(substring(sha2(`key`.`secret` || 'splu/disease/block/' || cast(`counted`.`block` as string) || '/' || cast(`counted`.`code` as string), 256), 1, 15), 16, 10) as bigint) as `draw`
  from `counted`
  inner join `sqlanon_frequency` as `frequency`
    on `counted`.`code` = `frequency`.`code`
  cross join `sqlanon_key` as `key`
)
select
  `code`,
  `block`,
  `first_seat`,
  `block_groups`,
  `block_count`,
  cast(sum(`row_count`) over (partition by `block`) as bigint) as `block_rows`,
  cast(sum(`row_count`) over (
    partition by `block`
    order by `draw` asc, `code` asc
    rows between unbounded preceding and current row
  ) as bigint) - `row_count` as `first_number`
from `hashed`;

-- numbered: Step 4: the number of every row in its block, 0 … (the value's first number, then its seats in turn)
create temporary view `sqlanon_numbered` as
select
  `positioned`.`quasi_1`,
  `positioned`.`quasi_2`,
  `positioned`.`quasi_3`,
  `positioned`.`slot_draw`,
  `positioned`.`code`,
  `positioned`.`block`,
  `block`.`block_count`,
  `block`.`block_groups`,
  `block`.`block_rows`,
  `block`.`first_number` + (
    `positioned`.`seat` + `block`.`block_groups` - `block`.`first_seat` % `block`.`block_groups`
  ) % `block`.`block_groups` as `number`
from `sqlanon_positioned` as `positioned`
inner join `sqlanon_block` as `block`
  on `positioned`.`block` = `block`.`block` and `positioned`.`code` = `block`.`code`;

-- decoy_group: The decoy groups: gamma rows (gamma + 1 where a residue is kept) of different values, a slot each
create table `sqlanon_decoy_group` using parquet as
select
  `quasi_1`,
  `quasi_2`,
  `quasi_3`,
  `slot_draw`,
  `code`,
  (
    `number` % `block_groups`
  ) * `block_count` + `block` as `group_id`,
  ((`block_rows` + `block_groups` - 1 - `number` % `block_groups`) div `block_groups`) as `group_rows`,
  (`number` div `block_groups`) as `slot`
from `sqlanon_numbered`;

-- randomized: Each row publishes the value of a slot of its decoy group drawn uniformly, its own included (p = q = 1/gamma)
create table `sqlanon_randomized` using parquet as
select
  `decoy_group`.`quasi_1` as `quasi_1`,
  `decoy_group`.`quasi_2` as `quasi_2`,
  `decoy_group`.`quasi_3` as `quasi_3`,
  `frequency`.`sensitive` as `published_1`
from `sqlanon_decoy_group` as `decoy_group`
inner join `sqlanon_decoy_group` as `decoy`
  on `decoy_group`.`group_id` = `decoy`.`group_id`
  and `decoy_group`.`slot_draw` % `decoy_group`.`group_rows` = `decoy`.`slot`
inner join `sqlanon_frequency` as `frequency`
  on `decoy`.`code` = `frequency`.`code`;

-- data: The published table: exact quasi values, randomized sensitive values, in an order that depends on nothing but what it shows
create table `sqlanon_data` using parquet as
select
  `randomized`.`quasi_1` as `age`,
  `randomized`.`quasi_2` as `sex`,
  `randomized`.`quasi_3` as `zipcode`,
  `randomized`.`published_1` as `disease`
from `sqlanon_randomized` as `randomized`
order by
  `randomized`.`quasi_1` asc nulls last,
  `randomized`.`quasi_2` asc nulls last,
  `randomized`.`quasi_3` asc nulls last,
  `randomized`.`published_1` asc nulls last;

-- the rest is microdata and the key: forget it
drop table `sqlanon_randomized`;
drop table `sqlanon_decoy_group`;
drop view `sqlanon_numbered`;
drop table `sqlanon_block`;
drop table `sqlanon_positioned`;
drop table `sqlanon_shard`;
drop view `sqlanon_coded`;
drop table `sqlanon_frequency`;
drop table `sqlanon_tally_randomized`;
drop view `sqlanon_kept`;
drop table `sqlanon_residue`;
drop table `sqlanon_lot`;
drop table `sqlanon_drawn`;
drop view `sqlanon_identified`;
drop table `sqlanon_tally`;
drop view `sqlanon_population`;
drop view `sqlanon_source`;
drop view `sqlanon_key`;
