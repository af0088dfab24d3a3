-- tally: how often each sensitive value occurs with each signature, NULL included
select
    "sensitive" as sensitive,
    count(*) as row_count
from "sqlanon_population"
group by "sensitive"
