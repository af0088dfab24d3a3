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


@pytest.mark.parametrize(
    ("values", "alike"),
    [
        *((["HIV", other, "flu", "asthma"], True)
          for other in ("HIV ", " HIV", "hiv", "H\u200bIV", "HIV\ufeff", "H\u00adIV", "HIV\n")),
        (["ménière", "me\u0301nie\u0300re", "meniere", "flu"], True),  # accents, however they are written
        (["HIV", "HIV 2", "flu", "asthma"], False),
    ],
    ids=ascii,
)  # fmt: skip
def test_values_that_look_alike_are_reported(values, alike):
    release = sqlanon.anatomy(published(values), "patients", l=2, **COLUMNS)
    report = release.verify(against="patients")
    found = [(check.required, check.found, check.holds) for check in report.checks if check.name == "look_alikes"]
    assert found == ([("reported", {"disease": "2 values look like another"}, None)] if alike else [])
    assert report.holds
    assert "look_alikes of disease" in release.verification_sql(against="patients")
