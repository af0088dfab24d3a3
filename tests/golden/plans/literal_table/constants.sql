-- hierarchy_1: A table that was given beside the source: a hierarchy's nodes with their ancestors or self from below the root down, or the influence matrix M|S
with line as (
    select
        unnest(string_split('Any | Bachelor | Master | School | University', ' | ')) as "node",
        unnest(string_split('0 | 2 | 2 | 1 | 1', ' | ')) as "depth",
        unnest(string_split('2 | 0 | 0 | 0 | 1', ' | ')) as "height",
        unnest(string_split('0 | 1 | 1 | 1 | 0', ' | ')) as "held",
        unnest(string_split(' | University | University | School | University', ' | ')) as "level_1",
        unnest(string_split(' | Bachelor | Master |  | ', ' | ')) as "level_2",
        ' | ' as separator
)
select
    cast("node" as varchar) as "node",
    cast("depth" as integer) as "depth",
    cast("height" as integer) as "height",
    cast("held" as integer) as "held"
,
    nullif("level_1", '') as "level_1"
,
    nullif("level_2", '') as "level_2"
from line

-- matrix: A table that was given beside the source: a hierarchy's nodes with their ancestors or self from below the root down, or the influence matrix M|S
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
    cast("sensitive" as varchar) as "sensitive",
    cast("influence_1" as double) as "influence_1",
    cast("influence_2" as double) as "influence_2",
    cast("influence_3" as double) as "influence_3",
    cast("weight" as double) as "weight"
from line

-- spark, hierarchy_1:
-- -    unnest(str_split('Any | Bachelor | Master | School | University', ' | ')) as "node",
-- -    unnest(str_split('0 | 2 | 2 | 1 | 1', ' | ')) as "depth",
-- -    unnest(str_split('2 | 0 | 0 | 0 | 1', ' | ')) as "height",
-- -    unnest(str_split('0 | 1 | 1 | 1 | 0', ' | ')) as "held",
-- -    unnest(str_split(' | University | University | School | University', ' | ')) as "level_1",
-- -    unnest(str_split(' | Bachelor | Master |  | ', ' | ')) as "level_2",
-- +    "node" as "node",
-- +    "depth" as "depth",
-- +    "height" as "height",
-- +    "held" as "held",
-- +    "level_1" as "level_1",
-- +    "level_2" as "level_2",
-- +  from values
-- +    ('Any', '0', '2', '0', '', ''),
-- +    ('Bachelor', '2', '0', '1', 'University', 'Bachelor'),
-- +    ('Master', '2', '0', '1', 'University', 'Master'),
-- +    ('School', '1', '0', '1', 'School', ''),
-- +    ('University', '1', '1', '0', 'University', '') as "line"("node", "depth", "height", "held", "level_1", "level_2")
-- -  cast("node" as text) as "node",
-- +  cast("node" as string) as "node",

-- spark, matrix:
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

-- postgres, hierarchy_1:
-- -    unnest(str_split('Any | Bachelor | Master | School | University', ' | ')) as "node",
-- -    unnest(str_split('0 | 2 | 2 | 1 | 1', ' | ')) as "depth",
-- -    unnest(str_split('2 | 0 | 0 | 0 | 1', ' | ')) as "height",
-- -    unnest(str_split('0 | 1 | 1 | 1 | 0', ' | ')) as "held",
-- -    unnest(str_split(' | University | University | School | University', ' | ')) as "level_1",
-- -    unnest(str_split(' | Bachelor | Master |  | ', ' | ')) as "level_2",
-- +    unnest(string_to_array('Any | Bachelor | Master | School | University' collate "C", ' | ')) as "node",
-- +    unnest(string_to_array('0 | 2 | 2 | 1 | 1' collate "C", ' | ')) as "depth",
-- +    unnest(string_to_array('2 | 0 | 0 | 0 | 1' collate "C", ' | ')) as "height",
-- +    unnest(string_to_array('0 | 1 | 1 | 1 | 0' collate "C", ' | ')) as "held",
-- +    unnest(string_to_array(' | University | University | School | University' collate "C", ' | ')) as "level_1",
-- +    unnest(string_to_array(' | Bachelor | Master |  | ' collate "C", ' | ')) as "level_2",

-- postgres, matrix:
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
