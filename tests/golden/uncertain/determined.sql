-- determined: the deterministic table: a value of every quasi-identifier, and of how many alternatives it is made
select
    population."row_number", population."draw", population."tie",
    ancestor_1.node as "quasi_1",
    coalesce(ancestor_1.alternatives, 1) as "alternatives_1",
    population."quasi_2" as "quasi_2",
    population."quasi_3" as "quasi_3",
    sensitive_set.alternatives as sensitive_count,
    sensitive_set.set_code,
    sensitive_set.cell_code
from "sqlanon_population_3" as population
inner join "sqlanon_sensitive_set" as sensitive_set on population.sensitive = sensitive_set.cell
left join "sqlanon_ancestor_1" as ancestor_1 on population."quasi_1" = ancestor_1.cell

-- cell_count: how many rows have each different sensitive cell, and how many values it holds
select
    cell_code,
min(sensitive_count) as sensitive_count,
    count(*) as row_count
from "sqlanon_determined"
group by cell_code
