-- shown: the rows with their clusters, nothing suppressed
select
    determined.quasi_1, determined.quasi_2, determined.quasi_3,
    determined."alternatives_1",
    determined."row_number", determined."draw", determined."tie", determined."set_code", determined."cell_code",
    clustered.cluster
from "sqlanon_determined" as determined
inner join "sqlanon_clustered" as clustered on determined.row_number = clustered.row_number

-- pattern: QIID: for each uncertain quasi-identifier of a row its field number (one more than its place) and the number of its alternatives, 0 where all are certain; and the same as a list, since digits run together
with different as (
    select distinct
        "alternatives_1",
        '' as certain
    from "sqlanon_shown"
)
select
    "alternatives_1",
    coalesce(nullif(case when "alternatives_1" <> 1 then '2' || cast("alternatives_1" as varchar) else '' end || '', ''), '0') as qiid,
    list_filter(
        cast([
            {'attribute': 'education', 'count': "alternatives_1"}
        ] as struct(attribute varchar, count integer)[]),
        lambda mark: mark.count <> 1
    ) as alternatives
from different

-- group_number: groups, numbered from 1 in the order of the published columns: by the least row of each, those of equal least rows by the draw; where a group stands tells nothing that its rows do not show
with least as (
    select
        shown.cluster,
        min(create_sort_key(pattern.qiid, 'ASC NULLS LAST', shown.quasi_1, 'ASC NULLS LAST', shown.quasi_2, 'ASC NULLS LAST', shown.quasi_3, 'ASC NULLS LAST')) as least_row,
        min(shown.draw) as least_draw
    from "sqlanon_shown" as shown
    inner join "sqlanon_pattern" as pattern on true and shown."alternatives_1" = pattern."alternatives_1"
    group by shown.cluster
)
select
    cluster,
    row_number() over (order by least_row asc nulls last, least_draw asc nulls last) as group_id
from least

-- spark, pattern:
-- -  coalesce(nullif(case when "alternatives_1" <> 1 then '2' || cast("alternatives_1" as text) else '' end || '', ''), '0') as "qiid",
-- -  list_filter(
-- -    cast([{'attribute': 'education', 'count': "alternatives_1"}] as struct("attribute" text, "count" int)[]),
-- -    lambda "mark" : "mark"."count" <> 1
-- +  coalesce(nullif(case when "alternatives_1" <> 1 then '2' || cast("alternatives_1" as string) else '' end || '', ''), '0') as "qiid",
-- +  filter(
-- +    cast(array(struct('education' as "attribute", "alternatives_1" as "count")) as array<struct<"attribute": string, "count": int>>),
-- +    "mark" -> "mark"."count" <> 1

-- spark, group_number:
-- -    min(
-- -      create_sort_key(
-- -        "pattern"."qiid",
-- -        'ASC NULLS LAST',
-- -        "shown"."quasi_1",
-- -        'ASC NULLS LAST',
-- -        "shown"."quasi_2",
-- -        'ASC NULLS LAST',
-- -        "shown"."quasi_3",
-- -        'ASC NULLS LAST'
-- -      )
-- -    ) as "least_row",
-- +    min(struct("pattern"."qiid" is null, "pattern"."qiid", "shown"."quasi_1" is null, "shown"."quasi_1", "shown"."quasi_2" is null, "shown"."quasi_2", "shown"."quasi_3" is null, "shown"."quasi_3")) as "least_row",

-- postgres, pattern:
-- -  list_filter(
-- -    cast([{'attribute': 'education', 'count': "alternatives_1"}] as struct("attribute" text, "count" int)[]),
-- -    lambda "mark" : "mark"."count" <> 1
-- -  ) as "alternatives"
-- +  (select coalesce(jsonb_agg(jsonb_build_object('attribute', attribute, 'count', number) order by place), '[]') from (values ('education', "alternatives_1", 1)) as line(attribute, number, place) where number <> 1) as "alternatives"

-- postgres, group_number:
-- -    min(
-- -      create_sort_key(
-- -        "pattern"."qiid",
-- -        'ASC NULLS LAST',
-- -        "shown"."quasi_1",
-- -        'ASC NULLS LAST',
-- -        "shown"."quasi_2",
-- -        'ASC NULLS LAST',
-- -        "shown"."quasi_3",
-- -        'ASC NULLS LAST'
-- -      )
-- -    ) as "least_row",
-- +    (array_agg(row("pattern"."qiid", "shown"."quasi_1", "shown"."quasi_2", "shown"."quasi_3") order by row("pattern"."qiid", "shown"."quasi_1", "shown"."quasi_2", "shown"."quasi_3")))[1] as "least_row",
