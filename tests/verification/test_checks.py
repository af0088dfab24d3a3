"""Verification finds what was changed, and says what it required and what it found."""

import json
import shutil

import pytest

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.plans.manifest import manifest_text
from sqlanon.releases.targets import file_sha256
from tests.conftest import PAPERS
from tests.databases import connect


@pytest.fixture
def release(hospital_release, tmp_path):
    return sqlanon.open(shutil.copytree(hospital_release, tmp_path / "release"))


def rewritten(release, name, sql, keep_manifest=False):
    """Replace a published table by a SELECT over itself (`this`), and bring the manifest in line unless told not to."""
    path = release.directory / f"{name}.parquet"
    new = path.with_suffix(".new")
    connection = connect()
    connection.execute(f"create view this as from '{path}'").fetchall()
    connection.execute(f"copy ({sql}) to '{new}' (format parquet, compression zstd)").fetchall()
    new.rename(path)
    if not keep_manifest:
        manifest = json.loads((release.directory / "release.json").read_text())
        manifest["files"][path.name] |= {"sha256": file_sha256(path), "bytes": path.stat().st_size}
        (release.directory / "release.json").write_text(manifest_text(manifest))
    return sqlanon.open(release.directory)


def failed(report):
    return {check.name for check in report.checks if check.holds is False}


def change_behind(monkeypatch, write_change):
    """Let DuckDB change a relation behind the step that makes it; return how many rows each change had.

    write_change: from a statement to the UPDATE that follows it, or nothing.
    """
    create, changed = DuckDBEngine.create, []

    def create_and_change(engine, statement, lasting=False):
        create(engine, statement, lasting)
        if update := write_change(statement):
            changed.extend(engine.connection.execute(update).fetchone())

    monkeypatch.setattr(DuckDBEngine, "create", create_and_change)
    return changed


def test_an_untouched_release_holds(release):
    report = release.verify()
    assert report.holds
    assert [check.name for check in report.checks] == [
        *("files", "columns", "manifest", "row_order", "sizes", "diversity", "confidence")
    ]


def test_changed_and_missing_files_are_named(release, shell):
    shutil.copytree(release.directory, shell.folder / "changed")
    shutil.copytree(release.directory, shell.folder / "missing")
    rewritten(sqlanon.open(shell.folder / "changed"), "st", "select * from this", keep_manifest=True)
    (shell.folder / "missing" / "qit.parquet").unlink()
    (shell.folder / "garbage").mkdir()
    (shell.folder / "garbage" / "release.json").write_text("{]")
    for name, says in (("changed", "st.parquet"), ("missing", "qit.parquet")):
        done = shell("verify", name)
        assert done.returncode == 3
        assert says in done.stdout
        assert "files" in done.stderr
        asked = shell("estimate", name, "SELECT COUNT(*) FROM release")
        assert asked.returncode == 2
        assert says in asked.stderr
        assert "sha256 mismatch" in asked.stderr
    for name, says in (
        ("garbage", "not JSON"),
        ("gone", "no release directory"),
        ("tmp", "is not a release"),
    ):
        done = shell("verify", name)
        assert (done.returncode, done.stdout) == (2, "")
        assert says in done.stderr


def test_against_another_source_fails(release, patients):
    patients.execute("create table other as select * replace (age + (ssn = 17)::int as age) from patients").fetchall()
    patients.execute("create table sicker as select * replace ('d1' as disease) from patients").fetchall()
    patients.execute("create table fewer as select * from patients where ssn <> 17").fetchall()
    frames = {name: patients.execute(f"from {name}").df() for name in ("patients", "other", "sicker", "fewer")}
    assert release.verify(against=frames["patients"]).holds
    assert failed(release.verify(against=frames["other"])) == {"quasi_rows"}
    assert failed(release.verify(against=frames["sicker"])) == {"sensitive_counts", "own_group"}
    assert failed(release.verify(against=frames["fewer"])) == {"quasi_rows", "sensitive_counts"}

    for vary, says in (("garbage", "write latest or earliest"), ("latest nothing", "nothing")):
        for look in (release.verify, release.attack):
            with pytest.raises(sqlanon.UsageError, match=says):
                look(against=frames["patients"], vary=vary)


