-- sqlanon splu for postgres: gamma = {'disease': 5}, residue = drop, epsilon = 0.3, alpha = 3, target_error = 0.1, block = 64, draws = keyed, nulls = refuse, rows_per_person = one
-- Fu, Wang, Wong, Wang and Jiang, Small sum privacy and large sum utility in data publishing, J. Biomedical Informatics 2014
-- It makes "sqlanon_data", and nothing else that it makes may be handed on.
-- It needs a key of 64 hex digits, and who has the key can undo the release.
-- Make one with: openssl rand -hex 32
-- Hand it over before the script runs: set sqlanon.key = '…'
-- publish runs these statements on postgres, but:
-- * under a key of its own it draws by the numbers of rows, which a script does not have
-- * quasi columns that all hold whole numbers are packed into one number, by their least and greatest values

begin;
set local datestyle = 'ISO';

-- key: as in anatomy/postgres.sql

do $sqlanon$
declare refusal text := (
    select
      case when "key_count" <> 1 or "key_length" <> 64 then 'the key is missing: hand over 64 hex digits' end as "refusal"
    from (
      select
        count(*) as "key_count",
        coalesce(max(length("secret")), 0) as "key_length"
      from "sqlanon_key"
    ) as "looked_at"
);
begin
    if refusal is not null then raise exception using message = refusal; end if;
end
$sqlanon$;

-- source: as in anatomy/postgres.sql

-- population: The rows that have any sensitive value, NULL counting as one
create temporary view "sqlanon_population" as
select
  *
from "sqlanon_source";

-- tally: How often each sensitive value occurs (c_v), NULL included
create temporary table "sqlanon_tally" as
select
  "sensitive" as "sensitive",
  count(*) as "row_count"
from "sqlanon_population"
group by
  "sensitive";
analyze "sqlanon_tally";

-- feasibility: What decides whether l groups can be told apart: N, the NULLs, and the most frequent value, and what else could be done where they cannot: the count of the next value, and the most rows that groups of l different values can hold
do $sqlanon$
declare refusal text := (
    select
      case
        when "null_count" > 0
        then 'rows have no value in the sensitive column ''disease'''
        when "row_count" = 0
        then 'the source has no rows to publish'
        when "row_count" < 5
        then 'gamma = 5 needs at least 5 rows'
        when "largest_count" > ("row_count" / 5)
        then 'gamma = 5 is not possible: a value of ''disease'' stands in more than 1/5 of the rows'
      end as "refusal"
    from (
      with "counted" as (
        select
          "sensitive",
          "row_count",
          case when "sensitive" is null and not false then 0 else "row_count" end as "kept_count"
        from "sqlanon_tally"
      ), "placed" as (
        select
          "counted".*,
          row_number() over (order by "kept_count" desc) - 1 as "place",
          cast(sum("kept_count") over () as bigint) as "kept_rows",
          cast(sum("kept_count") over (order by "kept_count" desc rows between unbounded preceding and current row) as bigint) - "kept_count" as "larger_rows"
        from "counted"
      ), "fitting" as (
        select
          "placed".*,
          min(case when "place" < 5 then (("kept_rows" - "larger_rows") / greatest(1, 5 - "place")) end) over () as "group_count"
        from "placed"
      )
      select
        coalesce(cast(sum("fitting"."kept_count") as bigint), 0) as "row_count",
        coalesce(cast(sum(case when "fitting"."sensitive" is null then "fitting"."row_count" else 0 end) as bigint), 0) as "null_count",
        coalesce(cast(sum(case when "fitting"."kept_count" > 0 then 1 else 0 end) as bigint), 0) as "value_count",
        coalesce(max("fitting"."kept_count"), 0) as "largest_count",
        max(case when "fitting"."place" = 0 then cast("fitting"."sensitive" as text) end) as "largest_value",
        coalesce(max(case when "fitting"."place" = 0 and "fitting"."sensitive" is null then 1 else 0 end), 0) as "largest_missing",
        coalesce(max(case when "fitting"."place" = 1 then "fitting"."kept_count" end), 0) as "next_count",
        coalesce(cast(sum(least("fitting"."kept_count", "fitting"."group_count")) as bigint), 0) as "groupable_rows"
      from "fitting"
    ) as "looked_at"
);
begin
    if refusal is not null then raise exception using message = refusal; end if;
