-- cells: What is wrong with cells: nothing or NULL among the alternatives, more than allowed; how many are uncertain
with counted as (
    select
        case
            when "quasi_1" is null then 0
            when array_length("quasi_1") = 1 then case when "quasi_1"[1] is null then 1 else 0 end
            when list_count("quasi_1") = array_length("quasi_1") and array_length("quasi_1") > 0 then 0
            else 1
        end as empty_1,
        case when array_length("quasi_1") > 1 then array_length(list_distinct("quasi_1")) else 1 end as different_1,
        case
            when "sensitive" is null then 0
            when array_length("sensitive") = 1 then case when "sensitive"[1] is null then 1 else 0 end
            when list_count("sensitive") = array_length("sensitive") and array_length("sensitive") > 0 then 0
            else 1
        end as empty_2,
        case when array_length("sensitive") > 1 then array_length(list_distinct("sensitive")) else 1 end as different_2,
        case when sensitive is null then 1 else 0 end as missing
    from "sqlanon_population"
)
select
    coalesce(sum(empty_1), 0) as empty_1,
    coalesce(sum(case when different_1 > 2 then 1 else 0 end), 0) as crowded_1,
    coalesce(sum(case when different_1 > 1 then 1 else 0 end), 0) as uncertain_1,
    coalesce(sum(empty_2), 0) as empty_2,
    coalesce(sum(case when different_2 > 2 then 1 else 0 end), 0) as crowded_2,
    coalesce(sum(case when different_2 > 1 then 1 else 0 end), 0) as uncertain_2,
    count(*) as row_count,
    coalesce(sum(missing), 0) as null_count
from counted

-- spark, cells:
-- -      when array_length("quasi_1") = 1
-- -      then case when "quasi_1"[1] is null then 1 else 0 end
-- -      when list_count("quasi_1") = array_length("quasi_1") and array_length("quasi_1") > 0
-- +      when array_size("quasi_1") = 1
-- +      then case when get("quasi_1", 1 - 1) is null then 1 else 0 end
-- +      when array_size(array_compact("quasi_1")) = array_size("quasi_1") and array_size("quasi_1") > 0
-- -    case when array_length("quasi_1") > 1 then array_length(list_distinct("quasi_1")) else 1 end as "different_1",
-- +    case when array_size("quasi_1") > 1 then array_size(array_distinct(array_compact("quasi_1"))) else 1 end as "different_1",
-- -      when array_length("sensitive") = 1
-- -      then case when "sensitive"[1] is null then 1 else 0 end
-- -      when list_count("sensitive") = array_length("sensitive") and array_length("sensitive") > 0
-- +      when array_size("sensitive") = 1
-- +      then case when get("sensitive", 1 - 1) is null then 1 else 0 end
-- +      when array_size(array_compact("sensitive")) = array_size("sensitive") and array_size("sensitive") > 0
-- -    case when array_length("sensitive") > 1 then array_length(list_distinct("sensitive")) else 1 end as "different_2",
-- +    case when array_size("sensitive") > 1 then array_size(array_distinct(array_compact("sensitive"))) else 1 end as "different_2",

-- postgres, cells:
-- -      when array_length("quasi_1") = 1
-- -      then case when "quasi_1"[1] is null then 1 else 0 end
-- -      when list_count("quasi_1") = array_length("quasi_1") and array_length("quasi_1") > 0
-- +      when cardinality("quasi_1") = 1
-- +      then case when ("quasi_1")[1] is null then 1 else 0 end
-- +      when (select count(item) from unnest("quasi_1") as held(item)) = cardinality("quasi_1")
-- +      and cardinality("quasi_1") > 0
-- -    case when array_length("quasi_1") > 1 then array_length(list_distinct("quasi_1")) else 1 end as "different_1",
-- +    case
-- +      when cardinality("quasi_1") > 1
-- +      then cardinality(case when "quasi_1" is not null then array(select distinct item from unnest("quasi_1") as held(item) where item is not null order by item) end)
-- +      else 1
-- +    end as "different_1",
-- -      when array_length("sensitive") = 1
-- -      then case when "sensitive"[1] is null then 1 else 0 end
-- -      when list_count("sensitive") = array_length("sensitive") and array_length("sensitive") > 0
-- +      when cardinality("sensitive") = 1
-- +      then case when ("sensitive")[1] is null then 1 else 0 end
-- +      when (select count(item) from unnest("sensitive") as held(item)) = cardinality("sensitive")
-- +      and cardinality("sensitive") > 0
-- -    case when array_length("sensitive") > 1 then array_length(list_distinct("sensitive")) else 1 end as "different_2",
-- +    case
-- +      when cardinality("sensitive") > 1
-- +      then cardinality(case when "sensitive" is not null then array(select distinct item from unnest("sensitive") as held(item) where item is not null order by item) end)
-- +      else 1
-- +    end as "different_2",
