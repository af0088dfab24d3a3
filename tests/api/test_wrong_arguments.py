"""What is handed over of the wrong type is refused in a sentence that names the argument: no fault of Python's own."""

import gc
import inspect
import sys
from pathlib import Path

import numpy
import pandas
import pytest

import sqlanon
from sqlanon.errors import SqlanonError, UsageError

ROLES = {"quasi": ["age", "sex"], "sensitive": "disease"}
COUNT = "SELECT COUNT(*) FROM release"
VIEWS = ["SELECT ssn, age FROM patients", "SELECT age, disease FROM patients"]
FRAME = pandas.DataFrame({"disease": ["measles"]})
BY_SEX = """select sex, disease, probability from (values ('F'), ('M')) s(sex),
(select disease, 0.1 as probability from patients group by 1)"""

REFUSED = [
    (lambda con, release: sqlanon.estimate(5, COUNT), "release = 5 is not a path; give a text or a Path"),
    (lambda con, release: sqlanon.open(5), "path = 5 is not a path"),
    (lambda con, release: sqlanon.open("x", database=5), "database = 5 is not a path"),
    (lambda con, release: sqlanon.ledger(5), "path = 5 is not a path"),
    (lambda con, release: sqlanon.run({"method": "anatomy"}), "job of type dict is not a path"),
    (lambda con, release: release.write(None), "directory = None is not a path"),
    (lambda con, release: sqlanon.anatomy(con, "patients", l=4, out=5, **ROLES), "out = 5 is not a path"),
    (lambda con, release: release.estimate(5), "sql = 5 is not a text"),
    (lambda con, release: release.estimate(COUNT, timeout="x"), "timeout = 'x' is not a number"),
    (lambda con, release: release.estimate_many([COUNT, 5]), "queries of type list is not a text, nor several"),
    (lambda con, release: release.table(["qit"]), "name of type list is not a text"),
    (lambda con, release: release.complete("x"), "tables = 'x' is not a whole number"),
    (lambda con, release: sqlanon.attack([]), "release of type list is no release; give one that is open, or its path"),
    (lambda con, release: sqlanon.attack(release, others=5), "others = 5 is no release"),
    (lambda con, release: release.verify(since=1.5), "since = 1.5 is no release"),
    (lambda con, release: release.verify(r="x"), "r = 'x' is not a number"),
    (lambda con, release: release.verify(against=5), "against = 5 is no table; give a table's name, a path, or an"),
    (lambda con, release: release.verify(background=[5]), "background = 5 is no table"),
    (lambda con, release: release.verification_sql(voters=5), "voters = 5 is no table"),
    (lambda con, release: release.verification_sql(voter=5), "no parameter 'voter'"),
    (lambda con, release: sqlanon.report(release, out=5), "out = 5 is not a path"),
    (lambda con, release: sqlanon.report(release, overwrite=True), "overwrite=True replaces what out names; there is"),
    (lambda con, release: sqlanon.complete(release, overwrite=True), "overwrite=True replaces what out names"),
    (lambda con, release: sqlanon.splu(con, "patients", gamma=2, overwrite=True, **ROLES), "replaces what out or into"),
    (lambda con, release: sqlanon.adopt(con, data="patients", overwrite=True), "replaces what out or into names"),
    (lambda con, release: sqlanon.adopt(con, data="patients", out="x", into="y"), "say out or into, not both"),
    (lambda con, release: sqlanon.compare(con, "patients", queries=1.5, **ROLES), "queries = 1.5 is neither a whole"),
    (lambda con, release: sqlanon.compare(con, "patients", seed=-1, **ROLES), "seed -1 is below 0"),
    (lambda con, release: sqlanon.anatomy(con, 5, l=4, **ROLES), "source = 5 is no table"),
    (lambda con, release: sqlanon.anatomy(5, "patients", l=4, **ROLES), "con = 5 is no connection of duckdb, spark, "),
    (lambda con, release: sqlanon.check(con.sql("from patients")), "con of type DuckDBPyRelation is no connection"),
    (lambda con, release: sqlanon.anatomy(con, query=5, l=4, **ROLES), "query = 5 is not a text"),
    (lambda con, release: sqlanon.anatomy(con, "patients", l="4", **ROLES), "l = '4' is not a whole number"),
    (lambda con, release: sqlanon.anatomy(con, "patients", l=4, quasi=5, sensitive="disease"), "quasi = 5 is not a t"),
    (lambda con, release: sqlanon.anatomy(con, "patients", l=4, require=5, **ROLES), "require = 5 is not a text, nor"),
    (lambda con, release: sqlanon.anatomy(con, "patients", l=4, coarsen=5, **ROLES), "coarsen = 5 is not a mapping"),
    (lambda con, release: sqlanon.anatomy(con, "patients", l=4, overwrite=5, **ROLES), "overwrite = 5 is neither True"),
    (lambda con, release: sqlanon.anatomy(con, "patients", l=4, key=5, **ROLES), "a key is a text of 64 hex digits"),
    (lambda con, release: sqlanon.Key(5), "a Key holds 64 hex digits"),
    (lambda con, release: sqlanon.Key.of(b"secret"), "a key is a text of 64 hex digits, or a Key, not of type bytes"),
    (lambda con, release: sqlanon.Key.from_file(5), "a key file is named by its path"),
    (lambda con, release: sqlanon.publish([], con, "patients"), "method of type list is not a text"),
    (lambda con, release: sqlanon.compile("anatomy", "t", dialect=[], l=4, **ROLES), "dialect of type list is none of"),
    (lambda con, release: sqlanon.read_as(con, types={"a": 1}), "types of type dict is not a mapping of column names"),
    (lambda con, release: sqlanon.pool([1, 2], [1, 1], "x"), "complete_df = 'x' is not a number"),
    # what holds rows is not shown
    (lambda con, release: sqlanon.check(FRAME, subsets=FRAME), "subsets of type DataFrame is not a whole number"),
    (lambda con, release: sqlanon.attack(FRAME), "release of type DataFrame is no release"),
]
WRONG = [None, 5, 1.5, True, "x", "", [], {}, object(), float("nan"), [[1], ["a"]], b"x", 10**30]
# each public function with arguments that are right
RIGHT = {
    "adopt": {"con": "con", "qit": "qit", "st": "st", "l": 4},
    "anatomy": {"con": "con", "source": "patients", "l": 4, **ROLES},
    "attack": {"release": "release"},
    "breach": {"con": "con", "base": "patients", "views": VIEWS, "secret": "SELECT ssn, disease FROM patients"},
    "check": {"con": "con", "source": "patients", **ROLES},
    "compare": {"con": "con", "source": "patients", "methods": "anatomy", "queries": 2, "quick": True, **ROLES},
    "compile": {"method": "anatomy", "source": "patients", "l": 4, **ROLES},
    "complete": {"release": "release", "tables": 1},
    "estimate": {"release": "ward", "query": COUNT},
    "ledger": {"path": "nowhere"},
    "macros": {"con": "con"},
    "mondrian": {"con": "con", "source": "patients", "k": 5, **ROLES},
    "open": {"path": "ward"},
    "pool": {"estimates": [1.0, 2.0], "std_errors": [1.0, 1.0]},
    "publish": {"method": "anatomy", "con": "con", "source": "patients", "l": 4, **ROLES},
    "read_as": {"con": "con"},
    "report": {"release": "release"},
    "robust": {"con": "con", "source": "patients", "r": 2, "background_from": "sex", **ROLES},
    "run": {"job": "nowhere.yml"},
    "splu": {"con": "con", "source": "patients", "gamma": 2, **ROLES},
    "uncertain": {"con": "con", "source": "patients", "k": 5, "l": 2, "threshold": 0.9, "influence": "learn", **ROLES},
    "verify": {"release": "ward"},
}
RIGHT_OF_RELEASE = {
    "ask": {"sql": COUNT},
    "estimate": {"sql": COUNT},
    "estimate_each": {"queries": [COUNT]},
    "estimate_many": {"queries": [COUNT]},
    "estimation_sql": {"sql": COUNT},
    "complete": {"tables": 1},
    "table": {"name": "qit"},
    "verification_sql": {},
    "verify": {},
    "write": {"directory": "copy"},
}


