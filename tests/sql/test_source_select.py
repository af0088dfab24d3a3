"""A query as a source: what it may say, how it is written again, and that nothing else of it comes through."""

import contextlib
import json
import shlex

import duckdb
import pytest

import sqlanon
from sqlanon.errors import QueryError, TargetError, UsageError
from sqlanon.plans.templates import ident
from sqlanon.sql.source_select import read_source_select
from tests.conftest import NASTY_NAMES
from tests.databases import connect
from tests.pairs import read_pairs

REFUSED = [*read_pairs("refused_sources"), ""]


def test_what_is_no_query_of_a_source_is_refused():
    passed = []
    for sql in REFUSED:
        with contextlib.suppress(QueryError):
            read_source_select(sql)
            passed.append(sql)
    assert not passed


def test_it_reads_what_duckdb_reads(con):
    con.execute("create table t as select i as a, i % 3 as b, 'x' || i as c from range(20) r(i)")
    con.execute("create table u as select i as a, i * i as d from range(0, 20, 2) r(i)")
    for sql in (
        "SELECT * FROM t",
        "SELECT a, b + 1 AS e, upper(c) AS c FROM t WHERE a > 3 AND c LIKE 'x1%'",
        "SELECT DISTINCT b FROM main.t",
        "SELECT t.a, v.d FROM t JOIN u AS v ON t.a = v.a",
        "SELECT t.a, CASE WHEN d IS NULL THEN -1 ELSE d END AS d FROM t LEFT JOIN u ON t.a = u.a AND u.d < 50",
    ):
        select = read_source_select(sql)
        written = select.write(lambda name: ".".join(ident(part) for part in name.split(".")))
        assert sorted(con.execute(f"from {written}").fetchall()) == sorted(con.execute(sql).fetchall())
    assert select.tables == ("t", "u")


def test_names_are_quoted(con):
    for name in NASTY_NAMES:
        con.execute(f"create or replace table {ident(name)} as select 1 as {ident(name)}")
        sql = f"SELECT {ident(name)}, 2 AS {ident(name + '_')} FROM {ident(name)} WHERE {ident(name)} = 1"
        assert con.execute(f"from {read_source_select(sql).write(ident)}").fetchall() == [(1, 2)]


QUERY = (
    "SELECT p.ssn, age, upper(sex) AS gender, disease FROM patients AS p"
    " JOIN 'secret_places.csv' AS z ON p.ssn = z.ssn WHERE zip > 10001 AND age <> 4242"
)
ROLES = ["--sensitive", "disease", "--id", "ssn", "-l", 4]


def test_a_query_is_published_and_not_repeated(shell):
    with duckdb.connect(str(shell.folder / "hospital.duckdb")) as con:
        con.execute("create macro upper(text) as 'false'")
        con.execute(f"copy (select ssn, 10000 + ssn % 5 as zip from patients) to '{shell.folder}/secret_places.csv'")
        expected = con.execute("select count(*) from patients where 10000 + ssn % 5 > 10001 and age <> 4242").fetchone()
    asked = ["publish", "anatomy", "--database", "hospital.duckdb", "--quasi", "age,gender", *ROLES]
    done = shell(*asked, "--query", QUERY, "--out", "out")
    assert done.returncode == 0, done.stderr
    qit = duckdb.execute(f"select gender, count(*) from '{shell.folder}/out/qit.parquet' group by all").fetchall()
    assert {gender for gender, _ in qit} == {"F", "M"} and (sum(count for _, count in qit),) == expected
    held = b"".join(path.read_bytes() for path in (shell.folder / "out").iterdir())
    assert b"secret_places" not in held and b"4242" not in held and b"upper" not in held
    assert sqlanon.open(shell.folder / "out").verify().holds
    assert '"secret_places.csv"' not in done.stdout
    for wrong, reason in (
        ([], "say what is read"),
        (["patients", "--query", QUERY], "not both"),
        (["--query", "SELECT ssn FROM read_csv('x.csv')"], "is not allowed in the query of a source"),
        (["--query", "SELECT ssn FROM nothing"], "no table, view or file 'nothing'"),
        (["--query", "SELECT nothing FROM patients"], "cannot read the query"),
        (["--query", QUERY.replace("p.ssn, age", "z.zip AS ssn, age")], "persons have several values of a quasi"),
    ):
        done = shell(*asked, *wrong, "--out", "other")
        assert done.returncode in (2, 3) and reason in done.stderr, done.stderr
        assert not (shell.folder / "other").exists()


