-- class: everybody is of one class
select 0 as class

-- ranked: the values of each class by falling count, equal counts in keyed order; tail: the rows of the values from its place on
with valued as (
    select
        class.class,
        tally.sensitive,
        cast(sum(tally.row_count) as bigint) as row_count
    from "sqlanon_tally" as tally
    inner join "sqlanon_class" as class on true
    where tally.sensitive is not null or false
    group by class.class, tally.sensitive
),
hashed as (
    select
        valued.*,
        sha256(key.secret || 'anatomy/disease/value/' || coalesce(cast(length(cast(valued.sensitive as varchar)) as varchar) || ':' || cast(valued.sensitive as varchar), 'N')) as hash
    from valued
    cross join "sqlanon_key_2" as key
)
select
    class,
    sensitive,
    row_count,
    row_number() over (partition by class order by row_count desc nulls last, hash asc nulls last) - 1 as place,
    cast(sum(row_count) over (partition by class order by row_count asc nulls last, hash desc nulls last rows unbounded preceding) as bigint) as tail
from hashed

-- capacity: the largest number of groups of N = 4 different values that a class can give: m = min over j < N of floor(tail_j / (N - j)); 0 where it has fewer values
select
    class,
    case when count(*) = 4 then min(tail // (4 - place)) else 0 end as group_count
from "sqlanon_ranked"
where place < 4
group by class

-- spark, ranked:
-- -    sha256(
-- -      "key"."secret" || 'anatomy/disease/value/' || coalesce(cast(length(cast("valued"."sensitive" as text)) as text) || ':' || cast("valued"."sensitive" as text), 'N')
-- -    ) as "hash"
-- +    sha2("key"."secret" || 'anatomy/disease/value/' || coalesce(cast(length(cast("valued"."sensitive" as string)) as string) || ':' || cast("valued"."sensitive" as string), 'N'), 256) as "hash"

-- spark, capacity:
-- -  case when count(*) = 4 then min("tail" // (
-- -    4 - "place"
-- -  )) else 0 end as "group_count"
-- +  case when count(*) = 4 then min(("tail" div (4 - "place"))) else 0 end as "group_count"

-- postgres, ranked:
-- -    sha256(
-- -      "key"."secret" || 'anatomy/disease/value/' || coalesce(cast(length(cast("valued"."sensitive" as text)) as text) || ':' || cast("valued"."sensitive" as text), 'N')
-- -    ) as "hash"
-- +    (encode(sha256(convert_to("key"."secret" || 'anatomy/disease/value/' || coalesce(cast(length(cast("valued"."sensitive" as text)) as text) || ':' || cast("valued"."sensitive" as text), 'N'), 'UTF8')), 'hex') collate "C") as "hash"
-- +  offset 0

-- postgres, capacity:
-- -  case when count(*) = 4 then min("tail" // (
-- -    4 - "place"
-- -  )) else 0 end as "group_count"
-- +  case when count(*) = 4 then min(("tail" / (4 - "place"))) else 0 end as "group_count"
