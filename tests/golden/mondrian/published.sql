-- data: each row's box and its exact sensitive value
with ordered as (
    select
        box.*,
        dense_rank() over (order by "node_1" asc nulls last, "low_2" asc nulls last, "high_2" asc nulls last, "unknown_2" asc nulls last, "low_3" asc nulls last, "high_3" asc nulls last, "unknown_3" asc nulls last, "set_4" asc nulls last) as place
    from "sqlanon_box" as box
)
select
    ordered."node_1" as "education", ordered."low_2" as "age_low", ordered."high_2" as "age_high", ordered."unknown_2" as "age_unknown", ordered."low_3" as "seen_low", ordered."high_3" as "seen_high", ordered."unknown_3" as "seen_unknown", ordered."set_4" as "sex",
    value.sensitive as "disease"
from "sqlanon_splitting_2" as splitting
inner join ordered on splitting.partition = ordered.partition
inner join "sqlanon_sensitive_value" as value on splitting."code" = value.code
order by ordered.place asc nulls last, value.code asc nulls last
