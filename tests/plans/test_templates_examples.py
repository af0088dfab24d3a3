"""The worked examples in the heads of the central chapters: rows in, rows out, as the chapter makes them.

Example: {"name of a value": …}        as JSON; {"sql": "true"} is SQL
  relation: column, column             what stands before the chapter
    1, flu
  gives relation: column               what it makes
    1
"""

import json
import re

import pytest

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.runner import ChapterRun
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import Sql, ident, literal, template_root
from tests.databases import connect

_EXAMPLE = re.compile(r"\A\{#.*?^ +Example: (?P<values>\{.*?\})\n(?P<tables>.*?)#\}", re.DOTALL | re.MULTILINE)
_HEAD = re.compile(r" +(?P<gives>gives )?(?P<name>\w+): (?P<columns>.+)")
CHAPTERS = {
    path.relative_to(template_root()).as_posix().removesuffix(".sql.j2"): found
    for path in sorted(template_root().rglob("*.sql.j2"))
    if (found := _EXAMPLE.match(path.read_text(encoding="utf-8")))
}


def read_value(text):
    return {"null": None}.get(text, int(text) if text.lstrip("-").isdigit() else text)


def read_tables(text):
    """Return the tables of an example, those that stand and those that are given: columns, rows."""
    standing, given, rows = {}, {}, []
    for line in text.rstrip().splitlines():
        if head := _HEAD.fullmatch(line):
            rows = []
            (given if head["gives"] else standing)[head["name"]] = (head["columns"].split(", "), rows)
        else:
            rows.append(tuple(map(read_value, line.strip().split(", "))))
    return standing, given


@pytest.mark.parametrize("name", CHAPTERS)
def test_an_example_is_what_the_chapter_makes(name):
    values = json.loads(
        CHAPTERS[name]["values"], object_hook=lambda found: Sql(found["sql"]) if "sql" in found else found
    )
    standing, given = read_tables(CHAPTERS[name]["tables"])
    con = connect()
    for relation, (columns, rows) in standing.items():
        lines = ", ".join(f"({', '.join(str(literal(value)) for value in row)})" for row in rows)
        con.execute(f"create temp table {ident(relation)} as"
                    f" from (values {lines}) as shown ({', '.join(map(ident, columns))})")  # fmt: skip
    run = ChapterRun(DuckDBEngine(con), {relation: ident(relation) for relation in standing})
    run.take([Chapter(name, values)])
    assert given
    for relation, (columns, rows) in given.items():
        listed = ", ".join(map(str, map(ident, columns)))
        assert con.execute(f"select {listed} from {run.relations[relation]} order by all").fetchall() == rows, relation


def test_central_chapters_have_an_example():
    assert {"counting", "grouping", "qit", "st", "robust/classes", "splu/randomized"} <= set(CHAPTERS)
