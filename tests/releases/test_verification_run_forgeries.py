"""A table of forgeries: each keeps hashes and counts in order, as a forger does, and one named check must fail."""

import shutil

import duckdb
import pytest

import sqlanon
from tests.conftest import METHODS
from tests.databases import database
from tests.releases.conftest import sign

QUASI, VALUES, ROWS = ["age", "sex"], 6, 120


connection = database(
    "create table patients as select i as ssn, (20 + i * 7 % 60)::integer as age,"
    f" case when i % 3 = 0 then 'F' else 'M' end as sex, 'd' || i % {VALUES} as disease from range({ROWS}) t(i)"
)


@pytest.fixture(scope="module")
def published(connection, tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    roles = {"quasi": QUASI, "sensitive": "disease", "id": "ssn"}
    sqlanon.splu(connection, "patients", out=folder / "listed", **roles, gamma=3, values="list")
    for method, parameters in METHODS.items():
        saved = {"save_influence": folder / "influence.csv"} if method == "uncertain" else {}
        publish = getattr(sqlanon, method)
        publish(connection, "patients", out=folder / method, **roles, **parameters, **saved)
    return folder


def rewritten(release, table, sql):
    """Put the rows of a SELECT from {t} in place of a published table."""
    path, new = release / f"{table}.parquet", release / "new"
    duckdb.sql(f"copy ({sql.format(t=repr(str(path)))}) to '{new}' (format parquet, compression zstd)")
    new.rename(path)


def failed(release, connection):
    """Return the names of the checks that fail, of the tables alone and against the source."""
    source = release.parent / "patients.parquet"
    connection.execute(f"copy patients to '{source}' (format parquet, compression zstd)")
    report = sqlanon.open(release).verify(against=source)
    return {one.name for one in report.checks if one.holds is False}


def promise(**parameters):
    return lambda manifest: (manifest["parameters"].update(parameters), manifest["guarantee"].update(parameters))


REVERSED = "select * from {t} order by all desc"
ONE_VALUE = "select * replace ('d0' as disease) from {t} order by all"
ONE_AGE = "select * replace (77::integer as age) from {t} order by all"
ONE_LINE_A_GROUP = (
    "select group_id, min(disease) as disease, sum(count)::bigint as count from {t} group by 1 order by all"
)
AGE = "(20 + row_number() over () % 60)::integer"
UNKNOWN = "select * replace (case disease when 'd1' then 'd99' else disease end as disease) from {t} order by all"
MIXED = (
    "select * replace (case row_number() over () % 2 when 0 then {other} else sex end as sex) from {{t}} order by all"
)

# method, table, what stands in its place, the check that must fail
FORGED_TABLES = [
    *[("anatomy", "qit", REVERSED, "row_order"), ("anatomy", "st", REVERSED, "row_order")],
    ("anatomy", "qit", "select * from {t} order by random()", "row_order"),
    ("anatomy", "qit", "select * from {t} order by group_id", "row_order"),
    ("anatomy", "qit", "select *, 1 as extra from {t} order by all", "columns"),
    ("anatomy", "st", "select * replace (0 as count) from {t} order by all", "diversity"),
    ("anatomy", "st", "select * from {t} where false", "confidence"),
    ("anatomy", "st", ONE_LINE_A_GROUP, "diversity"),
    ("anatomy", "st", ONE_LINE_A_GROUP, "confidence"),
    ("anatomy", "st", "select * replace (count + 1 as count) from {t} order by all", "sizes"),
    ("anatomy", "st", "select * from {t} where group_id > 1 order by all", "sizes"),
    ("anatomy", "qit", "select * from {t} where group_id > 1 order by all", "sizes"),
    ("anatomy", "qit", "select * replace (1::bigint as group_id) from {t} order by all", "sizes"),
    ("anatomy", "qit", "select *, 'HIV' as truth from {t} order by all", "columns"),
    ("anatomy", "qit", "select * exclude (sex) from {t} order by all", "columns"),
    ("anatomy", "qit", ONE_AGE, "quasi_rows"),
    ("anatomy", "st", UNKNOWN, "sensitive_counts"),
    ("robust", "qit", REVERSED, "row_order"),
    ("robust", "st", REVERSED, "row_order"),
    ("robust", "st", "select * replace (count + 1 as count) from {t} order by all", "sizes"),
    ("robust", "qit", ONE_AGE, "quasi_rows"),
    ("robust", "qit", MIXED.format(other="'F'"), "classes"),
    ("splu", "data", REVERSED, "row_order"),
    ("splu", "data", "select *, disease as truth from {t} order by all", "columns"),
    ("splu", "data", ONE_AGE, "quasi_rows"),
    ("splu", "data", ONE_VALUE, "published_counts"),
    ("splu", "data", UNKNOWN, "published_counts"),
    ("listed", "data", UNKNOWN, "values"),
    ("listed", "values_1", REVERSED, "row_order"),
    ("listed", "values_1", "select * from {t} union all select * from {t} order by all", "row_order"),
    ("listed", "values_1", "select * from {t} limit 5", "values"),
    ("listed", "values_1", "select * from {t} limit 5", "listed_values"),
    ("listed", "values_1", "select * from {t} union all select 'd7' order by all", "listed_values"),
    ("listed", "values_1", "select disease, 1 as count from {t} order by all", "columns"),
    ("uncertain", "qit", REVERSED, "row_order"),
    ("uncertain", "qit", "select * from {t} where group_id > 1 order by all", "cluster_size"),
    ("uncertain", "qit", "select *, 'HIV' as truth from {t} order by all", "columns"),
    ("uncertain", "qit", ONE_AGE, "quasi_rows"),
    ("mondrian", "data", REVERSED, "row_order"),
    ("mondrian", "data", "select *, disease as truth from {t} order by all", "columns"),
    ("mondrian", "data", "select * exclude (sex) from {t} order by all", "columns"),
    ("mondrian", "data", "select * from {t} order by all limit 119", "manifest"),
    ("mondrian", "data", f"select * replace ({AGE} as age_low, {AGE} as age_high) from {{t}} order by all", "k"),
    ("mondrian", "data", "select * replace (77 as age_low, 77 as age_high) from {t} order by all", "quasi_values"),
]

# method, a change of the manifest, the check that must fail
FORGED_MANIFESTS = [
    *[("anatomy", promise(l=VALUES), check) for check in ("diversity", "confidence", "manifest")],
    ("anatomy", lambda m: m["guarantee"].update(confidence=0.01), "manifest"),
    ("anatomy", lambda m: m.update(rows=ROWS + 1), "manifest"),
    ("anatomy", lambda m: m.update(note="123-45-6789 has HIV"), "manifest"),
    ("anatomy", lambda m: m["verified"].update(confidence=0.01), "manifest"),
    ("anatomy", lambda m: m["files"]["qit.parquet"].update(sha256="0" * 64), "files"),
    ("splu", lambda m: m["parameters"]["gamma"].update(disease=4), "gamma"),
    ("splu", lambda m: m.update(groups=7), "manifest"),
    ("listed", lambda m: m["guarantee"]["disease"]["small_sums"].update(off_at_least=0.55), "manifest"),
    ("listed", lambda m: m["parameters"].pop("values"), "files"),
    ("mondrian", lambda m: m["guarantee"].update(k=ROWS), "manifest"),
    ("mondrian", lambda m: m.update(groups=m["groups"] + 1), "manifest"),
    ("mondrian", lambda m: m["verified"].update(largest_confidence=0.01), "manifest"),
    ("mondrian", lambda m: m["files"]["data.parquet"].update(sha256="0" * 64), "files"),
]

# method, a parameter that no run takes, and a value of it: some would be worked at for ever
FORGED_PARAMETERS = [
    *[("splu", "alpha", 10**8), ("splu", "alpha", 2.5), ("splu", "epsilon", 1e-12), ("splu", "epsilon", True)],
    *[("splu", "target_error", 1e-12), ("splu", "target_error", float("nan")), ("splu", "epsilon", "0.3")],
    *[("splu", "block", 10**30), ("anatomy", "block", -1), ("anatomy", "block", [64]), ("anatomy", "l", 2**40)],
    *[("robust", "r", float("inf")), ("uncertain", "threshold", 1e300)],
    *[("robust", "repair", value) for value in (True, "x", -1)],
    *[("robust", "guarantee", "hope"), ("robust", "guarantee", None), ("robust", "classes", "hope")],
    *[("mondrian", "partition", "none"), ("mondrian", "k", 2**40), ("uncertain", "undiverse", 1)],
]

# what a manifest of `robust` may say, so that groups of several signatures seem meant
EXCUSES = [
    *({"repair": 1}, {"repair": 1, "nulls": "value"}, {"repair": 1, "nulls": "drop"}, {"classes": "distributions"}),
    *({"repair": 1, "guarantee": "delta"}, {"repair": 1000, "max_suppressed": 0.99}),
    {"repair": 1, "release": 2, "changed": "leave"},
]


@pytest.mark.parametrize("method", METHODS)
def test_what_is_published_holds_before_it_is_forged(published, connection, method):
    release = published / method
    sign(release)
    assert failed(release, connection) == set()


@pytest.mark.parametrize(("method", "table", "sql", "check"), FORGED_TABLES)
def test_a_forged_table_fails_its_check(published, connection, tmp_path, method, table, sql, check):
    release = shutil.copytree(published / method, tmp_path / method)
    rewritten(release, table, sql)
    sign(release)
    assert check in failed(release, connection)


@pytest.mark.parametrize(("method", "change", "check"), FORGED_MANIFESTS)
def test_a_forged_manifest_fails_its_check(published, connection, tmp_path, method, change, check):
    release = shutil.copytree(published / method, tmp_path / method)
    sign(release, change=change)
    assert check in failed(release, connection)


@pytest.mark.parametrize(("method", "name", "value"), FORGED_PARAMETERS)
def test_a_forged_parameter_is_refused_before_anything_is_computed(published, tmp_path, method, name, value):
    release = shutil.copytree(published / method, tmp_path / method)
    sign(release, change=lambda manifest: manifest["parameters"].update({name: value}))
    with pytest.raises(sqlanon.ReleaseError, match="manifest of"):
        sqlanon.open(release)


def excused(release, parameters, classes=1.0):
    """Let a manifest say what its maker claims of it, without the texts that would have to be made again."""

    def change(manifest):
        manifest["parameters"].update(parameters)
        if parameters.get("guarantee") == "delta":
            manifest["guarantee"] = {"r": 2.0, "condition": "delta"}
        for name in ("README.md", "estimate.sql"):
            (release / name).unlink(missing_ok=True)
            manifest["files"].pop(name, None)
        manifest["verified"]["classes"] = classes

    sign(release, change=change)
    return sqlanon.open(release)


@pytest.mark.parametrize("parameters", EXCUSES, ids=str)
def test_an_excuse_for_mixed_groups_proves_nothing(published, connection, tmp_path, parameters):
    release, background = shutil.copytree(published / "robust", tmp_path / "robust"), tmp_path / "background.parquet"
    connection.execute(
        "copy (select sex, disease, count(*) / (select count(*) from patients where sex = one.sex) as probability from"
        f" patients as one group by sex, disease) to '{background}'"
    ).fetchall()
    rewritten(release, "qit", MIXED.format(other="'F'"))
    told = next(one.found for one in excused(release, parameters).verify().checks if one.name == "classes")
    opened = excused(release, parameters, told)
    report = opened.verify()
    assert report.unproved == ["classes"] and report.holds is None
    if "release" not in parameters:  # whoever follows others has groups that no background is held against
        known = opened.verify(background=background, r=2.0)
        assert [one.name for one in known.checks if one.holds is False] == ["posterior"]
    rewritten(release, "qit", MIXED.format(other="null"))
    with pytest.raises(sqlanon.SqlanonError, match=r"names no probability|takes? the first release"):
        excused(release, parameters, told).verify(background=background, r=2.0)
