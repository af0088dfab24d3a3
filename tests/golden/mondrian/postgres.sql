-- sqlanon mondrian for postgres: k = 10, l = 4, diversity = frequent, partition = relaxed, published = {'education': {'type': 'VARCHAR', 'nulls': True, 'node': 'education'}, 'age': {'type': 'INTEGER', 'nulls': True, 'low': 'age_low', 'high': 'age_high', 'unknown': 'age_unknown'}, 'seen': {'type': 'DATE', 'nulls': True, 'low': 'seen_low', 'high': 'seen_high', 'unknown': 'seen_unknown'}, 'sex': {'type': 'VARCHAR', 'nulls': True, 'set': 'sex'}}, hierarchies = {'education': [['Bachelor', 'University'], ['Master', 'University'], ['School', 'Any'], ['University', 'Any']]}, draws = keyed, nulls = refuse, rows_per_person = one
-- LeFevre, DeWitt and Ramakrishnan, Mondrian Multidimensional K-Anonymity, ICDE 2006
-- It makes "sqlanon_data", and nothing else that it makes may be handed on.
-- It needs a key of 64 hex digits, and who has the key can undo the release.
-- Make one with: openssl rand -hex 32
-- Hand it over before the script runs: set sqlanon.key = '…'
-- publish runs these statements on postgres, but:
-- * under a key of its own it draws by the numbers of rows, which a script does not have
-- * quasi columns that all hold whole numbers are packed into one number, by their least and greatest values
-- * the table has a column for unknown values only where a quasi column holds some

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

-- source: the rows under names of our own, so that no column of the user's meets one of ours
create temporary view "sqlanon_source" as
select
  "education" as "quasi_1",
  "age" as "quasi_2",
  "seen" as "quasi_3",
  "sex" as "quasi_4",
  "ssn" as "identifier_1",
  "disease" as "sensitive"
from "patients";

-- population: as in anatomy/postgres.sql

-- persons: as in anatomy/postgres.sql

-- own_values_1: as in anatomy/postgres.sql

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

-- sensitive_value: the values of a sensitive column, numbered, NULL is a value, and the last
create temporary table "sqlanon_sensitive_value" as
with "counted" as (
  select
    "sensitive" as "sensitive",
    count(*) as "row_count"
  from "sqlanon_population"
  group by
    "sensitive"
)
select
  "sensitive",
  "row_count",
  cast(row_number() over (order by case when "sensitive" is null then 1 else 0 end asc, "sensitive" asc) as int) as "code"
from "counted";
analyze "sqlanon_sensitive_value";

