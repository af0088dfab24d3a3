-- source
select
    "age" as "quasi_1",
    "sex" as "quasi_2",
    "ssn" as "identifier_1",
    "disease" as "sensitive",
    "income" as "sensitive_2"
from "patients";

-- population
select *
from "sqlanon_source";

-- limits
with counted as (
    select
        0 as place,
        cast("sensitive" as varchar) as shown,
        case when "sensitive" is null and not false then 1 else 0 end as is_missing,
        count(*) as row_count
    from "sqlanon_population"
    group by "sensitive"
    union all
    select
        1 as place,
        cast("sensitive_2" as varchar) as shown,
        case when "sensitive_2" is null and not false then 1 else 0 end as is_missing,
        count(*) as row_count
    from "sqlanon_population"
    group by "sensitive_2"
),
ranked as (
    select
        counted.*,
        row_number() over (order by is_missing, row_count desc, place, shown) as value_rank,
        row_number() over (order by is_missing desc, place) as null_rank
    from counted
)
select
    coalesce(cast(sum(case when place = 0 then row_count else 0 end) as bigint), 0) as row_count,
    coalesce(max(case when null_rank = 1 then is_missing * row_count end), 0) as null_count,
    coalesce(max(case when null_rank = 1 then place end), 0) as null_place,
    coalesce(max(case when value_rank = 1 then place end), 0) as place,
    coalesce(max(case when value_rank = 1 then (1 - is_missing) * row_count end), 0) as largest_count,
    max(case when value_rank = 1 then shown end) as largest_value
from ranked;

-- tally_2
select
    "sensitive_2" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive_2";

-- tally
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive";

-- persons
with person as (
    select count(*) as row_count
    from "sqlanon_population"
    group by
        "identifier_1"
)
select
    coalesce(cast(sum(row_count) as bigint), 0) as row_count,
    count(*) as person_count,
    coalesce(sum(case when row_count > 1 then 1 else 0 end), 0) as repeating_persons
from person;

-- uniqueness
with combination as (
    select
        "quasi_1",
        "quasi_2",
        count(*) as row_count
    from "sqlanon_population"
    group by
        "quasi_1",
        "quasi_2"
),
total as (
    select
        coalesce(cast(sum(row_count) as bigint), 0) as row_count,
        coalesce(cast(sum(case when "quasi_1" is null then 0 else row_count end) as bigint), 0) as known_1,
        coalesce(cast(sum(case when "quasi_2" is null then 0 else row_count end) as bigint), 0) as known_2,
        coalesce(cast(sum(case when row_count = 1 then 1 else 0 end) as bigint), 0) as unique_rows
    from combination
),
counted as (
    select
        count(distinct combination."quasi_1") as distinct_1,
        count(distinct combination."quasi_2") as distinct_2,
        count(*) as combination_count
    from combination
    cross join total
    where
        false
        or (total.known_1 > 1 and 5 * total.unique_rows >= 4 * total.known_1)
        or (total.known_2 > 1 and 5 * total.unique_rows >= 4 * total.known_2)
)
select
    total.row_count,
    total.known_1,
    counted.distinct_1,
    total.known_2,
    counted.distinct_2,
    total.unique_rows
from total
cross join counted;

-- identified
select
    "quasi_1",
    "quasi_2",
    "sensitive",
    "sensitive_2",
coalesce(cast(length(cast("identifier_1" as varchar)) as varchar) || ':' || cast("identifier_1" as varchar), 'N')
        as identity
from "sqlanon_population";

