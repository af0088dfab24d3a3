"""The form of uncertain data: QIT with cells that may stand for several values, ST with sets of sensitive values."""

from collections.abc import Callable
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.estimation.session import Session
from sqlanon.estimators import UNIFORM_ALONE
from sqlanon.forms.form import BALANCES, GROUP_ROLES, SHARE, SIZES, SORTED, Form, Tables, counts
from sqlanon.methods.uncertain.read_manifest import described
from sqlanon.models.shapes import NAME, either, record, several, whole, word
from sqlanon.plans.manifest import Manifest
from sqlanon.verification.checks import SINGLE, TEXT, WHOLE, Layout

_FIGURES = {
    **SORTED,
    **SIZES,
    **BALANCES,
    "one_value": counts("groups_of_one_value", "rows_known_for_certain"),
    "cluster_size": counts("smallest_group", "largest_group", "unequal_groups", "wrong_counts"),
    "weights": counts("unsafe_groups", "half_suppressed_groups", "unweighted_values", "faulty_lines", "equal_lines"),
    "alternatives": counts("wrong_marks", "became_uncertain", "became_certain"),
    "generalized": counts("generalized_groups", "generalized_rows", "uneven_groups"),
    "domains": counts("outside_hierarchy", "unreadable"),
    **{name: whole() for name in ("suppressed_groups", "suppressed_rows", "uncertain_rows", "uncertain_sensitive")},
    "least_weights": either(whole(), word(None)),
    "largest_confidence": SHARE,
}
# in PostgreSQL such a list would need a type of its own
MARKS = ('STRUCT("attribute" VARCHAR, count INTEGER)[]', "JSON")
_ROLES = {**GROUP_ROLES, "qiid": NAME, "alternatives": NAME, "values": several(NAME, 1)}


class UncertainForm(Form):
    """QIT and ST of uncertain rows."""

    name = "uncertain"
    estimators = UNIFORM_ALONE
    columns = record(_ROLES, {"label": NAME})
    promise = record({"k": whole(2), "l": whole(2), "threshold": SHARE})
    figures = _FIGURES
    nested = ("alternatives",)
    bars = "reach from what is certain to what is possible"
    intervals = " from certain to possible"
    words = ("forms/uncertain/words.txt",)
    warning = "forms/uncertain/warning.md"
    shown_parameters = (
        *("k", "l", "threshold", "undiverse", "max_group", "max_alternatives", "order_alternatives", "draws"),
    )

    def layout(self, manifest: Manifest) -> Layout:
        """Return the columns of QIT with marks of what is uncertain, and of ST one column for each alternative."""
        columns, read = manifest["columns"], described(manifest)
        label = {columns["label"]: SINGLE} if "label" in columns else {}
        # a node of a hierarchy is named by its text, also where the column held numbers
        quasi = {name: TEXT if name in read.hierarchies else SINGLE for name in columns["quasi"]}
        first, *others = columns["values"]
        group = {columns["group"]: WHOLE}
        return {
            "qit": {**label, columns["qiid"]: TEXT, columns["alternatives"]: MARKS, **quasi, **group},
            "st": {**group, first: SINGLE, **dict.fromkeys(others, first), columns["count"]: WHOLE},
        }

    def check_manifest(self, manifest: Manifest, where: str) -> None:
        """Refuse a manifest that does not describe uncertain data with a K and an L that protect anybody."""
        described(manifest, where)

    def guarantee(self, manifest: Manifest, rows: int) -> dict[str, Any]:
        """Return what is promised, as numbers."""
        return {name: manifest["parameters"][name] for name in ("k", "l", "threshold")}

    def session(self, engine: Engine, tables: Tables, manifest: Manifest) -> Session:
        """Open a release for questions."""
        from sqlanon.estimation.uncertain import UncertainTables

        return Session(UncertainTables, engine, tables, manifest, self.estimators)

    # -- words ---------------------------------------------------------------------------------

    def describe_quasi(self, manifest: Manifest, write_name: Callable[[str], str]) -> dict[str, str]:
        """Say that values may stand for several."""
        return dict.fromkeys(manifest["columns"]["quasi"], "quasi-identifier, exact but for `*` and alternatives")

    def grouping(self, manifest: Manifest) -> tuple[str, str, list[str]]:
        """Return the groups."""
        return "groups", "qit", [manifest["columns"]["group"]]


UNCERTAIN = UncertainForm()
