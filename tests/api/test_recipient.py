"""A release is proved and asked in one line."""

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


def test_changed_files_are_not_asked(ward):
    (ward.directory / "st.parquet").write_bytes((ward.directory / "qit.parquet").read_bytes())
    with pytest.raises(ReleaseError):
        sqlanon.estimate(ward.directory, QUERY)
    with pytest.raises(ReleaseError, match="nowhere"):
        sqlanon.verify("nowhere")
