-- data: exact quasi values and drawn sensitive ones, in an order that depends on nothing but what it shows, which verification proves from what was written
select
    randomized.quasi_1 as "age", randomized.quasi_2 as "sex", randomized.quasi_3 as "zipcode",
    randomized."published_1" as "disease"
from "sqlanon_population_6" as randomized
order by
    randomized.quasi_1 asc nulls last, randomized.quasi_2 asc nulls last, randomized.quasi_3 asc nulls last,
    randomized."published_1" asc nulls last

-- spark, data:
-- -from "sqlanon_population_6" as "randomized"
-- +from "sqlanon_population_7" as "randomized"

-- postgres, data:
-- -from "sqlanon_population_6" as "randomized"
-- +from "sqlanon_population_7" as "randomized"
