-- facts: What the release says that the data decides: the weights of the values that occur, and how many alternatives a sensitive value has at most
with most as (
    select max(alternatives) as most_alternatives
    from "sqlanon_sensitive_set"
),
line as (
    select
        sensitive,
        weight,
        '[' || cast(to_json(sensitive) as varchar) || ',' || cast("influence_1" as varchar) || ',' || cast("influence_2" as varchar) || ',' || cast("influence_3" as varchar) || ',' || cast(weight as varchar) || ']' as shown
    from "sqlanon_influence"
)
select
    min(most.most_alternatives) as most_alternatives,
    '[' || string_agg(line.shown, ',' order by line.weight asc nulls last, line.sensitive asc nulls last) || ']' as matrix
from line
cross join most

-- spark, facts:
-- -    '[' || cast(to_json("sensitive") as text) || ',' || cast("influence_1" as text) || ',' || cast("influence_2" as text) || ',' || cast("influence_3" as text) || ',' || cast("weight" as text) || ']' as "shown"
-- +    '[' || cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("sensitive", '\\', '\\\\'), '"', '\\"'), chr(0), '\\u0000'), chr(1), '\\u0001'), chr(2), '\\u0002'), chr(3), '\\u0003'), chr(4), '\\u0004'), chr(5), '\\u0005'), chr(6), '\\u0006'), chr(7), '\\u0007'), chr(8), '\\b'), chr(9), '\\t'), chr(10), '\\n'), chr(11), '\\u000B'), chr(12), '\\f'), chr(13), '\\r'), chr(14), '\\u000E'), chr(15), '\\u000F'), chr(16), '\\u0010'), chr(17), '\\u0011'), chr(18), '\\u0012'), chr(19), '\\u0013'), chr(20), '\\u0014'), chr(21), '\\u0015'), chr(22), '\\u0016'), chr(23), '\\u0017'), chr(24), '\\u0018'), chr(25), '\\u0019'), chr(26), '\\u001A'), chr(27), '\\u001B'), chr(28), '\\u001C'), chr(29), '\\u001D'), chr(30), '\\u001E'), chr(31), '\\u001F') || '"') as string) || ',' || cast("influence_1" as string) || ',' || cast("influence_2" as string) || ',' || cast("influence_3" as string) || ',' || cast("weight" as string) || ']' as "shown"
-- -  '[' || listagg("line"."shown", ','
-- -  order by
-- +  '[' || listagg("line"."shown", ',') within group (order by

-- postgres, facts:
-- -    '[' || cast(to_json("sensitive") as text) || ',' || cast("influence_1" as text) || ',' || cast("influence_2" as text) || ',' || cast("influence_3" as text) || ',' || cast("weight" as text) || ']' as "shown"
-- +    '[' || cast(('"' || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("sensitive", '\', '\\'), '"', '\"'), chr(1), '\u0001'), chr(2), '\u0002'), chr(3), '\u0003'), chr(4), '\u0004'), chr(5), '\u0005'), chr(6), '\u0006'), chr(7), '\u0007'), chr(8), '\b'), chr(9), '\t'), chr(10), '\n'), chr(11), '\u000B'), chr(12), '\f'), chr(13), '\r'), chr(14), '\u000E'), chr(15), '\u000F'), chr(16), '\u0010'), chr(17), '\u0011'), chr(18), '\u0012'), chr(19), '\u0013'), chr(20), '\u0014'), chr(21), '\u0015'), chr(22), '\u0016'), chr(23), '\u0017'), chr(24), '\u0018'), chr(25), '\u0019'), chr(26), '\u001A'), chr(27), '\u001B'), chr(28), '\u001C'), chr(29), '\u001D'), chr(30), '\u001E'), chr(31), '\u001F') || '"') as text) || ',' || cast("influence_1" as text) || ',' || cast("influence_2" as text) || ',' || cast("influence_3" as text) || ',' || cast("weight" as text) || ']' as "shown"
-- -  '[' || listagg("line"."shown", ','
-- +  '[' || string_agg("line"."shown", ','
