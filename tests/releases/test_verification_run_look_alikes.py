"""Values that look alike are reported with their number; values that differ are not."""

import pytest

import sqlanon
from tests.databases import connect, insert

COLUMNS = {"quasi": "age", "sensitive": "disease", "id": "ssn"}


def published(values):
    connection = connect()
    connection.execute("create table patients (ssn integer, age integer, disease varchar)")
    rows = [(number, 20 + number % 7, values[number % len(values)]) for number in range(10 * len(values))]
    insert(connection, "patients", rows)
    return connection


@pytest.mark.parametrize("other", ["HIV ", " HIV", "hiv", "H\u200bIV", "HIV\ufeff", "H\u00adIV", "HIV\n"], ids=ascii)
def test_values_that_look_alike_are_reported(other):
    release = sqlanon.anatomy(published(["HIV", other, "flu", "asthma"]), "patients", l=2, **COLUMNS)
    report = release.verify(against="patients")
    (check,) = [one for one in report.checks if one.name == "look_alikes"]
    assert (check.required, check.found, check.holds) == ("reported", {"disease": "2 values look like another"}, None)
    assert report.holds
    assert "look_alikes of disease" in release.verification_sql(against="patients")


def test_accents_are_one_however_they_are_written():
    values = ["ménière", "me\u0301nie\u0300re", "meniere", "flu"]
    report = sqlanon.splu(published(values), "patients", gamma=2, **COLUMNS).verify(against="patients")
    assert [one.found for one in report.checks if one.name == "look_alikes"] == [
        {"disease": "2 values look like another"}
    ]


def test_values_that_differ_are_not():
    report = sqlanon.anatomy(published(["HIV", "HIV 2", "flu", "asthma"]), "patients", l=2, **COLUMNS).verify(
        against="patients"
    )
    assert "look_alikes" not in {one.name for one in report.checks}
