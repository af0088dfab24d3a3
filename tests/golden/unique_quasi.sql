-- uniqueness: no quasi column has a value of its own in most rows
with combination as (
    select
        "quasi_1", "quasi_2", "quasi_3",
        count(*) as row_count
    from "sqlanon_population"
    group by "quasi_1", "quasi_2", "quasi_3"
),
total as (
    select
        coalesce(cast(sum(row_count) as bigint), 0) as row_count,
        coalesce(cast(sum(case when "quasi_1" is null then 0 else row_count end) as bigint), 0) as known_1, coalesce(cast(sum(case when "quasi_2" is null then 0 else row_count end) as bigint), 0) as known_2, coalesce(cast(sum(case when "quasi_3" is null then 0 else row_count end) as bigint), 0) as known_3,
        coalesce(cast(sum(case when row_count = 1 then 1 else 0 end) as bigint), 0) as unique_rows
    from combination
),
counted as (
    select
        count(distinct combination."quasi_1") as distinct_1, count(distinct combination."quasi_2") as distinct_2, count(distinct combination."quasi_3") as distinct_3,
        count(*) as combination_count
    from combination
    cross join total
    where
        combination.row_count > 0 and (
            false
            or (total.known_1 > 1 and 5 * total.unique_rows >= 4 * total.known_1)
or (total.known_2 > 1 and 5 * total.unique_rows >= 4 * total.known_2)
or (total.known_3 > 1 and 5 * total.unique_rows >= 4 * total.known_3)
        )
)
select
    total.row_count,
    total.known_1, counted.distinct_1, total.known_2, counted.distinct_2, total.known_3, counted.distinct_3,
    total.unique_rows,
    case
        when total.known_1 >= 100 and counted.distinct_1 = total.known_1
            and 2 * total.known_1 > total.row_count then 'age'
        when total.known_2 >= 100 and counted.distinct_2 = total.known_2
            and 2 * total.known_2 > total.row_count then 'sex'
        when total.known_3 >= 100 and counted.distinct_3 = total.known_3
            and 2 * total.known_3 > total.row_count then 'zipcode'
        when false then ''
    end as about,
    case
        when total.known_1 >= 100 and counted.distinct_1 = total.known_1
            and 2 * total.known_1 > total.row_count
        then 'the quasi column ''age'' has a value of its own in each of ' || coalesce(format('{:,}', total.known_1), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
        when total.known_2 >= 100 and counted.distinct_2 = total.known_2
            and 2 * total.known_2 > total.row_count
        then 'the quasi column ''sex'' has a value of its own in each of ' || coalesce(format('{:,}', total.known_2), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
        when total.known_3 >= 100 and counted.distinct_3 = total.known_3
            and 2 * total.known_3 > total.row_count
        then 'the quasi column ''zipcode'' has a value of its own in each of ' || coalesce(format('{:,}', total.known_3), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
        when false then ''
    end as refusal
from total
cross join counted

-- spark, uniqueness:
-- -    then 'the quasi column ''age'' has a value of its own in each of ' || coalesce(format('{:,}', "total"."known_1"), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
-- +    then 'the quasi column \'age\' has a value of its own in each of ' || coalesce(format_number("total"."known_1", 0), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
-- -    then 'the quasi column ''sex'' has a value of its own in each of ' || coalesce(format('{:,}', "total"."known_2"), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
-- +    then 'the quasi column \'sex\' has a value of its own in each of ' || coalesce(format_number("total"."known_2", 0), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
-- -    then 'the quasi column ''zipcode'' has a value of its own in each of ' || coalesce(format('{:,}', "total"."known_3"), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
-- +    then 'the quasi column \'zipcode\' has a value of its own in each of ' || coalesce(format_number("total"."known_3", 0), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'

-- postgres, uniqueness:
-- -    then 'the quasi column ''age'' has a value of its own in each of ' || coalesce(format('{:,}', "total"."known_1"), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
-- +    then 'the quasi column ''age'' has a value of its own in each of ' || coalesce(to_char("total"."known_1", 'FM999,999,999,999,999,990'), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
-- -    then 'the quasi column ''sex'' has a value of its own in each of ' || coalesce(format('{:,}', "total"."known_2"), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
-- +    then 'the quasi column ''sex'' has a value of its own in each of ' || coalesce(to_char("total"."known_2", 'FM999,999,999,999,999,990'), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
-- -    then 'the quasi column ''zipcode'' has a value of its own in each of ' || coalesce(format('{:,}', "total"."known_3"), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
-- +    then 'the quasi column ''zipcode'' has a value of its own in each of ' || coalesce(to_char("total"."known_3", 'FM999,999,999,999,999,990'), '') || ' rows: it identifies people, and would be published exactly; leave it out or name it with id, or say unique_quasikeep'
