"""Column names: given, split, matched, refused."""

import pytest

from sqlanon.errors import UsageError
from sqlanon.plans.roles import free_name, resolve_roles, split_columns

COLUMNS = ["Age", "sex", "a,b", "disease", "ssn"]


def test_a_text_that_is_a_column_is_that_column_else_commas_split():
    assert split_columns(["a,b", "age,sex"], COLUMNS) == ("a,b", "age", "sex")
    assert split_columns(["a, b"]) == ("a", "b")


def test_names_match_without_case_and_are_spelled_as_in_the_source():
    roles = resolve_roles(COLUMNS, ["AGE,Sex"], ["DISEASE"], ["ssn"])
    assert (roles.quasi, roles.sensitive, roles.identifier) == (("Age", "sex"), ("disease",), ("ssn",))
    assert roles.all == ("Age", "sex", "disease", "ssn")


@pytest.mark.parametrize(
    ("quasi", "sensitive", "identifier", "says"),
    [
        ([], ["disease"], [], "at least one quasi-identifier"),
        (["age"], [], [], "name the sensitive column"),
        (["age,gone"], ["disease"], [], "no column 'gone'"),
        (["age,sex,AGE"], ["disease"], [], "named twice in quasi"),
        (["age"], ["age"], [], "stands in quasi and in sensitive"),
        (["age"], ["disease"], ["disease"], "stands in sensitive and in id"),
        (["age,"], ["disease"], [], "empty column name"),
    ],
)
def test_refused(quasi, sensitive, identifier, says):
    with pytest.raises(UsageError, match=says):
        resolve_roles(COLUMNS, quasi, sensitive, identifier)


def test_an_added_name_makes_way_for_published_ones():
    assert free_name("group_id", ["age"]) == "group_id"
    assert free_name("group_id", ["GROUP_ID", "group_id_2"]) == "group_id_3"
