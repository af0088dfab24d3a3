"""Rows stay where they are: what a verb fetches into Python does not grow with the rows of the table."""

import pytest

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine

ROWS = 20_000
PEOPLE = (
    "select i as id, 18 + hash(i) % 60 as age, hash(i * 7 + 1) % 2 as sex, hash(i * 13 + 5) % 20 as ward,"
    " 'd' || cast(floor(30 * pow(hash(i * 3 + 2) % 1000 / 1000.0, 2)) as integer) as disease"
    f" from range({ROWS}) as t(i)"
)
KNOWN = (
    "select sex, disease, row_count / sum(row_count) over (partition by sex) as probability"
    " from (select sex, disease, count(*) as row_count from people group by sex, disease)"
)
ROLES = {"quasi": ["age", "sex", "ward"], "sensitive": "disease"}
METHODS = {
    "anatomy": {"l": 4},
    "robust": {"r": 4},
    "splu": {"gamma": 4},
    "mondrian": {"k": 10, "l": 3},
}


@pytest.fixture
def fetched(monkeypatch):
    """Return a list that gets the number of rows of every answer that Python takes."""
    counts = []

    def count(name, length):
        original = getattr(DuckDBEngine, name)

        def counted(self, sql):
            answer = original(self, sql)
            counts.append(length(answer))
            return answer

        monkeypatch.setattr(DuckDBEngine, name, counted)

    count("rows", len)
    count("frame", len)
    count("arrays", lambda arrays: max((len(array) for array in arrays.values()), default=0))
    return counts


@pytest.mark.parametrize("method", METHODS)
def test_verbs_fetch_what_does_not_grow_with_the_rows(con, tmp_path, fetched, method):
    people, known = str(tmp_path / "people.parquet"), str(tmp_path / "known.parquet")
    con.execute(f"copy ({PEOPLE}) to '{people}'").fetchall()
    con.execute(f"create view people as from '{people}'").fetchall()
    con.execute(f"copy ({KNOWN}) to '{known}'").fetchall()
    asked = METHODS[method] | ({"background": known} if method == "robust" else {})
    release = getattr(sqlanon, method)(con, people, out=tmp_path / "out", **ROLES, **asked)
    taken = {"publish": sum(fetched)}
    verbs = {
        "verify": lambda: release.verify(against=people),
        "estimate": lambda: release.estimate("SELECT sex, COUNT(*) FROM release WHERE disease = 'd3' GROUP BY sex"),
        "check": lambda: sqlanon.check(con, people, **ROLES),
    }
    if method == "robust":
        verbs["verify with a background"] = lambda: release.verify(background=known, r=4)
    for name, ask in verbs.items():
        fetched.clear()
        ask()
        taken[name] = sum(fetched)
    assert {name: count for name, count in taken.items() if count > ROWS / 10} == {}
