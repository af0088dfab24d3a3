"""What a run reads is not written over, and nothing is written where its next run would read it."""

import pytest

import sqlanon
from sqlanon.adversary.completed import Completed
from sqlanon.errors import TargetError
from sqlanon.read_places import refuse_read, refuse_read_directory
from tests.databases import connect


def read(path, text):
    try:
        refuse_read(path, [None, 7, "", "a\0b", text])
    except TargetError as error:
        assert str(path) in str(error)
        return True
    return False


@pytest.mark.parametrize(
    ("written", "named", "found"),
    [
        ("data/a.parquet", "data/*.parquet", True),
        ("data/new.parquet", "data/*.parquet", True),
        ("data/new.csv", "data/*.parquet", False),
        ("data/release/qit.parquet", "data/*.parquet", False),
        ("data/release/qit.parquet", "data/*/*.parquet", True),
        ("data/release/qit.parquet", "data/**/*.parquet", True),
        ("data/new.parquet", "data/**/*.parquet", True),
        ("data/new.parquet", "data/../data/n?w.parquet", True),
        ("data/new.parquet", "link/[mn]ew.parquet", True),
        ("link/new.parquet", "data/[!mn]ew.parquet", False),
        ("data/n5w.parquet", "data/n[0-9]w.parquet", True),
        ("data/new.parquet", "dat?/(new|old).parquet", False),
        ("data/a.parquet", "data/a.parquet", True),
        ("data/new.parquet", "data/new.parquet", False),
        ("data/a[1].parquet", "data/a[1].parquet", True),
    ],
)
def test_files_and_globs(tmp_path, monkeypatch, written, named, found):
    (tmp_path / "data").mkdir()
    for name in ("a.parquet", "a[1].parquet"):
        (tmp_path / "data" / name).write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    assert read(tmp_path / written, named) is found
    assert read(tmp_path / written, str(tmp_path / named)) is found


def test_a_link_that_leads_in_circles_is_no_place_for_a_release(patients, tmp_path):
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    roles = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn", "l": 3}
    for overwrite in (False, True):
        with pytest.raises(TargetError, match="is not a directory"):
            sqlanon.anatomy(patients, "patients", **roles, out=circle, overwrite=overwrite)


def test_a_directory_is_looked_at_file_by_file(tmp_path):
    refuse_read_directory(
        tmp_path / "release", ["qit.parquet"], [str(tmp_path / "*.parquet"), str(tmp_path / "**/*.csv")]
    )
    with pytest.raises(TargetError, match="name another directory"):
        refuse_read_directory(tmp_path / "release", ["qit.parquet"], [str(tmp_path / "**")])


def test_nothing_is_written_into_a_release_that_stands(patients, tmp_path):
    roles = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn", "l": 3}
    release = sqlanon.anatomy(patients, "patients", **roles, out=tmp_path / "ward")
    for place in ("ward/inner", "ward/more/../inner"):
        with pytest.raises(TargetError, match="lies in the release"):
            sqlanon.anatomy(patients, "patients", **roles, out=tmp_path / place)
    (tmp_path / "ward" / "deep").mkdir()
    with pytest.raises(TargetError, match="lies in the release"):
        release.write(tmp_path / "ward" / "deep" / "inner")
    (tmp_path / "ward" / "deep").rmdir()
    assert sqlanon.open(tmp_path / "ward").verify().holds


def test_no_verb_writes_into_its_own_source(patients, tmp_path):
    for part in (0, 1):
        patients.execute(f"copy (from patients where ssn % 2 = {part}) to '{tmp_path}/part{part}.parquet'").fetchall()
    roles = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn"}
    patients.execute(f"copy patients to '{tmp_path}/all.csv'").fetchall()
    source, before = f"{tmp_path}/**/*.parquet", sorted(tmp_path.iterdir())
    with pytest.raises(TargetError, match="what this run reads"):
        sqlanon.anatomy(patients, source, l=3, out=tmp_path / "release", **roles)
    with pytest.raises(TargetError, match="what this run reads"):
        sqlanon.check(patients, source, quasi="age", k=100, failing=tmp_path / "failing.parquet")
    with pytest.raises(TargetError, match="what this run reads"):
        asked = {"k": 4, "l": 2, "threshold": 0.3, "influence": "learn", "save_influence": tmp_path / "i.csv"}
        sqlanon.uncertain(patients, f"{tmp_path}/*.csv", **asked, **roles)
    assert sorted(tmp_path.iterdir()) == before
    assert sqlanon.anatomy(patients, f"{tmp_path}/*.parquet", l=3, out=tmp_path / "release", **roles).verify().holds


def test_no_verb_writes_into_a_release_that_is_read(shell):
    roles = ("--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn")
    for name in ("release", "earlier"):
        done = shell("publish", "anatomy", "patients.parquet", *roles, "-l", 3, "--out", name)
        assert done.returncode == 0
    before = {path.name for path in shell.folder.rglob("*")}
    for words in (
        ("complete", "release", "--tables", 1, "--out", "release/completed"),
        ("report", "release", "--out", "release/page.html"),
        ("report", "release", "--with", "earlier", "--out", "earlier/page.html"),
    ):
        done = shell(*words)
        assert done.returncode == 2 and "lies in the release, which is handed on" in done.stderr, words
    assert {path.name for path in shell.folder.rglob("*")} == before
    with pytest.raises(TargetError, match="lies in the release"):
        Completed(None, [], ["age"], 1, shell.folder / "release").write(shell.folder / "release" / "completed")


def test_associations_do_not_replace_the_table_behind_the_views(shell):
    before = (shell.folder / "patients.parquet").read_bytes()
    done = shell(
        *(
            "breach",
            "--base",
            "*.parquet",
            "--view",
            "SELECT age, sex FROM base",
            "--view",
            "SELECT sex, disease FROM base",
        ),
        *("--secret", "SELECT age, disease FROM base", "--out", "patients.parquet", "--overwrite"),
    )
    assert done.returncode == 2 and "is what this run reads" in done.stderr
    assert (shell.folder / "patients.parquet").read_bytes() == before


def test_columns_beyond_what_a_method_takes_are_refused_at_once_with_the_largest_number(patients):
    names = [f"c{number}" for number in range(401)]
    patients.execute(f"create table wide as select {', '.join(f'1 as {name}' for name in names)}, 'a' as d").fetchall()
    for method, most, asked in (
        ("anatomy", 400, {"l": 2}),
        ("mondrian", 100, {"k": 2, "l": 1}),
        ("uncertain", 40, {"k": 2, "l": 2, "threshold": 0.3, "influence": "learn"}),
    ):
        with pytest.raises(sqlanon.UsageError, match=f"more than the {most} that {method} takes"):
            getattr(sqlanon, method)(patients, "wide", quasi=names, sensitive="d", **asked)


def test_whole_numbers_that_no_file_holds_are_named():
    connection = connect()
    connection.execute(
        'create table people as select i as id, 170141183460469231731687303715884105727 - i % 9 as "a b",'
        " i % 7 as age, 'd' || i % 5 as disease from range(60) t(i)"
    )
    asked = {"quasi": ["a b", "age"], "sensitive": "disease", "id": "id", "l": 3}
    with pytest.raises(sqlanon.UsageError, match="column 'a b' holds whole numbers of more than 38 digits") as told:
        sqlanon.anatomy(connection, "people", **asked)
    assert "170141" not in str(told.value)
    connection.execute('create view texts as select * replace ("a b"::varchar as "a b") from people')
    assert sqlanon.anatomy(connection, "texts", **asked).verify(against="texts").holds
