-- sqlanon uncertain for postgres: k = 5, l = 3, threshold = 0.3, undiverse = merge, max_group = 20, max_alternatives = 2, order_alternatives = given, alternatives = lists, alternative_of = None, hierarchies = {'education': [['Bachelor', 'University'], ['Master', 'University'], ['School', 'Any'], ['University', 'Any']]}, types = {'education': 'VARCHAR', 'age': 'INTEGER', 'sex': 'VARCHAR'}, draws = keyed, nulls = refuse, rows_per_person = one
-- Ren, Yang, Zhang and Jia, Uncertain Data Privacy Protection Based on K-anonymity via Anatomy, 2012
-- It makes "sqlanon_qit", "sqlanon_st", and nothing else that it makes may be handed on.
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

-- source: The rows that take part, under names of our own, so that no column of the user's meets one of ours
create temporary view "sqlanon_source" as
select
  "education" as "quasi_1",
  "age" as "quasi_2",
  "sex" as "quasi_3",
  "disease" as "sensitive",
  "ssn" as "identifier_1",
  row_number() over () as "row_number"
from "patients";

-- population: The rows that have any sensitive value, NULL counting as one
create temporary view "sqlanon_population" as
select
  *
from "sqlanon_source";

-- cells: What is wrong with cells: nothing or NULL among the alternatives, more than allowed, how many are uncertain
do $sqlanon$
declare refusal text := (
    select
      case
        when "null_count" > 0
        then 'rows have no value in the sensitive column ''disease'''
        when "row_count" = 0
        then 'the source has no rows to publish'
        when "empty_1" > 0
        then 'some cells of ''education'' have nothing, or NULL, among their alternatives; write what they can be'
        when "crowded_1" > 0
        then 'some cells of ''education'' have more than 2 alternatives; raise --max-alternatives, or leave them out'
        when "empty_2" > 0
        then 'some cells of ''disease'' have nothing, or NULL, among their alternatives; write what they can be'
        when "crowded_2" > 0
        then 'some cells of ''disease'' have more than 2 alternatives; raise --max-alternatives, or leave them out'
      end as "refusal"
    from (
      with "counted" as (
        select
          case
            when "quasi_1" is null
            then 0
            when cardinality("quasi_1") = 1
            then case when ("quasi_1")[1] is null then 1 else 0 end
            when (select count(item) from unnest("quasi_1") as held(item)) = cardinality("quasi_1")
            and cardinality("quasi_1") > 0
            then 0
            else 1
          end as "empty_1",
          case
            when cardinality("quasi_1") > 1
            then cardinality(case when "quasi_1" is not null then array(select distinct item from unnest("quasi_1") as held(item) where item is not null order by item) end)
            else 1
          end as "different_1",
          case
            when "sensitive" is null
            then 0
            when cardinality("sensitive") = 1
            then case when ("sensitive")[1] is null then 1 else 0 end
            when (select count(item) from unnest("sensitive") as held(item)) = cardinality("sensitive")
            and cardinality("sensitive") > 0
            then 0
            else 1
          end as "empty_2",
          case
            when cardinality("sensitive") > 1
            then cardinality(case when "sensitive" is not null then array(select distinct item from unnest("sensitive") as held(item) where item is not null order by item) end)
            else 1
          end as "different_2",
          case when "sensitive" is null then 1 else 0 end as "missing"
        from "sqlanon_population"
      )
      select
        coalesce(sum("empty_1"), 0) as "empty_1",
        coalesce(sum(case when "different_1" > 2 then 1 else 0 end), 0) as "crowded_1",
        coalesce(sum(case when "different_1" > 1 then 1 else 0 end), 0) as "uncertain_1",
        coalesce(sum("empty_2"), 0) as "empty_2",
        coalesce(sum(case when "different_2" > 2 then 1 else 0 end), 0) as "crowded_2",
        coalesce(sum(case when "different_2" > 1 then 1 else 0 end), 0) as "uncertain_2",
        count(*) as "row_count",
        coalesce(sum("missing"), 0) as "null_count"
      from "counted"
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

-- uniqueness: no quasi column has a value of its own in most rows
do $sqlanon$
declare refusal text := (
    select
      "refusal"
    from (
      with "combination" as (
        select
          "quasi_1",
          "quasi_2",
          "quasi_3",
          count(*) as "row_count"
        from "sqlanon_population"
        group by
          "quasi_1",
          "quasi_2",
          "quasi_3"
      ), "total" as (
        select
          coalesce(cast(sum("row_count") as bigint), 0) as "row_count",
          coalesce(cast(sum(case when "quasi_2" is null then 0 else "row_count" end) as bigint), 0) as "known_1",
          coalesce(cast(sum(case when "quasi_3" is null then 0 else "row_count" end) as bigint), 0) as "known_2",
          coalesce(cast(sum(case when "row_count" = 1 then 1 else 0 end) as bigint), 0) as "unique_rows"
        from "combination"
      ), "counted" as (
        select
          count(distinct "combination"."quasi_2") as "distinct_1",
          count(distinct "combination"."quasi_3") as "distinct_2",
          count(*) as "combination_count"
        from "combination"
        cross join "total"
        where
          "combination"."row_count" > 0
          and (
            false
            or (
              "total"."known_1" > 1 and 5 * "total"."unique_rows" >= 4 * "total"."known_1"
            )
            or (
              "total"."known_2" > 1 and 5 * "total"."unique_rows" >= 4 * "total"."known_2"
            )
          )
      )
      select
        "total"."row_count",
        "total"."known_1",
        "counted"."distinct_1",
        "total"."known_2",
        "counted"."distinct_2",
        "total"."unique_rows",
        case
          when "total"."known_1" >= 100
          and "counted"."distinct_1" = "total"."known_1"
          and 2 * "total"."known_1" > "total"."row_count"
          then 'age'
          when "total"."known_2" >= 100
          and "counted"."distinct_2" = "total"."known_2"
          and 2 * "total"."known_2" > "total"."row_count"
          then 'sex'
          when false
          then ''
        end as "about",
        case
          when "total"."known_1" >= 100
          and "counted"."distinct_1" = "total"."known_1"
          and 2 * "total"."known_1" > "total"."row_count"
          then 'the quasi column ''age'' has a value of its own in each of ' || coalesce(to_char("total"."known_1", 'FM999,999,999,999,999,990'), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with --id, or say --unique-quasi keep'
          when "total"."known_2" >= 100
          and "counted"."distinct_2" = "total"."known_2"
          and 2 * "total"."known_2" > "total"."row_count"
          then 'the quasi column ''sex'' has a value of its own in each of ' || coalesce(to_char("total"."known_2", 'FM999,999,999,999,999,990'), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with --id, or say --unique-quasi keep'
          when false
          then ''
        end as "refusal"
      from "total"
      cross join "counted"
    ) as "looked_at"
);
begin
    if refusal is not null then raise exception using message = refusal; end if;
end
$sqlanon$;

-- key_of_rows: The secret of all draws: of the key and of the rows, so that two tables of one key have no draw in common, and one row that differs makes all draws others
create temporary table "sqlanon_key_of_rows" as
with "row_key" as (
  select
    substring((encode(sha256(convert_to("key"."secret" || 'rows/', 'UTF8')), 'hex') collate "C") from 1 for 40) as "secret"
  from "sqlanon_key" as "key"
  offset 0
), "hashed" as (
  select
    (encode(sha256(convert_to("row_key"."secret" || coalesce(cast(length(cast("identifier_1" as text)) as text) || ':' || cast("identifier_1" as text), 'N') || coalesce(cast(length(cast(("sensitive")[1] as text)) as text) || ':' || cast(("sensitive")[1] as text), 'N') || coalesce(cast(length(cast(("sensitive")[2] as text)) as text) || ':' || cast(("sensitive")[2] as text), 'N'), 'UTF8')), 'hex') collate "C") as "hash"
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
  "row_number",
  coalesce(cast(length(cast("identifier_1" as text)) as text) || ':' || cast("identifier_1" as text), 'N') as "identity"
from "sqlanon_population";

-- drawn: Draws of a row, of sha256(row key || identity), the row key being the first 40 hex digits of sha256(key || purpose): 15 hex digits each, or, where no other engine has to draw the same, what the engine makes of 16
create temporary view "sqlanon_drawn" as
with "row_key" as (
  select
    substring((encode(sha256(convert_to("key"."secret" || 'uncertain/disease/row/', 'UTF8')), 'hex') collate "C") from 1 for 40) as "secret"
  from "sqlanon_key_of_rows" as "key"
  offset 0
), "hashed" as (
  select
    "valued"."quasi_1",
    "valued"."quasi_2",
    "valued"."quasi_3",
    "valued"."row_number",
    "valued"."sensitive",
    (encode(sha256(convert_to("row_key"."secret" || "valued"."identity", 'UTF8')), 'hex') collate "C") as "hash"
  from "sqlanon_identified" as "valued"
  cross join "row_key"
  offset 0
)
select
  cast(cast('x' || substring("hash" from 1 for 15) as bit(60)) as bigint) as "draw",
  cast(cast('x' || substring("hash" from 16 for 15) as bit(60)) as bigint) as "tie",
  "quasi_1",
  "quasi_2",
  "quasi_3",
  "row_number",
  "sensitive"
from "hashed";

-- hierarchy_1: A table that was given beside the source: a hierarchy's nodes with their ancestors or self from below the root down, or the influence matrix M|S
create temporary table "sqlanon_hierarchy_1" as
with "line" as (
  select
    unnest(string_to_array('Any | Bachelor | Master | School | University' collate "C", ' | ')) as "node",
    unnest(string_to_array('0 | 2 | 2 | 1 | 1' collate "C", ' | ')) as "depth",
    unnest(string_to_array('2 | 0 | 0 | 0 | 1' collate "C", ' | ')) as "height",
    unnest(string_to_array('0 | 1 | 1 | 1 | 0' collate "C", ' | ')) as "held",
    unnest(string_to_array(' | University | University | School | University' collate "C", ' | ')) as "level_1",
    unnest(string_to_array(' | Bachelor | Master |  | ' collate "C", ' | ')) as "level_2",
    ' | ' as "separator"
)
select
  cast("node" as text) as "node",
  cast("depth" as int) as "depth",
  cast("height" as int) as "height",
  cast("held" as int) as "held",
  nullif("level_1", '') as "level_1",
  nullif("level_2", '') as "level_2"
from "line";
analyze "sqlanon_hierarchy_1";

-- cell_1: the different cells of an attribute, numbered in their order
create temporary table "sqlanon_cell_1" as
with "different" as (
  select distinct
    "quasi_1" as "cell"
  from "sqlanon_population"
  where
    not "quasi_1" is null
)
select
  "cell",
  row_number() over (order by "cell" asc) as "cell_code"
from "different";
analyze "sqlanon_cell_1";

-- alternative_1: the alternatives of each different cell, each once, in the order in which they are given
create temporary table "sqlanon_alternative_1" as
with "unfolded" as (
  select
    "cell_code",
    "cell",
    unnest("cell") as "value"
  from "sqlanon_cell_1"
), "different" as (
  select distinct
    "cell_code",
    "value",
    array_position("cell", "value") as "first_place"
  from "unfolded"
)
select
  "cell_code",
  row_number() over (partition by "cell_code" order by "first_place" asc) as "place",
  "value",
  cast("value" as text) as "text"
from "different";
analyze "sqlanon_alternative_1";

-- outside_1: the alternatives are leaves of their hierarchy
do $sqlanon$
declare refusal text := (
    select
      "refusal"
    from (
      with "different" as (
        select
          cast("value" as text) as "text"
        from "sqlanon_alternative_1"
        where
          not "value" is null
        group by
          cast("value" as text)
      ), "looked_up" as (
        select
          "different"."text",
          coalesce("hierarchy"."held", 2) as "held"
        from "different"
        left join "sqlanon_hierarchy_1" as "hierarchy"
          on "different"."text" = "hierarchy"."node"
      ), "placed" as (
        select
          "text",
          "held",
          row_number() over (partition by "held" order by "text" asc) as "place",
          count(*) over (partition by "held") as "value_count"
        from "looked_up"
        where
          "held" <> 1
      ), "told" as (
        select
          "held",
          max("value_count") as "value_count",
          string_agg(
            case when "text" like '%''%' then '"' || "text" || '"' else '''' || "text" || '''' end, ', '
            order by
              "place" asc
          ) as "listed"
        from "placed"
        where
          "place" <= 10
        group by
          "held"
      ), "ranked" as (
        select
          "told".*,
          row_number() over (order by "held" desc) as "place"
        from "told"
      )
      select
        true as "is_usage",
        coalesce(cast("value_count" as text), '') || ' values of ''education'' ' || coalesce(
          cast(case "held"
            when 2
            then 'are not in its hierarchy'
            else 'are inner nodes of its hierarchy, and cells hold leaves'
          end as text),
          ''
        ) || ': ' || coalesce(cast("listed" as text), '') || coalesce(
          cast(case when "value_count" > 10 then ' and ' || cast("value_count" - 10 as text) || ' more' else '' end as text),
          ''
        ) as "refusal"
      from "ranked"
      where
        "place" = 1
    ) as "looked_at"
);
begin
    if refusal is not null then raise exception using message = refusal; end if;
end
$sqlanon$;

-- ancestor_1: the lowest common ancestor of a cell's alternatives: the deepest level at which all of them have a node, and the same, the root where there is none. ({Bachelor, Master} -> University.)
create temporary table "sqlanon_ancestor_1" as
with "common" as (
  select
    "alternative"."cell_code",
    case when count("level_1") = count(*) and min("level_1") = max("level_1") then min("level_1") end as "level_1",
    case when count("level_2") = count(*) and min("level_2") = max("level_2") then min("level_2") end as "level_2",
    count(*) as "alternatives"
  from "sqlanon_alternative_1" as "alternative"
  inner join "sqlanon_hierarchy_1" as "hierarchy"
    on "alternative"."text" = "hierarchy"."node"
  group by
    "alternative"."cell_code"
)
select
  "cell"."cell",
  coalesce("common"."level_2", "common"."level_1", 'Any') as "node",
  "common"."alternatives"
from "sqlanon_cell_1" as "cell"
inner join "common"
  on "cell"."cell_code" = "common"."cell_code";
analyze "sqlanon_ancestor_1";

-- cell: the different sensitive cells, numbered in their order
create temporary table "sqlanon_cell" as
with "different" as (
  select distinct
    "sensitive" as "cell"
  from "sqlanon_population"
  where
    not "sensitive" is null
)
select
  "cell",
  row_number() over (order by "cell" asc) as "cell_code"
from "different";
analyze "sqlanon_cell";

-- alternative: the alternatives of each different sensitive cell, each once, in the order in which they are given
create temporary table "sqlanon_alternative" as
with "unfolded" as (
  select
    "cell_code",
    "cell",
    unnest("cell") as "value"
  from "sqlanon_cell"
), "different" as (
  select distinct
    "cell_code",
    "value",
    array_position("cell", "value") as "first_place"
  from "unfolded"
)
select
  "cell_code",
  row_number() over (partition by "cell_code" order by "first_place" asc) as "place",
  "value",
  cast("value" as text) as "text"
from "different";
analyze "sqlanon_alternative";

-- long_values: the manifest, which says the weight of every sensitive value, has room for it
do $sqlanon$
declare refusal text := (
    select
      "refusal"
    from (
      with "different" as (
        select distinct
          "text"
        from "sqlanon_alternative"
      ), "counted" as (
        select
          count(*) as "long_count"
        from "different"
        where
          length("text") > 4096
      )
      select
        case
          when "long_count" > 0
          then coalesce(cast("long_count" as text), '') || ' of the values of ''disease'' are longer than 4,096 letters, and release.json, which says the weight of every sensitive value, takes no longer ones; write shorter alternatives into the source, or publish with the method anatomy, which says none there'
        end as "refusal"
      from "counted"
    ) as "looked_at"
);
begin
    if refusal is not null then raise exception using message = refusal; end if;
end
$sqlanon$;

-- sensitive_set: the sets of sensitive alternatives, cells that hold the same values in another order are one set
create temporary table "sqlanon_sensitive_set" as
with "collected" as (
  select
    "cell_code",
    array_agg("text" order by "text") as "texts",
    count(*) as "alternatives"
  from "sqlanon_alternative"
  group by
    "cell_code"
)
select
  "cell"."cell",
  "cell"."cell_code",
  dense_rank() over (order by "collected"."texts" asc) as "set_code",
  "collected"."alternatives"
from "sqlanon_cell" as "cell"
inner join "collected"
  on "cell"."cell_code" = "collected"."cell_code";
analyze "sqlanon_sensitive_set";

-- set_values: the alternatives of a sensitive cell side by side, NULL beyond the last
create temporary table "sqlanon_set_values" as
select
  max(case when "place" = 1 then "value" end) as "value_1",
  max(case when "place" = 2 then "value" end) as "value_2",
  "cell_code"
from "sqlanon_alternative"
group by
  "cell_code";
analyze "sqlanon_set_values";

-- determined: the deterministic table: a value of every quasi-identifier, and of how many alternatives it is made
create temporary table "sqlanon_determined" as
select
  "drawn"."row_number",
  "drawn"."draw",
  "drawn"."tie",
  "ancestor_1"."node" as "quasi_1",
  coalesce("ancestor_1"."alternatives", 1) as "alternatives_1",
  "drawn"."quasi_2" as "quasi_2",
  "drawn"."quasi_3" as "quasi_3",
  "sensitive_set"."alternatives" as "sensitive_count",
  "sensitive_set"."set_code",
  "sensitive_set"."cell_code"
from "sqlanon_drawn" as "drawn"
inner join "sqlanon_sensitive_set" as "sensitive_set"
  on "drawn"."sensitive" = "sensitive_set"."cell"
left join "sqlanon_ancestor_1" as "ancestor_1"
  on "drawn"."quasi_1" = "ancestor_1"."cell";
analyze "sqlanon_determined";

-- cell_count: how many rows have each different sensitive cell, and how many values it holds
create temporary table "sqlanon_cell_count" as
select
  "cell_code",
  min("sensitive_count") as "sensitive_count",
  count(*) as "row_count"
from "sqlanon_determined"
group by
  "cell_code";
analyze "sqlanon_cell_count";

-- matrix: A table that was given beside the source: a hierarchy's nodes with their ancestors or self from below the root down, or the influence matrix M|S
create temporary table "sqlanon_matrix" as
with "line" as (
  select
    unnest(string_to_array('flu | obesity | AIDS' collate "C", ' | ')) as "sensitive",
    unnest(string_to_array('0.1 | 0.1 | 0.1' collate "C", ' | ')) as "influence_1",
    unnest(string_to_array('0.4 | 0.4 | 0.4' collate "C", ' | ')) as "influence_2",
    unnest(string_to_array('1.0 | 1.0 | 1.0' collate "C", ' | ')) as "influence_3",
    unnest(string_to_array('0.11 | 0.12 | 0.93' collate "C", ' | ')) as "weight",
    ' | ' as "separator"
)
select
  cast("sensitive" as text) as "sensitive",
  cast("influence_1" as double precision) as "influence_1",
  cast("influence_2" as double precision) as "influence_2",
  cast("influence_3" as double precision) as "influence_3",
  cast("weight" as double precision) as "weight"
from "line";
analyze "sqlanon_matrix";

-- weightless: The sensitive values of the data that the influence matrix has no line for, as a list in JSON
do $sqlanon$
declare refusal text := (
    select
      case when not "missing" is null then 'some sensitive values have no weight in the influence file' end as "refusal"
    from (
      with "occurring" as (
        select distinct
          "text"
        from "sqlanon_alternative"
      )
      select
        '[' || string_agg(
      
            cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("occurring"."text", '\', '\\'), '"', '\"'), chr(1), '\u0001'), chr(2), '\u0002'), chr(3), '\u0003'), chr(4), '\u0004'), chr(5), '\u0005'), chr(6), '\u0006'), chr(7), '\u0007'), chr(8), '\b'), chr(9), '\t'), chr(10), '\n'), chr(11), '\u000B'), chr(12), '\f'), chr(13), '\r'), chr(14), '\u000E'), chr(15), '\u000F'), chr(16), '\u0010'), chr(17), '\u0011'), chr(18), '\u0012'), chr(19), '\u0013'), chr(20), '\u0014'), chr(21), '\u0015'), chr(22), '\u0016'), chr(23), '\u0017'), chr(24), '\u0018'), chr(25), '\u0019'), chr(26), '\u001A'), chr(27), '\u001B'), chr(28), '\u001C'), chr(29), '\u001D'), chr(30), '\u001E'), chr(31), '\u001F') || '"') as text),
            ','
      
          order by
            "occurring"."text" asc
        ) || ']' as "missing"
      from "occurring"
      left join "sqlanon_matrix" as "matrix"
        on "occurring"."text" = "matrix"."sensitive"
      where
        "matrix"."sensitive" is null
    ) as "looked_at"
);
begin
    if refusal is not null then raise exception using message = refusal; end if;
end
$sqlanon$;

-- influence: The lines of the influence matrix whose values occur in the data
create temporary table "sqlanon_influence" as
with "occurring" as (
  select distinct
    "text"
  from "sqlanon_alternative"
)
select
  "matrix".*
from "sqlanon_matrix" as "matrix"
inner join "occurring"
  on "matrix"."sensitive" = "occurring"."text";
analyze "sqlanon_influence";

-- facts: What the release says that the data decides: the weights of the values that occur, and how many alternatives a sensitive value has at most
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
with "most" as (
  select
    max("alternatives") as "most_alternatives"
  from "sqlanon_sensitive_set"
), "line" as (
  select
    "sensitive",
    "weight",
    '[' || cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("sensitive", '\', '\\'), '"', '\"'), chr(1), '\u0001'), chr(2), '\u0002'), chr(3), '\u0003'), chr(4), '\u0004'), chr(5), '\u0005'), chr(6), '\u0006'), chr(7), '\u0007'), chr(8), '\b'), chr(9), '\t'), chr(10), '\n'), chr(11), '\u000B'), chr(12), '\f'), chr(13), '\r'), chr(14), '\u000E'), chr(15), '\u000F'), chr(16), '\u0010'), chr(17), '\u0011'), chr(18), '\u0012'), chr(19), '\u0013'), chr(20), '\u0014'), chr(21), '\u0015'), chr(22), '\u0016'), chr(23), '\u0017'), chr(24), '\u0018'), chr(25), '\u0019'), chr(26), '\u001A'), chr(27), '\u001B'), chr(28), '\u001C'), chr(29), '\u001D'), chr(30), '\u001E'), chr(31), '\u001F') || '"') as text) || ',' || cast("influence_1" as text) || ',' || cast("influence_2" as text) || ',' || cast("influence_3" as text) || ',' || cast("weight" as text) || ']' as "shown"
  from "sqlanon_influence"
)
select
  min("most"."most_alternatives") as "most_alternatives",
  '[' || string_agg("line"."shown", ','
  order by
    "line"."weight" asc,
    "line"."sensitive" asc) || ']' as "matrix"
from "line"
cross join "most";

-- value: Step 2: the sensitive values that occur, alternatives included, with their row of the influence matrix, numbered by weight, which no two share
create temporary table "sqlanon_value" as
with "occurring" as (
  select
    "text"
  from "sqlanon_alternative"
  group by
    "text"
)
select
  "influence"."sensitive",
  cast(row_number() over (order by "influence"."weight" asc) as int) as "held",
  case when cast("influence"."weight" as double precision) < cast('0.3' as double precision) then 0 else 1 end as "grave",
  "influence"."influence_1",
  "influence"."influence_2",
  "influence"."influence_3"
from "sqlanon_influence" as "influence"
inner join "occurring"
  on "influence"."sensitive" = "occurring"."text";
analyze "sqlanon_value";

-- importance: What each quasi attribute counts in a distance: its mean influence w_j over the data's sensitive values, in whole millionths summed (so that no order of summing shows), all alike where nothing influences anything
create temporary table "sqlanon_importance" as
with "summed" as (
  select
    coalesce(cast(sum(cast(floor(cast("influence_1" as double precision) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_1",
    coalesce(cast(sum(cast(floor(cast("influence_2" as double precision) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_2",
    coalesce(cast(sum(cast(floor(cast("influence_3" as double precision) * 1000000 + 0.5) as bigint)) as bigint), 0) as "importance_3"
  from "sqlanon_value"
), "compared" as (
  select
    case when 0 + "importance_1" + "importance_2" + "importance_3" = 0 then 1 else "importance_1" end as "importance_1",
    case when 0 + "importance_1" + "importance_2" + "importance_3" = 0 then 1 else "importance_2" end as "importance_2",
    case when 0 + "importance_1" + "importance_2" + "importance_3" = 0 then 1 else "importance_3" end as "importance_3"
  from "summed"
), "totalled" as (
  select
    *,
    cast(0 + "importance_1" + "importance_2" + "importance_3" as double precision) as "total"
  from "compared"
)
select
  "importance_1",
  cast(floor((cast(cast("importance_1" as double precision) as double precision) / nullif("total", 0)) * 1000000000) as bigint) as "share_1",
  "importance_2",
  cast(floor((cast(cast("importance_2" as double precision) as double precision) / nullif("total", 0)) * 1000000000) as bigint) as "share_2",
  "importance_3",
  cast(floor((cast(cast("importance_3" as double precision) as double precision) / nullif("total", 0)) * 1000000000) as bigint) as "share_3"
from "totalled";
analyze "sqlanon_importance";

-- value_ranges: How many rows there are, and where each number begins and how far it reaches
create temporary table "sqlanon_value_ranges" as
select
  count(*) as "row_count",
  min(
    case
      when abs(cast("quasi_2" as double precision)) <= cast(1e300 as double precision)
      then cast("quasi_2" as double precision)
    end
  ) as "lowest_2",
  max(
    case
      when abs(cast("quasi_2" as double precision)) <= cast(1e300 as double precision)
      then cast("quasi_2" as double precision)
    end
  ) - min(
    case
      when abs(cast("quasi_2" as double precision)) <= cast(1e300 as double precision)
      then cast("quasi_2" as double precision)
    end
  ) as "span_2"
from "sqlanon_determined";
analyze "sqlanon_value_ranges";

-- held: The numbers of the values that each different sensitive cell holds
create temporary table "sqlanon_held" as
select
  "alternative"."cell_code",
  "value"."held",
  "value"."grave"
from "sqlanon_alternative" as "alternative"
inner join "sqlanon_value" as "value"
  on "alternative"."text" = "value"."sensitive";
analyze "sqlanon_held";

-- representative: One value that stands for each different sensitive cell when rows are dealt out: a grave one if the cell has any, and of these the one that the fewest rows hold
create temporary table "sqlanon_representative" as
with "frequency" as (
  select
    "held"."held",
    sum("cell_count"."row_count") as "row_count"
  from "sqlanon_held" as "held"
  inner join "sqlanon_cell_count" as "cell_count"
    on "held"."cell_code" = "cell_count"."cell_code"
  group by
    "held"."held"
), "ranked" as (
  select
    "held"."cell_code",
    "held"."held",
    "held"."grave",
    row_number() over (partition by "held"."cell_code" order by "held"."grave" desc, "frequency"."row_count" asc, "held"."held" asc) as "place"
  from "sqlanon_held" as "held"
  inner join "frequency"
    on "held"."held" = "frequency"."held"
)
select
  "cell_code",
  "held",
  "grave"
from "ranked"
where
  "place" = 1;
analyze "sqlanon_representative";

-- feasibility: What decides whether there can be clusters: N, the different weights, whether all rows hold the same values, and for L, where all rows are one region, in groups of what size at least they are diverse, and up to which L groups of `most_rows` are
do $sqlanon$
declare refusal text := (
    select
      case
        when "row_count" = 0
        then 'the source has no rows to publish'
        when "row_count" < 5
        then 'K = 5 needs at least 5 rows'
        when "value_count" < 3
        then 'L = 3 asks for 3 different weights, and the sensitive values have fewer'
        when "grave_count" > 0 and "least_alternatives" = "value_count"
        then 'all rows hold the same sensitive values'
        when "grave_count" > 0 and "most_alternatives" = 1 and (
          "least_size" is null or "least_size" > 20
        )
        then 'L = 3 is not possible in groups of at most 20 rows'
      end as "refusal"
    from (
      with "cell_range" as (
        select
          coalesce(min("sensitive_count"), 0) as "least_alternatives",
          coalesce(max("sensitive_count"), 0) as "most_alternatives"
        from "sqlanon_cell_count"
      ), "counted" as (
        select
          count(*) as "value_count",
          coalesce(cast(sum("grave") as bigint), 0) as "grave_count"
        from "sqlanon_value"
      ), "standing_for" as (
        select
          "representative"."held",
          "representative"."grave",
          cast(sum("cell_count"."row_count") as bigint) as "row_count"
        from "sqlanon_cell_count" as "cell_count"
        inner join "sqlanon_representative" as "representative"
          on "cell_count"."cell_code" = "representative"."cell_code"
        group by
          "representative"."held",
          "representative"."grave"
      ), "asked" as (
        select
          "value"."held" as "target",
          "value"."held" as "wanted",
          "standing_for"."held",
          "standing_for"."grave",
          "standing_for"."row_count"
        from "sqlanon_value" as "value"
        cross join "standing_for"
        where
          "value"."held" > 1 and "value"."held" <= 3
      ), "ranked" as (
        select
          "target",
          "wanted",
          "held",
          "grave",
          "row_count",
          cast(sum("row_count") over (partition by "target") as bigint) as "total_rows",
          cast(sum("grave" * "row_count") over (partition by "target") as bigint) as "grave_rows",
          row_number() over (partition by "target" order by "row_count" desc, "held" asc) as "place",
          cast(sum("row_count") over (partition by "target" order by "row_count" desc, "held" asc rows between unbounded preceding and current row) as bigint) as "rows_so_far"
        from "asked"
      ), "possible" as (
        select
          "target",
          "wanted",
          "total_rows",
          "grave_rows",
          least(
            ("total_rows" / 5),
            ("total_rows" / "wanted"),
            min(case when "place" < "wanted" then (("total_rows" - "rows_so_far") / ("wanted" - "place")) end)
          ) as "group_count"
        from "ranked"
        group by
          "target",
          "wanted",
          "total_rows",
          "grave_rows"
      ), "shared" as (
        select
          "possible"."target",
          "possible"."wanted",
          "possible"."total_rows",
          "possible"."grave_rows",
          "possible"."group_count",
          case when "possible"."group_count" > 0 then "possible"."group_count" end as "divisor",
          cast(sum("ranked"."grave" * least("ranked"."row_count", "possible"."group_count")) as bigint) as "grave_places"
        from "possible"
        inner join "ranked"
          on "possible"."target" = "ranked"."target"
        group by
          "possible"."target",
          "possible"."wanted",
          "possible"."total_rows",
          "possible"."grave_rows",
          "possible"."group_count"
      ), "needed" as (
        select
          *,
          greatest(0, "wanted" * "group_count" - "grave_places") as "helping_rows",
          (("grave_rows" + "divisor" - 1) / "divisor") + greatest(0, "wanted" - ("grave_places" / "divisor")) as "must"
        from "shared"
      ), "fitting" as (
        select
          "target",
          "total_rows",
          "group_count",
          (("grave_rows" + "helping_rows" + "divisor" - 1) / "divisor") as "least_size",
          case when "divisor" > 0 then least((("total_rows" + "divisor" - 1) / "divisor"), greatest(5, "must") + 5 - 1) end as "largest_size"
        from "needed"
      ), "judged" as (
        select
          max(case when "target" = 3 then "least_size" end) as "least_size",
          max(case when "target" = 3 then "largest_size" end) as "largest_size",
          max(case when "largest_size" <= 20 then "target" end) as "largest_l"
        from "fitting"
      ), "grave" as (
        select
          coalesce(cast(sum("grave" * "row_count") as bigint), 0) as "grave_rows"
        from "standing_for"
      )
      select
        "value_ranges"."row_count",
        "counted"."value_count",
        "counted"."grave_count",
        "grave"."grave_rows",
        "cell_range"."least_alternatives",
        "cell_range"."most_alternatives",
        "judged"."least_size",
        "judged"."largest_size",
        "judged"."largest_l"
      from "sqlanon_value_ranges" as "value_ranges"
      cross join "cell_range"
      cross join "counted"
      cross join "judged"
      cross join "grave"
    ) as "looked_at"
);
begin
    if refusal is not null then raise exception using message = refusal; end if;
end
$sqlanon$;

-- level_1: Every node's ancestor at each height 0 … below the root: the highest one not above that height, the node itself where it stands above
create temporary table "sqlanon_level_1" as
with "placed" as (
  select
    "hierarchy"."node",
    case
      when "hierarchy"."height" >= 0
      then "hierarchy"."node"
      when "upper_1"."height" <= 0
      then "upper_1"."node"
      when "upper_2"."height" <= 0
      then "upper_2"."node"
    end as "ancestor_0",
    case
      when "hierarchy"."height" >= 1
      then "hierarchy"."node"
      when "upper_1"."height" <= 1
      then "upper_1"."node"
      when "upper_2"."height" <= 1
      then "upper_2"."node"
    end as "ancestor_1"
  from "sqlanon_hierarchy_1" as "hierarchy"
  left join "sqlanon_hierarchy_1" as "upper_1"
    on "hierarchy"."level_1" = "upper_1"."node"
  left join "sqlanon_hierarchy_1" as "upper_2"
    on "hierarchy"."level_2" = "upper_2"."node"
)
select
  "node",
  cast(dense_rank() over (order by "ancestor_0" asc) as int) as "code_0",
  cast(dense_rank() over (partition by "ancestor_1" order by "ancestor_0" asc) as int) as "branch_0",
  cast(dense_rank() over (order by "ancestor_1" asc) as int) as "code_1",
  cast(dense_rank() over (order by "ancestor_1" asc) as int) as "branch_1"
from "placed";
analyze "sqlanon_level_1";

-- branch_codes_1: The rows with the codes and branches of one quasi attribute's value at its levels, 0 where there is no value
create temporary view "sqlanon_branch_codes_1" as
select
  "attribute_codes".*,
  coalesce("dictionary"."code_0", 0) as "level_1_0",
  coalesce("dictionary"."code_1", 0) as "level_1_1",
  coalesce("dictionary"."branch_0", 0) as "branch_1_0",
  coalesce("dictionary"."branch_1", 0) as "branch_1_1"
from "sqlanon_determined" as "attribute_codes"
left join "sqlanon_level_1" as "dictionary"
  on "attribute_codes"."quasi_1" = "dictionary"."node";

-- extent_1: How many branches, none included, there are at each level of one attribute, beside those of the ones before
create temporary view "sqlanon_extent_1" as
with "broad" as (
  select
    coalesce(max("branch_0"), 0) + 1 as "breadth_1_0",
    coalesce(max("branch_1"), 0) + 1 as "breadth_1_1"
  from "sqlanon_level_1"
)
select
  *
from "sqlanon_importance" as "extent"
cross join "broad";

-- category_3: The values of a quasi attribute without a hierarchy, numbered from 1 in their own order, of more than the most branches that a sort tells apart, neighbours share one
create temporary table "sqlanon_category_3" as
with "valued" as (
  select
    "quasi_3" as "node"
  from "sqlanon_determined"
  where
    not "quasi_3" is null
  group by
    "quasi_3"
), "numbered" as (
  select
    "node",
    row_number() over (order by "node" asc) as "number",
    count(*) over () as "total"
  from "valued"
)
select
  "node",
  cast("number" as int) as "code_0",
  cast(1 + (("number" - 1) * least(1000000, "total") / "total") as int) as "branch_0"
from "numbered";
analyze "sqlanon_category_3";

-- branch_codes_3: The rows with the codes and branches of one quasi attribute's value at its levels, 0 where there is no value
create temporary view "sqlanon_branch_codes_3" as
select
  "attribute_codes".*,
  coalesce("dictionary"."code_0", 0) as "level_3_0",
  coalesce("dictionary"."branch_0", 0) as "branch_3_0"
from "sqlanon_branch_codes_1" as "attribute_codes"
left join "sqlanon_category_3" as "dictionary"
  on "attribute_codes"."quasi_3" = "dictionary"."node";

-- extent_3: How many branches, none included, there are at each level of one attribute, beside those of the ones before
create temporary view "sqlanon_extent_3" as
with "broad" as (
  select
    coalesce(max("branch_0"), 0) + 1 as "breadth_3_0"
  from "sqlanon_category_3"
)
select
  *
from "sqlanon_extent_1" as "extent"
cross join "broad";

-- point: Every row as codes and numbers
create temporary view "sqlanon_point" as
with "finite" as (
  select
    "attribute_codes".*,
    case
      when abs(cast("quasi_2" as double precision)) <= cast(1e300 as double precision)
      then cast("quasi_2" as double precision)
    end as "read_2"
  from "sqlanon_branch_codes_3" as "attribute_codes"
), "shared" as (
  select
    "finite".*,
    "value_ranges"."row_count",
    (cast(("finite"."read_2" - "value_ranges"."lowest_2") as double precision) / nullif(coalesce(nullif("value_ranges"."span_2", 0), 1), 0)) as "fraction_2"
  from "finite"
  cross join "sqlanon_value_ranges" as "value_ranges"
), "binned" as (
  select
    "shared".*,
    least(24000 - 1, cast(floor(coalesce("fraction_2", 0) * 24000) as int)) as "bin_2",
    cast(floor("fraction_2" * "importance"."share_2" + 0.5) as int) as "number_2"
  from "shared"
  cross join "sqlanon_importance" as "importance"
)
select
  "number_2",
  case when "fraction_2" is null then 0 else 1 + ("bin_2" / 4000) end as "coarse_2",
  ("bin_2" / 1000) % 4 as "fine_2",
  "bin_2" % 1000 as "exact_2",
  "row_number",
  "sensitive_count",
  "cell_code",
  "draw",
  "tie",
  "level_1_0",
  "level_1_1",
  "level_3_0",
  "branch_1_0",
  "branch_1_1",
  "branch_3_0",
  "row_count"
from "binned";

-- arrangement: All levels of all attributes by what it costs to differ there, the dearest first: at height h (0 = leaf) of a hierarchy of height H, w_j (h + 1) / H, the last levels come after all others
create temporary table "sqlanon_arrangement" as
with "level" as (
  select
    1 as "level",
    0 as "last",
    (cast(cast("importance_1" as double precision) * 2 as double precision) / nullif(2, 0)) as "cost",
    "breadth_1_1" as "breadth"
  from "sqlanon_extent_3"
  union all
  select
    2 as "level",
    0 as "last",
    (cast(cast("importance_1" as double precision) * 1 as double precision) / nullif(2, 0)) as "cost",
    "breadth_1_0" as "breadth"
  from "sqlanon_extent_3"
  union all
  select
    3 as "level",
    0 as "last",
    (cast(cast("importance_3" as double precision) * 1 as double precision) / nullif(1, 0)) as "cost",
    "breadth_3_0" as "breadth"
  from "sqlanon_extent_3"
  union all
  select
    4 as "level",
    0 as "last",
    (cast(cast("importance_2" as double precision) * 1 as double precision) / nullif(4, 0)) as "cost",
    7 as "breadth"
  from "sqlanon_extent_3"
  union all
  select
    5 as "level",
    0 as "last",
    (cast(cast("importance_2" as double precision) * 1 as double precision) / nullif(12, 0)) as "cost",
    4 as "breadth"
  from "sqlanon_extent_3"
  union all
  select
    6 as "level",
    1 as "last",
    (cast(cast("importance_2" as double precision) * 1 as double precision) / nullif(1, 0)) as "cost",
    1000 as "breadth"
  from "sqlanon_extent_3"
), "sized" as (
  select
    "level",
    "last",
    "cost",
    0 + case when "breadth" > 1 then 1 else 0 end + case when "breadth" > 2 then 1 else 0 end + case when "breadth" > 4 then 1 else 0 end + case when "breadth" > 8 then 1 else 0 end + case when "breadth" > 16 then 1 else 0 end + case when "breadth" > 32 then 1 else 0 end + case when "breadth" > 64 then 1 else 0 end + case when "breadth" > 128 then 1 else 0 end + case when "breadth" > 256 then 1 else 0 end + case when "breadth" > 512 then 1 else 0 end + case when "breadth" > 1024 then 1 else 0 end + case when "breadth" > 2048 then 1 else 0 end + case when "breadth" > 4096 then 1 else 0 end + case when "breadth" > 8192 then 1 else 0 end + case when "breadth" > 16384 then 1 else 0 end + case when "breadth" > 32768 then 1 else 0 end + case when "breadth" > 65536 then 1 else 0 end + case when "breadth" > 131072 then 1 else 0 end + case when "breadth" > 262144 then 1 else 0 end + case when "breadth" > 524288 then 1 else 0 end + case when "breadth" > 1048576 then 1 else 0 end + case when "breadth" > 2097152 then 1 else 0 end + case when "breadth" > 4194304 then 1 else 0 end + case when "breadth" > 8388608 then 1 else 0 end + case when "breadth" > 16777216 then 1 else 0 end + case when "breadth" > 33554432 then 1 else 0 end + case when "breadth" > 67108864 then 1 else 0 end + case when "breadth" > 134217728 then 1 else 0 end + case when "breadth" > 268435456 then 1 else 0 end + case when "breadth" > 536870912 then 1 else 0 end + case when "breadth" > 1073741824 then 1 else 0 end as "width"
  from "level"
), "reached" as (
  select
    "level",
    "width",
    cast(sum("width") over (order by "last" asc, "cost" desc, "level" asc rows between unbounded preceding and current row) as bigint) as "reach"
  from "sized"
), "weighed" as (
  select
    "level",
    "width",
    "reach",
    case when "width" > 0 and "reach" <= 62 then cast(1 as bigint) << cast(62 - "reach" as int) else 0 end as "weight"
  from "reached"
), "arranged" as (
  select
    "level",
    "weight",
    (
      "weight" << cast("width" as int)
    ) - "weight" as "bits",
    cast(sum("weight") over (order by "reach" asc, "level" asc rows between unbounded preceding and current row) as bigint) - "weight" as "before"
  from "weighed"
)
select
  max(case when "level" = 1 then "weight" end) as "weight_1",
  max(case when "level" = 1 then "bits" end) as "bits_1",
  max(case when "level" = 1 then "before" end) as "before_1",
  max(case when "level" = 2 then "weight" end) as "weight_2",
  max(case when "level" = 2 then "bits" end) as "bits_2",
  max(case when "level" = 2 then "before" end) as "before_2",
  max(case when "level" = 3 then "weight" end) as "weight_3",
  max(case when "level" = 3 then "bits" end) as "bits_3",
  max(case when "level" = 3 then "before" end) as "before_3",
  max(case when "level" = 4 then "weight" end) as "weight_4",
  max(case when "level" = 4 then "bits" end) as "bits_4",
  max(case when "level" = 4 then "before" end) as "before_4",
  max(case when "level" = 5 then "weight" end) as "weight_5",
  max(case when "level" = 5 then "bits" end) as "bits_5",
  max(case when "level" = 5 then "before" end) as "before_5",
  max(case when "level" = 6 then "weight" end) as "weight_6",
  max(case when "level" = 6 then "bits" end) as "bits_6",
  max(case when "level" = 6 then "before" end) as "before_6"
from "arranged";
analyze "sqlanon_arrangement";

-- clustering: One sort: rows by the branches of all levels as one number, the dearest first, each upwards or downwards by whether those before it are even or odd in sum, so that neighbours are alike, then by the draw
create temporary table "sqlanon_clustering" as
with "branched" as (
  select
    "point".*,
    0 + "point"."branch_1_1" * "arrangement"."weight_1" + "point"."branch_1_0" * "arrangement"."weight_2" + "point"."branch_3_0" * "arrangement"."weight_3" + "point"."coarse_2" * "arrangement"."weight_4" + "point"."fine_2" * "arrangement"."weight_5" + "point"."exact_2" * "arrangement"."weight_6" as "branches"
  from "sqlanon_point" as "point"
  cross join "sqlanon_arrangement" as "arrangement"
), "turned" as (
  select
    "branched".*,
    "branched"."branches" # (
      0 + bit_count(cast("branched"."branches" & "arrangement"."before_1" as bit(64))) % 2 * "arrangement"."bits_1" + bit_count(cast("branched"."branches" & "arrangement"."before_2" as bit(64))) % 2 * "arrangement"."bits_2" + bit_count(cast("branched"."branches" & "arrangement"."before_3" as bit(64))) % 2 * "arrangement"."bits_3" + bit_count(cast("branched"."branches" & "arrangement"."before_4" as bit(64))) % 2 * "arrangement"."bits_4" + bit_count(cast("branched"."branches" & "arrangement"."before_5" as bit(64))) % 2 * "arrangement"."bits_5" + bit_count(cast("branched"."branches" & "arrangement"."before_6" as bit(64))) % 2 * "arrangement"."bits_6"
    ) as "place"
  from "branched"
  cross join "sqlanon_arrangement" as "arrangement"
), "lined" as (
  select
    *,
    row_number() over (order by "place" asc, "draw" asc, "tie" asc) - 1 as "position"
  from "turned"
)
select
  "row_number",
  "sensitive_count",
  "cell_code",
  "draw",
  "tie",
  "position",
  least(("position" / 5), ("row_count" / 5) - 1) as "cluster"
from "lined";
analyze "sqlanon_clustering";

-- cluster_value: The sensitive values of every cluster, alternatives included: in how many rows each stands, and the fewest alternatives of a row that holds it
create temporary table "sqlanon_cluster_value" as
select
  "clustering"."cluster",
  "held"."held",
  max("held"."grave") as "grave",
  count(*) as "row_count",
  min("clustering"."sensitive_count") as "least_alternatives"
from "sqlanon_clustering" as "clustering"
inner join "sqlanon_held" as "held"
  on "clustering"."cell_code" = "held"."cell_code"
group by
  "clustering"."cluster",
  "held"."held";
analyze "sqlanon_cluster_value";

-- judged: How every cluster stands: 2 where its rows hold at least L different weights and not all the same set of them, 1 where all weights are below c (it passes as it is), 0 where it fails
create temporary table "sqlanon_judged" as
with "diversity" as (
  select
    "cluster",
    count(*) as "weight_count",
    max("grave") as "grave",
    min("least_alternatives") as "least_alternatives"
  from "sqlanon_cluster_value"
  group by
    "cluster"
)
select
  "cluster",
  "cluster" as "target",
  cast(1 as bigint) as "width",
  case when "weight_count" >= 3 and "least_alternatives" < "weight_count" then 2 when "grave" = 0 then 1 else 0 end as "verdict"
from "diversity";
analyze "sqlanon_judged";

-- cluster_count: How many rows of every cluster each value stands for
create temporary table "sqlanon_cluster_count" as
select
  "clustering"."cluster",
  "representative"."held",
  "representative"."grave",
  count(*) as "row_count"
from "sqlanon_clustering" as "clustering"
inner join "sqlanon_representative" as "representative"
  on "clustering"."cell_code" = "representative"."cell_code"
group by
  "clustering"."cluster",
  "representative"."held",
  "representative"."grave";
analyze "sqlanon_cluster_count";

-- merges: turn 1 of 1

-- merged: One turn of merging what fails: a region that fails becomes one with all clusters of the block around it
create temporary table "sqlanon_merged" as
with "widened" as (
  select
    max(case when "width" < 32 then "width" * 2 else "width" * 8 end) as "width"
  from "sqlanon_judged"
  where
    "verdict" = 0
), "failing" as (
  select
    ("judged"."target" / "widened"."width") * "widened"."width" as "block",
    "widened"."width"
  from "sqlanon_judged" as "judged"
  cross join "widened"
  where
    "judged"."verdict" = 0
  group by
    ("judged"."target" / "widened"."width") * "widened"."width",
    "widened"."width"
), "placed" as (
  select
    "judged".*,
    ("judged"."cluster" / "widened"."width") * "widened"."width" as "block"
  from "sqlanon_judged" as "judged"
  cross join "widened"
)
select
  "placed"."cluster",
  coalesce("failing"."block", "placed"."target") as "target",
  coalesce("failing"."width", "placed"."width") as "width",
  "placed"."verdict",
  case when "failing"."block" is null then 0 else 1 end as "changed"
from "placed"
left join "failing"
  on "placed"."block" = "failing"."block";
analyze "sqlanon_merged";

-- judged_again: How every region stands after a turn of merges, judged anew where something was merged
create temporary table "sqlanon_judged_again" as
with "weight" as (
  select
    "merged"."target",
    "cluster_value"."held",
    max("cluster_value"."grave") as "grave",
    min("cluster_value"."least_alternatives") as "least_alternatives"
  from "sqlanon_cluster_value" as "cluster_value"
  inner join "sqlanon_merged" as "merged"
    on "cluster_value"."cluster" = "merged"."cluster"
  where
    "merged"."changed" = 1
  group by
    "merged"."target",
    "cluster_value"."held"
), "diversity" as (
  select
    "target",
    max("grave") as "grave",
    case when count(*) >= 3 and min("least_alternatives") < count(*) then 1 else 0 end as "diverse"
  from "weight"
  group by
    "target"
), "counted" as (
  select
    "merged"."target",
    3 as "wanted",
    "cluster_count"."held",
    "cluster_count"."grave",
    cast(sum("cluster_count"."row_count") as bigint) as "row_count"
  from "sqlanon_cluster_count" as "cluster_count"
  inner join "sqlanon_merged" as "merged"
    on "cluster_count"."cluster" = "merged"."cluster"
  where
    "merged"."changed" = 1
  group by
    "merged"."target",
    "cluster_count"."held",
    "cluster_count"."grave"
), "ranked" as (
  select
    "target",
    "wanted",
    "held",
    "grave",
    "row_count",
    cast(sum("row_count") over (partition by "target") as bigint) as "total_rows",
    cast(sum("grave" * "row_count") over (partition by "target") as bigint) as "grave_rows",
    row_number() over (partition by "target" order by "row_count" desc, "held" asc) as "place",
    cast(sum("row_count") over (partition by "target" order by "row_count" desc, "held" asc rows between unbounded preceding and current row) as bigint) as "rows_so_far"
  from "counted"
), "possible" as (
  select
    "target",
    "wanted",
    "total_rows",
    "grave_rows",
    least(
      ("total_rows" / 5),
      ("total_rows" / "wanted"),
      min(case when "place" < "wanted" then (("total_rows" - "rows_so_far") / ("wanted" - "place")) end)
    ) as "group_count"
  from "ranked"
  group by
    "target",
    "wanted",
    "total_rows",
    "grave_rows"
), "shared" as (
  select
    "possible"."target",
    "possible"."wanted",
    "possible"."total_rows",
    "possible"."grave_rows",
    "possible"."group_count",
    case when "possible"."group_count" > 0 then "possible"."group_count" end as "divisor",
    cast(sum("ranked"."grave" * least("ranked"."row_count", "possible"."group_count")) as bigint) as "grave_places"
  from "possible"
  inner join "ranked"
    on "possible"."target" = "ranked"."target"
  group by
    "possible"."target",
    "possible"."wanted",
    "possible"."total_rows",
    "possible"."grave_rows",
    "possible"."group_count"
), "needed" as (
  select
    *,
    greatest(0, "wanted" * "group_count" - "grave_places") as "helping_rows",
    (("grave_rows" + "divisor" - 1) / "divisor") + greatest(0, "wanted" - ("grave_places" / "divisor")) as "must"
  from "shared"
), "fitting" as (
  select
    "target",
    "total_rows",
    "group_count",
    (("grave_rows" + "helping_rows" + "divisor" - 1) / "divisor") as "least_size",
    case when "divisor" > 0 then least((("total_rows" + "divisor" - 1) / "divisor"), greatest(5, "must") + 5 - 1) end as "largest_size"
  from "needed"
), "sized" as (
  select
    "fitting"."target",
    "diversity"."grave",
    case
      when not "fitting"."largest_size" is null
      then "fitting"."largest_size"
      when "diversity"."diverse" = 1
      then "fitting"."total_rows"
    end as "largest_size"
  from "fitting"
  inner join "diversity"
    on "fitting"."target" = "diversity"."target"
)
select
  "merged"."cluster",
  "merged"."target",
  "merged"."width",
  case
    when "merged"."changed" = 0
    then "merged"."verdict"
    when "sized"."grave" = 0
    then 1
    when "sized"."largest_size" <= 9
    then 2
    when "merged"."width" > 4 and "sized"."largest_size" <= 20
    then 2
    else 0
  end as "verdict"
from "sqlanon_merged" as "merged"
left join "sized"
  on "merged"."target" = "sized"."target";
analyze "sqlanon_judged_again";

drop table "sqlanon_judged";

-- merges
create temporary table "sqlanon_judged" as
select
  *
from "sqlanon_judged_again";
analyze "sqlanon_judged";

drop table "sqlanon_judged_again";

drop table "sqlanon_merged";

-- unmet: How many rows are in regions that fail after all merges
do $sqlanon$
declare refusal text := (
    select
      case
        when "failing_rows" > 0
        then 'some rows find no group of at most 20 rows with 3 different weights; lower -L, raise --max-group, or say --undiverse suppress'
      end as "refusal"
    from (
      select
        coalesce(cast(sum("cluster_count"."row_count") as bigint), 0) as "failing_rows"
      from "sqlanon_judged" as "judged"
      inner join "sqlanon_cluster_count" as "cluster_count"
        on "judged"."cluster" = "cluster_count"."cluster"
      where
        "judged"."verdict" = 0
    ) as "looked_at"
);
begin
    if refusal is not null then raise exception using message = refusal; end if;
end
$sqlanon$;

-- portion: How the rows of each value are dealt out in a region that was merged: in full rounds over its groups, and the rest from `pool_start` on, where the rests of all values stand in one line
create temporary table "sqlanon_portion" as
with "counted" as (
  select
    "judged"."target",
    3 as "wanted",
    "cluster_count"."held",
    "cluster_count"."grave",
    cast(sum("cluster_count"."row_count") as bigint) as "row_count"
  from "sqlanon_cluster_count" as "cluster_count"
  inner join "sqlanon_judged" as "judged"
    on "cluster_count"."cluster" = "judged"."cluster"
  where
    "judged"."width" > 1
  group by
    "judged"."target",
    "cluster_count"."held",
    "cluster_count"."grave"
), "ranked" as (
  select
    "target",
    "wanted",
    "held",
    "grave",
    "row_count",
    cast(sum("row_count") over (partition by "target") as bigint) as "total_rows",
    cast(sum("grave" * "row_count") over (partition by "target") as bigint) as "grave_rows",
    row_number() over (partition by "target" order by "row_count" desc, "held" asc) as "place",
    cast(sum("row_count") over (partition by "target" order by "row_count" desc, "held" asc rows between unbounded preceding and current row) as bigint) as "rows_so_far"
  from "counted"
), "possible" as (
  select
    "target",
    "wanted",
    "total_rows",
    "grave_rows",
    least(
      ("total_rows" / 5),
      ("total_rows" / "wanted"),
      min(case when "place" < "wanted" then (("total_rows" - "rows_so_far") / ("wanted" - "place")) end)
    ) as "group_count"
  from "ranked"
  group by
    "target",
    "wanted",
    "total_rows",
    "grave_rows"
), "shared" as (
  select
    "possible"."target",
    "possible"."wanted",
    "possible"."total_rows",
    "possible"."grave_rows",
    "possible"."group_count",
    case when "possible"."group_count" > 0 then "possible"."group_count" end as "divisor",
    cast(sum("ranked"."grave" * least("ranked"."row_count", "possible"."group_count")) as bigint) as "grave_places"
  from "possible"
  inner join "ranked"
    on "possible"."target" = "ranked"."target"
  group by
    "possible"."target",
    "possible"."wanted",
    "possible"."total_rows",
    "possible"."grave_rows",
    "possible"."group_count"
), "needed" as (
  select
    *,
    greatest(0, "wanted" * "group_count" - "grave_places") as "helping_rows",
    (("grave_rows" + "divisor" - 1) / "divisor") + greatest(0, "wanted" - ("grave_places" / "divisor")) as "must"
  from "shared"
), "fitting" as (
  select
    "target",
    "total_rows",
    "group_count",
    (("grave_rows" + "helping_rows" + "divisor" - 1) / "divisor") as "least_size",
    case when "divisor" > 0 then least((("total_rows" + "divisor" - 1) / "divisor"), greatest(5, "must") + 5 - 1) end as "largest_size"
  from "needed"
), "dealt" as (
  select
    "ranked"."target",
    "ranked"."held",
    "ranked"."grave",
    "ranked"."row_count",
    "fitting"."group_count",
    case
      when "ranked"."row_count" > "fitting"."group_count" and "fitting"."group_count" > 0
      then ("ranked"."row_count" / greatest(1, "fitting"."group_count")) * "fitting"."group_count"
      else 0
    end as "full_rows"
  from "ranked"
  inner join "fitting"
    on "ranked"."target" = "fitting"."target"
), "phased" as (
  select
    *,
    case when "full_rows" = 0 then "grave" else 3 - "grave" end as "phase"
  from "dealt"
)
select
  "target",
  "held",
  "group_count",
  "full_rows",
  cast(sum("row_count" - "full_rows") over (partition by "target" order by "phase" asc, "held" asc rows between unbounded preceding and current row) as bigint) - (
    "row_count" - "full_rows"
  ) as "pool_start"
from "phased";
analyze "sqlanon_portion";

-- seat: The group in its region of every row that is dealt out, which of a value's rows goes where is drawn, so that the groups tell no more of who has which value than ST does
create temporary table "sqlanon_seat" as
with "drawn" as (
  select
    "clustering"."position",
    "judged"."target",
    "representative"."held",
    "representative"."grave",
    "clustering"."draw",
    "clustering"."tie",
    row_number() over (
      partition by "judged"."target", "representative"."held"
      order by "clustering"."draw" asc, "clustering"."tie" asc, "clustering"."position" asc
    ) - 1 as "turn"
  from "sqlanon_clustering" as "clustering"
  inner join "sqlanon_judged" as "judged"
    on "clustering"."cluster" = "judged"."cluster"
  inner join "sqlanon_representative" as "representative"
    on "clustering"."cell_code" = "representative"."cell_code"
  where
    "judged"."width" > 1
)
select
  "drawn"."position",
  "drawn"."target",
  "drawn"."held",
  "drawn"."grave",
  "portion"."group_count",
  "drawn"."draw",
  "drawn"."tie",
  case
    when "drawn"."turn" < "portion"."full_rows"
    then "drawn"."turn" % greatest(1, "portion"."group_count")
    else (
      "portion"."pool_start" + "drawn"."turn" - "portion"."full_rows"
    ) % greatest(1, "portion"."group_count")
  end as "group_number"
from "drawn"
inner join "sqlanon_portion" as "portion"
  on "drawn"."target" = "portion"."target" and "drawn"."held" = "portion"."held";
analyze "sqlanon_seat";

-- spared: Rows that a diverse group can spare: of those without a grave value, all but what brings the group to L weights and K rows
create temporary table "sqlanon_spared" as
with "ranked" as (
  select
    *,
    row_number() over (partition by "target", "group_number", "held" order by "draw" asc, "tie" asc, "position" asc) as "meeting"
  from "sqlanon_seat"
), "weighed" as (
  select
    *,
    cast(sum("grave") over (partition by "target", "group_number") as bigint) as "grave_rows",
    cast(sum(case when "grave" = 1 and "meeting" = 1 then 1 else 0 end) over (partition by "target", "group_number") as bigint) as "grave_weights",
    cast(sum(1 - "grave") over (partition by "target", "group_number") as bigint) as "harmless_rows",
    row_number() over (
      partition by "target", "group_number", "grave"
      order by case when "meeting" = 1 then 0 else 1 end asc, "draw" asc, "tie" asc, "position" asc
    ) as "place"
  from "ranked"
), "kept" as (
  select
    *,
    greatest(5 - "grave_rows", 3 - "grave_weights", 0) as "kept_rows"
  from "weighed"
)
select
  "position",
  "target",
  "group_number",
  cast(case
    when "group_count" = 0 or "grave" = 1 or "place" <= "kept_rows" or "harmless_rows" - "kept_rows" < 5
    then 0
    else 1 + least((("place" - "kept_rows" - 1) / 5), (("harmless_rows" - "kept_rows") / 5) - 1)
  end as bigint) as "piece"
from "kept";
analyze "sqlanon_spared";

-- clustered: Every row's cluster, where those that failed were merged and dealt out anew: a region has no more groups than it had clusters, so their numbers do
create temporary table "sqlanon_clustered" as
with "numbered" as (
  select
    "position",
    "target" + dense_rank() over (partition by "target" order by "group_number" asc, "piece" asc) - 1 as "cluster"
  from "sqlanon_spared"
)
select
  "clustering"."row_number",
  coalesce("numbered"."cluster", "clustering"."cluster") as "cluster",
  0 as "suppressed"
from "sqlanon_clustering" as "clustering"
left join "numbered"
  on "clustering"."position" = "numbered"."position";
analyze "sqlanon_clustered";

-- measured: The rows of the clusters with what distances go by
create temporary view "sqlanon_measured" as
select
  "point".*,
  "clustered"."cluster" as "target",
  "clustered"."row_number" as "position"
from "sqlanon_clustered" as "clustered"
inner join "sqlanon_point" as "point"
  on "clustered"."row_number" = "point"."row_number";

-- quality: How good the clusters are: the objective (1/m) sum |e| * (largest distance in e), and the largest of these distances
-- LOOK AT THIS ROW before you hand anything on: nothing here refuses by itself
with "size" as (
  select
    "cluster",
    count(*) as "row_count",
    sum("suppressed") as "suppressed_rows"
  from "sqlanon_clustered"
  group by
    "cluster"
), "total" as (
  select
    count(*) as "cluster_count",
    cast(sum("row_count") as bigint) as "row_count",
    max("row_count") as "largest_cluster",
    cast(sum("suppressed_rows") as bigint) as "suppressed_rows",
    1 + 2 * (
      (cast(sum(case when "row_count" <= 2000 then "row_count" * "row_count" else 0 end) as bigint) / 500000)
    ) as "stride"
  from "size"
), "chosen" as (
  select
    "size"."cluster"
  from "size"
  cross join "total"
  where
    "size"."row_count" <= 2000 and "size"."cluster" % "total"."stride" < 1
), "member" as (
  select
    "measured".*
  from "chosen"
  inner join "sqlanon_measured" as "measured"
    on "chosen"."cluster" = "measured"."target"
), "diameter" as (
  select
    "a"."target",
    max(
      (
        0 + ("share_1" * (0 + case when "a"."level_1_0" = "b"."level_1_0" then 0 else 1 end + case when "a"."level_1_1" = "b"."level_1_1" then 0 else 1 end) / 2) + ("share_3" * (0 + case when "a"."level_3_0" = "b"."level_3_0" then 0 else 1 end) / 1) + coalesce(
          abs("a"."number_2" - "b"."number_2"),
          case when "a"."number_2" is null and "b"."number_2" is null then 0 else "share_2" end
        )
      )
    ) as "diameter"
  from "member" as "a"
  inner join "member" as "b"
    on "a"."target" = "b"."target" and "a"."position" < "b"."position"
  cross join "sqlanon_importance" as "importance"
  group by
    "a"."target"
), "weighed" as (
  select
    count(*) as "measured_clusters",
    (cast((cast(cast(sum("size"."row_count" * "diameter"."diameter") as double precision) as double precision) / nullif(nullif(count(*), 0), 0)) as double precision) / nullif(1000000000, 0)) as "objective",
    (cast(cast(max("diameter"."diameter") as double precision) as double precision) / nullif(1000000000, 0)) as "largest_diameter"
  from "diameter"
  inner join "size"
    on "diameter"."target" = "size"."cluster"
)
select
  "total"."cluster_count",
  "total"."row_count",
  "total"."largest_cluster",
  "total"."suppressed_rows",
  "weighed"."measured_clusters",
  "weighed"."objective",
  "weighed"."largest_diameter"
from "total"
cross join "weighed";

-- shown: the rows with their clusters, nothing suppressed
create temporary table "sqlanon_shown" as
select
  "determined"."quasi_1",
  "determined"."quasi_2",
  "determined"."quasi_3",
  "determined"."alternatives_1",
  "determined"."row_number",
  "determined"."draw",
  "determined"."tie",
  "determined"."set_code",
  "determined"."cell_code",
  "clustered"."cluster"
from "sqlanon_determined" as "determined"
inner join "sqlanon_clustered" as "clustered"
  on "determined"."row_number" = "clustered"."row_number";
analyze "sqlanon_shown";

-- pattern: QIID: for each uncertain quasi-identifier of a row its field number (one more than its place) and the number of its alternatives, 0 where all are certain, and the same as a list, since digits run together
create temporary table "sqlanon_pattern" as
with "different" as (
  select distinct
    "alternatives_1",
    '' as "certain"
  from "sqlanon_shown"
)
select
  "alternatives_1",
  coalesce(nullif(case when "alternatives_1" <> 1 then '2' || cast("alternatives_1" as text) else '' end || '', ''), '0') as "qiid",
  (select coalesce(jsonb_agg(jsonb_build_object('attribute', attribute, 'count', number) order by place), '[]') from (values ('education', "alternatives_1", 1)) as line(attribute, number, place) where number <> 1) as "alternatives"
from "different";
analyze "sqlanon_pattern";

-- group_number: groups, numbered from 1 in the order of the published columns: by the least row of each, those of equal least rows by the draw, where a group stands tells nothing that its rows do not show
create temporary table "sqlanon_group_number" as
with "least" as (
  select
    "shown"."cluster",
    (array_agg(row("pattern"."qiid", "shown"."quasi_1", "shown"."quasi_2", "shown"."quasi_3") order by row("pattern"."qiid", "shown"."quasi_1", "shown"."quasi_2", "shown"."quasi_3")))[1] as "least_row",
    min("shown"."draw") as "least_draw"
  from "sqlanon_shown" as "shown"
  inner join "sqlanon_pattern" as "pattern"
    on true and "shown"."alternatives_1" = "pattern"."alternatives_1"
  group by
    "shown"."cluster"
)
select
  "cluster",
  row_number() over (order by "least_row" asc, "least_draw" asc) as "group_id"
from "least";
analyze "sqlanon_group_number";

-- qit: the quasi-identifier table: QIID, the deterministic quasi values and the group
create table "sqlanon_qit" as
select
  "pattern"."qiid" as "qiid",
  "pattern"."alternatives" as "alternatives",
  "shown"."quasi_1" as "education",
  "shown"."quasi_2" as "age",
  "shown"."quasi_3" as "sex",
  "group_number"."group_id" as "group_id"
from "sqlanon_shown" as "shown"
inner join "sqlanon_pattern" as "pattern"
  on true and "shown"."alternatives_1" = "pattern"."alternatives_1"
inner join "sqlanon_group_number" as "group_number"
  on "shown"."cluster" = "group_number"."cluster"
order by
  "pattern"."qiid" asc,
  "shown"."quasi_1" asc,
  "shown"."quasi_2" asc,
  "shown"."quasi_3" asc,
  "group_number"."group_id" asc;
analyze "sqlanon_qit";

-- st: the sensitive table: the sets of alternatives that a group holds, and how often, a set that is given in several orders is shown in one of them
create table "sqlanon_st" as
with "counted" as (
  select
    "group_number"."group_id",
    "shown"."set_code",
    min("shown"."cell_code") as "cell_code",
    count(*) as "row_count"
  from "sqlanon_shown" as "shown"
  inner join "sqlanon_group_number" as "group_number"
    on "shown"."cluster" = "group_number"."cluster"
  group by
    "group_number"."group_id",
    "shown"."set_code"
)
select
  "counted"."group_id" as "group_id",
  "set_values"."value_1" as "disease1",
  "set_values"."value_2" as "disease2",
  "counted"."row_count" as "count"
from "counted"
inner join "sqlanon_set_values" as "set_values"
  on "counted"."cell_code" = "set_values"."cell_code"
order by
  "counted"."group_id" asc,
  "set_values"."value_1" asc,
  "set_values"."value_2" asc,
  "counted"."row_count" asc;
analyze "sqlanon_st";

-- the rest is microdata and the key: forget it
-- 43 relations, the last first

commit;
