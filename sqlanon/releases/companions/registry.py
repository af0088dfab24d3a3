"""The texts that may lie in a release beside its tables: only those that anybody can make again from it.

README.md describes the release in words, from its manifest and the types of its tables, for whoever receives it.
"""

import shlex
from collections.abc import Callable
from pathlib import Path

from sqlanon.forms import form_of
from sqlanon.forms.form import Edition
from sqlanon.plans.manifest import Manifest, table_files
from sqlanon.plans.templates import ident
from sqlanon.prose import code, write
from sqlanon.releases.companions.column_roles import describe_columns
from sqlanon.releases.companions.column_types import TableTypes, read_types
from sqlanon.wording import spoken, word_marks

_TITLES = {
    "published": "What it holds",
    "method": "How it was made",
    "against": "Against whom",
    "dropped rows": "Rows left out",
    "uncertain": "Uncertain",
    "suppressed": "Suppressed",
    "promised": "Promised",
    "not promised": "Not promised",
}


def write_readme(manifest: Manifest, types: TableTypes) -> str:
    """Return what a release says of itself, in Markdown."""
    return _write(manifest, types, "newest")


def write_earlier_readme(manifest: Manifest, types: TableTypes) -> str:
    """Return what releases said of themselves while their text advised the publisher, and not of who waited.

    The estimate.sql of groups had the paper's weights only.
    """
    return _write(manifest, types, "earlier")


def write_first_readme(manifest: Manifest, types: TableTypes) -> str:
    """Return what releases said of themselves before estimate.sql came to those of randomized values."""
    return _write(manifest, types, "first")


def _write(manifest: Manifest, types: TableTypes, edition: Edition) -> str:
    def word(text: str) -> str:
        return spoken(text, "recipient") if edition == "newest" else word_marks(text, "command line")

    form = form_of(manifest)
    lines = form.summary(manifest, "this directory", edition)
    sensitive = ident(manifest["columns"]["sensitive"][0])
    values = {
        "lines": [(title, word(lines[name])) for name, title in _TITLES.items() if name in lines],
        "columns": list(describe_columns(manifest, types, code)),
        "query": shlex.quote(f"SELECT {sensitive}, COUNT(*) FROM release GROUP BY {sensitive}"),
        "warning": f"{form.warning}.j2",
        **form.warning_values(manifest, edition),
    }
    return word(write("releases/companions/readme.md", values))


_FOREIGN = "not the text that the manifest and the tables give"
Writer = Callable[[Manifest, TableTypes], str | None]


def _write_script(manifest: Manifest, types: TableTypes) -> str | None:
    return form_of(manifest).write_script(manifest, "newest")


def _write_first_script(manifest: Manifest, types: TableTypes) -> str | None:
    return form_of(manifest).write_script(manifest, "first")


# a file's name, and what writes its text (None: releases of this form have none), the newest first: a release holds
# what some version wrote, so whoever changes a text adds a writer and keeps the one before
COMPANIONS: dict[str, tuple[Writer, ...]] = {
    "README.md": (write_readme, write_earlier_readme, write_first_readme),
    "estimate.sql": (_write_script, _write_first_script),
}


def write_companions(directory: Path, manifest: Manifest) -> dict[str, str]:
    """Return by name the texts of the release whose table files lie in `directory`."""
    types = _read_tables(directory, manifest)
    texts = {name: writers[0](manifest, types) for name, writers in COMPANIONS.items()}
    return {name: text for name, text in texts.items() if text is not None}


def foreign_companions(directory: Path, manifest: Manifest) -> dict[str, str]:
    """Return the texts that the manifest names and that no version writes for this release, with the word for it.

    The files are there, and the tables are sound; what the manifest says may still be a stranger's.
    """
    types = _read_tables(directory, manifest)
    names = [name for name in COMPANIONS if name in manifest["files"]]
    return {name: _FOREIGN for name in names if not _is_written(directory / name, manifest, types)}


def _is_written(path: Path, manifest: Manifest, types: TableTypes) -> bool:
    for writer in COMPANIONS[path.name]:
        try:
            text = writer(manifest, types)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            continue  # a manifest without the figures that the text tells
        data = None if text is None else text.encode()
        if data is not None and path.stat().st_size == len(data) and path.read_bytes() == data:
            return True
    return False


def _read_tables(directory: Path, manifest: Manifest) -> TableTypes:
    tables = form_of(manifest).verification.TABLES
    # every part of a table has the same columns
    firsts = {table: table_files(manifest["files"], table)[0] for table in tables}
    return {table: read_types(directory / name) for table, name in firsts.items()}
