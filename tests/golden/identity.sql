-- population: every row with the text that identifies it: its identifier columns, which are unique
select
    "quasi_1", "quasi_2", "quasi_3", "sensitive",
coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N')
    as identity
from "sqlanon_population"

-- spark, population:
-- -  coalesce(cast(length(cast("identifier_1" as text)) as text) || ':' || cast("identifier_1" as text), 'N') as "identity"
-- +  coalesce(cast(length(cast("identifier_1" as string)) as string) || ':' || cast("identifier_1" as string), 'N') as "identity"
