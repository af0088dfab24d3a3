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
    told = f"kv_metadata {{{literal(KEY)}: {literal(compact(described(**changed)))}}}"
    con.execute(f"copy ({rows}) to '{path}' (format parquet, compression zstd, {told})").fetchall()
    assert (foreign_parts([path]) == {}) is sound


def test_the_type_of_a_column_is_no_word_of_a_strangers(con, tmp_path):
    path, said = tmp_path / "qit.parquet", described()
    said["fields"][0]["type"] = "Alice_has_HIV"
    told = f"kv_metadata {{{literal(KEY)}: {literal(compact(said))}}}"
    rows = "select 'a' as q, [{'attribute': 'q', 'count': 2}] as marks"
    con.execute(f"copy ({rows}) to '{path}' (format parquet, compression zstd, {told})").fetchall()
    assert foreign_parts([path]) != {}


@pytest.mark.parametrize(
    "changed",
    [
        lambda text: text.replace(",", ",\t  ", 3),
        lambda text: text + "\n" * 72,
        lambda text: text.replace('"q"', '"\\u0071"', 1),
        lambda text: text.replace('{"name":"q","type":"string"', '{"type":"string","name":"q"', 1),
    ],
)
def test_a_description_of_rows_has_one_writing(con, tmp_path, changed):
    path, sound = tmp_path / "qit.parquet", compact(described())
    assert changed(sound) != sound
    for text in (sound, changed(sound)):
        told = f"kv_metadata {{{literal(KEY)}: {literal(text)}}}"
        rows = "select 'a' as q, [{'attribute': 'q', 'count': 2}] as marks"
        con.execute(f"copy ({rows}) to '{path}' (format parquet, compression zstd, {told})").fetchall()
        assert (foreign_parts([path]) == {}) is (text == sound)
