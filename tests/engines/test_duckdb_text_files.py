"""CSV and JSON: every row is looked at, no value is changed by how it is read, and words for "no value" are told."""

import json

import duckdb
import pandas as pd
import pytest

import sqlanon
from sqlanon.errors import SourceError, UsageError
from tests.command import Shell

ROWS = 25_000  # more than DuckDB looks at to guess a type
COLUMNS = {  # values of the first lines, of the last ones, the type, and what the last ones are then
    "ages": ("30", "40.6", "DOUBLE", "40.6"),
    "zips": ("10000", "02139", "VARCHAR", "02139"),
    "seen": ("2024-05-01", "2024-05-01 13:45:00", "VARCHAR", "2024-05-01 13:45:00"),
    "born": ("01.06.24", "01.06.24", "VARCHAR", "01.06.24"),
    "flag": ("F", "F", "VARCHAR", "F"),
    "part": ("1-2-3", "1-2-3", "VARCHAR", "1-2-3"),
    "cost": ("12.50", "3.00", "DECIMAL(18,2)", "3.00"),
    "icd9": ("250.0", "250.00", "VARCHAR", "250.00"),
    "kilo": ("70", "70.5", "DOUBLE", "70.5"),
    "card": ("12345678901234567890", "12345678901234567891", "DECIMAL(38,0)", "12345678901234567891"),
    "date": ("2024-05-01", "1899-12-31", "DATE", "1899-12-31"),
    "time": ("2024-05-01T10:00:00", "2024-05-01T10:00:00.500", "TIMESTAMP", "2024-05-01 10:00:00.5"),
    "died": ("true", "false", "BOOLEAN", "false"),
    "name": ("x", '"a, b"', "VARCHAR", "a, b"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(answer):
    return {line["column"]: line for line in answer.columns}


def write_csv(folder):
    first, last = (",".join(each[place] for each in COLUMNS.values()) for place in (0, 1))
    lines = [first.replace(",x", ',"x"')] * (ROWS - 100) + [last] * 100
    lines = [f"{line},d{number % 4}" for number, line in enumerate(lines)]
    (folder / "late.csv").write_text("\n".join([",".join([*COLUMNS, "disease"]), *lines]) + "\n")


def write_json(folder):
    lines = [{n: each[i >= ROWS - 100].strip('"') for n, each in COLUMNS.items()} for i in range(ROWS)]
    (folder / "late.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")


def test_all_rows_of_csv_are_looked_at_and_no_value_is_changed(folder):
    write_csv(folder)
    release = sqlanon.anatomy(duckdb.connect(), "late.csv", quasi=list(COLUMNS), sensitive="disease", l=4)
    qit = release.table("qit")
    types = dict(zip(qit.columns, map(str, qit.types), strict=True))
    assert {name: types[name] for name in COLUMNS} == {name: each[2] for name, each in COLUMNS.items()}
    late = qit.filter("zips = '02139'").aggregate(", ".join(f"max(cast({name} as varchar))" for name in COLUMNS))
    assert late.fetchall() == [tuple(each[3] for each in COLUMNS.values())]


def test_texts_of_json_that_look_like_dates_stay_texts(folder):
    write_json(folder)
    found = read(sqlanon.check(duckdb.connect(), "late.jsonl"))
    wanted = {"date": "DATE"}
    assert {name: line["type"] for name, line in found.items()} == dict.fromkeys(COLUMNS, "VARCHAR") | wanted


def test_json_whose_type_changes_late_is_read(folder):
    rows = [{"zip": 10000 + i % 9 if i < 24_000 else f"0210{i % 9}", "d": f"d{i % 5}"} for i in range(ROWS)]
    (folder / "l.jsonl").write_text("\n".join(map(json.dumps, rows)))
    release = sqlanon.anatomy(duckdb.connect(), "l.jsonl", quasi="zip", sensitive="d", l=2)
    assert release.table("qit").filter("zip like '02%'").shape[0] == 1000


def test_types_and_missing_are_said_on_the_command_line_in_python_and_in_jobs(folder):
    rows = [{"zip": f"1{i % 9}", "age": "NA" if i % 10 == 0 else str(20 + i % 7), "d": f"d{i % 4}"} for i in range(90)]
    path, shell = folder / "p.csv", Shell(folder)
    path.write_text(pd.DataFrame(rows).to_csv(index=False))
    (folder / "p.json").write_text(json.dumps(rows))
    found = sqlanon.check(sqlanon.read_as(duckdb.connect(), types={"zip": "BIGINT"}), "p.json")
    assert "9 rows of 'age' say NA, a value as any other; no value is null" in found.notes
    assert read(found)["zip"]["type"] == "BIGINT"
    with pytest.raises(UsageError, match="missing is about CSV files, for JSON has null"):
        sqlanon.check(sqlanon.read_as(duckdb.connect(), types={"zip": "BIGINT"}, missing="NA"), "p.json")
    said = shell("check", path.name)
    assert "9 rows of 'age' say NA, a value as any other; --missing NA" in said.stderr
    roles = ("--quasi", "zip,age", "--sensitive", "d", "-l", "2", "--out")
    plain = shell("publish", "anatomy", path.name, *roles, "plain")
    assert "9 rows of 'age' say NA, a value as any other; --missing NA" in plain.stdout
    asked = ("--types", "zip=VARCHAR,age=INTEGER", "--missing", "NA,?")
    done = shell("publish", "anatomy", path.name, *roles, "typed", *asked)
    assert done.returncode == 0, done.stderr
    command = next(line for line in done.stdout.splitlines() if line.startswith("next")).split()
    assert "--types" in command and "--missing" in command
    checked = shell("verify", "typed", "--against", path.name, *asked)
    assert checked.returncode == 0, checked.stderr
    reading = sqlanon.read_as(duckdb.connect(), types={"ZIP": "VARCHAR", "age": "INTEGER"}, missing="NA")
    release = sqlanon.anatomy(reading, path.name, quasi=["zip", "age"], sensitive="d", l=2)
    (folder / "job.yml").write_text(
        f"method: anatomy\nsource:\n  path: {path.name}\n  types: {{zip: VARCHAR, age: INTEGER}}\n  missing: [NA]\n"
        "roles: {quasi: [zip, age], sensitive: d}\nparameters: {l: 2}\noutput: {out: job}\n"
    )
    assert shell("run", "job.yml").returncode == 0
    for relation in (
        release.table("qit"),
        duckdb.read_parquet("job/qit.parquet"),
        duckdb.read_parquet("typed/qit.parquet"),
    ):
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        assert (types["zip"], types["age"], relation.filter("age is null").shape[0]) == ("VARCHAR", "INTEGER", 9)


def test_what_cannot_be_read_so_is_refused(folder):
    (folder / "p.csv").write_text("zip,d\n1,a\n2,b\n")
    duckdb.sql("select 1 as zip").write_parquet("p.parquet")
    for source, types, says in (
        ("p.csv", {"zpi": "VARCHAR"}, "the file has no column 'zpi'$"),
        ("p.csv", {"zip": "VARCHAR); drop table x"}, "is no type"),
        ("p.parquet", {"zip": "VARCHAR"}, "about CSV and JSON files"),
    ):
        with pytest.raises(UsageError, match=says.replace(")", r"\)")):
            sqlanon.check(sqlanon.read_as(duckdb.connect(), types=types), source)
    shell = Shell(folder)
    shell("publish", "mondrian", "p.csv", "--quasi", "zip", "--sensitive", "d", "-k", "2", "--out", "rel")
    for verb in (("estimate", "rel", "SELECT COUNT(*) FROM release"), ("verify", "rel")):
        done = shell(*verb, "--types", "zip=VARCHAR")
        assert done.returncode == 2 and "none is read here" in done.stderr
    assert "takes COLUMN=TYPE" in Shell(folder)("check", "p.csv", "--types", "zip").stderr


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_a_folders_name_replaces_no_column_of_the_files(folder, ending):
    for sex in "FM":
        (folder / f"sex={sex}" / "year=2020").mkdir(parents=True)
        rows = "select ['F', 'M'][i % 2 + 1] as sex, i % 5 as age, 'd' || i % 3 as d from range(40) r(i)"
        duckdb.sql(f"copy ({rows}) to '{folder}/sex={sex}/year=2020/a.{ending}'")
    with pytest.raises(SourceError, match="'sex' with other values than their folders' names"):
        sqlanon.check(duckdb.connect(), f"sex=*/*/a.{ending}")
    for sex in "FM":
        rows = f"select '{sex}' as sex, i % 5 as age, 'd' || i % 3 as d from range(40) r(i)"
        duckdb.sql(f"copy ({rows}) to '{folder}/sex={sex}/year=2020/a.{ending}'")
    release = sqlanon.anatomy(duckdb.connect(), f"sex=*/*/a.{ending}", quasi=["sex", "year", "age"], sensitive="d", l=2)
    counts = release.table("qit").aggregate("sex, year, count(*)", "sex, year").order("sex").fetchall()
    assert counts == [("F", 2020, 40), ("M", 2020, 40)]
