-- wave: where enough have come, some are still put off: where not all find a group, and where a keyed coin says so
with pooled as (
    select
        '' as pool,
        sensitive
    from "sqlanon_arrived"
),
tallied as (
    select
        pool,
        sensitive,
        count(*) as row_count
    from pooled
    group by pool, sensitive
),
gathered as (
    select
        pool,
        cast(sum(row_count) as bigint) as row_count,
        cast(sum(row_count) as bigint) // 4 as group_count,
        cast(max(row_count) as bigint) as largest_count
    from tallied
    group by pool
),
everywhere as (
    select
        coalesce(published, code) as code,
        count(*) as line_count
    from ledger.main.person
    group by coalesce(published, code)
),
compared as (
    select
        gathered.pool,
        gathered.row_count,
        gathered.group_count,
        everywhere.line_count
    from gathered
    cross join everywhere
),
shared as (
    select
        pool,
        cast(row_count as double) as n,
        cast(group_count + 1 as double) as a,
        cast(line_count as double) / cast(sum(line_count) over (partition by pool) as double) as p
    from compared
),
bounded as (
    select
        pool,
        sum(
            case
                when n - a < 1 or a <= n * p then cast(1 as double)
                else least(
                    cast(1 as double),
                    exp(greatest(
                        cast(-600 as double),
                        -a * ln(a / (n * p)) - (n - a) * ln((n - a) / (n * (1 - p)))
                        - ln(1 - (n - a) * p / ((a + 1) * (1 - p))) - ln(6.283185307179586 * a * (n - a) / n) / 2
                    ))
                )
            end
        ) as failing
    from shared
    group by pool
),
tossed as (
    select
        gathered.pool,
        sha256(key.secret || 'anatomy/disease/release 2/wave/' || gathered.pool) as hash
    from gathered
    cross join "sqlanon_key_2" as key
),
judged as (
    select
        gathered.*,
        bounded.failing,
        cast(cast('0x' || substr(tossed.hash, 1, 15) as bigint) as double) / 1152921504606846976
        < least(0.5, 10 * bounded.failing) as is_put_off
    from gathered
    inner join bounded on bounded.pool = gathered.pool
    inner join tossed on tossed.pool = gathered.pool
)
select
    pool,
    row_count,
    failing,
    group_count > 0 and failing <= cast('0.05' as double) as is_enough,
    group_count > 0 and failing <= cast('0.05' as double) and not is_put_off and largest_count <= group_count as is_called
from judged

-- gathering: how many rows look for a group, how many of them wait, how many of these are put off though enough have come, and how likely it still is that not all would find a group, where too few have come
with counted as (
    select
        coalesce(cast(sum(row_count) as bigint), 0) as gathered_rows,
        coalesce(cast(sum(case when is_called then 0 else row_count end) as bigint), 0) as waiting_rows,
        coalesce(cast(sum(case when is_enough and not is_called then row_count else 0 end) as bigint), 0) as put_off,
        coalesce(min(case when is_enough then null when failing < 1 then failing else 1 end), 0) as failing
    from "sqlanon_wave"
)
select
    counted.*,
    'max_suppressed' as about,
    case when waiting_rows * 1000000 > gathered_rows * 1000000 then
        coalesce(format('{:,}', waiting_rows), '') || ' of ' || coalesce(format('{:,}', gathered_rows), '') || ' rows (' || coalesce(format('{:.1f}%', 100.0 * waiting_rows / gathered_rows), '') || ') would wait for the next release, more than max_suppressed 100.0%: under a ledger people alike wait together where not all of them find a group; allow more, or choose a smaller r'
    end as refusal
from counted

-- population: those who are taken now: all or none
select arrived.*
from "sqlanon_arrived" as arrived
cross join "sqlanon_wave" as wave
where wave.is_called