@pytest.fixture
def release(patients, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return sqlanon.anatomy(patients, "patients", l=4, out="ward", **ROLES)


def faults(function, right):
    """Return what a function raises that is no error of ours, where one of its arguments is wrong."""
    found = []
    for name in inspect.signature(function).parameters.keys() - {"options", "evidence"}:
        for value in WRONG:
            try:
                outcome = function(**{**right, name: value})
                list(outcome) if inspect.isgenerator(outcome) else None
            except SqlanonError:
                continue
            except Exception as error:
                found.append(f"{name}={value!r}: {type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_is_wrong_is_named_with_what_was_found(patients, release, call, words):
    with pytest.raises(UsageError) as refusal:
        call(patients, release)
    assert words in str(refusal.value) and "measles" not in str(refusal.value)


SPELLINGS = [  # what notebooks hold, beside what Python writes
    lambda con, release: sqlanon.compare(con, "patients", l=numpy.int64(3), methods="anatomy", queries=2, **ROLES),
    lambda con, release: sqlanon.anatomy(con, "patients", l=numpy.int64(4), overwrite=numpy.False_, **ROLES),
    lambda con, release: release.verify(background=con.sql(BY_SEX).df(), r=numpy.float64(2)),
    lambda con, release: sqlanon.check(
        con, "patients", quasi=numpy.array("age"), population=con.table("patients").df()
    ),
    lambda con, release: sqlanon.check(con, "patients", t=numpy.float32(0.5), **ROLES),
    lambda con, release: sqlanon.compile("anatomy", Path("patients.parquet"), l=3, **ROLES),
    lambda con, release: sqlanon.read_as(con, types=None, missing=None),
]


@pytest.mark.parametrize("call", SPELLINGS)
def test_what_means_the_same_is_read_alike(patients, release, call):
    call(patients, release)


def test_each_public_function_is_looked_at():
    functions = {name for name in sqlanon.__all__ if inspect.isfunction(getattr(sqlanon, name))}
    assert functions == {*RIGHT}
    methods = {name for name in vars(sqlanon.Release) | vars(sqlanon.Release.__mro__[1]) if not name.startswith("_")}
    called = {name for name in methods if inspect.isfunction(getattr(sqlanon.Release, name))}
    assert called - {"attack", "report", "close", "sections", "require_unchanged"} == {*RIGHT_OF_RELEASE}


@pytest.mark.parametrize("name", RIGHT)
def test_no_argument_of_a_function_ends_in_a_fault(patients, release, name):
    ours = {"con": patients, "release": release}
    right = {key: ours.get(value, value) if isinstance(value, str) else value for key, value in RIGHT[name].items()}
    assert faults(getattr(sqlanon, name), right) == []


@pytest.mark.parametrize("name", RIGHT_OF_RELEASE)
def test_no_argument_of_a_release_s_method_ends_in_a_fault(release, name):
    assert faults(getattr(release, name), RIGHT_OF_RELEASE[name]) == []


@pytest.mark.parametrize(
    "refused",
    [
        lambda con: sqlanon.anatomy(con, "patients", quasi="age", sensitive="disease", l="x"),
        lambda con: sqlanon.anatomy(con, "patients", quasi="age", sensitive="disease"),
        lambda con: sqlanon.anatomy(con, 3, quasi="age", sensitive="disease", l=2),
        lambda con: sqlanon.anatomy(con, "patients", quasi="age", sensitive=con, l=10**12),
        lambda con: sqlanon.anatomy(con, "patients", quasi="age", sensitive="disease", l=2, coarsen={"age": object()}),
        lambda con: sqlanon.check(con, "patients", quasi="age", sensitive="disease", recursive=(con, 1)),
        lambda con: sqlanon.read_as(con, types={"a": con}),
        sqlanon.verify,
    ],
)
def test_a_refusal_lets_the_connection_go_at_once(patients, refused):
    gc.collect()
    gc.disable()
    try:
        before = sys.getrefcount(patients)
        with pytest.raises((UsageError, TypeError)):
            refused(patients)
        assert sys.getrefcount(patients) == before
    finally:
        gc.enable()
