"""Every verb has its function: scripts and macros from an open connection."""

import pytest

import sqlanon
from sqlanon.errors import UsageError


def test_macros_publish_without_a_line_of_python(patients):
    made = sqlanon.macros(patients)
    assert "anatomy_qit" in "".join(made["macro"])
    patients.execute(f"set variable sqlanon_key = '{'ab' * 32}'")
    qit = patients.execute("from anatomy_qit('patients', ['age', 'sex'], 'disease', 4)").fetchall()
    assert len(qit) == 600


def test_a_script_is_the_one_that_the_command_line_prints(shell):
    roles = ("--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn", "-l", 4)
    printed = shell("compile", "anatomy", "ward.patients", *roles, "--dialect", "spark").stdout
    asked = {"quasi": "age,sex", "sensitive": "disease", "id": "ssn", "l": 4}
    assert sqlanon.compile("anatomy", "ward.patients", dialect="spark", **asked) == printed


def test_a_script_that_needs_types_reads_them_where_the_source_is(patients):
    asked = {"quasi": "age", "sensitive": "disease", "k": 5, "l": 2, "threshold": 0.1, "influence": "learn"}
    with pytest.raises(UsageError, match="hand over con"):
        sqlanon.compile("uncertain", "patients", **asked)
    assert '"sqlanon_qit"' in sqlanon.compile("uncertain", "patients", con=patients, **asked)


def test_what_no_script_can_be_is_refused():
    with pytest.raises(UsageError, match="no method 'anatomi'; there are anatomy"):
        sqlanon.compile("anatomi", "t")
    with pytest.raises(UsageError, match="dialect = 'cobol' is none of duckdb"):
        sqlanon.compile("anatomy", "t", dialect="cobol", quasi="a", sensitive="b", l=2)
