"""Questions that nobody answers to, grouped: each estimator answers with no row, or with rows of nobody."""

import itertools

import pytest

import sqlanon

NOBODY = ("age < 0", "disease = 'no such value'", "age < 0 AND (sex = 'F' OR disease = 'd1')")
GROUPED = ("sex", "disease", "sex, disease")
AGGREGATES = ("COUNT(*)", "SUM(age) - COUNT(*)")


@pytest.mark.filterwarnings("ignore::sqlanon.AnswerWarning")
@pytest.mark.parametrize(
    ("publish", "size", "estimators"),
    [
        (sqlanon.splu, {"gamma": 3}, ("closed_form", "shrinkage")),
        (sqlanon.anatomy, {"l": 3}, ("uniform", "ridge")),
    ],
    ids=["splu", "anatomy"],
)
def test_groups_that_nobody_is_in_are_answered(patients, publish, size, estimators):
    release = publish(patients, "patients", quasi="age,sex", sensitive="disease", id="ssn", into="ward", **size)

    for estimator, aggregate, condition, columns in itertools.product(estimators, AGGREGATES, NOBODY, GROUPED):
        asked = f"SELECT {columns}, {aggregate} AS x FROM release WHERE {condition} GROUP BY {columns}"
        answer = release.estimate(asked, estimator=estimator)
        assert list(answer.columns)[: columns.count(",") + 1] == columns.split(", "), asked
        if aggregate == "COUNT(*)":
            assert (answer["x_low"] <= 0).all(), asked
