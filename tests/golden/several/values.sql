-- ranked_1: the values of a column by falling count, equal counts in keyed order
with hashed as (
    select
        counted.*,
        sha256(key.secret || 'anatomy/disease/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from "sqlanon_counted_1" as counted
    cross join "sqlanon_key_2" as key
)
select
    sensitive,
    row_count,
    row_number() over (order by row_count desc nulls last, hash asc nulls last) as place
from hashed

-- ranked_2: the values of a column by falling count, equal counts in keyed order
with hashed as (
    select
        counted.*,
        sha256(key.secret || 'anatomy/income/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
    from "sqlanon_counted_2" as counted
    cross join "sqlanon_key_2" as key
)
select
    sensitive,
    row_count,
    row_number() over (order by row_count desc nulls last, hash asc nulls last) as place
from hashed

-- pair: the values of all columns by falling count
with listed as (
    select 1 as column_number, place, row_count from "sqlanon_ranked_1" union all select 2 as column_number, place, row_count from "sqlanon_ranked_2"
)
select
    column_number,
    place,
    cast(row_number() over (order by row_count desc nulls last, column_number asc nulls last, place asc nulls last) - 1 as integer) as code
from listed

-- value_1: the values of a column with their numbers
select ranked.sensitive, ranked.row_count, pair.code
from "sqlanon_ranked_1" as ranked
inner join "sqlanon_pair" as pair on ranked.place = pair.place and pair.column_number = 1

-- value_2: the values of a column with their numbers
select ranked.sensitive, ranked.row_count, pair.code
from "sqlanon_ranked_2" as ranked
inner join "sqlanon_pair" as pair on ranked.place = pair.place and pair.column_number = 2

-- population: the rows with the numbers of their values
select
    population."quasi_1", population."quasi_2", population."identity",
    value_1.code as code_1, value_2.code as code_2,
    least(value_1.code, value_2.code) as sensitive
from "sqlanon_population_2" as population
inner join "sqlanon_value_1" as value_1
    on population."sensitive" = value_1.sensitive
inner join "sqlanon_value_2" as value_2
    on population."sensitive_2" = value_2.sensitive