@pytest.mark.parametrize(
    ("step", "column", "night", "words"),
    [
        ("grouped", "code", 1, r"own_group.*in_wrong_groups: 2"),
        ("shown_person", "group_id", 2, r"own_group.*in_wrong_groups: 2"),
        ("next_person", "code", 2, r"own_group.*in_wrong_groups: 2|is not what it was to be"),
        ("matched", "group_id", 2, "is not what it was to be"),
    ],
)
def test_what_is_swapped_under_a_ledger_is_found_before_anything_is_published(
    con, monkeypatch, tmp_path, step, column, night, words
):
    """Twenty rows for each combination of quasi values: of nobody they alone tell the group."""
    con.execute(
        "create table night_1 as select i as ssn, i % 5 as ward, (i // 5) % 3 as floor, 'd' || (hash(i, 4) % 9) as s"
        " from range(300) t(i)"
    )
    con.execute("create table night_2 as from night_1 where ssn > 9 union all select 900 + ssn, 1, 1, s from night_1")
    con.execute("update night_2 set s = 'changed' where ssn between 20 and 25")
    withheld = {1: 0, 2: 6}

    def swap(statement):
        if statement.name == step and night == len(published):
            return CHANGED.format(table=statement.relation, code=column, quasi="group_id")
        return None

    asked = {"quasi": ["ward", "floor"], "sensitive": "s", "id": "ssn", "l": 3, "key": "ab" * 32}
    published = []

    def publish(number):
        published.append(number)
        sqlanon.anatomy(con, f"night_{number}", ledger=tmp_path / "ledger", out=tmp_path / str(number), **asked)

    for number in range(1, night):
        publish(number)
    swapped = change_behind(monkeypatch, swap)
    with pytest.raises((sqlanon.VerificationError, sqlanon.TargetError), match=words):
        publish(night)
    assert swapped == [2] and not (tmp_path / str(night)).exists()
    monkeypatch.undo()
    publish(night)
    verified = sqlanon.open(tmp_path / str(night)).manifest["verified"]
    assert verified["quasi_rows"] == {"added_rows": 0, "missing_rows": withheld[night]}


@pytest.mark.parametrize(
    ("table", "changed"),
    [
        ("qit", "case when group_id = 7 and age = (select max(age) from written where group_id = 7) then 8 end"),
        ("st", "case when group_id = 7 and disease = (select min(disease) from written where group_id = 7) then 8 end"),
    ],
)
def test_groups_of_other_sizes_are_found_before_anything_is_published(con, monkeypatch, tmp_path, table, changed):
    """A row of QIT, or a line of ST, is written with the number of another group: both tables count as before."""
    con.execute("create table people as select i as age, 'd' || (hash(i, 4) % 9) as disease from range(300) t(i)")
    write = DuckDBEngine.write_parquet

    def write_another_group(engine, sql, path):
        if path.name == f"{table}.parquet":
            sql = f"with written as ({sql}) select * replace (coalesce({changed}, group_id) as group_id) from written"
        return write(engine, sql, path)

    monkeypatch.setattr(DuckDBEngine, "write_parquet", write_another_group)
    with pytest.raises(sqlanon.VerificationError, match=r"sizes.*unequal_groups: 2"):
        sqlanon.anatomy(
            con, "people", quasi="age", sensitive="disease", l=3, unique_quasi="keep", out=tmp_path / "release"
        )
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize(
    ("stretch", "rewritten", "fault"),
    [
        (10, "from written order by hash(age)", "row_order.*misplaced rows of qit"),
        (10, "from (from written offset 150) union all from (from written limit 150)", "misplaced rows of qit: 1"),
        (1000, "from (from written offset 150) union all from (from written limit 150)", "misplaced rows of qit: 1"),
        (10, "select * replace (case when age = 150 then 151 else age end as age) from written", "quasi_rows"),
        (1000, "from written where age <> 150", "quasi_rows"),
    ],
)  # fmt: skip
def test_packed_rows_are_looked_at_as_they_were_written(con, monkeypatch, tmp_path, stretch, rewritten, fault):
    """One reading tells the order and the rows, in one stretch and in two whose seam is behind row 150."""
    con.execute("create table people as select i as age, 'd' || (hash(i, 4) % 9) as disease from range(300) t(i)")
    con.execute("set threads = 2")
    write, asked = DuckDBEngine.write_parquet, {"quasi": "age", "sensitive": "disease", "unique_quasi": "keep"}

    def write_otherwise(engine, sql, path):
        return write(engine, f"with written as ({sql}) {rewritten}" if path.name == "qit.parquet" else sql, path)

    monkeypatch.setattr("sqlanon.engines.duckdb.engine.STRETCH", stretch)
    assert sqlanon.anatomy(con, "people", l=3, out=tmp_path / "sound", **asked).verify().holds
    monkeypatch.setattr(DuckDBEngine, "write_parquet", write_otherwise)
    with pytest.raises(sqlanon.VerificationError, match=fault):
        sqlanon.anatomy(con, "people", l=3, out=tmp_path / "release", **asked)
    assert not (tmp_path / "release").exists()


