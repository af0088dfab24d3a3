"""Texts beside a release's tables, each of which can be made again from its manifest and tables.

README.md and estimate.sql lie in its directory, for whoever receives it. In a schema comments on tables and columns say
what they are, for whoever finds them with a SQL tool; they are read off the manifest alone, and `verify` takes no other
text.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from sqlanon.errors import ReleaseError
from sqlanon.forms import form_of
from sqlanon.models.values import one_or_several
from sqlanon.plain_values import visible, words
from sqlanon.plans.coarsening import Coarsening
from sqlanon.plans.manifest import Manifest, table_files
from sqlanon.plans.templates import ident, literal
from sqlanon.prose import code, write
from sqlanon.wording import spoken

COMPANIONS = ("README.md", "estimate.sql")
TableTypes = Mapping[str, Mapping[str, str]]  # by table and column
Comments = Mapping[tuple[str, str], str]  # by table and column, '' for the table itself

_TITLES = {
    "promised": "Promised",
    "against": "Against whom",
    "not promised": "Not promised",
    "published": "What it holds",
    "method": "How it was made",
    "dropped rows": "Rows left out",
    "uncertain": "Uncertain",
    "suppressed": "Suppressed",
}
_ROLES = {
    "quasi": "quasi-identifier, exact",
    "group": "the group of a row",
    "count": "how many rows of the group have the value",
    "label": "the label of a row",
    "qiid": "the number of a person's row",
    "alternatives": "what else the row may be",
}
_WORDS = {
    r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?": "whole number",
    r"FLOAT|DOUBLE": "number",
    r"VARCHAR": "text",
    r"BOOLEAN": "true or false",
    r"BLOB": "bytes",
    r"TIMESTAMP.*": "timestamp",
    r"TIME.*": "time",
    r"DATE|INTERVAL|DECIMAL.*": "",  # in small letters, as they are
    r".*\]|STRUCT.*|MAP.*": "list",
}
_MANIFEST = (
    "The manifest of this release: one row of JSON that says how it was made, what is promised and what was verified."
    " `sqlanon verify` proves it from the tables."
)


def describe_columns(
    manifest: Manifest, types: TableTypes, write_name: Callable[[str], str]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield table, column, type and role of every published column; write_name: how a column is named in a role."""
    published = manifest["columns"]
    roles = {name: words for role, words in _ROLES.items() for name in one_or_several(published.get(role, ()))}
    form = form_of(manifest)
    roles |= form.describe_quasi(manifest, write_name)
    for name, rule in manifest["parameters"].get("coarsen", {}).items():
        if name in roles:  # of boxes the bounds are published, under names of their own
            roles[name] = f"{roles[name].removesuffix(', exact')}; made coarser: {Coarsening(rule).words}"
    sensitive = form.describe_sensitive(manifest)
    for table, columns in types.items():
        for column, sql_type in columns.items():
            yield table, column, sql_type, roles.get(column, sensitive)


def read_file(path: Path) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the SQL type of each column of a Parquet file, in order, and the keys and values of its metadata.

    Raises what DuckDB raises where it is none.
    """
    from sqlanon.engines.duckdb.connection import (
        connect_beside,  # slow to load
        escape_pattern,
    )

    # no pattern, nothing below somebody's home
    file = literal(escape_pattern(str(path.absolute())))
    with closing(connect_beside()) as connection:
        columns = connection.execute(f"describe from read_parquet({file})").fetchall()
        metadata = connection.execute(f"select key, value from parquet_kv_metadata({file})").fetchall()
    told = [(key.decode("utf-8", "replace"), value.decode("utf-8", "replace")) for key, value in metadata]
    return {name: sql_type for name, sql_type, *_ in columns}, told


def read_types(path: Path) -> dict[str, str]:
    """Return the type of each column of a Parquet file, in words, in order (`list` for nested values)."""
    return {name: _word(sql_type) for name, sql_type in read_file(path)[0].items()}


def _word(sql_type: str) -> str:
    word = next((words or sql_type.lower() for types, words in _WORDS.items() if re.fullmatch(types, sql_type)), "")
    return (word or sql_type).replace(",", ", ")


def write_readme(manifest: Manifest, types: TableTypes, expected: str = "") -> str:
    """Return what a release says of itself, in Markdown; expected: what an attack is expected to reach."""
    form = form_of(manifest)
    lines = form.summary(manifest, "this directory")
    sensitive = ident(manifest["columns"]["sensitive"][0])
    values = {
        "expected": expected,
        "version": manifest["sqlanon"],
        "lines": [(title, spoken(lines[name], "recipient")) for name, title in _TITLES.items() if name in lines],
        "columns": list(describe_columns(manifest, types, code)),
        "query": shlex.quote(f"SELECT {sensitive}, COUNT(*) FROM release GROUP BY {sensitive}"),
        "warning": f"{form.warning}.j2",
        **form.warning_values(manifest),
    }
    return visible(spoken(write("releases/companions/readme.md", values), "recipient"))


def write_companions(directory: Path, manifest: Manifest, expected: str = "") -> dict[str, str]:
    """Return by name the texts of the release whose table files lie in `directory`; expected: as for its README.md."""
    tables = form_of(manifest).table_names(manifest)
    # every part of a table has the same columns
    firsts = {table: table_files(manifest["files"], table)[0] for table in tables}
    types = {table: read_types(directory / name) for table, name in firsts.items()}
    readme, script = write_readme(manifest, types, expected), form_of(manifest).write_script(manifest)
    texts = zip(COMPANIONS, (readme, script), strict=True)
    return {name: text for name, text in texts if text is not None}


def write_comments(manifest: Manifest) -> Comments:
    """Return the comments of a release's tables and columns."""
    form = form_of(manifest)
    summary = form.summary(manifest, "this schema")
    lines = ["An anonymized release, made with sqlanon from a table of people, for questions about many of them."]
    promises = {name: summary[name] for name in ("promised", "not promised") if name in summary}
    lines += [f"{name.capitalize()}: {text}." for name, text in promises.items()]
    lines.append(form.advise(manifest))
    whole = spoken(words(" ".join(lines)), "recipient")
    published = form.published_columns(manifest)
    types = {table: dict.fromkeys(listed, "") for table, listed in published.items()}
    comments = {(table, ""): whole for table in types} | {("manifest", ""): _MANIFEST}
    for table, column, _, role in describe_columns(manifest, types, words):
        comments[table, column] = role
    return comments


def foreign_comments(manifest: Manifest, found: Comments) -> dict[str, str]:
    """Return the comments that are not written for this release, with the word for it."""
    try:
        written = write_comments(manifest)
    except ReleaseError:
        written = {}  # a manifest without the figures that the text tells
    return {
        f"comment on column {table}.{column}" if column else f"comment on {table}": "not what the manifest gives"
        for (table, column), text in sorted(found.items())
        if written.get((table, column)) != text
    }
