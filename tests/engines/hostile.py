"""One table of 240 rows that means the same in every engine, though its names and values are hostile, and how
releases of it are compared."""

import datetime
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sqlanon
from sqlanon.attacks.attack_release import attack_release
from sqlanon.plans.build import render_query
from sqlanon.plans.templates import Sql, ident, literal
from tests.conftest import NASTY_NAMES, NASTY_VALUES

KEY = "ab" * 32
VALUES = [*NASTY_VALUES, None, "é", "e\u0301", "a\\b", "AB", "ab", "Z", "a z", "a-b"]
SENSITIVE = "sens'it\"ive"
IDENTIFIERS = {"who `is` \\ it": "varchar", "number": "bigint", "born": "date", "paid": "decimal(12, 2)"}
COLUMNS = {
    **dict.fromkeys(NASTY_NAMES, "varchar"),
    "age": "integer",
    "seen": "date",
    "price": "decimal(9, 2)",
    SENSITIVE: "varchar",
    **IDENTIFIERS,
}
QUASI = [name for name in COLUMNS if name not in (SENSITIVE, *IDENTIFIERS)]
ASKED = {"quasi": QUASI, "sensitive": SENSITIVE, "l": 3, "nulls": "value", "unique_quasi": "keep"}
QUERIES = [
    "SELECT COUNT(*) FROM release WHERE age >= 40",
    f"SELECT {ident(SENSITIVE)} AS s, COUNT(*), AVG(age / 2) FROM release WHERE age BETWEEN 20 AND 55"
    f" GROUP BY {ident(SENSITIVE)} ORDER BY s",
    f"SELECT COUNT(*) AS n FROM release WHERE {ident(SENSITIVE)} IN ('Z', 'ab') OR age < 30",
    f"WITH old AS (SELECT * FROM release WHERE age >= 30) SELECT {ident(SENSITIVE)} AS s, COUNT(age) AS n,"
    " round(100 * COUNT(*) FILTER (WHERE age < 45) / COUNT(*), 2) AS share, AVG(age) - 1 AS x"
    f" FROM old WHERE {ident(SENSITIVE)} <> 'abc' GROUP BY 1 HAVING n > 2 ORDER BY s",
    "SELECT age < 40 AS young, MEDIAN(seen) AS m, QUANTILE_CONT(price, 0.3) AS q,"
    f" MEDIAN(length({ident(SENSITIVE)})) AS l"
    f" FROM release WHERE {ident(SENSITIVE)} <> 'abc' GROUP BY young ORDER BY young",
    f"SELECT STDDEV(age) AS s, CORR(age, price) AS r FROM release WHERE {ident(SENSITIVE)} IN ('Z', 'ab')",
]


