-- identified: Row identity under a given key: the identifier columns, which are unique
select
    "quasi_1",
    "quasi_2",
    "quasi_3",
    "sensitive",
    "row_number",
coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N')
        as identity
from "sqlanon_population"

-- spark, identified:
-- -  coalesce(cast(length(cast("identifier_1" as text)) as text) || ':' || cast("identifier_1" as text), 'N') as "identity"
-- +  coalesce(cast(length(cast("identifier_1" as string)) as string) || ':' || cast("identifier_1" as string), 'N') as "identity"
