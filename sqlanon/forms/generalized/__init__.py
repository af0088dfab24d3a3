"""Rows in boxes: ranges, nodes or sets of quasi values, and exact sensitive values."""

from collections.abc import Callable, Mapping

from sqlanon.engines.base import Engine
from sqlanon.estimation.session import Session
from sqlanon.estimators import UNIFORM_ALONE
from sqlanon.forms.form import NO_GROUPS, NOT_COMPLETED, Form, Presence, Tables
from sqlanon.forms.schema_parts import COMPARED, ROLES, SHARE, SORTED, counts
from sqlanon.plans.coarsening import Coarsening
from sqlanon.plans.json_schema import record, whole, word
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.marks import Mark

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

    @property
    def presence(self) -> Presence | None:
        """Look for the boxes in which voters lie."""
        from sqlanon.forms.generalized.verification import box_presence_query

        return box_presence_query if self.several is None else None

    def session(self, engine: Engine, tables: Tables, manifest: Manifest) -> Session:
        """Open a release for questions."""
        from sqlanon.estimation.cells.boxes import BoxTables

        return Session(BoxTables, engine, tables, manifest, self.estimators, apart=self.several is not None)

    # -- words ---------------------------------------------------------------------------------

    def describe_quasi(self, manifest: Manifest, write_name: Callable[[str], str]) -> dict[str, str]:
        """Say what the columns of boxes are."""
        from sqlanon.methods.mondrian.read_manifest import described

        rules = manifest["parameters"].get("coarsen", {})
        coarser = {name: f"; made coarser: {Coarsening(rule).words}" for name, rule in rules.items()}
        return {
            name: _PARTS[part].format(name=write_name(attribute.name)) + coarser.get(attribute.name, "")
            for attribute in described(manifest)
            for part, name in attribute.names.items()
        }

    def grouping(self, manifest: Manifest) -> tuple[str, str, list[str]]:
        """Return the boxes."""
        published = self.verification.published_columns(manifest)["data"]
        return "boxes", "data", [name for name in published if name not in manifest["columns"]["sensitive"]]


GENERALIZED = BoxForm()
