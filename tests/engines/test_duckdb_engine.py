"""Numbers are fetched as arrays: of every type, with NULL as NaN."""

import numpy as np

from sqlanon.engines.connect import open_duckdb


def test_numbers_come_as_arrays():
    found = open_duckdb().arrays(
        "select i::integer as i, i::hugeint as h, cast(i as decimal(9, 2)) as d, case when i > 0 then i end as n,"
        " case when i > 0 then i > 1 end as b, sum(i) over () as s from range(3) r(i) order by i"
    )
    assert {name: column.astype(float).tolist()[1:] for name, column in found.items()} == {
        **{name: [1.0, 2.0] for name in "ihdn"},
        "b": [0.0, 1.0],
        "s": [3.0, 3.0],
    }
    assert np.isnan(found["n"][0]) and np.isnan(found["b"][0]) and found["i"].dtype == np.int32
    assert open_duckdb().arrays("select 1 as i where false")["i"].tolist() == []
