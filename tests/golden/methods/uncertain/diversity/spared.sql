-- spared: Rows that a diverse group can spare: of those without a grave value, all but what brings the group to L weights and K rows
with ranked as (
    select
        *,
        row_number() over (
            partition by target, group_number, held
            order by "draw" asc nulls last, "tie" asc nulls last, position asc nulls last
        ) as meeting
    from "sqlanon_seat"
),
weighed as (
    select
        *,
        cast(sum(grave) over (partition by target, group_number) as bigint) as grave_rows,
        cast(sum(case when grave = 1 and meeting = 1 then 1 else 0 end) over (partition by target, group_number) as bigint) as grave_weights,
        cast(sum(1 - grave) over (partition by target, group_number) as bigint) as harmless_rows,
        row_number() over (
            partition by target, group_number, grave
            order by case when meeting = 1 then 0 else 1 end asc nulls last, "draw" asc nulls last, "tie" asc nulls last, position asc nulls last
        ) as place
    from ranked
),
kept as (
    select
        *,
        greatest(5 - grave_rows, 3 - grave_weights, 0) as kept_rows
    from weighed
)
select
    position,
    target,
    group_number,
    cast(case
        when group_count = 0 or grave = 1 or place <= kept_rows or harmless_rows - kept_rows < 5 then 0
        else 1 + least((place - kept_rows - 1) // 5, (harmless_rows - kept_rows) // 5 - 1)
    end as bigint) as piece
from kept

-- spark, spared:
-- -    else 1 + least((
-- -      "place" - "kept_rows" - 1
-- -    ) // 5, (
-- -      "harmless_rows" - "kept_rows"
-- -    ) // 5 - 1)
-- +    else 1 + least((("place" - "kept_rows" - 1) div 5), (("harmless_rows" - "kept_rows") div 5) - 1)

-- postgres, spared:
-- -    else 1 + least((
-- -      "place" - "kept_rows" - 1
-- -    ) // 5, (
-- -      "harmless_rows" - "kept_rows"
-- -    ) // 5 - 1)
-- +    else 1 + least((("place" - "kept_rows" - 1) / 5), (("harmless_rows" - "kept_rows") / 5) - 1)
