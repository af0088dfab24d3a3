-- counted_1: how often each value of a sensitive column occurs
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive"

-- counted_2: how often each value of a sensitive column occurs
select
    "sensitive_2" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive_2"
