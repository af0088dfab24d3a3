-- branch_codes_1: The rows with the codes and branches of one quasi attribute's value at its levels; 0 where there is no value
select
    attribute_codes.*,
    coalesce(dictionary."code_0", 0) as "level_1_0",
    coalesce(dictionary."code_1", 0) as "level_1_1",
    coalesce(dictionary."branch_0", 0) as "branch_1_0",
    coalesce(dictionary."branch_1", 0) as "branch_1_1"
from "sqlanon_determined" as attribute_codes
left join "sqlanon_level_1" as dictionary on attribute_codes."quasi_1" = dictionary.node

-- branch_codes_3: The rows with the codes and branches of one quasi attribute's value at its levels; 0 where there is no value
select
    attribute_codes.*,
    coalesce(dictionary."code_0", 0) as "level_3_0",
    coalesce(dictionary."branch_0", 0) as "branch_3_0"
from "sqlanon_branch_codes_1" as attribute_codes
left join "sqlanon_category_3" as dictionary on attribute_codes."quasi_3" = dictionary.node
