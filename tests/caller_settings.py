"""What a caller does on a connection of theirs.

The same steps are done on a connection as DuckDB opens it and on one with a setting: each has the same result, or is
refused in words.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import duckdb

import sqlanon
from sqlanon.plans.templates import literal

FAULT = "FAULT"
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
    results: dict[str, Any] = {}

    def do(name: str, step: Callable[[], Any]) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results[name] = step()
        except sqlanon.SqlanonError as error:
            wrong = "" if error.exit_code in (2, 3) else f"{FAULT} of exit code {error.exit_code}, "
            results[name] = f"{wrong}refused: {error}"
        except Exception as error:
            results[name] = f"{FAULT}: {type(error).__name__}: {str(error)[:300]}"

    verb, roles = PUBLICATIONS["anatomy"]
    do("publish", lambda: _session(verb(connection, "patients", **roles)))
    do("check", lambda: str(sqlanon.check(connection, "patients", **_SHOWN)))
    return results


def _tables(release: sqlanon.Release) -> dict[str, str]:
    return {name: str(release.engine.rows(f"select * from {table}")) for name, table in release.tables.items()}


def _session(release: sqlanon.Release) -> list[object]:
    """Return a release that lives on the connection, its verification, and an answer; forget it."""
    return [_tables(release), _report(release.verify(against="patients")), _rows(release.estimate(QUERY))]


def _report(report: Any) -> str:
    # of files, digests and sizes differ where a setting changes how they are compressed
    checks = [(check.name, str(check.found)) for check in report.checks if check.name != "files"]
    return str((report.holds, checks, [(name, _rounded(value)) for name, value in sorted(report.figures.items())]))


def _rows(answer: Any) -> str:
    return str([[_rounded(value) for value in row] for row in answer.itertuples(index=False)])


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


def complaints(usual: Mapping[str, Any], results: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a setting has changed: a result that is another one, a fault, a step that is missing."""
    for name, result in results.items():
        if FAULT in str(result):
            yield f"{name}: {result}"
        elif result != usual[name] and not str(result).startswith("refused: "):
            yield f"{name}: another result: {str(result)[:300]} for {str(usual[name])[:300]}"
