"""A form of release for the tests: one table of crowds, how often each value occurs among people alike.

A crowd is a group of people whose quasi values are the same, so that what reads groups reads it: `as_groups` writes
the table as a QIT and an ST.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError
from sqlanon.estimation.session import Session
from sqlanon.estimators import UNIFORM_ALONE
from sqlanon.forms.form import COMPARED, NAME, ROLES, SHARE, SIZES, SORTED, Form, Tables, counts
from sqlanon.models.shapes import record, whole
from sqlanon.plans.build import render_query
from sqlanon.plans.engines import OURS, Mark
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import SINGLE, Layout

if TYPE_CHECKING:
    from sqlanon.adversary.completed import Chain


def as_groups(tables: Tables, manifest: Manifest) -> tuple[dict[str, Sql], dict[str, Any]]:
    """Return a release as a QIT and an ST with their manifest: each crowd is a group."""
    columns = manifest["columns"]
    group = free_name("group_id", [*columns["quasi"], *columns["sensitive"], columns["count"]])
    names = {"quasi": columns["quasi"], "group_column": group, "count_column": columns["count"]}
    tally = {"tally": tables["tally"]}
    qit = render_query("tally_form/people", names, tally)
    st = render_query("tally_form/lines", {**names, "sensitive": columns["sensitive"][0]}, tally)
    return {"qit": Sql(f"({qit})"), "st": Sql(f"({st})")}, {**manifest, "columns": {**columns, "group": group}}


FIGURES = {**SORTED, **SIZES, "crowds": counts("wrong_counts"), "confidence": SHARE, "people": COMPARED}


class TallyForm(Form):
    """Crowds and their tallies."""

    name = "tally_form"
    estimators = UNIFORM_ALONE
    columns = record({**ROLES, "count": NAME})
    promise = record({"l": whole(2), "confidence": SHARE})
    figures = FIGURES
    of_source = ("people",)
    keeps_quasi = True
    lacks = dict.fromkeys(("voters", "background"), Mark(OURS, "has no groups of exact values"))
    words = ("tally_form/words.txt",)
    warning = "tally_form/warning.md"

    def layout(self, manifest: Manifest) -> Layout:
        """Return the table's columns."""
        columns = manifest["columns"]
        shown = dict.fromkeys([*columns["quasi"], *columns["sensitive"]], SINGLE)
        return {"tally": {**shown, columns["count"]: ("BIGINT",)}}

    def check_manifest(self, manifest: Manifest, where: str) -> None:
        """Refuse a manifest that does not say an l that protects anybody."""
        if manifest["parameters"].get("l", 1) < 2 or len(manifest["columns"]["sensitive"]) != 1:
            raise ReleaseError(f"the manifest of {where} does not describe crowds")

    def guarantee(self, manifest: Manifest, rows: int) -> dict[str, Any]:
        """Return what is promised."""
        return {"l": manifest["parameters"]["l"], "confidence": 1 / manifest["parameters"]["l"]}

    def session(self, engine: Engine, tables: Tables, manifest: Manifest) -> Session:
        """Open a release for questions."""
        from tests.toys.tally_form.session import CrowdTables

        return Session(CrowdTables, engine, *as_groups(tables, manifest), self.estimators)

    @property
    def completion(self) -> "Callable[[Engine, Tables, Manifest, int], Chain] | Mark":
        """Deal each crowd's values to its people."""
        from sqlanon.adversary.dealing import open_groups

        return lambda engine, tables, manifest, seed: open_groups(engine, *as_groups(tables, manifest), seed)

    def grouping(self, manifest: Manifest) -> tuple[str, str, list[str]]:
        """Return the crowds."""
        return "crowds with equal quasi values", "tally", list(manifest["columns"]["quasi"])


TALLY_FORM = TallyForm()
