-- hashed_1: the values of a column, which equal counts put into keyed order
select
    counted.*,
    sha256(key.secret || 'anatomy/disease/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
from "sqlanon_counted_1" as counted
cross join "sqlanon_key_2" as key

-- hashed_2: the values of a column, which equal counts put into keyed order
select
    counted.*,
    sha256(key.secret || 'anatomy/income/value/' || coalesce(cast(length(cast(counted.sensitive as varchar)) as varchar) || ':' || cast(counted.sensitive as varchar), 'N')) as hash
from "sqlanon_counted_2" as counted
cross join "sqlanon_key_2" as key

-- pair: the values of all columns by falling count
with listed as (
    select 1 as column_number, row_count, hash from "sqlanon_hashed_1" union all select 2 as column_number, row_count, hash from "sqlanon_hashed_2"
)
select
    column_number,
    hash,
    cast(row_number() over (order by row_count desc nulls last, column_number asc nulls last, hash asc nulls last) - 1 as integer) as code
from listed

-- value_1: the values of a column with their numbers
select hashed.sensitive, hashed.row_count, pair.code
from "sqlanon_hashed_1" as hashed
inner join "sqlanon_pair" as pair on hashed.hash = pair.hash and pair.column_number = 1

-- value_2: the values of a column with their numbers
select hashed.sensitive, hashed.row_count, pair.code
from "sqlanon_hashed_2" as hashed
inner join "sqlanon_pair" as pair on hashed.hash = pair.hash and pair.column_number = 2

-- population: the rows with the numbers of their values
select
    population."quasi_1", population."quasi_2", population."identity",
    value_1.code as code_1, value_2.code as code_2,
    least(value_1.code, value_2.code) as sensitive
from "sqlanon_population_2" as population
inner join "sqlanon_value_1" as value_1 on population."sensitive" = value_1.sensitive
inner join "sqlanon_value_2" as value_2 on population."sensitive_2" = value_2.sensitive
