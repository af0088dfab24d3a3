"""No macro of whoever owns the database stands in for a function that our statements call."""

import duckdb
import pytest

import sqlanon
from sqlanon.errors import UsageError
from sqlanon.publishing.store_macros import MACROS, script

ROLES = ("--quasi", "age,sex,zipcode", "--sensitive", "disease", "--id", "ssn")
ASKED = {"quasi": "age,sex,zipcode", "sensitive": "disease", "id": "ssn", "l": 4, "key": "ab" * 32}
PLANTED = (
    "create macro sha256(x) as repeat('0', 64)",
    "create macro MAX(x) as 0",
    'create macro "+"(a, b) as 0',
    "create macro duckdb_functions() as table select 'none' as function_name",
    "create macro doubled(x) as x * 2",
)


@pytest.fixture
def planted(shell):
    """Plant macros with the names of DuckDB's functions, and a view that calls one of the owner's own."""
    connection = duckdb.connect(str(shell.folder / "hospital.duckdb"))
    connection.execute("create macro years(x) as x")
    connection.execute("create view people as select * replace (years(age) as age) from patients")
    for sql in PLANTED:
        connection.execute(sql)
    connection.close()
    return shell


def test_a_planted_macro_is_not_called_by_the_command_line(planted, patients):
    expected = sqlanon.anatomy(patients, "patients", **ASKED)
    database = ("--database", "hospital.duckdb", *ROLES, "-l", 4)
    for name, source in (("table", "patients"), ("view", "hospital.main.people")):
        done = planted("publish", "anatomy", source, *database, "--out", name, SQLANON_KEY="ab" * 32)
        assert done.returncode == 0, done.stderr
        release = sqlanon.open(planted.folder / name)
        assert release.table("qit").fetchall() == expected.table("qit").fetchall()
    done = planted("publish", "anatomy", "patients", *database, "--into", "ward")
    assert done.returncode == 0, done.stderr
    done = planted("verify", "ward", "--database", "hospital.duckdb", "--against", "patients")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("sql", PLANTED[:4])
def test_a_callers_connection_with_such_a_macro_is_refused(patients, sql):
    patients.execute(sql)
    with pytest.raises(UsageError, match="a macro stands in for DuckDB's own"):
        sqlanon.anatomy(patients, "patients", **ASKED)
    patients.execute(sql.replace("create", "create or replace temp", 1).replace("temp macro", "temporary macro"))
    with pytest.raises(UsageError, match="a macro stands in for DuckDB's own"):
        sqlanon.splu(patients, "patients", quasi="age", sensitive="disease", gamma=3)


def test_macros_of_other_names_are_the_callers_own(patients):
    patients.execute(PLANTED[-1])
    assert sqlanon.anatomy(patients, "patients", **ASKED).verify().holds


def test_stored_macros_and_scripts_refuse_such_a_database(shell):
    assert shell("macros", "--database", "hospital.duckdb").returncode == 0
    text = shell("compile", "anatomy", "patients", *ROLES, "-l", 4).stdout
    connection = duckdb.connect(str(shell.folder / "hospital.duckdb"))
    connection.execute(f"set variable sqlanon_key = '{'ab' * 32}'")
    groups = "select count(*) from anatomy_groups('patients', 'disease', 4)"
    assert connection.execute(groups).fetchall() == [(600,)]
    connection.execute(PLANTED[1])
    with pytest.raises(duckdb.InvalidInputException, match="the name of one of DuckDB's own functions"):
        connection.execute(groups).fetchall()
    with pytest.raises(duckdb.InvalidInputException, match="the macro MAX has the name"):
        connection.execute(text)
    connection.execute("drop macro max")
    connection.execute(text)
    assert connection.execute("select count(*) from sqlanon_qit").fetchall() == [(600,)]


def test_macros_are_stored_in_the_file_whatever_it_is_called(shell):
    for name in ("memory", "temp", "a b'c"):
        duckdb.connect(str(shell.folder / f"{name}.duckdb")).close()
        assert shell("macros", "--database", f"{name}.duckdb").returncode == 0
        with duckdb.connect(str(shell.folder / f"{name}.duckdb")) as connection:
            found = connection.execute(
                "select count(distinct function_name) from duckdb_functions() where not internal"
            )
            assert found.fetchall() == [(len(MACROS),)]
    assert script().startswith('begin transaction;\n\ncreate or replace macro "')
