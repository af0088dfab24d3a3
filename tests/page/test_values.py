"""A parameter's value reads alike on the page and on the command line, for every method's declaration."""

import pytest

from sqlanon.methods import METHODS
from sqlanon.page.state import State
from sqlanon.page.values import command_words, read_value, write_value

TEXTS = {
    "Whole": "7", "Number": "2.5", "Share": "0.25", "Block": "all", "WholePerColumn": "a b=5, c=6", "Column": "a, b",
    "RuleByColumn": "age=10, zip=3 letters", "Tables": "one.csv", "ColumnSets": "a, b; c", "MatrixTable": "learn",
    "TableByColumn": "a=a.csv; b=b.csv", "RowOfPerson": "latest day", "Switch": "yes",
}  # fmt: skip


def cases():
    for method in METHODS:
        for name, parameter in State(method=method).parameters.items():
            kind = type(parameter.type).__name__
            yield pytest.param(parameter, TEXTS.get(kind) or parameter.type.words[-1], id=f"{method}-{name}")


@pytest.mark.parametrize(("parameter", "text"), list(cases()))
def test_what_is_typed_is_what_the_command_reads(parameter, text):
    value = read_value(parameter, text)
    checked = parameter.type.check(parameter.name, value)
    words = command_words(parameter.option, value)
    assert words[0] == parameter.option
    given = [word for word in words if word != parameter.option]
    kind = parameter.type
    if type(kind).__name__ == "Switch":
        assert (given, checked) == ([], True)
    elif type(kind).__name__ in ("Whole", "Number"):
        assert float(given[0]) == checked
    elif type(kind).__name__ == "Choice":
        assert given == [checked]
    else:
        several = kind.typed == list[str]
        read = kind.read(parameter.option, given if several else given[0])
        assert kind.check(parameter.name, read) == checked
    assert read_value(parameter, write_value(value)) == value or type(kind).__name__ == "TableByColumn"