-- outside_1: the values are leaves of their hierarchy
do $sqlanon$
declare refusal text := (
    select
      "refusal"
    from (
      with "different" as (
        select
          cast("quasi_1" as text) as "text"
        from "sqlanon_population"
        where
          not "quasi_1" is null
        group by
          cast("quasi_1" as text)
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

-- value_1: the values of an attribute with a hierarchy, the leaves below a node being neighbours, share_n: which share of all leaves lies below the ancestor at a level, NULL is a value below the root, and the last
create temporary table "sqlanon_value_1" as
with "different" as (
  select
    "quasi_1" as "value",
    cast("quasi_1" as text) collate "C" as "text"
  from "sqlanon_population"
  group by
    "quasi_1"
), "weighed" as (
  select
    (cast(sum("held") over (partition by "level_1") as double precision) / nullif(cast(sum("held") over () as double precision), 0)) as "share_1",
    (cast(sum("held") over (partition by "level_1", "level_2") as double precision) / nullif(cast(sum("held") over () as double precision), 0)) as "share_2",
    "level_1",
    "level_2",
    "node"
  from "sqlanon_hierarchy_1"
)
select
  "different"."value",
  "weighed"."share_1",
  "weighed"."share_2",
  "weighed"."level_1",
  "weighed"."level_2",
  cast(row_number() over (
    order by case when "different"."value" is null then 1 else 0 end asc, coalesce("weighed"."level_1", '') collate "C" asc, coalesce("weighed"."level_2", '') collate "C" asc, "different"."text" asc
  ) as int) as "code"
from "different"
left join "weighed"
  on "different"."text" = "weighed"."node";
analyze "sqlanon_value_1";

-- value_2: the values of a number or a moment in their order, place: where one lies in the range of all, from 0 to 1 - 1/n for n values (two values are not cut before many), NULL comes last, and lies far from every value
create temporary table "sqlanon_value_2" as
with "placed" as (
  select
    "value",
    case
      when abs(cast("value" as double precision)) <= cast(1e300 as double precision)
      then cast("value" as double precision)
    end as "number"
  from (
    select distinct
      "quasi_2" as "value"
    from "sqlanon_population"
  ) as "different"
), "span" as (
  select
    min("number") as "lowest",
    max("number") as "highest",
    1 - (cast(1 as double precision) / nullif(cast(count(*) as double precision), 0)) as "share"
  from "placed"
)
select
  "placed"."value",
  cast(case
    when "placed"."value" is null
    then 2147483647
    else row_number() over (order by case when "placed"."value" is null then 1 else 0 end asc, "placed"."value" asc)
  end as int) as "code",
  case
    when "placed"."value" is null
    then 2
    when "span"."highest" > "span"."lowest"
    then "span"."share" * coalesce(
      (cast(("placed"."number" - "span"."lowest") as double precision) / nullif(("span"."highest" - "span"."lowest"), 0)),
      1
    )
    else 0
  end as "place"
from "placed"
cross join "span";
analyze "sqlanon_value_2";

-- value_3: the values of a number or a moment in their order, place: where one lies in the range of all, from 0 to 1 - 1/n for n values (two values are not cut before many), NULL comes last, and lies far from every value
create temporary table "sqlanon_value_3" as
with "placed" as (
  select
    "value",
    case
      when abs(cast(cast(extract(epoch from "value") as double precision) as double precision)) <= cast(1e300 as double precision)
      then cast(cast(extract(epoch from "value") as double precision) as double precision)
    end as "number"
  from (
    select distinct
      "quasi_3" as "value"
    from "sqlanon_population"
  ) as "different"
), "span" as (
  select
    min("number") as "lowest",
    max("number") as "highest",
    1 - (cast(1 as double precision) / nullif(cast(count(*) as double precision), 0)) as "share"
  from "placed"
)
select
  "placed"."value",
  cast(case
    when "placed"."value" is null
    then 2147483647
    else row_number() over (order by case when "placed"."value" is null then 1 else 0 end asc, "placed"."value" asc)
  end as int) as "code",
  case
    when "placed"."value" is null
    then 2
    when "span"."highest" > "span"."lowest"
    then "span"."share" * coalesce(
      (cast(("placed"."number" - "span"."lowest") as double precision) / nullif(("span"."highest" - "span"."lowest"), 0)),
      1
    )
    else 0
  end as "place"
from "placed"
cross join "span";
analyze "sqlanon_value_3";

-- value_4: the values of an attribute without an order of its own by their texts, place: which share of the values lies before one
create temporary table "sqlanon_value_4" as
with "different" as (
  select
    "quasi_4" as "value",
    cast("quasi_4" as text) collate "C" as "text"
  from "sqlanon_population"
  group by
    "quasi_4"
), "numbered" as (
  select
    "value",
    "text",
    row_number() over (order by case when "text" is null then 1 else 0 end asc, "text" asc) as "code",
    count(*) over () as "value_count"
  from "different"
)
select
  "value",
  coalesce(
    cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("text", '\', '\\'), '"', '\"'), chr(1), '\u0001'), chr(2), '\u0002'), chr(3), '\u0003'), chr(4), '\u0004'), chr(5), '\u0005'), chr(6), '\u0006'), chr(7), '\u0007'), chr(8), '\b'), chr(9), '\t'), chr(10), '\n'), chr(11), '\u000B'), chr(12), '\f'), chr(13), '\r'), chr(14), '\u000E'), chr(15), '\u000F'), chr(16), '\u0010'), chr(17), '\u0011'), chr(18), '\u0012'), chr(19), '\u0013'), chr(20), '\u0014'), chr(21), '\u0015'), chr(22), '\u0016'), chr(23), '\u0017'), chr(24), '\u0018'), chr(25), '\u0019'), chr(26), '\u001A'), chr(27), '\u001B'), chr(28), '\u001C'), chr(29), '\u001D'), chr(30), '\u001E'), chr(31), '\u001F') || '"') as text),
    'null'
  ) as "shown",
  cast("code" as int) as "code",
  (cast(("code" - 1) as double precision) / nullif(cast("value_count" as double precision), 0)) as "place"
from "numbered";
analyze "sqlanon_value_4";

-- facts: there are k rows, and values enough of every sensitive column, unknown_n: how many values of an attribute are NULL, which gets a column that says so where there are some
do $sqlanon$
declare refusal text := (
    select
      "refusal"
    from (
      with "fact" as (
        select
          'disease' as "name",
          coalesce(cast(sum("row_count") as bigint), 0) as "row_count",
          coalesce(cast(sum(case when "sensitive" is null then "row_count" else 0 end) as bigint), 0) as "null_count",
          count(*) as "value_count",
          coalesce(max("row_count"), 0) as "largest_count"
        from "sqlanon_sensitive_value"
      ), "judged" as (
        select
          "fact".*,
          case
            when "null_count" > 0 and true
            then 1
            when "row_count" < 10
            then 2
            when "value_count" < 4
            then 3
            when "largest_count" * 4 > "row_count" and true
            then 4
          end as "fault"
        from "fact"
      ), "ranked" as (
        /* the column with the fewest values is the one that stands in the way */
        select
          "judged".*,
          row_number() over (
            order by coalesce("fault", 9) asc, case "fault" when 3 then "value_count" when 4 then 0 - "largest_count" else 0 end asc
          ) as "place"
        from "judged"
      )
      select
        (
          select
            count(*)
          from "sqlanon_value_1"
          where
            "value" is null
        ) as "unknown_1",
        (
          select
            count(*)
          from "sqlanon_value_2"
          where
            "value" is null
        ) as "unknown_2",
        (
          select
            count(*)
          from "sqlanon_value_3"
          where
            "value" is null
        ) as "unknown_3",
        (
          select
            count(*)
          from "sqlanon_value_4"
          where
            "value" is null
        ) as "unknown_4",
        case when "fault" = 1 then "name" when "fault" > 2 then 'l' end as "about",
        case "fault" when 3 then "value_count" when 4 then ("row_count" / "largest_count") end as "possible",
        case
          when "fault" = 1
          then coalesce(cast("null_count" as text), '') || ' rows have no value in the sensitive column ' || coalesce(cast('''' || "name" || '''' as text), '') || '; say --nulls value (NULL is a value like any other) or --nulls drop (leave them out, which tells who had none to somebody who knows who was in the table)'
          when "row_count" = 0
          then 'the source has no rows to publish'
          when "row_count" = 1
          then 'the source has one row, and no k of at least 2 works with it'
          when "fault" = 2
          then 'k = 10 needs at least 10 rows; the source has ' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '') || '; the largest k that works is ' || coalesce(cast("row_count" as text), '')
          when "fault" = 3
          then 'l = 4 asks for 4 different values of ''' || coalesce(cast("name" as text), '') || '''; the source has ' || coalesce(cast("value_count" as text), '') || '; the largest l that works is ' || coalesce(cast("value_count" as text), '')
          when "fault" = 4
          then 'l = 4 asks for each value of ''' || coalesce(cast("name" as text), '') || ''' in at most 1/4 of a box: its most frequent value stands in ' || coalesce(to_char("largest_count", 'FM999,999,999,999,999,990'), '') || ' of ' || coalesce(to_char("row_count", 'FM999,999,999,999,999,990'), '') || ' rows; the largest l that works is ' || coalesce(cast((
            ("row_count" / "largest_count")
          ) as text), '') || '; --diversity distinct asks for different values alone'
        end as "refusal"
      from "ranked"
      where
        "place" = 1
    ) as "looked_at"
);
begin
    if refusal is not null then raise exception using message = refusal; end if;
end
$sqlanon$;

-- key: as in anatomy/postgres.sql

-- population: every row with the text that identifies it: its identifier columns, which are unique
create temporary view "sqlanon_population_2" as
select
  "quasi_1",
  "quasi_2",
  "quasi_3",
  "quasi_4",
  "sensitive",
  coalesce(cast(length(cast("identifier_1" as text)) as text) || ':' || cast("identifier_1" as text), 'N') as "identity"
from "sqlanon_population";

-- population: every row with its draws: from the key and what tells the row apart, alike on every engine
create temporary view "sqlanon_population_3" as
with "row_key" as (
  select
    substring((encode(sha256(convert_to("key"."secret" || 'mondrian/disease/row/', 'UTF8')), 'hex') collate "C") from 1 for 40) as "secret"
  from "sqlanon_key_2" as "key"
  offset 0
), "hashed" as (
  select
    "valued"."quasi_1",
    "valued"."quasi_2",
    "valued"."quasi_3",
    "valued"."quasi_4",
    "valued"."sensitive",
    (encode(sha256(convert_to("row_key"."secret" || "valued"."identity", 'UTF8')), 'hex') collate "C") as "hash"
  from "sqlanon_population_2" as "valued"
  cross join "row_key"
  offset 0
)
select
  "quasi_1",
  "quasi_2",
  "quasi_3",
  "quasi_4",
  "sensitive",
  cast(cast('x' || substring("hash" from 1 for 15) as bit(60)) as bigint) as "draw",
  cast(cast('x' || substring("hash" from 16 for 15) as bit(60)) as bigint) as "tie"
from "hashed";

-- splitting: the rows by the codes of their values: all are one partition, which is open: it may be cut
create temporary table "sqlanon_splitting" as
select
  cast(1 as bigint) as "partition",
  0 as "attempts",
  1 as "open",
  "value_1"."code" as "code_1",
  "value_2"."code" as "code_2",
  "value_3"."code" as "code_3",
  "value_4"."code" as "code_4",
  "population"."draw",
  "population"."tie",
  "sensitive_value"."code" as "code"
from "sqlanon_population_3" as "population"
inner join "sqlanon_sensitive_value" as "sensitive_value"
  on array["population"."sensitive"] = array["sensitive_value"."sensitive"]
inner join "sqlanon_value_1" as "value_1"
  on array["population"."quasi_1"] = array["value_1"."value"]
inner join "sqlanon_value_2" as "value_2"
  on array["population"."quasi_2"] = array["value_2"."value"]
inner join "sqlanon_value_3" as "value_3"
  on array["population"."quasi_3"] = array["value_3"."value"]
inner join "sqlanon_value_4" as "value_4"
  on array["population"."quasi_4"] = array["value_4"."value"];
analyze "sqlanon_splitting";

-- cuts: turn 1 of 1

-- choice: the attribute by which each open partition is cut: the widest of those that it was not tried by (figure 3: choose_dimension), a width is a share of the attribute's range, or of its hierarchy's leaves
create temporary table "sqlanon_choice" as
with "extent" as (
  select
    min("code_1") as "least_1",
    max("code_1") as "largest_1",
    min("code_2") as "least_2",
    max("code_2") as "largest_2",
    min("code_3") as "least_3",
    max("code_3") as "largest_3",
    min("code_4") as "least_4",
    max("code_4") as "largest_4",
    "partition",
    max("attempts") as "attempts",
    count(*) as "row_count"
  from "sqlanon_splitting"
  where
    "open" = 1
  group by
    "partition"
  having
    count(*) >= 2 * 10
), "width" as (
  select
    "extent"."partition",
    "extent"."row_count",
    "extent"."attempts",
    1 as "attribute",
    case
      when coalesce("least"."level_1" <> "largest"."level_1", true)
      then 1
      when coalesce("least"."level_2" <> "largest"."level_2", true)
      then "least"."share_1"
      else 0
    end as "width"
  from "extent"
  inner join "sqlanon_value_1" as "least"
    on "extent"."least_1" = "least"."code"
  inner join "sqlanon_value_1" as "largest"
    on "extent"."largest_1" = "largest"."code"
  where
    "least"."code" < "largest"."code"
  union all
  select
    "extent"."partition",
    "extent"."row_count",
    "extent"."attempts",
    2 as "attribute",
    "largest"."place" - "least"."place" as "width"
  from "extent"
  inner join "sqlanon_value_2" as "least"
    on "extent"."least_2" = "least"."code"
  inner join "sqlanon_value_2" as "largest"
    on "extent"."largest_2" = "largest"."code"
  where
    "least"."code" < "largest"."code"
  union all
  select
    "extent"."partition",
    "extent"."row_count",
    "extent"."attempts",
    3 as "attribute",
    "largest"."place" - "least"."place" as "width"
  from "extent"
  inner join "sqlanon_value_3" as "least"
    on "extent"."least_3" = "least"."code"
  inner join "sqlanon_value_3" as "largest"
    on "extent"."largest_3" = "largest"."code"
  where
    "least"."code" < "largest"."code"
  union all
  select
    "extent"."partition",
    "extent"."row_count",
    "extent"."attempts",
    4 as "attribute",
    "largest"."place" - "least"."place" as "width"
  from "extent"
  inner join "sqlanon_value_4" as "least"
    on "extent"."least_4" = "least"."code"
  inner join "sqlanon_value_4" as "largest"
    on "extent"."largest_4" = "largest"."code"
  where
    "least"."code" < "largest"."code"
), "ranked" as (
  select
    "width".*,
    row_number() over (partition by "partition" order by "width" desc, "attribute" asc) as "turn"
  from "width"
)
select
  "partition",
  "attribute",
  "row_count"
from "ranked"
where
  "turn" = "attempts" + 1;
analyze "sqlanon_choice";

-- allowed_1: the places at which a partition may be cut: both sides have k rows and are diverse in one sensitive column, by how often its most frequent value occurs on either side, or by how many values begin before the cut and end behind it
create temporary table "sqlanon_allowed_1" as
with "counted" as (
  select
    "splitting"."partition",
    case "choice"."attribute"
      when 1
      then "splitting"."code_1"
      when 2
      then "splitting"."code_2"
      when 3
      then "splitting"."code_3"
      when 4
      then "splitting"."code_4"
    end as "place",
    "splitting"."code",
    count(*) as "row_count"
  from "sqlanon_splitting" as "splitting"
  inner join "sqlanon_choice" as "choice"
    on "splitting"."partition" = "choice"."partition"
  group by
    "splitting"."code",
    "splitting"."partition",
    case "choice"."attribute"
      when 1
      then "splitting"."code_1"
      when 2
      then "splitting"."code_2"
      when 3
      then "splitting"."code_3"
      when 4
      then "splitting"."code_4"
    end
), "spanned" as (
  select
    "counted".*,
    sum("row_count") over (partition by "code", "partition" order by "place" asc rows between unbounded preceding and current row) as "so_far",
    sum("row_count") over (partition by "code", "partition" order by "place" desc rows between unbounded preceding and current row) as "from_here"
  from "counted"
), "placed" as (
  select
    "partition",
    "place",
    sum("row_count") as "row_count",
    max("so_far") as "so_far",
    max("from_here") as "from_here"
  from "spanned"
  group by
    "partition",
    "place"
), "running" as (
  select
    "partition",
    "place",
    sum("row_count") over (partition by "partition") as "all_rows",
    lead("place") over (partition by "partition" order by "place" asc) as "next_place",
    sum("row_count") over (partition by "partition" order by "place" asc rows between unbounded preceding and current row) as "left_count",
    max("so_far") over (partition by "partition" order by "place" asc rows between unbounded preceding and current row) as "left_values",
    max("from_here") over (partition by "partition" order by "place" desc rows between unbounded preceding and 1 preceding) as "right_values"
  from "placed"
)
select
  "partition",
  "place",
  "next_place",
  "left_count"
from "running"
where
  "left_count" >= 10
  and "all_rows" - "left_count" >= 10
  and "left_values" * 4 <= "left_count"
  and "right_values" * 4 <= (
    "all_rows" - "left_count"
  );
analyze "sqlanon_allowed_1";

-- cut: where each partition is cut, if anywhere: the place nearest to the median, in a hierarchy first between children of the node above all values of the partition. Rows up to it go to one side
create temporary table "sqlanon_cut" as
with "allowed" as (
  select
    "choice"."partition",
    "allowed_1"."place",
    "allowed_1"."left_count",
    0 + case when "before_1"."level_1" = "behind_1"."level_1" then 1 else 0 end + case when "before_1"."level_2" = "behind_1"."level_2" then 1 else 0 end as "depth",
    abs(2 * "allowed_1"."left_count" - "choice"."row_count") as "imbalance"
  from "sqlanon_choice" as "choice"
  inner join "sqlanon_allowed_1" as "allowed_1"
    on "choice"."partition" = "allowed_1"."partition"
  left join "sqlanon_value_1" as "before_1"
    on "choice"."attribute" = 1 and "allowed_1"."place" = "before_1"."code"
  left join "sqlanon_value_1" as "behind_1"
    on "choice"."attribute" = 1 and "allowed_1"."next_place" = "behind_1"."code"
), "ranked" as (
  select
    "allowed".*,
    row_number() over (partition by "partition" order by "depth" asc, "imbalance" asc, "place" asc) as "turn"
  from "allowed"
)
select
  "choice"."partition",
  "choice"."attribute",
  "ranked"."place",
  "ranked"."left_count",
  "choice"."row_count" - "ranked"."left_count" as "right_count"
from "sqlanon_choice" as "choice"
left join "ranked"
  on "choice"."partition" = "ranked"."partition" and "ranked"."turn" = 1;
analyze "sqlanon_cut";

-- splitting: every row in its part: those of p are 2p and 2p + 1, a partition that is not cut is tried by its next attribute, and closed when there is none, or when it is too small
create temporary table "sqlanon_splitting_next" as
with "sided" as (
  select
    "splitting"."code_1",
    "splitting"."code_2",
    "splitting"."code_3",
    "splitting"."code_4",
    "splitting"."code",
    "splitting"."draw",
    "splitting"."tie",
    "splitting"."partition",
    "splitting"."attempts",
    "choice"."partition" as "cut_partition",
    case
      when "choice"."place" is null
      then 0
      when case "choice"."attribute"
        when 1
        then "splitting"."code_1"
        when 2
        then "splitting"."code_2"
        when 3
        then "splitting"."code_3"
        when 4
        then "splitting"."code_4"
      end <= "choice"."place"
      then 1
      else 2
    end as "side",
    "choice"."left_count",
    "choice"."right_count"
  from "sqlanon_splitting" as "splitting"
  left join "sqlanon_cut" as "choice"
    on "splitting"."partition" = "choice"."partition"
)
select
  case "side" when 0 then "partition" when 1 then 2 * "partition" else 2 * "partition" + 1 end as "partition",
  case "side" when 0 then "attempts" + 1 else 0 end as "attempts",
  case
    when "cut_partition" is null
    then 0
    when "side" = 0
    then 1
    when case "side" when 1 then "left_count" else "right_count" end >= 2 * 10
    then 1
    else 0
  end as "open",
  "code_1",
  "code_2",
  "code_3",
  "code_4",
  "code",
  "draw",
  "tie"
from "sided";
analyze "sqlanon_splitting_next";

drop table "sqlanon_splitting";

-- cuts
create temporary table "sqlanon_splitting" as
select
  *
from "sqlanon_splitting_next";
analyze "sqlanon_splitting";

drop table "sqlanon_splitting_next";

drop table "sqlanon_cut";

drop table "sqlanon_allowed_1";

drop table "sqlanon_choice";

-- splitting: all partitions once more, numbered anew and open: what could not be cut between values may be cut among equal ones (from N to below 2N: no part of one, 2p or 2p + 1, has the number of another)
create temporary table "sqlanon_splitting_2" as
select
  count(*) over () + dense_rank() over (order by "partition" asc) - 1 as "partition",
  0 as "attempts",
  1 as "open",
  "code_1",
  "code_2",
  "code_3",
  "code_4",
  "code",
  "draw",
  "tie"
from "sqlanon_splitting";
analyze "sqlanon_splitting_2";

-- halves: turn 1 of 1

-- choice: the attribute by which each open partition is cut: the widest of those that it was not tried by (figure 3: choose_dimension), a width is a share of the attribute's range, or of its hierarchy's leaves
create temporary table "sqlanon_choice_2" as
with "extent" as (
  select
    min("code_1") as "least_1",
    max("code_1") as "largest_1",
    min("code_2") as "least_2",
    max("code_2") as "largest_2",
    min("code_3") as "least_3",
    max("code_3") as "largest_3",
    min("code_4") as "least_4",
    max("code_4") as "largest_4",
    "partition",
    max("attempts") as "attempts",
    count(*) as "row_count"
  from "sqlanon_splitting_2"
  where
    "open" = 1
  group by
    "partition"
  having
    count(*) >= 2 * 10
), "width" as (
  select
    "extent"."partition",
    "extent"."row_count",
    "extent"."attempts",
    1 as "attribute",
    case
      when coalesce("least"."level_1" <> "largest"."level_1", true)
      then 1
      when coalesce("least"."level_2" <> "largest"."level_2", true)
      then "least"."share_1"
      else 0
    end as "width"
  from "extent"
  inner join "sqlanon_value_1" as "least"
    on "extent"."least_1" = "least"."code"
  inner join "sqlanon_value_1" as "largest"
    on "extent"."largest_1" = "largest"."code"
  where
    "least"."code" < "largest"."code"
  union all
  select
    "extent"."partition",
    "extent"."row_count",
    "extent"."attempts",
    2 as "attribute",
    "largest"."place" - "least"."place" as "width"
  from "extent"
  inner join "sqlanon_value_2" as "least"
    on "extent"."least_2" = "least"."code"
  inner join "sqlanon_value_2" as "largest"
    on "extent"."largest_2" = "largest"."code"
  where
    "least"."code" < "largest"."code"
  union all
  select
    "extent"."partition",
    "extent"."row_count",
    "extent"."attempts",
    3 as "attribute",
    "largest"."place" - "least"."place" as "width"
  from "extent"
  inner join "sqlanon_value_3" as "least"
    on "extent"."least_3" = "least"."code"
  inner join "sqlanon_value_3" as "largest"
    on "extent"."largest_3" = "largest"."code"
  where
    "least"."code" < "largest"."code"
  union all
  select
    "extent"."partition",
    "extent"."row_count",
    "extent"."attempts",
    4 as "attribute",
    "largest"."place" - "least"."place" as "width"
  from "extent"
  inner join "sqlanon_value_4" as "least"
    on "extent"."least_4" = "least"."code"
  inner join "sqlanon_value_4" as "largest"
    on "extent"."largest_4" = "largest"."code"
  where
    "least"."code" < "largest"."code"
), "ranked" as (
  select
    "width".*,
    row_number() over (partition by "partition" order by "width" desc, "attribute" asc) as "turn"
  from "width"
)
select
  "partition",
  "attribute",
  "row_count"
from "ranked"
where
  "turn" = "attempts" + 1;
analyze "sqlanon_choice_2";

-- half: the rows of the open partitions, each in the half where its value lies, rows with the value at the middle go in the order of their other values, then of draws (section 3.2)
create temporary table "sqlanon_half" as
with "read" as (
  select
    "splitting"."code_1",
    "splitting"."code_2",
    "splitting"."code_3",
    "splitting"."code_4",
    "splitting"."code",
    "splitting"."draw",
    "splitting"."tie",
    "splitting"."partition",
    "splitting"."attempts",
    "choice"."partition" as "cut_partition",
    "choice"."row_count",
    case "choice"."attribute"
      when 1
      then "splitting"."code_1"
      when 2
      then "splitting"."code_2"
      when 3
      then "splitting"."code_3"
      when 4
      then "splitting"."code_4"
    end as "place"
  from "sqlanon_splitting_2" as "splitting"
  left join "sqlanon_choice_2" as "choice"
    on "splitting"."partition" = "choice"."partition"
)
select
  "code_1",
  "code_2",
  "code_3",
  "code_4",
  "code",
  "draw",
  "tie",
  "partition",
  "attempts",
  "cut_partition",
  ("row_count" / 2) as "left_count",
  "row_count" - ("row_count" / 2) as "right_count",
  case
    when "cut_partition" is null
    then 0
    when row_number() over (
      partition by "partition"
      order by "place" asc, "code_1" asc, "code_2" asc, "code_3" asc, "code_4" asc, "draw" asc, "tie" asc
    ) <= ("row_count" / 2)
    then 1
    else 2
  end as "side"
from "read";
analyze "sqlanon_half";

-- standing: the partitions whose halves may stand: both have k rows, and are diverse in every sensitive column
create temporary table "sqlanon_standing" as
with "held" as (
  select
    1 as "number",
    "partition",
    "side",
    count(*) as "row_count"
  from "sqlanon_half"
  where
    "side" > 0
  group by
    "code",
    "partition",
    "side"
), "judged" as (
  select
    "partition",
    case when sum("row_count") >= 10 and max("row_count") * 4 <= sum("row_count") then 1 else 0 end as "stands"
  from "held"
  group by
    "number",
    "partition",
    "side"
)
select
  "partition"
from "judged"
group by
  "partition"
having
  min("stands") = 1;
analyze "sqlanon_standing";

-- splitting: every row in its half, where both may stand
create temporary table "sqlanon_splitting_next" as
with "sided" as (
  select
    "half"."code_1",
    "half"."code_2",
    "half"."code_3",
    "half"."code_4",
    "half"."code",
    "half"."draw",
    "half"."tie",
    "half"."partition",
    "half"."attempts",
    "half"."cut_partition",
    "half"."left_count",
    "half"."right_count",
    case when "standing"."partition" is null then 0 else "half"."side" end as "side"
  from "sqlanon_half" as "half"
  left join "sqlanon_standing" as "standing"
    on "half"."partition" = "standing"."partition"
)
select
  case "side" when 0 then "partition" when 1 then 2 * "partition" else 2 * "partition" + 1 end as "partition",
  case "side" when 0 then "attempts" + 1 else 0 end as "attempts",
  case
    when "cut_partition" is null
    then 0
    when "side" = 0
    then 1
    when case "side" when 1 then "left_count" else "right_count" end >= 2 * 10
    then 1
    else 0
  end as "open",
  "code_1",
  "code_2",
  "code_3",
  "code_4",
  "code",
  "draw",
  "tie"
from "sided";
analyze "sqlanon_splitting_next";

drop table "sqlanon_splitting_2";

-- halves
create temporary table "sqlanon_splitting_2" as
select
  *
from "sqlanon_splitting_next";
analyze "sqlanon_splitting_2";

drop table "sqlanon_splitting_next";

drop table "sqlanon_standing";

drop table "sqlanon_half";

drop table "sqlanon_choice_2";

-- value_set_4: the values of one attribute in each partition, as a JSON list of texts in their order, NULL stands as null
create temporary table "sqlanon_value_set_4" as
with "held" as (
  select distinct
    "partition",
    "code_4" as "code"
  from "sqlanon_splitting_2"
)
select
  "held"."partition",
  '[' || string_agg("numbered"."shown", ','
  order by
    "held"."code" asc) || ']' as "value_set"
from "held"
inner join "sqlanon_value_4" as "numbered"
  on "held"."code" = "numbered"."code"
group by
  "held"."partition";
analyze "sqlanon_value_set_4";

-- box: what is published of each partition: the exact bounds of its numbers, the lowest common ancestor of its nodes, its sets of values
create temporary table "sqlanon_box" as
with "extent" as (
  select
    min(nullif("code_1", 2147483647)) as "least_1",
    max(nullif("code_1", 2147483647)) as "largest_1",
    max("code_1") = 2147483647 as "unknown_1",
    min(nullif("code_2", 2147483647)) as "least_2",
    max(nullif("code_2", 2147483647)) as "largest_2",
    max("code_2") = 2147483647 as "unknown_2",
    min(nullif("code_3", 2147483647)) as "least_3",
    max(nullif("code_3", 2147483647)) as "largest_3",
    max("code_3") = 2147483647 as "unknown_3",
    min(nullif("code_4", 2147483647)) as "least_4",
    max(nullif("code_4", 2147483647)) as "largest_4",
    max("code_4") = 2147483647 as "unknown_4",
    "partition"
  from "sqlanon_splitting_2"
  group by
    "partition"
)
select
  case
    when "least_1"."value" is null
    then null
    when "least_1"."level_2" = "largest_1"."level_2"
    then "least_1"."level_2"
    when "least_1"."level_1" = "largest_1"."level_1"
    then "least_1"."level_1"
    else 'Any'
  end as "node_1",
  "least_2"."value" as "low_2",
  "largest_2"."value" as "high_2",
  "extent"."unknown_2",
  "least_3"."value" as "low_3",
  "largest_3"."value" as "high_3",
  "extent"."unknown_3",
  "value_set_4"."value_set" as "set_4",
  "extent"."partition"
from "extent"
left join "sqlanon_value_1" as "least_1"
  on "extent"."least_1" = "least_1"."code"
left join "sqlanon_value_1" as "largest_1"
  on "extent"."largest_1" = "largest_1"."code"
left join "sqlanon_value_2" as "least_2"
  on "extent"."least_2" = "least_2"."code"
left join "sqlanon_value_2" as "largest_2"
  on "extent"."largest_2" = "largest_2"."code"
left join "sqlanon_value_3" as "least_3"
  on "extent"."least_3" = "least_3"."code"
left join "sqlanon_value_3" as "largest_3"
  on "extent"."largest_3" = "largest_3"."code"
inner join "sqlanon_value_set_4" as "value_set_4"
  on "extent"."partition" = "value_set_4"."partition";
analyze "sqlanon_box";

-- data: each row's box and its exact sensitive value
create table "sqlanon_data" as
with "ordered" as (
  select
    "box".*,
    dense_rank() over (
      order by case when "node_1" is null then 1 else 0 end asc, "node_1" asc, case when "low_2" is null then 1 else 0 end asc, "low_2" asc, case when "high_2" is null then 1 else 0 end asc, "high_2" asc, case when "unknown_2" is null then 1 else 0 end asc, "unknown_2" asc, case when "low_3" is null then 1 else 0 end asc, "low_3" asc, case when "high_3" is null then 1 else 0 end asc, "high_3" asc, case when "unknown_3" is null then 1 else 0 end asc, "unknown_3" asc, case when "set_4" is null then 1 else 0 end asc, "set_4" asc
    ) as "place"
  from "sqlanon_box" as "box"
)
select
  "ordered"."node_1" as "education",
  "ordered"."low_2" as "age_low",
  "ordered"."high_2" as "age_high",
  "ordered"."unknown_2" as "age_unknown",
  "ordered"."low_3" as "seen_low",
  "ordered"."high_3" as "seen_high",
  "ordered"."unknown_3" as "seen_unknown",
  "ordered"."set_4" as "sex",
  "value"."sensitive" as "disease"
from "sqlanon_splitting_2" as "splitting"
inner join "ordered"
  on "splitting"."partition" = "ordered"."partition"
inner join "sqlanon_sensitive_value" as "value"
  on "splitting"."code" = "value"."code"
order by
  "ordered"."place" asc,
  "value"."code" asc;
analyze "sqlanon_data";

-- the rest is microdata and the key: forget it
-- 16 relations, the last first

commit;