end
$sqlanon$;

-- persons: How many rows share their identifier with another row: the guarantees are per row
do $sqlanon$
declare refusal text := (
    select
      case when "repeating_persons" > 0 then 'persons have more than one row, and the guarantee is per row' end as "refusal"
    from (
      with "person" as (
        select
          count(*) as "row_count"
        from "sqlanon_population"
        group by
          "identifier_1"
      )
      select
        coalesce(cast(sum("row_count") as bigint), 0) as "row_count",
        count(*) as "person_count",
        coalesce(sum(case when "row_count" > 1 then 1 else 0 end), 0) as "repeating_persons"
      from "person"
    ) as "looked_at"
);
begin
    if refusal is not null then raise exception using message = refusal; end if;
end
$sqlanon$;

-- uniqueness: as in anatomy/postgres.sql

-- lone_values_1: as in anatomy/postgres.sql

-- key_of_rows: The secret of all draws: of the key and of the rows, so that two tables of one key have no draw in common, and one row that differs makes all draws others
create temporary table "sqlanon_key_of_rows" as
with "row_key" as (
  select
    substring((encode(sha256(convert_to("key"."secret" || 'rows/', 'UTF8')), 'hex') collate "C") from 1 for 40) as "secret"
  from "sqlanon_key" as "key"
  offset 0
), "hashed" as (
  select
    (encode(sha256(convert_to("row_key"."secret" || coalesce(cast(length(cast("identifier_1" as text)) as text) || ':' || cast("identifier_1" as text), 'N') || coalesce(cast(length(cast("sensitive" as text)) as text) || ':' || cast("sensitive" as text), 'N'), 'UTF8')), 'hex') collate "C") as "hash"
  from "sqlanon_population" as "population"
  cross join "row_key"
  offset 0
), "drawn" as (
  select
    cast(cast('x' || substring("hash" from 1 for 15) as bit(60)) as bigint) as "draw"
  from "hashed"
), "summed" as (
  select
    count(*) as "row_count",
    coalesce(cast(sum(("draw" / 1073741824)) as bigint), 0) as "sum_1",
    coalesce(cast(sum("draw" % 1073741824) as bigint), 0) as "sum_2"
  from "drawn"
)
select
  (encode(sha256(convert_to("key"."secret" || 'draws/' || cast("summed"."row_count" as text) || '/' || cast("summed"."sum_1" as text) || '/' || cast("summed"."sum_2" as text), 'UTF8')), 'hex') collate "C") as "secret"
from "summed"
cross join "sqlanon_key" as "key";
analyze "sqlanon_key_of_rows";

-- identified: Row identity under a given key: the identifier columns, which are unique
create temporary view "sqlanon_identified" as
select
  "quasi_1",
  "quasi_2",
  "quasi_3",
  "sensitive",
  coalesce(cast(length(cast("identifier_1" as text)) as text) || ':' || cast("identifier_1" as text), 'N') as "identity"
from "sqlanon_population";

-- drawn: Draws of a row, of sha256(row key || identity), the row key being the first 40 hex digits of sha256(key || purpose): 15 hex digits each, or, where no other engine has to draw the same, what the engine makes of 16
create temporary table "sqlanon_drawn" as
with "row_key" as (
  select
    substring((encode(sha256(convert_to("key"."secret" || 'splu/disease/row/', 'UTF8')), 'hex') collate "C") from 1 for 40) as "secret"
  from "sqlanon_key_of_rows" as "key"
  offset 0
), "hashed" as (
  select
    "valued"."quasi_1",
    "valued"."quasi_2",
    "valued"."quasi_3",
    "valued"."sensitive",
    (encode(sha256(convert_to("row_key"."secret" || "valued"."identity", 'UTF8')), 'hex') collate "C") as "hash"
  from "sqlanon_identified" as "valued"
  cross join "row_key"
  offset 0
)
select
  cast(cast('x' || substring("hash" from 1 for 15) as bit(60)) as bigint) as "draw",
  cast(cast('x' || substring("hash" from 16 for 15) as bit(60)) as bigint) as "slot_draw",
  cast(cast('x' || substring("hash" from 31 for 15) as bit(60)) as bigint) as "tie",
  "quasi_1",
  "quasi_2",
  "quasi_3",
  "sensitive"
