-- source: The rows that take part, under names of our own, so that no column of the user's meets one of ours
select
    "education" as "quasi_1",
    "age" as "quasi_2",
    "sex" as "quasi_3",
    "disease" as "sensitive",
    "ssn" as "identifier_1",
    row_number() over () as "row_number"
from "patients"

-- spark, source:
-- -  row_number() over () as "row_number"
-- +  monotonically_increasing_id() as "row_number"