VERBS = [  # with what is asked beside the query: the same of a source with a name tells the same
    ["check", "{}", "--quasi", "age", "--sensitive", "disease", "--id", "ssn", "-k", "2", "--format", "json"],
    ["check", "{}", "--format", "json"],
    ["verify", "ward", "--against", "{}", "--format", "json"],
    ["attack", "ward", "--against", "{}", "--id", "ssn", "--format", "json"],
]

SAME = {"check": ("figures", "measures"), "verify": ("checks",), "attack": ("headline",)}


def test_every_verb_that_reads_a_source_takes_a_query(shell):
    roles = {"quasi": "age", "sensitive": "disease"}
    with connect() as con:
        sqlanon.anatomy(con, str(shell.folder / "patients.parquet"), id="ssn", l=4, out=shell.folder / "ward", **roles)
    query = "SELECT ssn, age, disease FROM 'patients.parquet' WHERE ssn IS NOT NULL"
    for words in VERBS:
        place = words.index("{}")
        named = [*words[:place], "patients.parquet", *words[place + 1 :]]
        asked = [word for word in named if word not in ("patients.parquet", "--against")]
        one, other = shell(*named), shell(*asked, "--query", query)
        assert other.returncode == one.returncode, other.stderr
        told, wanted = json.loads(other.stdout), json.loads(one.stdout)
        if wanted.get("columns"):
            wanted["columns"] = [
                column for column in wanted["columns"] if column["column"] in ("ssn", "age", "disease")
            ]
            suggested = shlex.split(told.pop("command"))
            assert suggested[suggested.index("--query") + 1] == query and wanted.pop("command")
        assert [told[name] for name in SAME[words[0]]] == [wanted[name] for name in SAME[words[0]]]
        both = shell(*named, "--query", query)
        assert both.returncode == 2 and "not both" in both.stderr


def test_python_takes_a_query(con, tmp_path):
    con.execute("create table patients as select i as ssn, i % 40 as age, 'd' || i % 8 as disease from range(400) r(i)")
    query = "SELECT ssn, age, disease FROM patients WHERE age < 30"
    asked = {"quasi": "age", "sensitive": "disease", "id": "ssn"}
    release = sqlanon.anatomy(con, query=query, l=4, **asked)
    assert release.manifest["rows"] == 300 and release.verify(query=query).holds
    assert release.verify(query=query.replace("30", "29")).holds is False
    assert sqlanon.check(con, query=query, **asked).figures["rows"] == 300
    assert sqlanon.attack(release, query=query, id="ssn").scored
    compared = sqlanon.compare(con, query=query, methods="anatomy", l=2, queries=4, quick=True, **asked)
    assert compared.df()["method"].eq("anatomy").all()
    for wrong in ({}, {"source": "patients", "query": query}):
        with pytest.raises(UsageError, match="query"):
            sqlanon.anatomy(con, l=4, **wrong, **asked)
    con.execute(f"copy patients to '{tmp_path}/people.parquet'")
    with pytest.raises(TargetError, match="is what this run reads"):
        query = f"SELECT * FROM '{tmp_path}/people.parquet'"
        sqlanon.check(con, query=query, quasi="age", k=2, failing=tmp_path / "people.parquet", overwrite=True)