from "hashed";
analyze "sqlanon_drawn";

-- draw_range: The rows in 4,096 ranges of draws, and how many stand in each range and those before it: so that the smallest draws of the table are found without sorting the table
create temporary table "sqlanon_draw_range" as
with "counted" as (
  select
    ("draw" / 281474976710656) as "draw_range",
    count(*) as "row_count"
  from "sqlanon_drawn"
  group by
    ("draw" / 281474976710656)
), "running" as (
  select
    "draw_range",
    cast(sum("row_count") over (order by "draw_range" asc rows between unbounded preceding and current row) as bigint) as "rows_up_to"
  from "counted"
), "total" as (
  select
    max("rows_up_to") % 5 as "residue"
  from "running"
)
select
  "running"."draw_range",
  "running"."rows_up_to",
  "total"."residue"
from "running"
cross join "total";
analyze "sqlanon_draw_range";

-- residue: The largest of the N mod gamma smallest draws (below 0: none is to be dropped)
create temporary table "sqlanon_residue" as
with "bound" as (
  select
    min(case when "rows_up_to" >= "residue" then "draw_range" end) as "last_range",
    max("residue") as "residue"
  from "sqlanon_draw_range"
  where
    "residue" > 0
), "candidate" as (
  select
    "drawn"."draw",
    "bound"."residue",
    row_number() over (order by "drawn"."draw" asc) as "draw_rank"
  from "sqlanon_drawn" as "drawn"
  cross join "bound"
  where
    ("drawn"."draw" / 281474976710656) <= "bound"."last_range"
)
select
  coalesce(max(case when "draw_rank" <= "residue" then "draw" end), 0 - 1) as "last_draw",
  coalesce(sum(case when "draw_rank" <= "residue" then 1 else 0 end), 0) as "dropped_rows"
from "candidate";
analyze "sqlanon_residue";

-- left_out: How many rows are dropped so that the rest is a multiple of gamma
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
select
  cast("dropped_rows" as bigint) as "dropped_rows"
from "sqlanon_residue";

-- kept: The rows without the residue: a multiple of gamma
create temporary view "sqlanon_kept" as
select
  "drawn"."quasi_1",
  "drawn"."quasi_2",
  "drawn"."quasi_3",
  "drawn"."sensitive",
  "drawn"."tie",
  "drawn"."draw",
  "drawn"."slot_draw"
from "sqlanon_drawn" as "drawn"
cross join "sqlanon_residue" as "residue"
where
  "drawn"."draw" > "residue"."last_draw";

-- tally_randomized: How often each sensitive value occurs (c_v), NULL included
create temporary table "sqlanon_tally_randomized" as
select
  "sensitive" as "sensitive",
  count(*) as "row_count"
from "sqlanon_kept"
group by
  "sensitive";
analyze "sqlanon_tally_randomized";

-- frequency: Step 1 of the grouping: the values by falling count c_v, equal counts in keyed order, each with the first position of its rows, m = floor(N / l), l the group size, groups in B = max(1, floor(m / 64)) blocks
create temporary table "sqlanon_frequency" as
with "valued" as (
  select
    "tally"."sensitive",
    "tally"."row_count",
    (encode(sha256(convert_to("key"."secret" || 'splu/disease/value/' || coalesce(cast(length(cast("tally"."sensitive" as text)) as text) || ':' || cast("tally"."sensitive" as text), 'N'), 'UTF8')), 'hex') collate "C") as "hash"
  from "sqlanon_tally_randomized" as "tally"
  cross join "sqlanon_key_of_rows" as "key"
  where
    not "tally"."sensitive" is null or false
  offset 0
), "ordered" as (
  select
    "sensitive",
    "row_count",
    cast(row_number() over (order by "row_count" desc, "hash" asc) - 1 as int) as "code",
    cast(sum("row_count") over (order by "row_count" desc, "hash" asc rows between unbounded preceding and current row) as bigint) as "last_position",
    (cast(sum("row_count") over () as bigint) / 5) as "group_count"
  from "valued"
), "blocked" as (
  select
    "ordered".*,
    greatest(1, ("group_count" / 64)) as "block_count"
  from "ordered"
)
select
  "sensitive",
  "code",
  "row_count" as "kept_count",
  "last_position" - "row_count" as "first_row",
  "last_position" - "row_count" as "first_position",
  "code" * "block_count" as "first_cell",
  "group_count",
  "block_count",
  0 as "first_block"
