"""Groups of exact quasi values (QIT), and of each group its sensitive values (ST)."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError
from sqlanon.estimation.session import GO_TOGETHER, Session
from sqlanon.estimators import OF_GROUPS, OF_PEOPLE
from sqlanon.forms.estimate_script import write_group_script
from sqlanon.forms.form import BALANCES, GROUP_ROLES, SHARE, SINCE, SIZES, SORTED, Form, Presence, Tables, counts
from sqlanon.models.shapes import either, number, record, whole, word
from sqlanon.plans.engines import Mark
from sqlanon.plans.manifest import Manifest, follows, of_people, sensitive_tables
from sqlanon.verification.checks import SINGLE, WHOLE, Check, Layout, PublishedTables

if TYPE_CHECKING:
    from sqlanon.adversary.completed import Chain

GROUP_FIGURES = {
    **SORTED,
    **SIZES,
    **BALANCES,
    "sizes": counts("unequal_groups", "wrong_counts"),
    "diversity": whole(),
    "confidence": SHARE,
    "reconstruction_error": number(),
    "reconstruction_error_bound": number(),
    "reconstruction_error_ratio": either(number(), word(None)),
    "departed": whole(),
}


class GroupForm(Form):
    """QIT and ST; of several sensitive columns an ST for each."""

    name = "qit_st"
    estimators: tuple[str, ...] = OF_GROUPS
    columns = record(GROUP_ROLES)
    promise = record({"l": whole(2), "confidence": SHARE})
    figures = GROUP_FIGURES
    parts = True
    keeps_quasi = True
    lacks: Mapping[str, Mark] = {}
    words: tuple[str, ...] = ("forms/qit_st/words.txt",)
    warning = "forms/qit_st/warning.md"

    def layout(self, manifest: Manifest) -> Layout:
        """Return the columns: those of people with their group, and of each group its values with their counts."""
        columns, group = manifest["columns"], {manifest["columns"]["group"]: WHOLE}
        lines = {
            table: {**group, sensitive: SINGLE, columns["count"]: WHOLE}
            for sensitive, table in sensitive_tables(manifest).items()
        }
        return {"qit": {**dict.fromkeys(columns["quasi"], SINGLE), **group}, **lines}

    def check_manifest(self, manifest: Manifest, where: str) -> None:
        """Refuse a manifest without an l; of people, or under a ledger, one that does not say what these rest on."""
        columns, parameters = manifest["columns"], manifest["parameters"]
        if parameters.get("l", 1) < 2:
            raise ReleaseError(f"the manifest of {where} does not say an l of at least 2")
        if of_people(manifest) and not set(columns["sensitive"]) <= {*parameters.get("owner_values", {})}:
            raise ReleaseError(f"the manifest of {where} does not say how many values the owners of values have")
        if follows(manifest) and len(columns["sensitive"]) > 1:
            raise ReleaseError(f"the manifest of {where} is of a ledger, which keeps one sensitive column")

    def guarantee(self, manifest: Manifest, rows: int) -> dict[str, Any]:
        """Return what is promised, as numbers."""
        l = manifest["parameters"]["l"]
        return {"l": l, "confidence": 1 / l}

    def since_query(self, published: PublishedTables, earlier: PublishedTables) -> str:
        """Return the query that compares the groups that both releases show."""
        columns, before = published.manifest["columns"], earlier.manifest["columns"]
        return published.query(
            "verify/releases/shared_groups",
            {"earlier_st": earlier.tables["st"]},
            group_column=columns["group"],
            sensitive=columns["sensitive"][0],
            count_column=columns["count"],
            earlier_group_column=before["group"],
            earlier_count_column=before["count"],
        )

    def judge_since(self, row: Mapping[str, Any], manifest: Manifest) -> Check:
        """Check that every group that both releases show has the same lines in ST."""
        return Check(SINCE, "every group in both has the same lines in ST", row, not row["changed_groups"])

    @property
    def presence(self) -> Presence | None:
        """Look voters up by their exact values."""
        from sqlanon.adversary.knowledge import presence_query

        return presence_query

    def session(self, engine: Engine, tables: Tables, manifest: Manifest) -> Session:
        """Open a release for questions."""
        from sqlanon.estimation.qit_st import GroupTables

        estimators = OF_PEOPLE if of_people(manifest) else self.estimators
        if not self.has_several(manifest):
            return Session(GroupTables, engine, tables, manifest, estimators)
        return Session(GroupTables, engine, tables, manifest, estimators, apart=True, caveat=GO_TOGETHER)

    @property
    def completion(self) -> "Callable[[Engine, Tables, Manifest, int], Chain] | Mark":
        """Deal each group's values to its rows."""
        from sqlanon.adversary.dealing import open_groups

        return open_groups

    # -- words ---------------------------------------------------------------------------------

    def write_script(self, manifest: Manifest) -> str | None:
        """Return the script that makes views of weights."""
        return write_group_script(manifest)

    def grouping(self, manifest: Manifest) -> tuple[str, str, list[str]]:
        """Return the groups."""
        return "groups", "qit", [manifest["columns"]["group"]]


QIT_ST = GroupForm()
