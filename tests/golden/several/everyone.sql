-- everyone: how many there are to publish
select count(*) as row_count
from "sqlanon_population"
