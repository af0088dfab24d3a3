"""Releases under one fixed key, digested: a change of the code that changes a release is seen, on every engine.

DuckDB 1.4, 1.5 and 2.0 write equal rows in equal order: their files differ, for each names its own version in them.

`UPDATE_GOLDEN=1` writes `golden/digests.json` anew: whoever does so says why the same key gives another release now.
"""

import datetime
import hashlib
import json
import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest

import sqlanon
from tests.databases import database

DIGESTS = Path(__file__).parent / "golden" / "digests.json"
COLUMNS = {
    **dict.fromkeys(("ssn", "age", "zipcode"), "bigint"),
    **dict.fromkeys(("sex", "disease", "job"), "varchar"),
    **{"admitted": "date", "bill": "decimal(9, 2)"},
}
PEOPLE = (
    "select i as ssn, (20 + i * 7 % 60)::integer as age, case when i % 3 = 0 then 'F' else 'M' end as sex,"
    " 10000 + i % 11 as zipcode, 'd' || (case when i % 100 < 5 then 0 else i % 8 end) as disease,"
    " 'j' || (i * i % 9) as job, date '2012-02-28' + (i % 5)::integer as admitted, (i % 7 / 4)::decimal(9, 2) as bill"
    " from range(600) as t(i)"
)
ROLES = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease", "id": "ssn", "key": "ab" * 32}
TYPED = ROLES | {"quasi": ["age", "admitted", "bill"]}
REQUESTS = {
    "anatomy": ("anatomy", ROLES | {"l": 4}),
    "anatomy of dates and decimals": ("anatomy", TYPED | {"l": 4}),
    "anatomy without id": ("anatomy", ROLES | {"l": 3, "block": None, "quasi": ["age", "sex"], "id": ()}),
    "anatomy with residual rows": ("anatomy", ROLES | {"l": 7, "quasi": ["age", "sex"], "sensitive": "zipcode"}),
    "splu": ("splu", ROLES | {"gamma": 4}),
    "splu of two columns": ("splu", ROLES | {"sensitive": ["disease", "job"], "gamma": {"disease": 4, "job": 3}}),
    "robust": ("robust", ROLES | {"r": 3, "background_from": "sex"}),
    "robust of two columns": (
        "robust",
        ROLES | {"quasi": ["age", "sex"], "sensitive": ["disease", "zipcode"], "r": 3, "background_from": "sex"},
    ),
    "robust of two backgrounds": (
        "robust",
        ROLES | {"r": 3, "background_from": ["sex", "sex,zipcode"], "max_suppressed": 0.5},
    ),
    "uncertain learned": (
        "uncertain",
        ROLES | {"k": 5, "l": 3, "threshold": 0.3, "influence": "learn"},
    ),
    "uncertain suppressed": (
        "uncertain",
        ROLES | {"k": 4, "l": 3, "threshold": 0.6, "influence": "learn", "undiverse": "suppress"},
    ),
    "mondrian": ("mondrian", TYPED | {"k": 7, "l": 3, "quasi": ["age", "admitted", "bill", "sex"]}),
    "mondrian of two columns": (
        "mondrian",
        ROLES | {"sensitive": ["disease", "job"], "k": 20, "l": 4, "diversity": "distinct", "partition": "relaxed"},
    ),
    "mondrian relaxed": ("mondrian", ROLES | {"k": 7, "partition": "relaxed"}),
}
# what tests/engines does not compare; each turn of a loop takes Spark a second
STEADY = ["anatomy without id", "anatomy with residual rows"]
TRAVELLING = [*STEADY, "robust of two columns", "mondrian of two columns"]


def plain(value: object) -> object:
    """Return what JSON can hold: the value, not how an engine's client spells it."""
    if isinstance(value, Decimal | datetime.date):
        return str(value)
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return {name: plain(one) for name, one in value.items()} if isinstance(value, Mapping) else value


def digests(release: sqlanon.Release, in_order: bool = False) -> dict[str, str]:
    """Return SHA-256 over the rows of each published table, its column names before them.

    in_order: as the table has them; else sorted, for engines that give rows in any order.
    """
    found = {}
    for name, table in release.tables.items():
        rows = list(release.engine.rows(f"select * from {table}"))
        lines = [json.dumps(plain(list(row.values()))) for row in rows]
        lines = lines if in_order else sorted(lines)
        found[name] = hashlib.sha256("\n".join([json.dumps(list(rows[0])), *lines]).encode()).hexdigest()
    return found


con = database(f"create table patients as {PEOPLE}")


@pytest.fixture(scope="module")
def expected():
    return json.loads(DIGESTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", REQUESTS)
def test_the_same_key_gives_the_release_it_always_gave(con, tmp_path, name):
    method, asked = REQUESTS[name]
    getattr(sqlanon, method)(con, "patients", out=tmp_path / "release", **asked)
    release = sqlanon.open(tmp_path / "release")
    found = {"rows": digests(release), "rows in order": digests(release, in_order=True)}
    kept = json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.is_file() else {}
    if os.environ.get("UPDATE_GOLDEN"):
        kept = {key: value for key, value in (kept | {name: found}).items() if key in REQUESTS}
        DIGESTS.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    assert found == kept[name], "the same key gives another release; if that is meant, UPDATE_GOLDEN=1"


def test_no_digest_is_left_over(expected):
    assert set(expected) == set(REQUESTS)


@pytest.fixture(scope="module")
def postgres(con, server):
    import psycopg

    with psycopg.connect(server.new_database("digests"), autocommit=True) as session:
        session.execute(f"create table patients ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})")
        with session.cursor() as cursor, cursor.copy("copy patients from stdin") as copy:
            for row in con.execute(f"select {', '.join(COLUMNS)} from patients").fetchall():
                copy.write_row(row)
        yield session


@pytest.mark.parametrize("name", TRAVELLING)
def test_postgres_gives_the_same_release(postgres, expected, name):
    method, asked = REQUESTS[name]
    assert digests(getattr(sqlanon, method)(postgres, "patients", **asked)) == expected[name]["rows"]


@pytest.mark.parametrize("name", STEADY)
def test_spark_gives_the_same_release(con, spark, expected, name, tmp_path):
    con.execute(f"copy patients to '{tmp_path}/patients.parquet' (format parquet)").fetchall()
    method, asked = REQUESTS[name]
    getattr(sqlanon, method)(spark, str(tmp_path / "patients.parquet"), out=tmp_path / "release", **asked)
    assert digests(sqlanon.open(tmp_path / "release")) == expected[name]["rows"]
