"""README.md: a release in words, for whoever receives it, read off its manifest and its tables' types."""

import re
import shlex
from collections.abc import Callable, Iterator

from sqlanon.forms import form_of
from sqlanon.forms.summary_lines import UNCHECKED, WAITED
from sqlanon.forms.weights import write_block
from sqlanon.plain_values import words
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import ident
from sqlanon.releases.companions.column_roles import describe_columns
from sqlanon.releases.companions.column_types import TableTypes
from sqlanon.wording import option, spoken, word_marks

_TOLD = {
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
    return _write(manifest, types, form_of(manifest).warn(manifest, "newest"))


def write_earlier_readme(manifest: Manifest, types: TableTypes) -> str:
    """Return what releases said of themselves while their text advised the publisher, and not of who waited.

    The estimate.sql of groups had the paper's weights only.
    """
    return _write(manifest, types, form_of(manifest).warn(manifest, "earlier"), _word_earlier)


def write_first_readme(manifest: Manifest, types: TableTypes) -> str:
    """Return what releases said of themselves before estimate.sql came to those of randomized values."""
    return _write(manifest, types, form_of(manifest).warn(manifest, "first"), _word_earlier)


def _word(text: str) -> str:
    return spoken(text, "recipient")


def _word_earlier(text: str) -> str:
    text = text.replace(UNCHECKED, f"; this is per row: say {option('id')} so that several rows of a person are seen")
    for sentence in WAITED.values():
        text = text.replace(sentence, "")
    return word_marks(text, "command line")


def _write(manifest: Manifest, types: TableTypes, warning: str, word: Callable[[str], str] = _word) -> str:
    sections = [
        "# An anonymized release\n\nMade with sqlanon from a table of people, for questions about many of them."
        " Nobody's sensitive value can be looked up here, by design.\n\n"
        + "\n".join(_describe_release(manifest, word))
        + "\n",
        "## Columns\n\n| table | column | type | what |\n|---|---|---|---|\n"
        + "\n".join(_describe_columns(manifest, types))
        + "\n",
        _describe_asking(manifest),
        warning,
    ]
    return word("\n".join(sections))


def _describe_release(manifest: Manifest, word: Callable[[str], str]) -> Iterator[str]:
    lines = form_of(manifest).summary(manifest, "this directory")
    for name, title in _TOLD.items():
        if name in lines:
            yield f"* **{title}**: {_plain(word(lines[name]))}"


def _describe_columns(manifest: Manifest, types: TableTypes) -> Iterator[str]:
    for table, column, kind, description in describe_columns(manifest, types, _code):
        yield f"| {table} | {_code(column)} | {kind} | {description} |"


def _describe_asking(manifest: Manifest) -> str:
    sensitive = ident(manifest["columns"]["sensitive"][0])
    query = shlex.quote(f"SELECT {sensitive}, COUNT(*) FROM release GROUP BY {sensitive}")
    commands = write_block(f"sqlanon verify .\nsqlanon estimate . {query}")
    return f"## Asking\n\nWith sqlanon, a Python package, in this directory:\n\n{commands}\n"


def _plain(text: str) -> str:
    """Write words that no name can give a meaning of Markdown or HTML."""
    return re.sub(r"([\\`*\[\]<>|])", r"\\\1", words(" ".join(text.split())))


def _code(name: str) -> str:
    """Write a column's name as code in a table's cell."""
    text = " ".join(name.split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")
