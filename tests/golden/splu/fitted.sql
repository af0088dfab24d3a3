-- drift: how far the values of those who come new are from those of whoever was shown before: the share of the former that would have to be others
with line as (
    select
        sensitive,
        row_count as arrived,
        cast(0 as bigint) as known
    from "sqlanon_tally_2"
    union all
    select
        known_value.sensitive,
        cast(0 as bigint) as arrived,
        count(*) as known
    from ledger.main.person as known_person
    inner join ledger.main.value as known_value on known_value.code = known_person.code
    group by known_value.sensitive
),
counted as (
    select
        cast(sum(arrived) as double) as arrived,
        cast(sum(known) as double) as known,
        cast(sum(sum(arrived)) over () as double) as all_arrived,
        cast(sum(sum(known)) over () as double) as all_known
    from line
    group by sensitive
)
select
    coalesce(cast(max(all_arrived) as bigint), 0) as arrived_rows,
    count(*) as value_count,
    coalesce(sum(abs(arrived / nullif(all_arrived, 0) - known / nullif(all_known, 0))) / 2, 0) as distance
from counted

-- population: the rows that find a decoy group
with placed as (
    select
        drawn.*,
        capacity.group_count,
        row_number() over (partition by drawn.sensitive order by drawn.wait_draw asc nulls last, drawn.person asc nulls last) as waiting_place
    from "sqlanon_population_5" as drawn
    inner join "sqlanon_ranked" as ranked on drawn.sensitive is not distinct from ranked.sensitive
    inner join "sqlanon_capacity" as capacity on ranked.class = capacity.class
)
select *
from placed
where waiting_place <= group_count
