-- population: the rows with their quasi values as one number
select
    population."sensitive", population."row_number",
    coalesce("quasi_1" - layout.least_1, layout.missing_1) * layout.unit_1 +
    coalesce("quasi_2" - layout.least_2, layout.missing_2) * layout.unit_2
    as packed
from "sqlanon_population" as population
cross join "sqlanon_layout" as layout
