"""What Spark says of a file's rows beside them: names and types of published columns, and nothing else."""

import json

import pytest

from sqlanon.plans.templates import literal
from sqlanon.releases.contents import foreign_parts

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


def compact(value):
    """Write JSON as Spark does."""
    return json.dumps(value, separators=(",", ":"))


SOUND = compact(described())


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        (SOUND, True),
        (compact(described(nullable=False, contains=True)), True),
        *(
            (compact(described(**changed)), False)
            for changed in (
                {"metadata": {"comment": "Alice"}},
                {"more": {"comment": "Alice"}},
                {"contains": "Alice"},
                {"nullable": "Alice"},
                {"fields": [{"name": "Alice", "type": "string", "nullable": True, "metadata": {}}]},
            )
        ),
        # the type of a column is no word of a stranger's, and a description of rows has one writing
        (SOUND.replace('"type":"string"', '"type":"Alice_has_HIV"', 1), False),
        (SOUND.replace(",", ",\t  ", 3), False),
        (SOUND + "\n" * 72, False),
        (SOUND.replace('"q"', '"\\u0071"', 1), False),
        (SOUND.replace('{"name":"q","type":"string"', '{"type":"string","name":"q"', 1), False),
    ],
)
def test_rows_are_described_as_spark_does_and_no_otherwise(con, tmp_path, text, sound):
    assert sound or text != SOUND
    path, rows = tmp_path / "qit.parquet", "select 'a' as q, [{'attribute': 'q', 'count': 2}] as marks"
    told = f"kv_metadata {{{literal(KEY)}: {literal(text)}}}"
    con.execute(f"copy ({rows}) to '{path}' (format parquet, compression zstd, {told})").fetchall()
    assert (foreign_parts([path]) == {}) is sound
