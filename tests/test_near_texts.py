"""What is near, and what is not."""

import pytest

from sqlanon.near_texts import find_near

KNOWN = ["flu", "gastritis", "HIV", "hepatitis B", "F", "M", ""]


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("Flu ", ["flu"]),
        ("hiv", ["HIV"]),
        ("gastritus", ["gastritis"]),
        ("Female", ["F"]),
        ("hepatitis", ["hepatitis B"]),
        ("Hepatitis-b", ["hepatitis B"]),
        ("xyz", []),
        ("", []),
        ("---", []),
    ],
)
def test_the_likest_comes_first(text, near):
    assert find_near(text, KNOWN)[:1] == near


def test_no_more_than_asked():
    assert len(find_near("d", ["d1", "d2", "d3", "d4"], most=2)) == 2
