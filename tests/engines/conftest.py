"""What the tests of all engines compare with: the releases of the hostile table that DuckDB makes."""

import duckdb
import pytest

import sqlanon
from sqlanon.plans.templates import ident
from tests.conftest import NASTY_NAMES
from tests.databases import insert
from tests.engines.hostile import (
    ASKED,
    BOXED,
    COLUMNS,
    DOUBT_COLUMNS,
    DOUBT_TREE,
    DOUBTFUL,
    DOUBTFUL_ROWS,
    IDENTIFIERS,
    KEY,
    KNOWN,
    OF_PERSONS,
    PERSONS,
    QUASI,
    RANDOMIZED,
    ROWS,
    SENSITIVE,
    TREE,
    VISITS,
    a_background,
)
from tests.engines.nights import ASKED_NIGHTS, NIGHTS, people_of, publish_nights, tables_of, told_of


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """Return a DuckDB connection with the table `hostile`, and its Parquet file."""
    con = duckdb.connect()
    con.execute(f"create table hostile ({', '.join(f'{ident(name)} {kind}' for name, kind in COLUMNS.items())})")
    insert(con, "hostile", ROWS)
    path = tmp_path_factory.mktemp("source") / "hostile [1].parquet"
    con.execute(f"copy hostile to '{path}'").fetchall()
    yield con, path
    con.close()


@pytest.fixture(scope="session")
def expected(source):
    """Publish with DuckDB."""
    return sqlanon.anatomy(source[0], "hostile", id=IDENTIFIERS, key=KEY, **ASKED)


@pytest.fixture(scope="session")
def nights(source, tmp_path_factory):
    """Publish three nights with DuckDB under a ledger; return the releases' tables and what the ledger tells.

    For each of what was asked for.
    """
    con, folder = source[0], tmp_path_factory.mktemp("nights")
    for night, name in enumerate(NIGHTS):
        con.execute(f"create table {ident(name)} as from hostile limit 0")
        insert(con, ident(name), people_of(night))
    found = []
    for number, asked in enumerate(ASKED_NIGHTS):
        ledger = folder / f"ledger_{number}"
        places = [{"out": folder / f"{number}_{night}"} for night in range(len(NIGHTS))]
        releases = publish_nights(con, ledger, places.__getitem__, **asked)
        told, history = told_of(ledger)
        # otherwise the nights would show less than they are for
        assert told["stale"] and told["departed"]
        assert all(history[2][name] for name in ("returned", "arrived", "changed", "waiting"))
        found.append((tables_of(releases), (told, history)))
    return found


@pytest.fixture(scope="session")
def randomized(source):
    """Publish several randomized attributes with DuckDB."""
    name = NASTY_NAMES[0]
    asked = {**RANDOMIZED, "sensitive": [SENSITIVE, name], "gamma": {SENSITIVE: 3, name: 4}}
    asked["quasi"] = [column for column in QUASI if column != name]
    return asked, sqlanon.splu(source[0], "hostile", **asked)


@pytest.fixture(scope="session")
def persons(source):
    """Publish persons who have several rows with DuckDB."""
    source[0].execute(f"create or replace temporary table visits as {VISITS}")
    return [
        (method, asked | PERSONS, getattr(sqlanon, method)(source[0], "visits", **asked, **PERSONS))
        for method, asked in OF_PERSONS
    ]


@pytest.fixture(scope="session")
def classes(source):
    """Publish class by class with DuckDB, against two backgrounds."""
    asked = {**RANDOMIZED, "quasi": QUASI, "sensitive": SENSITIVE, "r": 2, "max_suppressed": 0.9}
    asked["background_from"] = [["ünï ©ode 漢字"], ["ünï ©ode 漢字", "a,b"]]
    return asked, sqlanon.robust(source[0], "hostile", **asked)


@pytest.fixture(scope="session")
def boxes(source):
    """Publish boxes with DuckDB: sets of texts, bounds with and without NULLs, nodes of a hierarchy."""
    con = source[0]
    con.execute("create table tree (child varchar, parent varchar)")
    insert(con, "tree", TREE)
    con.execute(f"copy tree to '{source[1].parent / 'tree.parquet'}'").fetchall()
    return sqlanon.mondrian(con, "hostile", hierarchy={"price": "tree"}, **BOXED)


@pytest.fixture(scope="session")
def doubts(source):
    """Publish uncertain rows with DuckDB: groups merged, and groups suppressed."""
    con, folder = source[0], source[1].parent
    con.execute(f"create table doubts ({', '.join(f'{ident(name)} {kind}' for name, kind in DOUBT_COLUMNS.items())})")
    insert(con, "doubts", DOUBTFUL_ROWS)
    con.execute("create table doubt_tree (child varchar, parent varchar)")
    insert(con, "doubt_tree", DOUBT_TREE)
    for name in ("doubts", "doubt_tree"):
        con.execute(f"copy {name} to '{folder / name}.parquet'").fetchall()
    changes = ({}, {"undiverse": "suppress", "order_alternatives": "sorted"})
    found = [(asked, sqlanon.uncertain(con, "doubts", **DOUBTFUL, **asked)) for asked in changes]
    merged, hidden = (release.verify().figures for _, release in found)
    # otherwise the two would show less than they are for
    assert merged["largest_group"] > DOUBTFUL["k"] and hidden["suppressed_rows"] and hidden["uncertain_sensitive"]
    return found


@pytest.fixture(scope="session")
def exposed(source, expected, tmp_path_factory):
    """Return what DuckDB says of the release, and the backgrounds as files."""
    con, folder = source[0], tmp_path_factory.mktemp("backgrounds")
    files = []
    for number, column in enumerate(KNOWN):
        files.append(folder / f"known_{number}.parquet")
        con.execute(f"copy ({a_background(column)}) to '{files[-1]}'").fetchall()
    report = expected.verify(background=files, r=2)
    assert len(report.posterior) == 3 and report.posterior[0]["largest_posterior"] > 0.5
    return report, files
