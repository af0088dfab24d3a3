-- population: The rows that have any sensitive value, NULL counting as one
select *
from "sqlanon_source"
