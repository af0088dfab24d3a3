"""A release as HTML, for notebooks: what it is, in words, and the first rows of each table."""

from collections.abc import Mapping

from sqlanon.engines.base import Engine
from sqlanon.html_tables import write_table
from sqlanon.plain_values import cell, plain
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import Sql
from sqlanon.releases.forms import form_of
from sqlanon.wording import spoken

SHOWN_ROWS = 5


def write_html(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> str:
    """Return tables of HTML; names and values from a release are escaped, for a stranger may have written them."""
    told = form_of(manifest).summary(manifest, "these tables").items()
    lines = [[name, spoken(text)] for name, text in told if name != "files"]
    return write_table([], lines) + "".join(_sample(engine, name, relation) for name, relation in tables.items())


def _sample(engine: Engine, name: str, relation: Sql) -> str:
    frame = engine.frame(f"select * from {relation} limit {SHOWN_ROWS}")
    lines = [[cell(plain(value)) for value in row] for row in frame.itertuples(index=False, name=None)]
    return write_table(list(frame.columns), lines, f"{name}, the first rows")
