"""A release is proved and asked in one line."""

import inspect

import pytest

import sqlanon
from sqlanon.errors import ReleaseError

QUERY = "select count(*) as n from release where disease = 'd3'"


@pytest.fixture
def ward(patients, tmp_path):
    return sqlanon.anatomy(patients, "patients", quasi="age", sensitive="disease", l=4, out=tmp_path / "ward")


def test_one_line_is_what_the_opened_release_says(ward, patients):
    report = sqlanon.verify(ward.directory, against=patients.table("patients").df())
    assert report.holds and "quasi_rows" in {check.name for check in report.checks}
    assert sqlanon.estimate(ward.directory, QUERY).equals(ward.estimate(QUERY))
    assert sqlanon.estimate(ward.directory, QUERY, "uniform").equals(ward.estimate(QUERY, "uniform"))


def test_changed_files_are_not_asked(ward, patients):
    whole = sqlanon.anatomy(patients, "patients", quasi="age", sensitive="disease", l=2)
    (ward.directory / "st.parquet").write_bytes((ward.directory / "qit.parquet").read_bytes())
    for ask in (
        lambda: sqlanon.estimate(ward.directory, QUERY),
        lambda: sqlanon.open(ward.directory).estimate(QUERY),
        lambda: sqlanon.open(ward.directory).estimate_many([QUERY]),
        lambda: sqlanon.complete(ward, tables=2),
        lambda: sqlanon.open(ward.directory).complete(2),
        lambda: sqlanon.attack(ward.directory),
        lambda: sqlanon.report(str(ward.directory)),
        lambda: sqlanon.attack(whole, others=[ward]),
    ):
        with pytest.raises(ReleaseError, match="sha256 mismatch"):
            ask()
    with pytest.raises(ReleaseError, match="nowhere"):
        sqlanon.verify("nowhere")


def test_a_release_may_be_named_by_its_directory(ward):
    assert str(sqlanon.attack(str(ward.directory))) == str(sqlanon.attack(ward))


def test_a_verb_and_the_method_of_its_name_take_the_same():
    """What the verb adds says where the release is, or where the result goes."""
    added = {"release", "query", "database", "con", "out", "overwrite"}
    for name in ("verify", "estimate", "complete"):
        verb = inspect.signature(getattr(sqlanon, name)).parameters
        method = inspect.signature(getattr(sqlanon.Release, name)).parameters
        assert set(verb) - added == set(method) - added - {"self", "sql"}, name
        assert all(verb[one].default == method[one].default for one in set(verb) & set(method)), name


def test_a_page_of_a_release_is_the_same_each_time(ward):
    page, again = (sqlanon.report(ward) for _ in range(2))
    assert isinstance(page, sqlanon.Page) and page.html == again.html


def test_a_warning_of_an_answer_stands_at_the_caller_s_line(ward):
    query = "SELECT COUNT(*) FROM release WHERE disease = 'none of it'"
    for ask in (lambda: ward.estimate(query), lambda: ward.estimate_many([query])):
        with pytest.warns(sqlanon.AnswerWarning) as told:
            ask()
        assert told[0].filename == __file__
