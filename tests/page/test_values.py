"""A parameter's value reads alike on the page and on the command line, for every method's declaration."""

import pytest

from sqlanon.methods import METHODS
from sqlanon.methods.uncertain.influence import MATRIX
from sqlanon.models import values
from sqlanon.page.calls import read_value, write_value
from sqlanon.page.state import State

TEXTS = {
    int: "7", float: "2.5", bool: "yes", values.SHARE: "0.25", values.BLOCK: "all",
    values.WHOLE_PER_COLUMN: "a b=5, c=6", values.COLUMN: "a, b", values.TABLES: "one.csv",
    values.COARSEN: "age=10, zip=3 letters", values.COLUMN_SETS: "a, b; c", MATRIX: "learn",
    values.TABLE_BY_COLUMN: "a=a.csv; b=b.csv", values.ROW_OF_PERSON: "latest day",
}  # fmt: skip


def cases():
    for method in METHODS:
        for name, parameter in State(method=method).parameters.items():
            text = parameter.words[-1] if parameter.words else TEXTS[parameter.kind or parameter.typed]
            text = "0.5" if name == "threshold" else text  # at most 1
            yield pytest.param(parameter, text, id=f"{method}-{name}")


@pytest.mark.parametrize(("parameter", "text"), list(cases()))
def test_what_is_typed_is_what_the_command_reads(parameter, text):
    value, typed = read_value(parameter, text), parameter.typed
    words = parameter.words_of(value)
    assert words[0] == parameter.option
    given = [word for word in words if word != parameter.option]
    if typed is bool:
        assert (given, value) == ([], True)
    elif typed in (int, float):
        assert float(given[0]) == value
    else:
        assert parameter.read(given if typed == list[str] else given[0]) == value
    assert read_value(parameter, write_value(value)) == value
    assert parameter.read(value) == value
