-- influence: The lines of the influence matrix whose values occur in the data
with occurring as (
    select distinct text
    from "sqlanon_alternative"
)
select matrix.*
from "sqlanon_matrix" as matrix
inner join occurring on matrix.sensitive = occurring.text
