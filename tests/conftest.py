"""What tests share: a connection, the paper's tables, a command-line runner that sees what a user sees."""

import gc
import hashlib
import itertools
import shutil
from pathlib import Path

import duckdb
import pytest

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.key import Key
from tests.command import Shell
from tests.databases import close_instances, connect
from tests.servers import grouped, server, spark  # noqa: F401 - fixtures

ROOT = Path(__file__).resolve().parent.parent
PAPERS = ROOT / "fixtures" / "papers"
REAL_DATA = ROOT.parent / "shared" / "data"

# names that break careless quoting, shadow our own names, or are SQL
NASTY_NAMES = [
    'quo"te',
    "apo'strophe",
    "semi;colon",
    "with space",
    "ünï ©ode 漢字",
    "select",
    "group_id",
    "count",
    "draw",
    "sensitive",
    "quasi_1",
    "row_number",
    "'); drop table patients; --",
    "{{ 7 * 7 }}",
    "a,b",
    "UPPER",
    "key",
    "%s",
    "back\\slash",
]

NASTY_VALUES = [
    "'; drop table patients; --",
    '"',
    "",
    " ",
    "NULL",
    "N",
    "1:a",
    "漢字",
    "{{ x }}",
    "a\nb",
    "\x1b[31mred",
]


METHODS = {  # each with what it is asked for where nothing else is wanted
    "anatomy": {"l": 3},
    "robust": {"r": 2, "background_from": "sex"},
    "splu": {"gamma": 3},
    "mondrian": {"k": 5, "l": 2},
    "uncertain": {"k": 4, "l": 2, "threshold": 0.5, "influence": "learn"},
}
PATIENTS = """
    create table patients as
    select
        i as ssn,
        (20 + i * 7 % 60)::integer as age,
        case when i % 3 = 0 then 'F' else 'M' end as sex,
        10000 + i % 11 as zipcode,
        'd' || (case when i % 100 < 5 then 0 else i % 8 end) as disease
    from range(600) as t(i)
"""


# the few patients of a release that is opened and changed again and again: ssn, age, sex, zipcode, disease
FEW_PATIENTS = (
    "select i as ssn, (20 + i * 7 % 60)::integer as age, case when i % 3 = 0 then 'F' else 'M' end as sex,"
    " 10000 + i % 11 as zipcode, 'd' || i % 8 as disease from range(240) t(i)"
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort tests into those of engines, and those that run in one worker, before xdist looks for groups."""
    grouped(items)


def pytest_collection_finish() -> None:
    """Let no search for cycles look through what stays until the end: every module, every test."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let what is freed at the end be freed."""
    gc.unfreeze()
    close_instances()


FRESH = Key.__dict__["fresh"]


def fix_keys(patch: pytest.MonkeyPatch, name: str) -> None:
    """Let fresh keys differ from each other, not from run to run: a figure of chance holds always or never."""
    keys = (hashlib.sha256(f"{name}/{turn}".encode()).hexdigest() for turn in itertools.count())
    patch.setattr(Key, "fresh", classmethod(lambda kind: kind(next(keys))))


@pytest.fixture(autouse=True, scope="module")
def same_keys_in_every_run(request):
    with pytest.MonkeyPatch.context() as patch:
        fix_keys(patch, request.path.name)
        yield


@pytest.fixture(autouse=True)
def same_keys_in_every_test(request, monkeypatch):
    fix_keys(monkeypatch, f"{request.path.name}/{request.node.name}")
    if "fresh_keys" in request.keywords:
        monkeypatch.setattr(Key, "fresh", FRESH)


@pytest.fixture(autouse=True, scope="module")
def names_looked_at_once(request):
    """Let engines not look a connection's thousands of functions through, but in the tests of just that."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.name != "test_duckdb_trusted_names.py":
            patch.setattr(DuckDBEngine, "_refuse_false_functions", lambda engine: None)
        yield


@pytest.fixture
def con():
    """Open an empty database in memory."""
    connection = connect()
    yield connection
    connection.close()


@pytest.fixture
def patients(con):
    """Fill a table of 600 patients: ssn, age, sex, zipcode, disease (8 values, the top one in 18 %)."""
    con.execute(PATIENTS).fetchall()
    return con


def real_data(name: str) -> Path:
    """Return a file of real microdata, or skip: it is read where it lies, never kept in the project."""
    path = REAL_DATA / name
    if not path.is_file():
        pytest.skip(f"needs the real microdata {name} beside the project")
    return path


@pytest.fixture(scope="session")
def hospital_files(tmp_path_factory):
    """Write the patients once, as patients.parquet and hospital.duckdb."""
    folder = tmp_path_factory.mktemp("hospital")
    with duckdb.connect(str(folder / "hospital.duckdb")) as connection:
        connection.execute(PATIENTS).fetchall()
        connection.execute(f"copy patients to '{folder}/patients.parquet' (format parquet)").fetchall()
    return folder


@pytest.fixture(scope="session")
def hospital_release(hospital_files, tmp_path_factory):
    """Publish these patients once; whoever changes the release, or shows it to a shell, copies it."""
    out = tmp_path_factory.mktemp("published") / "release"
    asked = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease", "id": "ssn", "l": 4, "key": "c0" * 32}
    sqlanon.anatomy(connect(), str(hospital_files / "patients.parquet"), out=out, **asked)
    return out


@pytest.fixture
def shell(tmp_path, hospital_files):
    """Return a runner in a fresh folder that holds patients.parquet and hospital.duckdb."""
    (tmp_path / "tmp").mkdir()
    shutil.copytree(hospital_files, tmp_path, dirs_exist_ok=True)
    return Shell(tmp_path)