from "blocked";
analyze "sqlanon_frequency";

-- coded: The rows, each with its value as the code that `frequency` gave it: a whole number is sorted and joined at a fraction of what a text costs
create temporary view "sqlanon_coded" as
select
  "valued"."quasi_1",
  "valued"."quasi_2",
  "valued"."quasi_3",
  "valued"."slot_draw",
  "valued"."draw",
  "valued"."tie",
  "frequency"."code"
from "sqlanon_kept" as "valued"
inner join "sqlanon_frequency" as "frequency"
  on "valued"."sensitive" = "frequency"."sensitive";

-- ordered: Step 2: the rows by value and random order
create temporary view "sqlanon_ordered" as
with "keyed" as (
  select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "slot_draw",
    "draw",
    "tie",
    cast("code" as bigint) * 4294967296 + (
      "draw" >> 28
    ) as "number"
  from "sqlanon_coded"
)
select
  "quasi_1",
  "quasi_2",
  "quasi_3",
  "slot_draw",
  cast("number" >> 32 as int) as "code"
from "keyed"
order by
  "number" asc,
  "draw" asc,
  "tie" asc;

-- positioned: The position of every row in the order by value and draw, 0 …: how far a table's row lies behind the first one (a table numbers its rows as they were written, inside a transaction from no known number on), else as rows come (by_rowid)
create temporary view "sqlanon_positioned" as
select
  "ordered"."quasi_1",
  "ordered"."quasi_2",
  "ordered"."quasi_3",
  "ordered"."slot_draw",
  "ordered"."code",
  row_number() over () - 1 as "position"
from "sqlanon_ordered" as "ordered";

-- block: Step 4: inside each block the values stand in a keyed order of their own
create temporary table "sqlanon_block" as
with "run" as (
  select
    "code",
    "first_position",
    "group_count",
    "block_count",
    "first_block",
    "first_cell",
    "first_position" % "group_count" as "first_bucket",
    least("kept_count", "group_count" - "first_position" % "group_count") as "last_count",
    greatest(0, "first_position" % "group_count" + "kept_count" - "group_count") as "first_count"
  from "sqlanon_frequency"
  where
    "kept_count" > 0
), "met" as (
  select
    "run".*,
    generate_series("first_bucket", "first_bucket" + least("last_count", "block_count") - 1) as "bucket"
  from "run"
  union all
  select
    "run".*,
    generate_series(0, least("first_count", "block_count") - 1) as "bucket"
  from "run"
  where
    "first_count" > 0
), "turned" as (
  select
    "met".*,
    "bucket" % "block_count" as "place",
    (
      "bucket" % "block_count" + "block_count" - "first_bucket" % "block_count"
    ) % "block_count" as "turn"
  from "met"
), "counted" as (
  select
    "code",
    "first_position",
    "group_count",
    "block_count",
    "first_block",
    "first_cell" + "place" as "cell",
    "first_block" + "place" as "block",
    (("last_count" - "turn" + "block_count" - 1) / "block_count") + (("first_count" - "place" + "block_count" - 1) / "block_count") as "row_count"
  from "turned"
  where
    "bucket" >= "first_bucket" or "turn" >= "last_count"
), "hashed" as (
  select
    "counted"."cell",
    "counted"."code",
    "counted"."block",
    "counted"."row_count",
    "counted"."block_count",
    (("counted"."group_count" + "counted"."block_count" - 1 - ("counted"."block" - "counted"."first_block")) / "counted"."block_count") as "block_groups",
    (("counted"."first_position" % "counted"."group_count" + "counted"."block_count" - 1 - ("counted"."block" - "counted"."first_block")) / "counted"."block_count") as "first_seat",
    cast(cast('x' || substring((encode(sha256(convert_to("key"."secret" || 'splu/disease/block/' || cast("counted"."block" as text) || '/' || cast("counted"."code" as text), 'UTF8')), 'hex') collate "C") from 1 for 15) as bit(60)) as bigint) as "draw"
  from "counted"
  cross join "sqlanon_key_of_rows" as "key"
  offset 0
)
select
  "cell",
  "code",
  "block",
  "block_count",
  "block_groups",
  cast(sum("row_count") over (partition by "block") as bigint) as "block_rows",
  "row_count",
  cast(sum("row_count") over (partition by "block" order by "draw" asc, "code" asc rows between unbounded preceding and current row) as bigint) - "row_count" as "first_number",
  "block_groups" - "first_seat" % "block_groups" as "shift"
