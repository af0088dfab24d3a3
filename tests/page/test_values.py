"""A parameter's value reads alike on the page and on the command line, for every method's declaration."""

import pytest

from sqlanon.methods import METHODS, kinds, name_kinds
from sqlanon.methods.request_options import ROW_OF_PERSON
from sqlanon.methods.uncertain.influence import MATRIX
from sqlanon.page.state import State
from sqlanon.page.values import read_value, write_value

TEXTS = {
    kinds.WHOLE: "7", kinds.NUMBER: "2.5", kinds.SHARE: "0.25", kinds.BLOCK: "all", kinds.SWITCH: "yes",
    name_kinds.WHOLE_PER_COLUMN: "a b=5, c=6", name_kinds.COLUMN: "a, b", name_kinds.TABLES: "one.csv",
    name_kinds.COARSEN: "age=10, zip=3 letters", name_kinds.COLUMN_SETS: "a, b; c", MATRIX: "learn",
    name_kinds.TABLE_BY_COLUMN: "a=a.csv; b=b.csv", ROW_OF_PERSON: "latest day",
}  # fmt: skip


def cases():
    for method in METHODS:
        for name, parameter in State(method=method).parameters.items():
            kind = parameter.kind
            yield pytest.param(parameter, kind.words[-1] if kind.words else TEXTS[kind], id=f"{method}-{name}")


@pytest.mark.parametrize(("parameter", "text"), list(cases()))
def test_what_is_typed_is_what_the_command_reads(parameter, text):
    value, kind = read_value(parameter, text), parameter.kind
    words = parameter.words(value)
    assert words[0] == parameter.option
    given = [word for word in words if word != parameter.option]
    if kind is kinds.SWITCH:
        assert (given, value) == ([], True)
    elif kind in (kinds.WHOLE, kinds.NUMBER):
        assert float(given[0]) == value
    else:
        assert kind.read(parameter.mark, given if kind.typed == list[str] else given[0]) == value
    assert read_value(parameter, write_value(value)) == value
    assert kind.read(parameter.mark, value) == value
