-- held: The numbers of the values that each different sensitive cell holds
select
    alternative.cell_code,
    value.held,
    value.grave
from "sqlanon_alternative" as alternative
inner join "sqlanon_value" as value on alternative.text = value.sensitive
