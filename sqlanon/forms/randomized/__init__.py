"""Rows with exact quasi values and randomized sensitive ones."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from sqlanon.engines.base import Engine
from sqlanon.estimation.open_session import Session
from sqlanon.estimators import OF_RANDOMIZED
from sqlanon.forms.form import Edition, Form, Table, Tables
from sqlanon.forms.schema_parts import ROLES, SHARE
from sqlanon.plans.json_schema import by_column, number, record, several, whole, word
from sqlanon.plans.manifest import Manifest
from sqlanon.verification.checks import Verification

if TYPE_CHECKING:
    from sqlanon.adversary.view import View
    from sqlanon.completion.complete_release import Chain

_SPLU_PROMISE = record(
    {
        "gamma": whole(2),
        "retention": SHARE,
        "epsilon": SHARE,
        "small_sums": record({"alpha": whole(1), "off_at_least": SHARE}),
        "large_sums": record({"target_error": SHARE, "count": whole(), "possible": {"type": "boolean"}}),
        "counts": several(record({"count": whole(1), "off": SHARE, "paper_bound": number()})),
        "paper_bound": record({"holds": word(False), "note": {"type": "string"}}),
    }
)


class RandomizedForm(Form):
    """One table of rows; it may have several sensitive columns."""

    name = "randomized"
    estimators = OF_RANDOMIZED
    columns = record(ROLES)
    promise = by_column("sensitive", _SPLU_PROMISE)
    figures = dict.fromkeys(
        ("row_order", "gamma", "quasi_rows", "retention", "published_counts"), word("holds", "not run")
    )
    keeps_quasi = True

    @property
    def verification(self) -> Verification:
        """Return what verifies the table."""
        from sqlanon.verification import randomized

        return cast(Verification, randomized)

    def session(self, engine: Engine, tables: Tables, manifest: Manifest) -> Session:
        """Open a release for questions."""
        from sqlanon.estimation.randomized.session import Session as Opened

        return cast(Session, Opened(engine, tables, manifest, self.estimators))

    @property
    def view(self) -> "type[View]":
        """Return what an adversary sees."""
        from sqlanon.forms.randomized.view import RandomizedView

        return RandomizedView

    @property
    def completion(self) -> "Callable[[Engine, Tables, Manifest, int], Chain] | None":
        """Draw true values of the rows."""
        from sqlanon.completion.recovering import Recovering

        return Recovering

    # -- words ---------------------------------------------------------------------------------

    def summary(self, manifest: Mapping[str, Any], where: str) -> dict[str, str]:
        """Say what a release of randomized values is."""
        from sqlanon.forms.randomized.words import summarize_randomized

        return summarize_randomized(manifest, where)

    def tables(self, manifest: Mapping[str, Any]) -> list[Table]:
        """Return what is promised of each sensitive column's counts."""
        from sqlanon.forms.randomized.words import randomized_tables

        return randomized_tables(manifest)

    def describe_sensitive(self, manifest: Manifest) -> str:
        """Say what a sensitive column is."""
        return "sensitive, randomized: a row's value may not be its own"

    def advise(self, manifest: Manifest) -> str:
        """Say that values are not to be counted as they stand."""
        from sqlanon.forms.randomized.words import ADVICE

        return ADVICE

    def warn(self, manifest: Manifest, edition: Edition) -> str:
        """Say it at length, with what to do instead."""
        from sqlanon.forms.randomized.words import warn

        return warn(manifest, edition)

    def write_script(self, manifest: Manifest, edition: Edition) -> str | None:
        """Return the script that makes views of weights."""
        from sqlanon.forms.randomized.estimate_script import write_script
        from sqlanon.forms.weights import FIRST_LINES

        return write_script(manifest) if edition == "newest" else write_script(manifest, FIRST_LINES)

    def grouping(self, manifest: Manifest) -> tuple[str, str, list[str]]:
        """Return people who share all their quasi values."""
        return "crowds with equal quasi values", "data", list(manifest["columns"]["quasi"])


RANDOMIZED = RandomizedForm()
