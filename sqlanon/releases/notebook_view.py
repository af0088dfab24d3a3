"""A release as HTML, for notebooks: its manifest's main lines and the first rows of each table."""

import html
from collections.abc import Mapping

from sqlanon.engines.base import Engine
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import Sql


def write_html(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> str:
    """Return two tables of HTML; names and values from a release are escaped, for a stranger may have written them."""
    lines = {
        "method": manifest["method"],
        "parameters": manifest["parameters"],
        "rows": manifest["rows"],
        "groups": manifest.get("groups"),
        "guarantee": manifest.get("guarantee", {}),
    }
    head = "".join(
        f"<tr><th style='text-align:left'>{html.escape(str(key))}</th><td>{html.escape(_write_value(value))}</td></tr>"
        for key, value in lines.items()
    )
    samples = "".join(
        f"<td style='vertical-align:top'><b>{name}</b>"
        f"{engine.frame(f'select * from {relation} limit 5').to_html(index=False)}</td>"  # to_html escapes values
        for name, relation in tables.items()
    )
    return f"<table>{head}</table><table><tr>{samples}</tr></table>"


def _write_value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {item}" for key, item in value.items())
    return str(value)
