"""Rows in boxes: ranges, nodes or sets of quasi values, and exact sensitive values."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from sqlanon.engines.base import Engine
from sqlanon.estimation.session import Session
from sqlanon.estimators import UNIFORM_ALONE
from sqlanon.forms.form import Edition, Form, Presence, Tables
from sqlanon.forms.schema_parts import COMPARED, ROLES, SHARE, SORTED, counts
from sqlanon.forms.summary_lines import (
    count_dropped,
    list_files,
    name_method,
    tell_agreement,
    tell_apart,
    tell_limits,
)
from sqlanon.plain_values import words
from sqlanon.plans.coarsening import Coarsening
from sqlanon.plans.json_schema import record, whole, word
from sqlanon.plans.manifest import Manifest
from sqlanon.verification.checks import Verification

if TYPE_CHECKING:
    from sqlanon.adversary.view import View

WARNING = """\
## Do not take a box for a person

All rows of a box show the same ranges and sets, which say of nobody where in them they lie. `sqlanon estimate` counts
as if a box's rows lay evenly in it, and says between which counts the true one lies for sure.
"""
SEVERAL_WARNING = """\
## Do not take a box for a person

All rows of a box show the same ranges and sets, which say of nobody where in them they lie. Each sensitive column has a
table by itself: who joins two of them by their boxes gets pairs of values of which hardly any belongs to one person.
`sqlanon estimate` counts as if a box's rows lay evenly in it, and says between which counts the true one lies for sure.
"""
ADVICE = (
    "Do not take a box for a person: ranges and sets say of nobody where in them they lie. `sqlanon"
    " estimate` counts as if a box's rows lay evenly in it, and says between which counts the true one lies for sure."
)
_SHOWN_PARAMETERS = ("k", "l", "partition", "nulls")


def summarize_boxes(manifest: Mapping[str, Any], where: str) -> dict[str, str]:
    """Say what a release of generalized rows is."""
    verified, guarantee, parameters = manifest["verified"], manifest["guarantee"], manifest["parameters"]
    sizes = " to ".join(map(str, sorted({verified["k"], verified["largest_class"]})))
    column = words(manifest["columns"]["sensitive"])
    diverse = f", with at least {guarantee['l']} different values of {column}" if guarantee["l"] > 1 else ""
    return {
        "published": f"{manifest['rows']:,} rows in {manifest['groups']:,} boxes of {sizes}: {where}",
        "method": name_method(manifest, {name: parameters[name] for name in _SHOWN_PARAMETERS}),
        "dropped rows": count_dropped(manifest),
        "promised": f"every row shares its box with others, at least {guarantee['k']} rows in all{diverse}"
        + tell_limits(manifest),
        "not promised": f"any confidence: in some box one value of {column} is held by"
        f" {verified['largest_confidence']:.1%} of the rows; nor anything against who knows more, or has a"
        " second release of these people",
        "verified": f"class sizes, different values, boxes, row order{tell_agreement(verified, 'quasi_values')}",
        "files": list_files(manifest),
    }


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
    promise = record({"k": whole(2), "l": whole(1)})
    figures = _FIGURES
    parts = True
    bars = "are bounds that hold the true count for sure"
    intervals = " with bounds that hold for sure"

    @property
    def verification(self) -> Verification:
        """Return what verifies the tables."""
        from sqlanon.forms.generalized import verification

        if self.several is None:
            return cast(Verification, verification)
        return cast(Verification, verification.SeveralBoxes(cast(Verification, verification), self.several))

    @property
    def presence(self) -> Presence | None:
        """Look for the boxes in which voters lie."""
        from sqlanon.forms.generalized.verification import box_presence_query

        return box_presence_query if self.several is None else None

    def session(self, engine: Engine, tables: Tables, manifest: Manifest) -> Session:
        """Open a release for questions."""
        if self.several is None:
            return self._open(engine, tables, manifest)
        from sqlanon.estimation.several_session import SeveralSession

        return SeveralSession(self._open, engine, tables, manifest)

    def _open(self, engine: Engine, tables: Tables, manifest: Manifest) -> Session:
        from sqlanon.estimation.generalized.session import BoxSession

        return BoxSession(engine, tables, manifest)

    @property
    def view(self) -> "type[View]":
        """Return what an adversary sees."""
        from sqlanon.forms.generalized.view import BoxView

        return BoxView

    # -- words ---------------------------------------------------------------------------------

    def summary(self, manifest: Mapping[str, Any], where: str) -> dict[str, str]:
        """Say what a release of generalized rows is."""

        lines = summarize_boxes(manifest, where)
        return lines if self.several is None else tell_apart(lines, manifest)

    def describe_sensitive(self, manifest: Manifest) -> str:
        """Say what a sensitive column is."""
        return "sensitive, exact" + ("" if self.several is None else ", of nobody in particular in the box")

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

    def advise(self, manifest: Manifest) -> str:
        """Say that a box is nobody's."""

        return ADVICE

    def warn(self, manifest: Manifest, edition: Edition) -> str:
        """Say it at length."""

        return WARNING if self.several is None else SEVERAL_WARNING

    def grouping(self, manifest: Manifest) -> tuple[str, str, list[str]]:
        """Return the boxes."""
        published = self.verification.published_columns(manifest)["data"]
        return "boxes", "data", [name for name in published if name not in manifest["columns"]["sensitive"]]


GENERALIZED = BoxForm()
