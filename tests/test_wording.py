"""What is said in words: options by who speaks, advice for the publisher alone, one of anything in the singular."""

import pytest

from sqlanon.wording import advice, option, spoken


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 rows have no value", "1 row has no value"),
        ("1 groups of 1 rows are open", "1 group of 1 row is open"),
        ("21 rows have, 1,001 rows have, 0.1 rows have", "21 rows have, 1,001 rows have, 0.1 rows have"),
        ("no column '1 rows'", "no column '1 rows'"),
        ("1 boxes of 5", "1 box of 5"),
        ("1 values of 'job' are not in it", "1 values of 'job' are not in it"),
    ],
)
def test_one_is_told_in_the_singular(text, words):
    assert spoken(text) == words


def test_advice_is_for_the_publisher():
    text = "this is per row" + advice(f"; say {option('id')}")
    assert spoken(text, "command line") == "this is per row; say --id"
    assert spoken(text, "python") == "this is per row; say id"
    assert spoken(text, "recipient") == "this is per row"
