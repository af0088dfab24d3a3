"""Rows with exact quasi values and randomized sensitive ones."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError, UsageError
from sqlanon.estimation.session import Session
from sqlanon.estimators import OF_RANDOMIZED
from sqlanon.forms.estimate_script import write_row_script
from sqlanon.forms.form import NO_GROUPS, ROLES, SHARE, SINCE, Form, Table, Tables
from sqlanon.models.shapes import by_column, number, record, several, whole, word
from sqlanon.plans.engines import Mark
from sqlanon.plans.manifest import Manifest, departed, follows, value_lists
from sqlanon.verification.checks import SINGLE, Check, Layout, PublishedTables
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.adversary.completed import Chain


_SPLU_PROMISE = record(
    {
        "gamma": whole(2),
        "retention": SHARE,
        "epsilon": SHARE,
        "small_sums": record({"alpha": whole(1), "off_at_least": SHARE}),
        "large_sums": record({"target_error": SHARE, "count": whole(), "possible": bool}),
        "counts": several(record({"count": whole(1), "off": SHARE, "paper_bound": number()})),
        "paper_bound": record({"holds": word(False), "note": str}),
    }
)


class RandomizedForm(Form):
    """One table of rows; it may have several sensitive columns."""

    name = "randomized"
    estimators = OF_RANDOMIZED
    columns = record(ROLES)
    promise = by_column("sensitive", _SPLU_PROMISE)
    figures = dict.fromkeys(
        ("row_order", "gamma", "values", "quasi_rows", "listed_values", "retention", "published_counts"),
        word("holds", "not run"),
    )
    of_source = ("quasi_rows", "listed_values", "retention", "published_counts")
    keeps_quasi = True
    tells_figures = False  # none of sensitive values
    lacks: Mapping[str, Mark] = {"voters": NO_GROUPS, "background": NO_GROUPS}
    words = ("forms/randomized/words.txt",)
    warning = "forms/randomized/warning.md"

    def layout(self, manifest: Manifest) -> Layout:
        """Return the columns of the rows, which may be of any type, and of the lists of values."""
        listed = {table: {column: SINGLE} for table, column in value_lists(manifest).items()}
        columns = [*manifest["columns"]["quasi"], *manifest["columns"]["sensitive"]]
        return {"data": dict.fromkeys(columns, SINGLE), **listed}

    def check_manifest(self, manifest: Manifest, where: str) -> None:
        """Refuse a manifest that does not say how each sensitive column was randomized."""
        # the schema of parameters says what their values are, where they are said
        parameters, required = manifest["parameters"], {"gamma", "epsilon", "alpha", "target_error", "residue"}
        sound = required <= set(parameters) and list(parameters["gamma"]) == manifest["columns"]["sensitive"]
        if not sound or ("departed" in parameters) != follows(manifest):
            raise ReleaseError(f"the manifest of {where} does not say how its sensitive columns were randomized")

    def guarantee(self, manifest: Manifest, rows: int) -> dict[str, Any]:
        """Return the guarantee of each sensitive column, from gamma and the number of rows alone.

        Of a release that others of its ledger came before, counts are of everybody whom these releases have shown:
        decoy groups are whole with them. What is promised of small sums holds for those who are left as well.
        """
        from sqlanon.methods.splu import binomial, departures  # numpy is slow to import

        parameters, departed_rows = manifest["parameters"], departed(manifest)
        settings = [parameters[name] for name in ("epsilon", "alpha", "target_error", "residue")]
        settings.append(bool(value_lists(manifest)))
        promised = {
            column: binomial.guarantee(gamma, rows + departed_rows, *settings)
            for column, gamma in parameters["gamma"].items()
        }
        for promise in promised.values() if departed_rows else ():
            small = promise["small_sums"]
            small["off_at_least"] = departures.small_sums(small["alpha"], promise["gamma"], promise["epsilon"])
        return promised

    def session(self, engine: Engine, tables: Tables, manifest: Manifest) -> Session:
        """Open a release for questions."""
        from sqlanon.estimation.randomized import Randomized

        return Session(Randomized, engine, tables, manifest, self.estimators)

    @property
    def completion(self) -> "Callable[[Engine, Tables, Manifest, int], Chain] | Mark":
        """Draw true values of the rows."""
        from sqlanon.adversary.recovering import Recovering

        return Recovering

    def since_query(self, published: PublishedTables, earlier: PublishedTables) -> str:
        """Return the query that compares people who are alone with their quasi values in both releases."""
        columns, before = published.manifest["columns"], earlier.manifest["columns"]
        shared = [name for name in columns["quasi"] if name in before["quasi"]]
        if not shared:
            raise UsageError(f"{option(SINCE)} names a release that has no quasi column in common with this one")
        return published.query(
            "verify/releases/shared_rows",
            {"earlier_data": earlier.tables["data"]},
            shared=shared,
            sensitive=columns["sensitive"][0],
        )

    def judge_since(self, row: Mapping[str, Any], manifest: Manifest) -> Check:
        """Tell whether more people publish what they published before than would if values had been drawn again.

        None where that cannot be told: where they are few, and where as many do not, for they may be other people.
        """
        gamma = min(manifest["parameters"]["gamma"].values())
        alone, same = int(row["alone_in_both"]), int(row["same_value"])
        # two draws agree with probability at most 1/gamma: 4 standard errors, and 1 for small numbers, above that
        chance = alone / gamma + 4 * math.sqrt(alone / gamma * (1 - 1 / gamma)) + 1
        required = f"the same value of more than {chance:,.1f}, which values drawn again do not reach"
        return Check(SINCE, required, {"alone_in_both": alone, "same_value": same}, True if same > chance else None)

    # -- words ---------------------------------------------------------------------------------

    def tables(self, manifest: Mapping[str, Any]) -> list[Table]:
        """Return what is promised of each sensitive column's counts."""

        from sqlanon.methods.splu import binomial  # of one method

        return [binomial.table(column, promised) for column, promised in manifest["guarantee"].items()]

    def write_script(self, manifest: Manifest) -> str | None:
        """Return the script that makes views of weights."""
        return write_row_script(manifest)

    def grouping(self, manifest: Manifest) -> tuple[str, str, list[str]]:
        """Return people who share all their quasi values."""
        return "crowds with equal quasi values", "data", list(manifest["columns"]["quasi"])


RANDOMIZED = RandomizedForm()
