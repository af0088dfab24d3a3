-- decoy_group_1: the decoy groups: gamma rows (gamma + 1 where a residue is kept) of different values
select
    grouped.*,
    frequency.sensitive
from "sqlanon_grouped" as grouped
inner join "sqlanon_frequency" as frequency on grouped.code = frequency.code

-- population: every row with the value of a slot of its group; whoever saw the slot's draw could tell which
select
    own."quasi_1" as "quasi_1", own."quasi_2" as "quasi_2", own."quasi_3" as "quasi_3",
    frequency.sensitive as "published_1"
from "sqlanon_grouped" as own
inner join "sqlanon_grouped" as decoy
    on own.group_id = decoy.group_id and own.slot_draw % own.group_rows = decoy.slot
inner join "sqlanon_frequency" as frequency on decoy.code = frequency.code

-- spark, population:
-- -  "own"."quasi_1" as "quasi_1",
-- -  "own"."quasi_2" as "quasi_2",
-- -  "own"."quasi_3" as "quasi_3",
-- -  "frequency"."sensitive" as "published_1"
-- -from "sqlanon_grouped" as "own"
-- -inner join "sqlanon_grouped" as "decoy"
-- -  on "own"."group_id" = "decoy"."group_id" and "own"."slot_draw" % "own"."group_rows" = "decoy"."slot"
-- -inner join "sqlanon_frequency" as "frequency"
-- -  on "decoy"."code" = "frequency"."code"
-- +  *
-- +from "sqlanon_population_6"

-- postgres, population:
-- -  "own"."quasi_1" as "quasi_1",
-- -  "own"."quasi_2" as "quasi_2",
-- -  "own"."quasi_3" as "quasi_3",
-- -  "frequency"."sensitive" as "published_1"
-- -from "sqlanon_grouped" as "own"
-- -inner join "sqlanon_grouped" as "decoy"
-- -  on "own"."group_id" = "decoy"."group_id" and "own"."slot_draw" % "own"."group_rows" = "decoy"."slot"
-- -inner join "sqlanon_frequency" as "frequency"
-- -  on "decoy"."code" = "frequency"."code"
-- +  *
-- +from "sqlanon_population_6"
