"""What a caller does on a connection of theirs.

The same steps are done on a connection as DuckDB opens it and on one with a setting: each has the same result.
"""

import warnings
from collections.abc import Callable
from typing import Any

import duckdb

import sqlanon
from sqlanon.plans.templates import literal

KEY = "ab" * 32
PEOPLE = (
    "select i as ssn, (20 + i * 7 % 60)::integer as age, case when i % 3 = 0 then 'F' when i % 50 > 0 then 'm' end as"
    " sex, 10000 + i % 11 as zipcode, 'd' || (case when i % 100 < 5 then 0 else i % 8 end) as disease,"
    " timestamp '2012-02-28 01:30:00' + interval (i % 5) day as admitted, (i % 7 / 4.0)::double as bill"
    " from range(240) as t(i)"
)
ROLES = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease", "id": "ssn", "key": KEY}
TYPED = ROLES | {"quasi": ["age", "admitted", "bill", "sex"]}
PUBLICATIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "anatomy": (sqlanon.anatomy, TYPED | {"l": 3}),
    "splu": (sqlanon.splu, ROLES | {"gamma": 3}),
    "robust": (sqlanon.robust, ROLES | {"r": 2, "background_from": "sex"}),
    "uncertain": (sqlanon.uncertain, ROLES | {"k": 4, "l": 2, "threshold": 0.3, "influence": "learn"}),
    "mondrian": (sqlanon.mondrian, TYPED | {"k": 5, "l": 2}),
}
_SHOWN = {name: ROLES[name] for name in ("quasi", "sensitive", "id")}
QUERY = "SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'd1' GROUP BY sex ORDER BY n"


def do_all(connection: Any) -> dict[str, Any]:
    """Publish, verify, estimate and check on a connection with `PEOPLE` as `patients`; return each step's result."""
    verb, roles = PUBLICATIONS["anatomy"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = verb(connection, "patients", **roles)
        report, answer = release.verify(against="patients"), release.estimate(QUERY)
        checked = str(sqlanon.check(connection, "patients", **_SHOWN))
    # of files, digests and sizes differ where a setting changes how they are compressed
    checks = [(check.name, str(check.found)) for check in report.checks if check.name != "files"]
    figures = [(name, _rounded(value)) for name, value in sorted(report.figures.items())]
    return {
        "tables": {name: str(release.engine.rows(f"select * from {table}")) for name, table in release.tables.items()},
        "proof": str((report.holds, checks, figures)),
        "answer": str([[_rounded(value) for value in row] for row in answer.itertuples(index=False)]),  # with NaN
        "check": checked,
    }


def _rounded(value: Any) -> Any:
    return float(f"{value:.9g}") if isinstance(value, float) else value


def set_on(connection: Any, name: str, value: str) -> bool:
    """Set it as text; tell whether DuckDB takes the value and it is another one than before."""
    current = f"select value from duckdb_settings() where name = '{name}'"
    before = connection.execute(current).fetchall()
    try:
        connection.execute(f"set {name} = {literal(value) if not value.startswith('[') else value}").fetchall()
        return connection.execute(current).fetchall() != before
    except duckdb.Error:
        return False
