"""Rows in boxes: ranges, nodes or sets of quasi values, and exact sensitive values."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.estimation.session import Session
from sqlanon.estimators import UNIFORM_ALONE
from sqlanon.forms.form import COMPARED, NO_GROUPS, NOT_COMPLETED, ROLES, SHARE, SORTED, Form, Presence, Tables, counts
from sqlanon.methods.mondrian.attributes import described as read_attributes
from sqlanon.models.shapes import record, whole, word
from sqlanon.plans.coarsening import Coarsening
from sqlanon.plans.engines import Mark
from sqlanon.plans.manifest import Manifest, sensitive_tables
from sqlanon.verification.checks import SINGLE, TEXT, Layout, PublishedTables, Report

_FIGURES = {
    **SORTED,
    "k": whole(),
    "l": whole(),
    "boxes": counts("wrong_bounds", "wrong_nodes", "wrong_sets"),
    "same_boxes": counts("unequal_boxes"),
    "sensitive_counts": COMPARED,
    "quasi_values": word("holds", "not run"),
    "largest_class": whole(),
    "largest_confidence": SHARE,
}
_PARTS = {
    "low": "the least {name} in the row's box",
    "high": "the largest {name} in the row's box",
    "unknown": "whether a row of the box may have no {name}",
    "node": "the lowest node of a hierarchy above each {name} in the row's box",
    "set": "each {name} in the row's box, a JSON list",
}


class BoxForm(Form):
    """One table of boxes; of several sensitive columns one for each."""

    name = "generalized"
    estimators = UNIFORM_ALONE
    columns = record(ROLES)
    promise = record({"k": whole(2), "l": whole(1)}, {"diversity": word("frequent", "distinct")})
    figures = _FIGURES
    of_source = ("sensitive_counts", "quasi_values")
    parts = True
    lacks: Mapping[str, Mark] = {"background": NO_GROUPS, "complete": NOT_COMPLETED}
    bars = "are bounds that hold the true count for sure"
    intervals = " with bounds that hold for sure"
    words = ("forms/generalized/words.txt",)
    warning = "forms/generalized/warning.md"
    shown_parameters = ("k", "l", "diversity", "partition", "nulls")

    def layout(self, manifest: Manifest) -> Layout:
        """Return the columns of boxes, bounds of their attribute's type, with those of each sensitive column."""
        boxed = {
            name: {"low": (attribute.type,), "high": (attribute.type,), "unknown": ("BOOLEAN",)}.get(part, TEXT)
            for attribute in read_attributes(manifest)
            for part, name in attribute.names.items()
        }
        return {table: {**boxed, column: SINGLE} for column, table in sensitive_tables(manifest).items()}

    def check_manifest(self, manifest: Manifest, where: str) -> None:
        """Refuse a manifest that does not describe generalized rows with a k that protects anybody."""
        read_attributes(manifest, where)

    def guarantee(self, manifest: Manifest, rows: int) -> dict[str, Any]:
        """Return what is promised, as numbers and the word for what l is."""
        parameters = manifest["parameters"]
        return {name: parameters[name] for name in ("k", "l", "diversity") if name in parameters}

    def verify(self, published: PublishedTables) -> Report:
        """Check what the tables alone prove, and that those of several columns share their boxes."""
        from sqlanon.forms.generalized.verification import compare_boxes

        report = super().verify(published)
        if self.has_several(published.manifest):
            report = replace(report, checks=(*report.checks, compare_boxes(published)))
        return report

    @property
    def presence(self) -> Presence | None:
        """Look for the boxes in which voters lie."""
        from sqlanon.forms.generalized.verification import box_presence_query

        return box_presence_query

    def session(self, engine: Engine, tables: Tables, manifest: Manifest) -> Session:
        """Open a release for questions."""
        from sqlanon.estimation.generalized import BoxTables

        return Session(BoxTables, engine, tables, manifest, self.estimators, apart=self.has_several(manifest))

    # -- words ---------------------------------------------------------------------------------

    def describe_quasi(self, manifest: Manifest, write_name: Callable[[str], str]) -> dict[str, str]:
        """Say what the columns of boxes are."""
        rules = manifest["parameters"].get("coarsen", {})
        coarser = {name: f"; made coarser: {Coarsening(rule).words}" for name, rule in rules.items()}
        return {
            name: _PARTS[part].format(name=write_name(attribute.name)) + coarser.get(attribute.name, "")
            for attribute in read_attributes(manifest)
            for part, name in attribute.names.items()
        }

    def grouping(self, manifest: Manifest) -> tuple[str, str, list[str]]:
        """Return the boxes."""
        published = self.published_columns(manifest)["data"]
        return "boxes", "data", [name for name in published if name not in manifest["columns"]["sensitive"]]


GENERALIZED = BoxForm()