from "hashed";
analyze "sqlanon_block";

-- numbered: Steps 3 and 4: every row's number in its block, 0 …: its value's rows take the buckets from the value's first position on, bucket = position mod m, the block is bucket mod B, the seat in it bucket div B, in the block the value's first number, then its seats in turn
create temporary view "sqlanon_numbered" as
with "bucketed" as (
  select
    "positioned"."quasi_1",
    "positioned"."quasi_2",
    "positioned"."quasi_3",
    "positioned"."slot_draw",
    "frequency"."code",
    "frequency"."first_cell",
    "frequency"."first_block",
    "frequency"."block_count",
    case
      when "positioned"."position" - "frequency"."first_row" < "frequency"."kept_count"
      then (
        "frequency"."first_position" + "positioned"."position" - "frequency"."first_row"
      ) % "frequency"."group_count"
    end as "bucket"
  from "sqlanon_positioned" as "positioned"
  inner join "sqlanon_frequency" as "frequency"
    on "positioned"."code" = "frequency"."code"
)
select
  "bucketed"."quasi_1",
  "bucketed"."quasi_2",
  "bucketed"."quasi_3",
  "bucketed"."slot_draw",
  "bucketed"."code",
  "bucketed"."first_block" + "bucketed"."bucket" % "bucketed"."block_count" as "block",
  "bucketed"."block_count",
  "block"."block_groups",
  "block"."block_rows",
  "block"."first_number" + (
    ("bucketed"."bucket" / "bucketed"."block_count") + "block"."shift"
  ) % "block"."block_groups" as "number"
from "bucketed"
inner join "sqlanon_block" as "block"
  on "bucketed"."first_cell" + "bucketed"."bucket" % "bucketed"."block_count" = "block"."cell";

-- decoy_group: The decoy groups: gamma rows (gamma + 1 where a residue is kept) of different values, a slot each
create temporary table "sqlanon_decoy_group" as
select
  "quasi_1",
  "quasi_2",
  "quasi_3",
  "slot_draw",
  "code",
  (
    "numbered"."number" % "numbered"."block_groups"
  ) * "numbered"."block_count" + "numbered"."block" as "group_id",
  (("numbered"."block_rows" + "numbered"."block_groups" - 1 - "numbered"."number" % "numbered"."block_groups") / "numbered"."block_groups") as "group_rows",
  ("number" / "block_groups") as "slot"
from "sqlanon_numbered" as "numbered";
analyze "sqlanon_decoy_group";

-- randomized: Each row publishes the value of a slot of its decoy group drawn uniformly, its own included (p = q = 1/gamma)
create temporary table "sqlanon_randomized" as
select
  "decoy_group"."quasi_1" as "quasi_1",
  "decoy_group"."quasi_2" as "quasi_2",
  "decoy_group"."quasi_3" as "quasi_3",
  "frequency"."sensitive" as "published_1"
from "sqlanon_decoy_group" as "decoy_group"
inner join "sqlanon_decoy_group" as "decoy"
  on "decoy_group"."group_id" = "decoy"."group_id"
  and "decoy_group"."slot_draw" % "decoy_group"."group_rows" = "decoy"."slot"
inner join "sqlanon_frequency" as "frequency"
  on "decoy"."code" = "frequency"."code";
analyze "sqlanon_randomized";

-- data: The published table: exact quasi values, randomized sensitive values, in an order that depends on nothing but what it shows
create table "sqlanon_data" as
select
  "randomized"."quasi_1" as "age",
  "randomized"."quasi_2" as "sex",
  "randomized"."quasi_3" as "zipcode",
  "randomized"."published_1" as "disease"
from "sqlanon_randomized" as "randomized"
order by
  "randomized"."quasi_1" asc,
  "randomized"."quasi_2" asc,
  "randomized"."quasi_3" asc,
  "randomized"."published_1" asc;
analyze "sqlanon_data";

-- the rest is microdata and the key: forget it
-- 19 relations, the last first

commit;
