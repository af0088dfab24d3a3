"""PostgreSQL and Spark: the same key gives the same releases, the same proofs and the same estimates as in DuckDB.

Each statement takes Spark a tenth of a second, and publishing verifies with it: most releases of Spark's are compared
by their rows alone.
"""

import pytest

import sqlanon
from sqlanon.engines.connect import engine_of
from sqlanon.errors import SourceError, SqlanonError, UsageError
from sqlanon.plans.engines import ENGINES
from sqlanon.plans.templates import ident
from tests.conftest import METHODS
from tests.engines.conftest import views
from tests.engines.hostile import (
    CASES,
    KEY,
    KNOWN,
    LISTED,
    SENSITIVE,
    read_sets,
    refuse_what_is_marked,
    same_answer,
    same_attack,
    same_page,
    same_posteriors,
    same_voters,
    shown_rows,
)
from tests.traced import PEOPLE, hold_against_script

pytestmark = pytest.mark.parametrize("engine", ["postgres", "spark"])
WITHOUT_ID = {"quasi": ["age"], "sensitive": "disease", "l": 2, "key": KEY}


def named(case, side, duck):
    """Return what is asked for, with the names under which the engine has the tables."""
    asked = dict(case.asked)
    if "hierarchy" in asked:
        asked["hierarchy"] = {column: side.take(duck, table) for column, table in asked["hierarchy"].items()}
    if "background" in asked:
        asked["background"] = side.take(duck, asked["background"])
    return asked


def told(report):
    """Return what checks say, but of files, and of letters for which DuckDB alone looks."""
    return [check for check in list(report.checks)[1:] if check.name != "look_alikes"]


@pytest.mark.parametrize("name", CASES)
def test_a_release_its_proofs_and_its_answers_are_those_of_duckdb(side, duck, expected, name):
    case, wanted = CASES[name], expected(name)
    source, on_spark = side.take(duck, case.source), side.name == "spark"
    release = side.publish(case.method, source, **named(case, side, duck))
    assert shown_rows(release) == shown_rows(wanted)
    for part in ("parameters", "dropped_rows"):
        assert release.manifest[part] == wanted.manifest[part]
    queries = [case.queries[number] for number in case.there] if on_spark else case.queries
    if on_spark and not queries:
        return
    release = side.stored({"out": release.directory, "into": "release"}, here=True)
    for query in queries:
        same_answer(release.estimate(query), wanted.estimate(query))
    if on_spark and name != "hostile":
        return
    voters = {"voters": source} if "voters" in case.proof else {}
    report, sought = (
        release.verify(against=source, **case.proof | voters),
        wanted.verify(against=case.source, **case.proof),
    )
    assert not report.failed() and report.holds is sought.holds and told(report) == told(sought)
    figures = {key: figure for key, figure in sought.figures.items() if key != "presence"}
    assert {key: float(report.figures[key]) for key in figures} == pytest.approx(figures)
    if voters:
        same_voters(report, sought)
    if case.attacked or (name == "hostile" and not on_spark):
        same_attack(release, wanted, source, quick=case.attacked, theirs=case.source)
    if name == "hostile" and not on_spark:
        same_page(release, wanted)


def test_pseudonyms_are_those_of_duckdb_and_their_key_stays_nowhere(side, duck, tmp_path):
    file = tmp_path / "link.key"
    file.write_text("cd" * 32)
    rules = dict.fromkeys(("town", "number"), f"pseudonym:{file}")
    asked = CASES["coarser"].asked | {"quasi": ["age", *rules], "coarsen": {"age": 20, **rules}}
    source, before = side.take(duck, "coarse"), views(side.con) if side.name == "spark" else set()
    release = side.publish("anatomy", source, **asked)
    assert shown_rows(release) == shown_rows(sqlanon.anatomy(duck, "coarse", **asked))
    if side.name == "spark":
        texts = [path.read_bytes() for path in release.directory.iterdir()]
        assert not any(b"cd" * 8 in text for text in texts) and views(side.con) == before
    else:
        assert release.verify(against=source, coarsen=asked["coarsen"]).holds
        assert nothing_left(side.con) == ["coarse"]


def nothing_left(postgres):
    """Return the session's own relations: what a run made goes with it."""
    rows = postgres.execute("select relname from pg_class where relnamespace = pg_my_temp_schema() and relkind = 'r'")
    return [name for (name,) in rows]


