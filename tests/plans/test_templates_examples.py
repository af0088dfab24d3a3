"""The worked examples in the heads of the central templates: rows in, rows out, as the template makes them."""

import re

import duckdb
import pytest

from sqlanon.plans.templates import ident, literal, render, template_header, template_names, template_root
from tests.databases import connect

_EXAMPLE = re.compile(r"\A\{#.*?^   example:(?P<text>.*?)#\}", re.DOTALL | re.MULTILINE)


def example_of(template: str) -> str | None:
    match = _EXAMPLE.match((template_root() / f"{template}.sql.j2").read_text(encoding="utf-8"))
    return None if match is None else match["text"]


def read_value(text: str) -> object:
    return {"null": None, "true": True, "false": False}.get(text, int(text) if text.lstrip("-").isdigit() else text)


def read_example(text: str) -> tuple[dict[str, object], dict[str, tuple[list[str], list[tuple[object, ...]]]]]:
    """Return an example's parameters, `name = value` or `name = [first, second, first as second]`, and its tables."""
    parameters, tables, rows = {}, {}, []
    for line in text.strip("\n").splitlines():
        if " = " in line:
            name, value = line.strip().split(" = ")
            names = [part for part in value.strip("[]").split(", ") if part]
            pairs = [tuple(part.split(" as ")) if " as " in part else part for part in names]
            parameters[name] = pairs if value.startswith("[") else read_value(value)
        elif match := re.fullmatch(r"     (\w+): (.*)", line):
            tables[match[1]] = (match[2].split(", "), rows := [])
        else:
            rows.append(tuple(map(read_value, line.strip().split(", "))))
    return parameters, tables


def run(template: str, con: duckdb.DuckDBPyConnection) -> tuple[list[str], list[tuple[object, ...]]]:
    parameters, tables = read_example(example_of(template))
    head = template_header(template)
    for name in head.inputs:
        columns, rows = tables[name]
        values = ", ".join(f"({', '.join(str(literal(value)) for value in row)})" for row in rows)
        con.execute(f"create or replace temp table {ident(name)} as"
                    f" from (values {values}) as shown ({', '.join(map(ident, columns))})")  # fmt: skip
    relation = con.execute(render(template, **{name: ident(name) for name in head.inputs}, **parameters))
    return [column[0] for column in relation.description], relation.fetchall()


@pytest.mark.parametrize("template", [name for name in template_names() if example_of(name) is not None])
def test_an_example_is_what_the_template_makes(template):
    _, tables = read_example(example_of(template))
    columns, rows = run(template, connect())
    shown_columns, shown_rows = tables["gives"]
    assert columns == shown_columns
    ordered = template.startswith("methods/qit_st/") or template.endswith("/ordered")
    assert (rows if ordered else sorted(rows, key=str)) == (shown_rows if ordered else sorted(shown_rows, key=str))
