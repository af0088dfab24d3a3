"""What a shape says of a value, beside what a library for JSON schemas says of the same."""

import jsonschema
import pytest

from sqlanon.models.shapes import (
    LONGEST_TEXT,
    MOST,
    NAME,
    UnknownMember,
    by_column,
    column,
    described,
    either,
    faults,
    keyed,
    number,
    record,
    several,
    shown_path,
    text,
    whole,
    word,
)

SCHEMA = record(
    {"rows": whole(), "share": number(0, 1), "kind": word("a", 1, None, False), "hash": text("[0-9a-f]{4}")},
    {"names": several(text("[ab]"), 1, 2), "either": either(whole(5), word("all"))},
)
VALIDATOR = jsonschema.Draft202012Validator(described("a shape", SCHEMA))
SOUND = {"rows": 3, "share": 0.5, "kind": "a", "hash": "00ff"}
WRONG = [
    *[("rows", value) for value in (-1, MOST + 1, 10**30, "3", None, True, [3], {"a": 3})],
    *[("share", value) for value in (1.5, -0.1, "0.5", True, 1e300)],
    *[("kind", value) for value in ("b", 0, True, [], {})],
    *[("hash", value) for value in ("00fg", "00ff0", "x00ff", 1, "HIV")],
    *[("names", value) for value in ([], ["a", "b", "a"], ["c"], "a", {"a": 1}, [["a"]])],
    *[("either", value) for value in (4, "some", None, {"all": 1})],
    *[("note", "ssn 1 has HIV"), ("note", None)],
]


def is_sound(value):
    found = next(faults(SCHEMA, value, {}), None) is None
    assert found is VALIDATOR.is_valid(value)
    return found


def test_what_is_as_the_schema_says():
    for more in ({}, {"names": ["a", "b"]}, {"either": 5}, {"either": "all"}, {"kind": 1}, {"share": 1}):
        assert is_sound(SOUND | more)
    assert not any(is_sound({name: value for name, value in SOUND.items() if name != left}) for left in SOUND)
    assert not any(is_sound(value) for value in (3, "a", None, [], [SOUND]))


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_is_not(name, value):
    assert not is_sound(SOUND | {name: value})
    assert [path[0] for path in faults(SCHEMA, SOUND | {name: value}, {})] == [name]


def test_members_that_are_unknown():
    schema = record({"kept": SCHEMA}, {"lines": several(SCHEMA), "files": keyed(SCHEMA), "open": dict})
    value = {"kept": SOUND | {"a": 1}, "lines": [SOUND, {"b": 2}], "files": {"f": {"c": 3}}, "open": {"d": 4}, "e": 5}
    paths = [("kept", "a"), ("lines", "1", "b"), ("files", "f", "c"), ("e",)]
    found = [*faults(schema, value, {})]
    assert [path for path in found if isinstance(path, UnknownMember)] == paths


def test_where_it_is_stricter_than_json_schema():
    for wrong in ({"rows": 3.0}, {"kind": 1.0}, {"hash": "00ff\n"}, {"share": float("nan")}):
        assert [*faults(SCHEMA, SOUND | wrong, {})]
    assert [*faults(record({"name": NAME}), {"name": "a" * (LONGEST_TEXT + 1)}, {})] == [("name",)]


def test_names_are_those_of_published_columns():
    names = {"quasi": ["age", "sex"]}
    shape = record({}, {"counts": by_column("quasi", whole()), "names": several(column("quasi"))})
    assert not [*faults(shape, {"counts": {"age": 3}}, names)]
    found = [*faults(shape, {"counts": {"ssn 1 has HIV": 3, "sex": "F"}, "names": ["age", "zip"]}, names)]
    assert found == [("counts", "ssn 1 has HIV"), ("counts", "sex"), ("names", "1")]


def test_a_stranger_s_key_begins_no_line():
    assert shown_path(("parameters", "x\nevery check holds\x1b[2J\u2028")) == (
        r"parameters x\nevery check holds\x1b[2J\u2028"
    )