# two rows of different quasi values change codes, whichever groups they are in
CHANGED = """
with pair as (
    select one.rowid as first, other.rowid as second, one.{code} as first_code, other.{code} as second_code
    from {table} one join {table} other on other.{code} <> one.{code} and other.{quasi} <> one.{quasi}
    limit 1
)
update {table} as changed set {code} = case when changed.rowid = first then second_code else first_code end
from pair where changed.rowid in (first, second)
"""


# two rows change sensitive values before boxes are cut, or boxes behind it
COLUMNS = {"splitting": ("code", "code_2"), "box": ("partition", "code_2"), "several": ("code_1", "group_id")}
TWO = {"sensitive": ["disease", "job"], "l": 2, "max_suppressed": 0.2}


@pytest.mark.parametrize(
    ("method", "asked", "step", "is_text"),
    [
        ("anatomy", {"l": 3}, "grouped", False),
        ("anatomy", {"l": 3}, "grouped", True),
        ("anatomy", TWO, "several", True),
        ("robust", {"r": 2, "background_from": "sex", "max_suppressed": 0.9}, "grouped", True),
        ("splu", {"gamma": 4}, "grouped", False),
        ("splu", {"gamma": 4, "residue": "keep"}, "grouped", True),
        ("mondrian", {"k": 8, "l": 2}, "splitting", False),
        ("mondrian", {"k": 8, "l": 2}, "box", True),
    ],
)
def test_codes_that_are_swapped_between_steps_are_found_before_anything_is_published(
    con, monkeypatch, tmp_path, method, asked, step, is_text
):
    """Ten rows for each combination of quasi values: whom a value belongs to only the run can tell."""
    sex = "case when i % 2 = 0 then 'm' else 'f' end" if is_text else "(i % 2)"
    con.execute(
        f"create table people as select {sex} as sex, (i % 16)::integer as ward, 'd' || (hash(i, 4) % 9) as disease,"
        " 'j' || (hash(i, 5) % 9) as job from range(321) t(i)"
    )
    turns = iter([step])  # the first time alone

    def swap(statement):
        name = "several" if statement.template == "several/exchange" else statement.name
        if statement.name in ("grouped", step) and name == step and next(turns, None):
            own = "group_id" if method == "robust" else "quasi_1" if is_text else "packed"
            code, quasi = COLUMNS.get(step, ("code", own))
            return CHANGED.format(table=statement.relation.replace("box", "splitting"), code=code, quasi=quasi)
        return None

    roles = {"quasi": ["sex", "ward"], "sensitive": "disease", "key": "ab" * 32, **asked}
    publish = getattr(sqlanon, method)
    assert publish(con, "people", **roles).verify(against="people").holds is not False
    swapped = change_behind(monkeypatch, swap)
    with pytest.raises(sqlanon.VerificationError, match=r"own_group.*in_wrong_groups: 2"):
        publish(con, "people", out=tmp_path / "release", **roles)
    assert swapped == [2] and not (tmp_path / "release").exists()


def test_verify_as_json(shell):
    done = shell(
        "verify",
        PAPERS / "anatomy" / "release",
        "--voters",
        PAPERS / "anatomy" / "voters.csv",
        "--format",
        "json",
    )
    printed = json.loads(done.stdout)
    assert printed["holds"] is True
    assert {"name", "required", "found", "holds"} == set(printed["checks"][0])
    assert printed["figures"]["reconstruction_error"] == 4.5
    assert [row["risk"] for row in printed["presence"]] == [0.5, 0.5, 0.5, 0.5, 0, 0]


def test_verify_sql_prints_and_runs_nothing(shell):
    done = shell("verify", PAPERS / "anatomy" / "release", "--against", PAPERS / "anatomy" / "microdata.csv", "--sql")
    assert done.returncode == 0
    assert all(f"-- {name}" in done.stdout for name in ("groups", "order of qit", "quasi_rows", "sensitive_counts"))


def test_published_names_that_are_also_ours(con):
    con.execute(
        "create table t as select i % 7 as value_2, i % 3 as value_1, i % 5 as line_weight, i % 4 as s"
        " from range(80) r(i)"
    ).fetchall()
    asked = {"quasi": ["value_2", "value_1", "line_weight"], "sensitive": "s"}
    assert sqlanon.anatomy(con, "t", l=3, **asked).verify(against="t").holds
    assert sqlanon.splu(con, "t", gamma=3, **asked).verify(against="t").holds