# an alias, for engines differ in how they spell a column that a query spells otherwise than its table
QUERY = "SELECT p.ssn, {} AS decade, q.Disease AS disease FROM {} AS p LEFT JOIN {} q ON p.ssn = q.ssn WHERE p.age > 3"
DECADE = {"duckdb": "p.age // 10", "postgres": "p.Age / 10", "spark": "p.Age DIV 10"}
WRONG = {
    "postgres": ("pg_read_file('/etc/passwd')", "nextval('s')", "version()"),
    "spark": ("java_method('java.lang.System', 'exit', '1')", "reflect('a', 'b')", "current_user()"),
}


def test_a_query_is_published_as_duckdb_publishes_it(side, duck):
    asked = {"quasi": "decade", "sensitive": "disease", "id": "ssn", "l": 4, "key": KEY}
    wanted = sqlanon.anatomy(duck, query=QUERY.format(DECADE["duckdb"], "patients", "Patients"), **asked)
    tables = ["patients", "Patients"]
    if side.name == "spark":
        path = side.take(duck, "patients")
        tables = [f"`{path}`", f"'{path}'"]
    query, place = QUERY.format(DECADE[side.name], *tables), side.target()
    with pytest.raises(SqlanonError):
        sqlanon.anatomy(side.con, query=query.replace("p.Age", "p.nothing"), **place, **asked)
    release = sqlanon.anatomy(side.con, query=query, **place, **asked)
    assert shown_rows(side.stored(place)) == shown_rows(wanted)
    assert sqlanon.check(side.con, query=query, quasi="decade").figures["rows"] == 360
    for wrong in WRONG[side.name]:
        with pytest.raises(SqlanonError):
            sqlanon.check(side.con, query=QUERY.format(wrong, *tables))
    if side.name == "postgres":
        assert release.verify(query=query).holds and sqlanon.attack(release, query=query, id="ssn").scored
        assert 'from "public"."patients"' in release.sql and '"p"."age" / 10' in release.sql
        assert nothing_left(side.con) == []
        with pytest.raises(SourceError, match="no table or view 'nothing'"):
            sqlanon.check(side.con, query="SELECT a FROM Nothing")


def test_the_posteriors_are_those_of_duckdb(side, duck, expected):
    wanted = expected("hostile").verify(background=[f"known_{number}" for number in range(len(KNOWN))], r=2)
    assert len(wanted.posterior) == 3 and wanted.posterior[0]["largest_posterior"] > 0.5
    case, numbers = CASES["hostile"], range(1 if side.name == "spark" else len(KNOWN))
    place = side.target()
    getattr(sqlanon, case.method)(side.con, side.take(duck, case.source), **place, **case.asked)
    known = [side.take(duck, f"known_{number}") for number in numbers]
    release = side.stored(place, here=True)
    same_posteriors(release.verify(background=known, r=2), wanted)
    if side.name == "postgres":
        assert len(nothing_left(side.con)) == 1 + len(known)
        columns = f"cast('NaN' as real) as probability, 1 as age, 'x' as {ident(SENSITIVE)}"
        side.con.execute(f"create temporary table wrong as select {columns}")
        with pytest.raises(UsageError, match="1 of 1 probabilities are not from 0 to 1"):
            release.verify(background="wrong")


@pytest.mark.parametrize("method", METHODS)
def test_a_script_shows_what_runs_and_gives_the_release_of_duckdb(side, con, method):
    values = {"text": "i", "zip": "'z' || i % 11", "age": "20 + i * 7 % 60", "disease": "'d' || i % 8"}
    con.execute(f"create table people as {PEOPLE.format(**values, numbers='range(240) as t(i)')}")
    people, made = side.take(con, "people"), []
    kind = type(engine_of(side.con))
    asked = hold_against_script(
        method, kind, side.name, lambda **options: made.append(side.publish(method, people, **options)), con, people
    )
    assert shown_rows(made[0]) == shown_rows(getattr(sqlanon, method)(con, "people", **asked))


def test_sets_are_read_and_nothing_else(side):
    assert read_sets(engine_of(side.con)) == LISTED


def test_what_is_marked_is_refused(side, duck, tmp_path):
    patients = side.take(duck, "patients")
    release = side.publish("anatomy", patients, **WITHOUT_ID)
    here = side.stored({"out": release.directory, "into": "release"}, here=True)
    assert {*ENGINES[side.name].lacks} == {*here.engine.lacks}
    refuse_what_is_marked(side.con, here, patients, tmp_path)
