-- climbing: The clusters after a turn of climbing, with what they show and how their regions stand
select
    climbed.cluster,
    climbed.target,
    climbed.width,
    region_judged.verdict,
    climbed.changed,
    climbed.turn,
    climbed.last_climb,
    climbed.node_1
from "sqlanon_begun" as climbed
inner join "sqlanon_judged_begun" as region_judged on climbed.cluster = region_judged.cluster

-- climbing_again: The clusters after a turn of climbing, with what they show and how their regions stand
select
    climbed.cluster,
    climbed.target,
    climbed.width,
    region_judged.verdict,
    climbed.changed,
    climbed.turn,
    climbed.last_climb,
    climbed.node_1
from "sqlanon_climbed" as climbed
inner join "sqlanon_judged_climbed" as region_judged on climbed.cluster = region_judged.cluster