-- frequency_2
with valued as (
    select
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'anatomy/income/value/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_tally_2" as tally
    cross join "sqlanon_key" as key
    where tally.sensitive is not null or false
),
total as (
    select cast(sum(row_count) as bigint) // 4 as group_count
    from valued
),
ordered as (
    select
        sensitive,
        row_count,
        cast(row_number() over (order by row_count desc, hash) - 1 as integer) as code,
        cast(sum(row_count) over (order by row_count desc, hash rows unbounded preceding) as bigint) as last_position
    from valued
)
select
    ordered.sensitive,
    ordered.code,
    ordered.row_count as kept_count,
    ordered.last_position - ordered.row_count as first_position,
    total.group_count,
    greatest(1, total.group_count // 64) as block_count,
    0 as first_block
from ordered
cross join total;

-- frequency
with valued as (
    select
        tally.sensitive,
        tally.row_count,
        sha256(key.secret || 'anatomy/disease/value/' || coalesce(cast(length(cast(tally.sensitive as varchar)) as varchar) || ':' || cast(tally.sensitive as varchar), 'N')) as hash
    from "sqlanon_tally" as tally
    cross join "sqlanon_key" as key
    where tally.sensitive is not null or false
),
total as (
    select cast(sum(row_count) as bigint) // 4 as group_count
    from valued
),
ordered as (
    select
        sensitive,
        row_count,
        cast(row_number() over (order by row_count desc, hash) - 1 as integer) as code,
        cast(sum(row_count) over (order by row_count desc, hash rows unbounded preceding) as bigint) as last_position
    from valued
)
select
    ordered.sensitive,
    ordered.code,
    ordered.row_count as kept_count,
    ordered.last_position - ordered.row_count as first_position,
    total.group_count,
    greatest(1, total.group_count // 64) as block_count,
    0 as first_block
from ordered
cross join total;

-- coded
select
    valued."quasi_1",
    valued."quasi_2",
    valued."sensitive_2",
    valued."identity",
    frequency.code
from "sqlanon_identified" as valued
inner join "sqlanon_frequency" as frequency
    on valued.sensitive = frequency.sensitive;

-- drawn
with row_key as (
    select substr(sha256(key.secret || 'anatomy/disease/row/'), 1, 40) as secret
    from "sqlanon_key" as key
),
hashed as (
    select
        identified."quasi_1",
        identified."quasi_2",
        identified."sensitive_2",
        identified."code",
        sha256(row_key.secret || identified.identity) as hash
    from "sqlanon_coded" as identified
    cross join row_key
)
select
    "quasi_1",
    "quasi_2",
    "sensitive_2",
    "code",
    cast('0x' || substr(hash, 1, 15) as bigint) as "draw",
    cast('0x' || substr(hash, 16, 15) as bigint) as "swap_draw",
    cast('0x' || substr(hash, 31, 15) as bigint) as "tie"
from hashed;

-- shard
with counted as (
    select
        code,
        draw // 72057594037927936 as shard,
        count(*) as row_count
    from "sqlanon_drawn"
    group by code, draw // 72057594037927936
)
select
    cast(code * 16 + shard as integer) as cell,
    code,
    cast(sum(row_count) over (partition by code order by shard rows unbounded preceding) as bigint) - row_count as first_rank
from counted;

-- positioned
with ranked as (
    select
        "quasi_1",
        "quasi_2",
        "sensitive_2",
        "swap_draw",
        cast(code * 16 + draw // 72057594037927936 as integer) as cell,
        row_number() over (
            partition by cast(code * 16 + draw // 72057594037927936 as integer)
            order by draw, "tie"
        ) - 1 as cell_rank
    from "sqlanon_drawn"
),
bucketed as (
    select
        ranked."quasi_1",
        ranked."quasi_2",
        ranked."sensitive_2",
        ranked."swap_draw",
        frequency.code,
        frequency.block_count,
        frequency.first_block,
        (frequency.first_position + shard.first_rank + ranked.cell_rank) % frequency.group_count as bucket
    from ranked
    inner join "sqlanon_shard" as shard on ranked.cell = shard.cell
    inner join "sqlanon_frequency" as frequency on shard.code = frequency.code
    where shard.first_rank + ranked.cell_rank < frequency.kept_count
)
select
    "quasi_1",
    "quasi_2",
    "sensitive_2",
    "swap_draw",
    code,
    first_block + bucket % block_count as block,
    bucket // block_count as seat
from bucketed;

-- block
with counted as (
    select
        code,
        block,
        count(*) as row_count
    from "sqlanon_positioned"
    group by code, block
),
hashed as (
    select
        counted.code,
        counted.block,
        counted.row_count,
        frequency.block_count,
        (frequency.group_count + frequency.block_count - 1 - (counted.block - frequency.first_block))
            // frequency.block_count as block_groups,
        (frequency.first_position % frequency.group_count + frequency.block_count - 1
            - (counted.block - frequency.first_block)) // frequency.block_count as first_seat,
        sha256(key.secret || 'anatomy/disease/block/' || cast(counted.block as varchar) || '/' || cast(counted.code as varchar)) as hash
    from counted
    inner join "sqlanon_frequency" as frequency on counted.code = frequency.code
    cross join "sqlanon_key" as key
)
select
    code,
    block,
    first_seat,
    block_groups,
    block_count,
    cast(sum(row_count) over (partition by block) as bigint) as block_rows,
    cast(sum(row_count) over (partition by block order by cast('0x' || substr(hash, 1, 15) as bigint), hash rows unbounded preceding) as bigint) - row_count as first_number
from hashed;

-- numbered
select
    positioned."quasi_1",
    positioned."quasi_2",
    positioned."sensitive_2",
    positioned."swap_draw",
    positioned.code,
    positioned.block,
    block.block_count,
    block.block_groups,
    block.block_rows,
    block.first_number
    + (positioned.seat + block.block_groups - block.first_seat % block.block_groups) % block.block_groups as number
from "sqlanon_positioned" as positioned
inner join "sqlanon_block" as block
    on positioned.block = block.block and positioned.code = block.code;

-- numbered_coded_2
select
    numbered.*,
    frequency.code as "code_2"
from "sqlanon_numbered" as numbered
inner join "sqlanon_frequency_2" as frequency
    on numbered."sensitive_2" is not distinct from frequency.sensitive;

-- seated
select
    block,
    number,
    block_count,
    0 as first_block,
    "code",
    "code_2",
    swap_draw as draw,
    (number % block_groups) * block_count + block as group_id,
    0 as turn
from "sqlanon_numbered_coded_2";

-- left_over
with held as (
    select count(*) as row_count
    from "sqlanon_seated"
    group by group_id, "code_2"
)
select coalesce(cast(sum(row_count - 1) as bigint), 0) as left_over
from held;

-- clashing
with held as (
    select
        group_id,
        count(*) as row_count
    from "sqlanon_seated"
    group by group_id, "code_2"
),
concerned as (
    select distinct group_id
    from held
    where row_count > 1
),
ranked as (
    select
        seated.*,
        greatest(
            row_number() over (partition by seated.group_id, seated."code_2" order by seated.draw, seated.block, seated.number),
            1
        ) as place
    from "sqlanon_seated" as seated
    inner join concerned on seated.group_id = concerned.group_id
)
select *
from ranked
where place > 1;

-- proposed
with candidate as (
    select
        clashing.block,
        clashing.number,
        clashing.group_id,
        partner.block as partner_block,
        partner.number as partner_number,
        partner.group_id as partner_group,
        clashing."code",
        partner."code" as "partner_code",
        clashing."code_2",
        partner."code_2" as "partner_code_2",
        (clashing.draw + partner.draw) % 1000000007 as priority
    from "sqlanon_clashing" as clashing
    inner join "sqlanon_seated" as partner
        on clashing.block = partner.block and clashing.code = partner.code
    where clashing.group_id <> partner.group_id
)
select
    candidate.block,
    candidate.number,
    candidate.group_id,
    candidate.partner_block,
    candidate.partner_number,
    candidate.partner_group,
    candidate.priority
from candidate
left join "sqlanon_seated" as there_1
    on candidate.partner_group = there_1.group_id
    and candidate."code_2" = there_1."code_2"
    and (candidate.partner_block <> there_1.block or candidate.partner_number <> there_1.number)
left join "sqlanon_seated" as here_1
    on candidate.group_id = here_1.group_id
    and candidate."partner_code_2" = here_1."code_2"
    and (candidate.block <> here_1.block or candidate.number <> here_1.number)
where
    there_1.group_id is null
    and here_1.group_id is null;

-- exchange
with preferred as (
    select
        proposed.*,
        row_number() over (
            partition by block, number order by priority, partner_block, partner_number
        ) as preference
    from "sqlanon_proposed" as proposed
),
chosen as (
    select *
    from preferred
    where preference = 1
),
side as (
    select
        block,
        number,
        priority,
        group_id as touched_group
    from chosen
    union all
    select
        block,
        number,
        priority,
        partner_group as touched_group
    from chosen
),
ranked as (
    select
        block,
        number,
        row_number() over (partition by touched_group order by priority, block, number) as place
    from side
),
judged as (
    select
        block,
        number,
        max(place) as worst_place
    from ranked
    group by block, number
),
won as (
    select
        block,
        number
    from judged
    where worst_place = 1
),
moved as (
    select
        chosen.block,
        chosen.number,
        chosen.partner_group as group_id
    from chosen
    inner join won on chosen.block = won.block and chosen.number = won.number
    union all
    select
        chosen.partner_block as block,
        chosen.partner_number as number,
        chosen.group_id
    from chosen
    inner join won on chosen.block = won.block and chosen.number = won.number
)
select *
from moved;

-- reseated
select
    seated.block,
    seated.number,
    seated.block_count,
    seated.first_block,
    seated."code",
    seated."code_2",
    seated.draw,
    coalesce(exchange.group_id, seated.group_id) as group_id,
    seated.turn + 1 as turn
from "sqlanon_seated" as seated
left join "sqlanon_exchange" as exchange
    on seated.block = exchange.block and seated.number = exchange.number;

-- left_over
with held as (
    select count(*) as row_count
    from "sqlanon_seated"
    group by group_id, "code_2"
)
select coalesce(cast(sum(row_count - 1) as bigint), 0) as left_over
from held;

-- clashing
with held as (
    select
        group_id,
        count(*) as row_count
    from "sqlanon_seated"
    group by group_id, "code_2"
),
concerned as (
    select distinct group_id
    from held
    where row_count > 1
),
ranked as (
    select
        seated.*,
        greatest(
            row_number() over (partition by seated.group_id, seated."code_2" order by seated.draw, seated.block, seated.number),
            1
        ) as place
    from "sqlanon_seated" as seated
    inner join concerned on seated.group_id = concerned.group_id
)
select *
from ranked
where place > 1;

-- proposed
with candidate as (
    select
        clashing.block,
        clashing.number,
        clashing.group_id,
        partner.block as partner_block,
        partner.number as partner_number,
        partner.group_id as partner_group,
        clashing."code",
        partner."code" as "partner_code",
        clashing."code_2",
        partner."code_2" as "partner_code_2",
        (clashing.draw + partner.draw) % 1000000007 as priority
    from "sqlanon_clashing" as clashing
    inner join "sqlanon_seated" as partner
        on clashing.first_block + (clashing.block - clashing.first_block + clashing.turn) % clashing.block_count = partner.block
        and (partner.number + clashing.turn) % (case when clashing.turn < 4 then 4 when clashing.turn < 6 then 2 else 1 end) = 0
    where clashing.group_id <> partner.group_id
)
select
    candidate.block,
    candidate.number,
    candidate.group_id,
    candidate.partner_block,
    candidate.partner_number,
    candidate.partner_group,
    candidate.priority
from candidate
left join "sqlanon_seated" as there_1
    on candidate.partner_group = there_1.group_id
    and candidate."code" = there_1."code"
    and (candidate.partner_block <> there_1.block or candidate.partner_number <> there_1.number)
left join "sqlanon_seated" as here_1
    on candidate.group_id = here_1.group_id
    and candidate."partner_code" = here_1."code"
    and (candidate.block <> here_1.block or candidate.number <> here_1.number)
left join "sqlanon_seated" as there_2
    on candidate.partner_group = there_2.group_id
    and candidate."code_2" = there_2."code_2"
    and (candidate.partner_block <> there_2.block or candidate.partner_number <> there_2.number)
left join "sqlanon_seated" as here_2
    on candidate.group_id = here_2.group_id
    and candidate."partner_code_2" = here_2."code_2"
    and (candidate.block <> here_2.block or candidate.number <> here_2.number)
where
    there_1.group_id is null
    and here_1.group_id is null and
    there_2.group_id is null
    and here_2.group_id is null;

-- exchange
with preferred as (
    select
        proposed.*,
        row_number() over (
            partition by block, number order by priority, partner_block, partner_number
        ) as preference
    from "sqlanon_proposed" as proposed
),
chosen as (
    select *
    from preferred
    where preference = 1
),
side as (
    select
        block,
        number,
        priority,
        group_id as touched_group
    from chosen
    union all
    select
        block,
        number,
        priority,
        partner_group as touched_group
    from chosen
),
ranked as (
    select
        block,
        number,
        row_number() over (partition by touched_group order by priority, block, number) as place
    from side
),
judged as (
    select
        block,
        number,
        max(place) as worst_place
    from ranked
    group by block, number
),
won as (
    select
        block,
        number
    from judged
    where worst_place = 1
),
moved as (
    select
        chosen.block,
        chosen.number,
        chosen.partner_group as group_id
    from chosen
    inner join won on chosen.block = won.block and chosen.number = won.number
    union all
    select
        chosen.partner_block as block,
        chosen.partner_number as number,
        chosen.group_id
    from chosen
    inner join won on chosen.block = won.block and chosen.number = won.number
)
select *
from moved;

-- reseated
select
    seated.block,
    seated.number,
    seated.block_count,
    seated.first_block,
    seated."code",
    seated."code_2",
    seated.draw,
    coalesce(exchange.group_id, seated.group_id) as group_id,
    seated.turn + 1 as turn
from "sqlanon_seated" as seated
left join "sqlanon_exchange" as exchange
    on seated.block = exchange.block and seated.number = exchange.number;

-- clashing_last
with held as (
    select
        group_id,
        count(*) as row_count
    from "sqlanon_seated"
    group by group_id, "code_2"
),
concerned as (
    select distinct group_id
    from held
    where row_count > 1
),
ranked as (
    select
        seated.*,
        greatest(
            row_number() over (partition by seated.group_id, seated."code_2" order by seated.draw, seated.block, seated.number),
            1
        ) as place
    from "sqlanon_seated" as seated
    inner join concerned on seated.group_id = concerned.group_id
)
select *
from ranked
where place > 1;

-- settled
with staying as (
    select
        seated.*,
        count(*) over (partition by seated.group_id) as group_rows
    from "sqlanon_seated" as seated
    left join "sqlanon_clashing_last" as clashing
        on seated.block = clashing.block and seated.number = clashing.number
    where clashing.number is null
),
whole as (
    select
        group_id,
        row_number() over (order by group_id) - 1 as final_id
    from staying
    where group_rows >= 4
    group by group_id
)
select
    staying.block,
    staying.number,
    staying."code",
    staying."code_2",
    whole.final_id as group_id
from staying
inner join whole on staying.group_id = whole.group_id;

-- grouped
select
    numbered."quasi_1",
    numbered."quasi_2",
    settled."code",
    settled."code_2",
    settled.group_id
from "sqlanon_numbered_coded_2" as numbered
inner join "sqlanon_settled" as settled
    on numbered.block = settled.block and numbered.number = settled.number;

-- shown_2
select
    group_id,
    "code_2" as code
from "sqlanon_grouped";

-- suppressed
with everyone as (
    select count(*) as row_count
    from "sqlanon_population"
),
published as (
    select count(*) as row_count
    from "sqlanon_grouped"
)
select
    everyone.row_count,
    everyone.row_count - published.row_count as dropped_rows
from everyone
cross join published;

-- qit
select
    grouped.quasi_1 as "age",
    grouped.quasi_2 as "sex",
    grouped.group_id as "group_id"
from "sqlanon_grouped" as grouped
order by
    grouped.quasi_1 asc nulls last,
    grouped.quasi_2 asc nulls last,
    grouped.group_id asc;

-- st
select
    grouped.group_id as "group_id",
    frequency.sensitive as "disease",
    cast(1 as bigint) as "count"
from "sqlanon_grouped" as grouped
inner join "sqlanon_frequency" as frequency on grouped.code = frequency.code
order by
    grouped.group_id asc,
    frequency.sensitive asc nulls last;

-- st_2
select
    grouped.group_id as "group_id",
    frequency.sensitive as "income",
    cast(1 as bigint) as "count"
from "sqlanon_shown_2" as grouped
inner join "sqlanon_frequency_2" as frequency on grouped.code = frequency.code
order by
    grouped.group_id asc,
    frequency.sensitive asc nulls last;