DIALECTS = [  # what the same words are read as, and how they are written again
    ("postgres", "SELECT Age / 10 AS Decade, \"Q q\"::text AS q FROM Pat AS P WHERE P.s LIKE 'a\\_b'"),
    (
        "spark",
        "SELECT Age DIV 10 AS Decade, `Q q` AS q FROM `x y.parquet` AS p WHERE s = \"it's\" AND t LIKE 'a\\\\_b'",
    ),
]


def test_a_query_is_read_and_written_in_the_words_of_its_engine():
    (postgres, one), (spark, other) = DIALECTS
    written = str(read_source_select(one, postgres).write(lambda name: f"<{name}>"))
    assert written == (
        '(\nselect\n    ("age" / 10) as "decade",\n    (CAST("Q q" AS TEXT)) as "q"\n'
        'from <pat> as "p"\nwhere ("p"."s" LIKE \'a\\_b\')\n)'
    )
    written = str(read_source_select(other, spark).write(lambda name: f"<{name}>"))
    assert written == (
        "(\nselect\n    (`Age` DIV 10) as `Decade`,\n    `Q q` as `q`\n"
        "from <x y.parquet> as `p`\nwhere (`s` = 'it\\'s' AND `t` LIKE 'a\\\\_b')\n)"
    )
    for sql in REFUSED:
        for dialect in ("postgres", "spark"):
            with pytest.raises(QueryError):
                read_source_select(sql, dialect)


def test_files_of_a_query_lie_beside_a_folder():
    sql = "SELECT a FROM 'x.csv' AS x JOIN main.csv ON true JOIN 's3://b/x.csv' AS y ON true JOIN '/z.csv' AS z ON true"
    placed = read_source_select(sql).beside("jobs/night")
    assert placed.tables == ("jobs/night/x.csv", "main.csv", "s3://b/x.csv", "/z.csv")


def test_a_query_reads_no_file_that_is_written(shell):
    asked = ["publish", "anatomy", "--quasi", "age", *ROLES]
    query = "SELECT ssn, age, disease FROM '*/*.parquet'"
    (shell.folder / "data").mkdir()
    (shell.folder / "patients.parquet").rename(shell.folder / "data" / "patients.parquet")
    done = shell(*asked, "--query", query, "--out", "out")
    assert done.returncode == 2 and "would be what this run reads" in done.stderr


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_columns_of_several_files_are_matched_by_name(con, tmp_path, form):
    con.execute("create table t as select i as ssn, i % 4 as d, 'x' as more from range(40) r(i)")
    con.execute(f"copy (select i as ssn, i % 4 as d from range(40) r(i)) to '{tmp_path}/1.{form}'")
    con.execute(f"copy (select i % 4 as d, i as ssn, 'x' as more from range(40, 80) r(i)) to '{tmp_path}/2.{form}'")
    con.execute(f"copy (select i as ssn, 1 as \"More\", null as x from range(0) r(i)) to '{tmp_path}/3.{form}'")
    asked = {"quasi": "more", "sensitive": "d", "id": "ssn"}
    release = sqlanon.anatomy(con, f"{tmp_path}/[12].{form}", l=2, out=tmp_path / "out", **asked)
    told = "NULL stands in the rows of files that lack a column: 'more' (1 of 2 files)"
    query = f"SELECT more, d, ssn FROM '{tmp_path}/[12].{form}'"
    assert release.notes.count(told) == 1 and "lack" not in " ".join(sqlanon.anatomy(con, "t", l=2, **asked).notes)
    assert told in sqlanon.check(con, f"{tmp_path}/[12].{form}", **asked).notes
    assert told in sqlanon.check(con, query=query, **asked).notes
    told = sqlanon.check(con, f"{tmp_path}/*.{form}").notes[-1]
    assert "'more' (1 of 3 files)" in told and "'d' (1 of 3 files)" in told and "'x' (2 of 3 files)" in told
    found = con.execute(f"select more, count(*) from '{tmp_path}/out/qit.parquet' group by all order by all").fetchall()
    assert found == [("x", 40), (None, 40)]
