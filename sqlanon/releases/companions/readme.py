"""README.md: a release in words, for whoever receives it, read off its manifest and its tables' types."""

import shlex

from sqlanon.forms import form_of
from sqlanon.forms.form import Edition
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import ident
from sqlanon.prose import code, write
from sqlanon.releases.companions.column_roles import describe_columns
from sqlanon.releases.companions.column_types import TableTypes
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