def a_row(i: int) -> list[object]:
    day = datetime.date(1950, 1, 31) + datetime.timedelta(days=37 * i)
    quasi = [VALUES[(i * (place + 3) + i // 7) % len(VALUES)] for place in range(len(NASTY_NAMES))]
    numbers = [None if i % 13 == 0 else 18 + i % 50, None if i % 17 == 0 else day, Decimal(i % 40) / 4]
    person = [f"{i}é\\", i * 10_000_000_000, day, Decimal(i) / 100]
    return [*quasi, *numbers, VALUES[i * i % len(VALUES)], *person]


ROWS = [a_row(i) for i in range(240)]


def rows_of(release: sqlanon.Release) -> dict[str, list[str]]:
    """Return a release's tables as multisets, read by whatever engine the release is opened on."""
    relations = {name: release.engine.rows(f"select * from {table}") for name, table in release.tables.items()}
    return {name: sorted(repr(tuple(row.values())) for row in rows) for name, rows in relations.items()}


RANDOMIZED = {"unique_quasi": "keep", "nulls": "value", "id": IDENTIFIERS, "key": KEY}


PUBLISH = ("publish", "anatomy", "patients", "--quasi", "age", "--sensitive", "disease", "-l", "4")


def same_answer(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    assert list(found.columns) == list(wanted.columns) and len(found) == len(wanted)
    for column in wanted.columns:
        if pd.api.types.is_numeric_dtype(wanted[column]):
            np.testing.assert_allclose(found[column].astype(float), wanted[column].astype(float), rtol=1e-9, atol=1e-9)
        else:
            assert found[column].fillna("NULL").tolist() == wanted[column].fillna("NULL").tolist()


def a_background(column: str) -> str:
    """Return SQL for what an adversary may know: frequencies by one column, some of it left to be shared."""
    name, value = ident(column), ident(SENSITIVE)
    counted = f"select {name}, {value}, count(*) as n from hostile group by {name}, {value}"
    shared = f"cast(n as double precision) / sum(n) over (partition by {name}) as probability"
    listed = f"select {name}, {value}, {shared} from ({counted}) as counted"
    return f"select {name}, {value}, probability * 0.9 as probability from ({listed}) as listed"


KNOWN = (NASTY_NAMES[1], "seen", "price")  # text, dates, decimals, NULLs among them


def same_posteriors(found, wanted):
    assert found.posterior
    for one, other in zip(found.posterior, wanted.posterior, strict=False):
        same_answer(pd.DataFrame(one["sizes"]), pd.DataFrame(other["sizes"]))
        told = {key: value for key, value in one.items() if key not in ("background", "sizes")}
        assert told == {key: pytest.approx(other[key]) if isinstance(value, float) else other[key]
                        for key, value in told.items()}  # fmt: skip


def same_voters(found, wanted):
    assert list(found.presence.columns) == list(wanted.presence.columns)
    answers = [one.presence.iloc[:, -5:].astype(float).round(9).values.tolist() for one in (found, wanted)]
    assert sorted(answers[0]) == sorted(answers[1]) and len(answers[0]) == len(ROWS)
    assert found.figures["presence"] == pytest.approx(wanted.figures["presence"])


def refused(run: subprocess.CompletedProcess[str], *words: str) -> None:
    """Look at one clear line and exit code 2; no password in it."""
    said = run.stdout + run.stderr
    assert run.returncode == 2 and run.stderr.count("\n") == 1 and "Traceback" not in said
    assert all(word in run.stderr for word in words), run.stderr
    assert "sesame" not in said


def same_page(release, expected, against="hostile"):
    """Compare what a page tells of two equal releases, true values and attacks included."""
    sides = ((release, against), (expected, "hostile"))
    pages = [sqlanon.report(one, against=table) for one, table in sides]
    told, wanted = (page.facts for page in pages)
    assert pages[0].sentences == pages[1].sentences and told.sizes == wanted.sizes
    for mine, its in zip(told.frequencies, wanted.frequencies, strict=True):
        found, sought = ({line["name"]: line for line in one.lines} for one in (mine, its))
        both = found.keys() & sought.keys()  # which of several equally frequent ones come last is rounding's choice
        assert 2 * len(both) > len(found) == len(sought)
        for side in ("value", "low", "high", "truth"):
            figures = [[one[name][side] for name in both] for one in (found, sought)]
            assert figures[0] == pytest.approx(figures[1], abs=1e-6)
    assert len(pages[0].html) > 10_000


KINDS = ("Z", "a z", "a-b", "é", "AB")  # of prices: nodes whose order is another in English
TREE = [(str(Decimal(i) / 4 + Decimal("0.00")), KINDS[i % 5]) for i in range(40)] + [(kind, "any") for kind in KINDS]
BOXED = {"quasi": [NASTY_NAMES[0], "age", "seen", "price"], "sensitive": SENSITIVE, "nulls": "value", "key": KEY}
BOXED |= {"id": IDENTIFIERS, "k": 20, "l": 2, "partition": "relaxed", "hierarchy": {"price": "tree"}}
BOX_QUERIES = [
    "SELECT COUNT(*) AS n FROM release WHERE age BETWEEN 20.5 AND 44 AND seen < DATE '1965-06-01' AND age < 3000000000",
    f"SELECT {ident(SENSITIVE)} AS s, COUNT(*) FROM release WHERE price > 3 OR age IS NULL GROUP BY s ORDER BY s",
    f"SELECT {ident(NASTY_NAMES[0])} AS q, COUNT(*) AS n FROM release WHERE age < 40 GROUP BY q ORDER BY q",
    f"SELECT COUNT(*) AS n FROM release WHERE {ident(SENSITIVE)} = {ident(NASTY_NAMES[0])}",
]
SETS = {
    r'["a","b \"\\\u001B",null]': ["a", 'b "\\\x1b', None],
    **{text: [] for text in ('["a",]', "zz", "", '{"a":1}', "[]", '"a"')},
}
LISTED = sorted(((shown, name) for shown, names in SETS.items() for name in names), key=repr)


def read_sets(engine) -> list[tuple[str, str | None]]:
    """Read the lists of SETS as templates do: a text that is no list has no values."""
    listed = " union all ".join(f"select {literal(text)} as shown" for text in SETS)
    sql = render_query("verify/covered", {"nodes": False, "roots": []}, {"published": Sql(f"({listed})")})
    return sorted(((row["shown"], row["name"]) for row in engine.rows(sql)), key=repr)


def same_attack(release, expected, against="hostile", quick=True, theirs="hostile"):
    """Compare what attacks reach: all of them, or where quick, those that match no orders."""
    found, wanted = (
        attack_release(one, table, others=[one], telling=not quick, orders=not quick)
        for one, table in ((release, against), (expected, theirs))
    )
    told, sought = ([(one.attack, one.reached) for one in each.findings] for each in (found, wanted))
    assert [name for name, _ in told] == [name for name, _ in sought] and found.notes == wanted.notes
    assert [share for _, share in told] == pytest.approx([share for _, share in sought], abs=0.02)
    assert "2 releases intersected" not in dict(told) or dict(told)["2 releases intersected"] < 1


# -- uncertain cells: lists of hostile texts, of numbers and of dates -------------------------------------

HELD = [value for value in VALUES if value]  # a hierarchy has no empty text
DOUBT_TREE = [*((value, f"n{place % 3}") for place, value in enumerate(HELD)), *((f"n{n}", "any") for n in range(3))]
DOUBT_COLUMNS = {
    "i": "bigint",
    NASTY_NAMES[0]: "varchar[]",
    "price": "decimal(9, 2)[]",
    "mark": "date[]",  # as our own queries call one of theirs
    NASTY_NAMES[13]: "varchar",
    SENSITIVE: "varchar[]",
}
DOUBTFUL = {"quasi": list(DOUBT_COLUMNS)[1:-1], "sensitive": SENSITIVE, "id": "i", "key": KEY, "influence": "learn"}
DOUBTFUL |= {
    "k": 4,
    "l": 3,
    "threshold": 0.4,
    "max_alternatives": 3,
    "hierarchy": {NASTY_NAMES[0]: "doubt_tree"},
}
DOUBT_QUERIES = [
    f"SELECT {ident(NASTY_NAMES[0])} AS q, COUNT(*) AS n FROM release WHERE price < 5 AND mark > DATE '1955-01-01'"
    f" OR {ident(SENSITIVE)} = 'Z' GROUP BY q ORDER BY q",
    f"SELECT {ident(SENSITIVE)} AS s, COUNT(*) AS n FROM release WHERE price BETWEEN 2 AND 7 GROUP BY s ORDER BY s",
]


def a_doubtful_row(i: int) -> list[object]:
    days = [datetime.date(1950, 1, 31) + datetime.timedelta(days=37 * (i % 60)), datetime.date(1961, 2, 28)]
    prices = [Decimal(i % 40) / 4, Decimal("7.25"), Decimal(i % 40) / 4]
    words = [HELD[i % len(HELD)], HELD[i * i % len(HELD)]]
    said = [HELD[(i * 7 + place) % len(HELD)] for place in (3, 0, 5)]
    return [
        i,
        None if i % 29 == 0 else words[: 1 + (i % 5 == 0)],
        None if i % 31 == 0 else prices[: 1 + 2 * (i % 7 == 0)],
        days[: 1 + (i % 11 == 0)],
        VALUES[i // 3 % 4],
        said[: 1 + (i % 6 == 0) + (i % 18 == 0)],
    ]


DOUBTFUL_ROWS = [a_doubtful_row(i) for i in range(150)]


def shown_rows(release: sqlanon.Release) -> dict[str, list[str]]:
    """Return a release's tables as `rows_of` does; the marks of uncertain cells as pairs, whatever holds them."""
    return {name: marked_rows(release.engine.rows(f"select * from {table}")) for name, table in release.tables.items()}


def marked_rows(rows: list[dict[str, object]]) -> list[str]:
    def plain(value: object) -> object:
        if not isinstance(value, list):
            return value
        return [sorted((mark if isinstance(mark, dict) else mark.asDict()).items()) for mark in value]

    return sorted(repr([plain(one) for one in row.values()]) for row in rows)


UNITS = ("week", "month", "quarter", "year", "decade", "century")
_DAY = "cast('1989-12-25' as date) + cast(i * 5 as integer) as {}_of"
COARSE = (
    "select i as ssn, cast(i % 60 - 9 as integer) as age, cast(i % 7 * 1.15 as decimal(9, 2)) as paid,"
    " cast(i % 11 as double precision) / 4 as weight, concat('漢é', cast(i % 4 as varchar), 'x') as code,"
    " concat('漢é', cast(i % 4 as varchar), 'x') as town, i % 5 as number,"
    f" {', '.join(map(_DAY.format, UNITS))},"
    " concat('d', cast(i % 8 as varchar)) as disease from range(1, 241) as t(i)"
)


RULES = {"age": 20, "paid": "2.5", "weight": 1, "code": "2 letters", **{f"{unit}_of": unit for unit in UNITS}}


def refuse_what_is_marked(con, release: sqlanon.Release, source: str, folder: Path) -> None:
    """Ask an engine for all that it is marked to lack: each is refused with the mark's reason."""
    asked = {"quasi": ["age"], "sensitive": "disease", "l": 2, "key": KEY}
    requests = {
        "directory": lambda: sqlanon.anatomy(con, source, out=folder / "release", **asked),
        "schema": lambda: sqlanon.anatomy(con, source, into="elsewhere", **asked),
        "session": lambda: sqlanon.anatomy(con, source, **asked),
        "compare": lambda: sqlanon.compare(con, source, quasi=["age"], sensitive="disease"),
        "complete": lambda: release.complete(1),
    }
    for what, mark in release.engine.lacks.items():
        if what in requests:
            with pytest.raises(sqlanon.SqlanonError) as refused:
                requests[what]()
            assert mark.why in str(refused.value), what


# persons with several rows, two sensitive columns, texts of every kind: literals that every engine reads alike
VISITS = "select * from (values {}) as t(id, age, sex, disease, drug)".format(
    ", ".join(
        f"({p}, {20 + p * 7 % 60}, '{'fm'[p % 2]}', 'd{(p * 5 + k * k * 3 + p * k) % 23}{'ü' * (k % 2)}',"
        f" 'x{(p * 3 + k * 11) % 17}')"
        for p in range(240)
        for k in range(1 + p * p % 4)
    )
)
PERSONS = {"quasi": ["age", "sex"], "id": "id", "key": KEY, "max_suppressed": 0.2}
PERSON_QUERIES = [
    "SELECT COUNT(*) FROM release WHERE age >= 40 AND disease = 'd3'",
    "SELECT sex, COUNT(*), AVG(age) FROM release WHERE disease IN ('d3', 'd7ü') GROUP BY sex ORDER BY sex",
]


SECOND = f"SELECT COUNT(*) FROM release WHERE age >= 40 AND {ident(NASTY_NAMES[0])} IS NOT NULL"
SCHOOLS = [("a", "low"), ("b", "low"), ("c", "high"), ("low", "any"), ("high", "any")]
AGES = [*((str(n), f"{n // 10}0s") for n in range(20, 40)), ("20s", "*"), ("30s", "*")]
LONE = [(["a"], ["21"], "flu")] * 3 + [(["b"], ["29"], "gout")] * 3
LONE += [(["c"], [str(30 + n)], ["flu", "gout", "mumps"][n % 3]) for n in range(6)]
EDGES = {"child": "varchar", "parent": "varchar"}
# tables by name: columns with their types, and rows
LISTED_TABLES = {
    "hostile": (COLUMNS, ROWS),
    "tree": (EDGES, TREE),
    "doubts": (DOUBT_COLUMNS, DOUBTFUL_ROWS),
    "doubt_tree": (EDGES, DOUBT_TREE),
    "schools": (EDGES, SCHOOLS),
    "ages": (EDGES, AGES),
    "lone": (
        {"num": "bigint", "school": "varchar[]", "age": "varchar[]", "disease": "varchar"},
        [(number, *row) for number, row in enumerate(LONE)],
    ),
}
SELECTED_TABLES = {
    "visits": VISITS,
    "coarse": COARSE,
    "patients": "select i as ssn, i % 40 as age, 'd' || i % 8 as disease from range(1, 401) as t(i)",
    "crowd": "select i, i % 20 as ward, 's' || (i * i % 31 % 9) as s from range(200) as t(i)",
    "near": "select ward, 's' || v as s, cast((30 + (ward % 3 + 2 * v) % 7) as double) / 400 as probability"
    " from range(20) as w(ward), range(9) as r(v)",
    "missing": "select i, cast(i % 9 as int) as age, case when i % 10 > 0 then i % 6 end as s from range(60) as t(i)",
}


@dataclass(frozen=True)
class Case:
    """A release that every engine makes alike.

    there: numbers of the queries that Spark is asked. proof: what it is verified with. attacked: whether attacks are
    compared, where they are quick. shows: whether a release has what it is for.
    """

    method: str
    source: str
    asked: dict[str, Any]
    queries: Sequence[str] = ()
    there: Sequence[int] = ()
    proof: dict[str, Any] = field(default_factory=dict)
    attacked: bool = False
    shows: Callable[[sqlanon.Release], Any] = lambda release: True


_SIGNED = {"quasi": "ward", "sensitive": "s", "id": "i", "r": 3, "max_suppressed": 0.9, "key": KEY}
_CLIMBED = {"quasi": ["school", "age"], "sensitive": "disease", "id": "num", "k": 3, "l": 2, "threshold": 0.5}
_CLIMBED |= {"undiverse": "generalize", "influence": "learn", "key": KEY}
_COARSE = {"sensitive": "disease", "id": "ssn", "unique_quasi": "keep", "l": 4, "key": KEY, "coarsen": RULES}
_HIDDEN = {"undiverse": "suppress", "order_alternatives": "sorted"}
CASES = {
    "hostile": Case(
        "anatomy", "hostile", ASKED | {"id": IDENTIFIERS, "key": KEY}, QUERIES, [1, 4], {"voters": "hostile"}
    ),
    "coarser": Case("anatomy", "coarse", _COARSE | {"quasi": list(RULES)}, proof={"coarsen": RULES}),
    "several randomized": Case(
        "splu",
        "hostile",
        RANDOMIZED
        | {
            "quasi": [column for column in QUASI if column != NASTY_NAMES[0]],
            "sensitive": [SENSITIVE, NASTY_NAMES[0]],
            "gamma": {SENSITIVE: 3, NASTY_NAMES[0]: 4},
        },
        [SECOND],
    ),
    "class by class, against two backgrounds": Case(
        "robust",
        "hostile",
        RANDOMIZED
        | {
            "quasi": QUASI,
            "sensitive": SENSITIVE,
            "r": 2,
            "max_suppressed": 0.9,
            "background_from": [["ünï ©ode 漢字"], ["ünï ©ode 漢字", "a,b"]],
        },
        QUERIES[:2],
    ),
    "signatures together": Case(
        "robust",
        "crowd",
        _SIGNED | {"background": "near"},
        ["SELECT s, COUNT(*) AS n FROM release WHERE ward < 10 GROUP BY s"],
    ),
    # sets of texts, bounds with and without NULLs, nodes of a hierarchy
    "boxes": Case("mondrian", "hostile", BOXED, BOX_QUERIES, [0], {"voters": "hostile"}, attacked=True),
    "uncertain, merged": Case(
        "uncertain",
        "doubts",
        DOUBTFUL,
        DOUBT_QUERIES,
        shows=lambda release: release.verify().figures["largest_group"] > DOUBTFUL["k"],
    ),
    "uncertain, suppressed": Case(
        "uncertain",
        "doubts",
        DOUBTFUL | _HIDDEN,
        DOUBT_QUERIES,
        [1],
        attacked=True,
        shows=lambda release: (
            {"suppressed_rows", "uncertain_sensitive"} <= {k for k, n in release.verify().figures.items() if n}
        ),
    ),
    "uncertain, climbed": Case(
        "uncertain",
        "lone",
        _CLIMBED | {"hierarchy": {"school": "schools", "age": "ages"}},
        ["SELECT school, COUNT(*) AS n FROM release WHERE age < '30' GROUP BY 1 ORDER BY 1"],
        shows=lambda release: release.manifest["verified"]["generalized"]["generalized_rows"] == 6,
    ),
    "missing values last": Case(
        "anatomy", "missing", {"quasi": "age", "sensitive": "s", "l": 3, "nulls": "value", "id": "i", "key": KEY}
    ),
    **{
        f"persons, {name}": Case(method, "visits", PERSONS | asked, PERSON_QUERIES, proof={"id": "id"})
        for name, method, asked in (
            ("one turn of exchange", "anatomy", {"sensitive": ["disease", "drug"], "l": 2}),
            ("known sizes", "anatomy", {"sensitive": "disease", "l": 2, "known_size": True}),
            ("robust", "robust", {"sensitive": "disease", "r": 2, "background_from": "sex"}),
        )
    },
}
