-- given: the matrix that was given
with line as (
    select
        unnest(string_split('flu | obesity | AIDS', ' | ')) as "sensitive",
        unnest(string_split('0.1 | 0.1 | 0.1', ' | ')) as "influence_1",
        unnest(string_split('0.4 | 0.4 | 0.4', ' | ')) as "influence_2",
        unnest(string_split('1.0 | 1.0 | 1.0', ' | ')) as "influence_3",
        unnest(string_split('0.11 | 0.12 | 0.93', ' | ')) as "weight",
        ' | ' as separator
)
select
    cast("sensitive" as varchar) as "sensitive", cast("influence_1" as double) as "influence_1", cast("influence_2" as double) as "influence_2", cast("influence_3" as double) as "influence_3", cast("weight" as double) as "weight"
from line

-- weightless: every sensitive value of the data has a line
with occurring as (
    select distinct text
    from "sqlanon_alternative"
),
missing as (
    select
        count(*) as value_count,
        string_agg(case when text like '%''%' then '"' || text || '"' else '''' || text || '''' end, ', ' order by text asc nulls last) as listed
    from occurring
    left join "sqlanon_given" as given on occurring.text = given.sensitive
    where given.sensitive is null
)
select
    true as is_usage,
    case when value_count > 0 then
        coalesce(cast(value_count as varchar), '') || ' sensitive values have no weight in the influence file (show_valuesTrue names them); add a line for each'
    end as refusal
from missing

-- influence: the lines of the matrix whose values occur in the data
select distinct given.*
from "sqlanon_given" as given
inner join "sqlanon_alternative" as alternative on given.sensitive = alternative.text

-- facts: what the release says that the data decides: how many alternatives a sensitive value has at most, and the matrix, a list of lines in JSON
with most as (
    select max(alternatives) as most_alternatives
    from "sqlanon_sensitive_set"
),
line as (
    select
        sensitive,
        weight,
        '[' || cast(to_json(sensitive) as varchar) || ',' || cast(influence_1 as varchar) || ',' || cast(influence_2 as varchar) || ',' || cast(influence_3 as varchar) || ',' || cast(weight as varchar) || ']' as shown
    from "sqlanon_influence"
)
select
    min(most.most_alternatives) as most_alternatives,
    '[' || string_agg(line.shown, ',' order by line.weight asc nulls last, line.sensitive asc nulls last) || ']' as matrix
from line
cross join most

-- spark, given:
-- -    unnest(str_split('flu | obesity | AIDS', ' | ')) as "sensitive",
-- -    unnest(str_split('0.1 | 0.1 | 0.1', ' | ')) as "influence_1",
-- -    unnest(str_split('0.4 | 0.4 | 0.4', ' | ')) as "influence_2",
-- -    unnest(str_split('1.0 | 1.0 | 1.0', ' | ')) as "influence_3",
-- -    unnest(str_split('0.11 | 0.12 | 0.93', ' | ')) as "weight",
-- +    "sensitive" as "sensitive",
-- +    "influence_1" as "influence_1",
-- +    "influence_2" as "influence_2",
-- +    "influence_3" as "influence_3",
-- +    "weight" as "weight",
-- +  from values
-- +    ('flu', '0.1', '0.4', '1.0', '0.11'),
-- +    ('obesity', '0.1', '0.4', '1.0', '0.12'),
-- +    ('AIDS', '0.1', '0.4', '1.0', '0.93') as "line"("sensitive", "influence_1", "influence_2", "influence_3", "weight")
-- -  cast("sensitive" as text) as "sensitive",
-- +  cast("sensitive" as string) as "sensitive",

-- spark, weightless:
-- -    listagg(
-- -      case when "text" like '%''%' then '"' || "text" || '"' else '''' || "text" || '''' end, ', '
-- -      order by
-- -        "text" asc nulls last
-- -    ) as "listed"
-- +    listagg(case when "text" like '%\'%' then '"' || "text" || '"' else '\'' || "text" || '\'' end, ', ') within group (order by
-- +      "text" asc nulls last) as "listed"
-- -    then coalesce(cast("value_count" as text), '') || ' sensitive values have no weight in the influence file (show_valuesTrue names them); add a line for each'
-- +    then coalesce(cast("value_count" as string), '') || ' sensitive values have no weight in the influence file (show_valuesTrue names them); add a line for each'

-- spark, facts:
-- -    '[' || cast(to_json("sensitive") as text) || ',' || cast("influence_1" as text) || ',' || cast("influence_2" as text) || ',' || cast("influence_3" as text) || ',' || cast("weight" as text) || ']' as "shown"
-- +    '[' || cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("sensitive", '\\', '\\\\'), '"', '\\"'), chr(0), '\\u0000'), chr(1), '\\u0001'), chr(2), '\\u0002'), chr(3), '\\u0003'), chr(4), '\\u0004'), chr(5), '\\u0005'), chr(6), '\\u0006'), chr(7), '\\u0007'), chr(8), '\\b'), chr(9), '\\t'), chr(10), '\\n'), chr(11), '\\u000B'), chr(12), '\\f'), chr(13), '\\r'), chr(14), '\\u000E'), chr(15), '\\u000F'), chr(16), '\\u0010'), chr(17), '\\u0011'), chr(18), '\\u0012'), chr(19), '\\u0013'), chr(20), '\\u0014'), chr(21), '\\u0015'), chr(22), '\\u0016'), chr(23), '\\u0017'), chr(24), '\\u0018'), chr(25), '\\u0019'), chr(26), '\\u001A'), chr(27), '\\u001B'), chr(28), '\\u001C'), chr(29), '\\u001D'), chr(30), '\\u001E'), chr(31), '\\u001F') || '"') as string) || ',' || cast("influence_1" as string) || ',' || cast("influence_2" as string) || ',' || cast("influence_3" as string) || ',' || cast("weight" as string) || ']' as "shown"
-- -  '[' || listagg("line"."shown", ','
-- -  order by
-- +  '[' || listagg("line"."shown", ',') within group (order by

-- postgres, given:
-- -    unnest(str_split('flu | obesity | AIDS', ' | ')) as "sensitive",
-- -    unnest(str_split('0.1 | 0.1 | 0.1', ' | ')) as "influence_1",
-- -    unnest(str_split('0.4 | 0.4 | 0.4', ' | ')) as "influence_2",
-- -    unnest(str_split('1.0 | 1.0 | 1.0', ' | ')) as "influence_3",
-- -    unnest(str_split('0.11 | 0.12 | 0.93', ' | ')) as "weight",
-- +    unnest(string_to_array('flu | obesity | AIDS' collate "C", ' | ')) as "sensitive",
-- +    unnest(string_to_array('0.1 | 0.1 | 0.1' collate "C", ' | ')) as "influence_1",
-- +    unnest(string_to_array('0.4 | 0.4 | 0.4' collate "C", ' | ')) as "influence_2",
-- +    unnest(string_to_array('1.0 | 1.0 | 1.0' collate "C", ' | ')) as "influence_3",
-- +    unnest(string_to_array('0.11 | 0.12 | 0.93' collate "C", ' | ')) as "weight",
-- -  cast("influence_1" as double) as "influence_1",
-- -  cast("influence_2" as double) as "influence_2",
-- -  cast("influence_3" as double) as "influence_3",
-- -  cast("weight" as double) as "weight"
-- +  cast("influence_1" as double precision) as "influence_1",
-- +  cast("influence_2" as double precision) as "influence_2",
-- +  cast("influence_3" as double precision) as "influence_3",
-- +  cast("weight" as double precision) as "weight"

-- postgres, weightless:
-- -    listagg(
-- +    string_agg(

-- postgres, facts:
-- -    '[' || cast(to_json("sensitive") as text) || ',' || cast("influence_1" as text) || ',' || cast("influence_2" as text) || ',' || cast("influence_3" as text) || ',' || cast("weight" as text) || ']' as "shown"
-- +    '[' || cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("sensitive", '\', '\\'), '"', '\"'), chr(1), '\u0001'), chr(2), '\u0002'), chr(3), '\u0003'), chr(4), '\u0004'), chr(5), '\u0005'), chr(6), '\u0006'), chr(7), '\u0007'), chr(8), '\b'), chr(9), '\t'), chr(10), '\n'), chr(11), '\u000B'), chr(12), '\f'), chr(13), '\r'), chr(14), '\u000E'), chr(15), '\u000F'), chr(16), '\u0010'), chr(17), '\u0011'), chr(18), '\u0012'), chr(19), '\u0013'), chr(20), '\u0014'), chr(21), '\u0015'), chr(22), '\u0016'), chr(23), '\u0017'), chr(24), '\u0018'), chr(25), '\u0019'), chr(26), '\u001A'), chr(27), '\u001B'), chr(28), '\u001C'), chr(29), '\u001D'), chr(30), '\u001E'), chr(31), '\u001F') || '"') as text) || ',' || cast("influence_1" as text) || ',' || cast("influence_2" as text) || ',' || cast("influence_3" as text) || ',' || cast("weight" as text) || ']' as "shown"
-- -  '[' || listagg("line"."shown", ','
-- +  '[' || string_agg("line"."shown", ','
