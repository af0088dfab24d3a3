-- population: the rows with their quasi values as one number
select
    population."sensitive", population."row_number",
    coalesce("quasi_1" - cast(18 as bigint), 127) * 4096 +
    coalesce("quasi_2" - cast(0 as bigint), 3) * 1024
    as packed
from "sqlanon_population" as population
