"""What Spark says of a file's rows beside them: names and types of published columns, and nothing else."""

import json

import pytest

from sqlanon.plans.templates import literal
from sqlanon.releases.parquet_files import foreign_parts

KEY = "org.apache.spark.sql.parquet.row.metadata"


def described(**marks):
    """Return Spark's description of a text and of marks, with something else in it."""

    def field(name, kind, **more):
        return {"name": name, "type": kind, "nullable": True, "metadata": {}} | more

    parts = [field("attribute", "string", nullable=marks.get("nullable", True)), field("count", "integer")]
    parts[1]["metadata"] = marks.get("metadata", {})
    item = {"type": "struct", "fields": [*parts, *marks.get("fields", [])]}
    listed = {"type": "array", "elementType": item, "containsNull": marks.get("contains", False)}
    return {"type": "struct", "fields": [field("q", "string"), field("marks", listed | marks.get("more", {}))]}


@pytest.mark.parametrize(
    ("changed", "sound"),
    [
        ({}, True),
        ({"nullable": False, "contains": True}, True),
        ({"metadata": {"comment": "Alice"}}, False),
        ({"more": {"comment": "Alice"}}, False),
        ({"contains": "Alice"}, False),
        ({"nullable": "Alice"}, False),
        ({"fields": [{"name": "Alice", "type": "string", "nullable": True, "metadata": {}}]}, False),
    ],
)
def test_marks_are_the_one_nested_type_that_is_known(con, tmp_path, changed, sound):
    path, rows = tmp_path / "qit.parquet", "select 'a' as q, [{'attribute': 'q', 'count': 2}] as marks"
    told = f"kv_metadata {{{literal(KEY)}: {literal(json.dumps(described(**changed)))}}}"
    con.execute(f"copy ({rows}) to '{path}' (format parquet, {told})").fetchall()
    assert (foreign_parts([path]) == {}) is sound
