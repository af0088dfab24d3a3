"""Rows whose cells may stand for several values, in groups (QIT), and of each group sets of sensitive values (ST)."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from sqlanon.engines.base import Engine
from sqlanon.estimation.session import Session
from sqlanon.estimators import UNIFORM_ALONE
from sqlanon.forms.form import Compared, ComparedQueries, Edition, Form, Tables
from sqlanon.forms.schema_parts import BALANCES, GROUP_ROLES, NAME, SHARE, SIZES, SORTED, counts
from sqlanon.forms.summary_lines import count_dropped, count_published, list_files, tell_limits
from sqlanon.plain_values import words
from sqlanon.plans.json_schema import either, record, several, whole, word
from sqlanon.plans.manifest import Manifest
from sqlanon.verification.checks import Verification

if TYPE_CHECKING:
    from sqlanon.adversary.view import View

WARNING = """\
## Do not join the two tables and count

The tables have the group in common, and who joins them by it gets each person once with every value of their group.
Quasi values may stand for several, too: `*` for all, others for one of several alternatives. `sqlanon estimate` says
how many rows are certain, possible and expected to be meant.
"""
ADVICE = (
    "Do not join qit and st and count: each person would come once with every value of their group, and"
    " quasi values may stand for several, too. `sqlanon estimate` says how many rows are certain, possible, expected."
)
_SHOWN_PARAMETERS = (
    *("k", "l", "threshold", "undiverse", "max_group", "refine", "max_alternatives", "order_alternatives", "draws"),
)


def summarize_uncertain(manifest: Mapping[str, Any], where: str) -> dict[str, str]:
    """Say what a release of uncertain rows is."""
    verified, guarantee, parameters = manifest["verified"], manifest["guarantee"], manifest["parameters"]
    exact = "unless * or uncertain" if "generalized" not in verified else "unless uncertain or generalized"
    return {
        "published": count_published(manifest, where),
        "method": f"{manifest['method']}, {words({name: parameters[name] for name in _SHOWN_PARAMETERS})}",
        "dropped rows": count_dropped(manifest),
        "uncertain": f"{verified['uncertain_rows']:,} rows in a quasi-identifier,"
        f" {verified['uncertain_sensitive']:,} in {words(manifest['columns']['sensitive'])}",
        **_veiled(verified),
        "promised": f"groups of at least {guarantee['k']} rows; where a value weighs {guarantee['threshold']} or more,"
        f" at least {guarantee['l']} different weights, or no quasi value{tell_limits(manifest)}",
        "not promised": f"that nobody learns who is in the table (quasi values are exact, {exact}), nor"
        f" any confidence: in some group a value is held by {verified['largest_confidence']:.1%} of the rows"
        + _known_for_certain(verified),
        "verified": "group sizes, weights, what is uncertain, hierarchies, row order, agreement with the source",
        "files": list_files(manifest),
    }


def _veiled(verified: Mapping[str, Any]) -> dict[str, str]:
    """Say how many rows do not show their own values, by the way that was taken."""
    if "generalized" in verified:
        figures = verified["generalized"]
        return {"generalized": f"{figures['generalized_rows']:,} rows in {figures['generalized_groups']:,} groups"}
    return {"suppressed": f"{verified['suppressed_rows']:,} rows in {verified['suppressed_groups']:,} groups"}


def _known_for_certain(verified: Mapping[str, Any]) -> str:
    if "one_value" not in verified:
        return ""
    groups, rows = (verified["one_value"][name] for name in ("groups_of_one_value", "rows_known_for_certain"))
    return f"; in {groups:,} groups all rows have one value, below the threshold, and {rows:,} rows' value is known"


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

    @property
    def verification(self) -> Verification:
        """Return what verifies the tables."""
        from sqlanon.forms.uncertain import verification

        return cast(Verification, verification)

    @property
    def compared(self) -> Compared | None:
        """Compare answers with true counts."""
        from sqlanon.forms.uncertain.true_counts import compare_counts

        return compare_counts

    @property
    def compared_queries(self) -> ComparedQueries | None:
        """Return the queries of that."""
        from sqlanon.forms.uncertain.true_counts import count_queries

        return count_queries

    def session(self, engine: Engine, tables: Tables, manifest: Manifest) -> Session:
        """Open a release for questions."""
        from sqlanon.estimation.uncertain.session import UncertainSession

        return UncertainSession(engine, tables, manifest)

    @property
    def view(self) -> "type[View]":
        """Return what an adversary sees."""
        from sqlanon.forms.uncertain.view import UncertainView

        return UncertainView

    # -- words ---------------------------------------------------------------------------------

    def summary(self, manifest: Mapping[str, Any], where: str) -> dict[str, str]:
        """Say what a release of uncertain rows is."""

        return summarize_uncertain(manifest, where)

    def describe_sensitive(self, manifest: Manifest) -> str:
        """Say what a sensitive column is."""
        return "sensitive, listed for a group and for nobody in it"

    def describe_quasi(self, manifest: Manifest, write_name: Callable[[str], str]) -> dict[str, str]:
        """Say that values may stand for several."""
        return dict.fromkeys(manifest["columns"]["quasi"], "quasi-identifier, exact but for `*` and alternatives")

    def advise(self, manifest: Manifest) -> str:
        """Say that the tables are not to be joined and counted."""

        return ADVICE

    def warn(self, manifest: Manifest, edition: Edition) -> str:
        """Say it at length."""

        return WARNING

    def grouping(self, manifest: Manifest) -> tuple[str, str, list[str]]:
        """Return the groups."""
        return "groups", "qit", [manifest["columns"]["group"]]


UNCERTAIN = UncertainForm()
