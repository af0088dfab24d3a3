"""What a form of release is: everything that depends on what was published, behind one object."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.errors import ReleaseError, UsageError
from sqlanon.estimation.session import Session
from sqlanon.forms.estimate_script import first_views, weight_name
from sqlanon.models.shapes import NAME, Shape, either, number, record, several, text, whole, word
from sqlanon.plain_values import plain
from sqlanon.plans.engines import OURS, Mark
from sqlanon.plans.manifest import Manifest, departed, of_people
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql
from sqlanon.prose import write_parts
from sqlanon.verification.checks import Check, Layout, PublishedTables, Report, compare_columns, verify_columns
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.adversary.completed import Chain
    from sqlanon.adversary.view import View


# what the manifests of several forms say of their columns and checks
SHARE = number(0, 1)
COMPARED = either(record({"added_rows": word(0), "missing_rows": whole()}), word("holds", "not run"))
BALANCES = {"quasi_rows": COMPARED, "sensitive_counts": COMPARED}
SORTED = {"row_order": word("sorted")}
SIZES = {"smallest_group": whole(), "largest_group": whole()}
ROLES = {"quasi": several(NAME, 1), "sensitive": several(NAME, 1)}
GROUP_ROLES = {**ROLES, "group": NAME, "count": NAME}
PROVED_OTHERWISE = text(r"\d{1,18} groups mix signatures: verify with --background")


def counts(*names: str) -> Shape:
    """Return the shape of an object of counts."""
    return record({}, {name: whole() for name in names})


Tables = Mapping[str, Sql]
Table = tuple[str, Sequence[str], Sequence[Sequence[object]], Sequence[str]]  # title, heads, lines, closing lines
Presence = Callable[[PublishedTables, object], str]
SINCE = "since"  # the check of two releases of one ledger
UNVERIFIED = (
    "nothing was verified when this release was written: `verified` of its manifest, which has the figures to tell of"
    " it, is empty; ask its publisher for one that was verified"
)
NOTABLE_LOSS = 0.05  # of the rows: from which share on the promise has to say what it is not about
NO_GROUPS = Mark(OURS, "has no groups of exact values")
NOT_COMPLETED = Mark(OURS, "exact rows in groups are, and randomized rows")
_LINES = (  # of a summary, in their order: each is said by a macro, `say_method`
    *("published", "method", "against", "dropped rows", "uncertain", "suppressed", "generalized"),
    *("promised", "not promised", "verified", "error (RCE)", "files"),
)


class Form:
    """How releases of one form are verified, asked, attacked, completed and described.

    A form declares all of it in its folder, and what is slow to load is imported where it is needed.

    name: what methods call it. estimators: of its answers, the default one first. columns, promise, figures: the
    schemas of these parts of a manifest. of_source: the figures that only a publisher could find, by comparing with the
    source. nested: the roles of published columns that hold nested values. parts: whether several sensitive columns
    have a table each. lacks: what is not done with such releases (voters, background, complete), and why. keeps_quasi:
    whether quasi columns are published with their own values. tells_figures: whether a manifest says what verification
    has counted, or only that its checks held. bars, intervals: what a report says that they are. words: templates of
    what is said of a release, the form's own one first. warning: the template of the section of README.md on what not
    to do with the tables. shown_parameters: those that a summary names, all where it is None; hidden_parameters: those
    that it leaves out.
    """

    name: str
    estimators: tuple[str, ...]
    columns: Shape
    promise: Shape
    figures: Mapping[str, Shape]
    of_source: tuple[str, ...] = tuple(BALANCES)
    nested: tuple[str, ...] = ()
    parts = False
    lacks: Mapping[str, Mark] = {"voters": NO_GROUPS, "background": NO_GROUPS, "complete": NOT_COMPLETED}
    keeps_quasi = False
    tells_figures = True
    bars = "are 95 % intervals"
    intervals = " with 95 % intervals"
    words: tuple[str, ...]
    warning: str
    shown_parameters: tuple[str, ...] | None = None
    # what stands in the promise, and what answers alone read
    hidden_parameters: tuple[str, ...] = ("rows_per_person", "unit", "owner_values")

    def has_several(self, manifest: Mapping[str, Any]) -> bool:
        """Tell whether each of several sensitive columns has a table by itself."""
        return self.parts and len(manifest["columns"]["sensitive"]) > 1

    # -- the tables ----------------------------------------------------------------------------

    def layout(self, manifest: Manifest) -> Layout:
        """Return each published table's columns in order, as the manifest declares them, with the types they may be."""
        raise NotImplementedError

    def published_columns(self, manifest: Manifest) -> dict[str, list[str]]:
        """Return the names of each published table's columns, in order."""
        return {table: [*columns] for table, columns in self.layout(manifest).items()}

    def table_names(self, manifest: Manifest) -> list[str]:
        """Return the published tables of a release."""
        return [*self.layout(manifest)]

    def nested_columns(self, manifest: Manifest) -> set[str]:
        """Return the names of the published columns that hold nested values."""
        return {manifest["columns"][role] for role in self.nested}

    def check_manifest(self, manifest: Manifest, where: str) -> None:
        """Raise ReleaseError where a manifest, as its release is called, contradicts itself or promises nothing."""

    def guarantee(self, manifest: Manifest, rows: int) -> dict[str, Any]:
        """Return what is promised, as numbers, of so many rows."""
        raise NotImplementedError

    # -- proof, answers, attacks, completion ---------------------------------------------------

    def _find(self, name: str) -> Any:
        """Import the module of that name from the form's folder, or from that of the form that it is made of."""
        folders = (form.__module__ for form in type(self).__mro__)
        return import_module(next(place for folder in folders if find_spec(place := f"{folder}.{name}")))

    def verify(self, published: PublishedTables) -> Report:
        """Check what the tables alone prove: `verify` of the folder's module `verification`, column by column.

        Its figures have `rows`, the rows of each table (`TABLE_rows`), and `groups` where there are such. Where nothing
        is run, it only writes down what it asks (`PublishedTables.script`), as does `verify_against`.
        """
        proof = self._find("verification").verify
        return verify_columns(published, proof) if self.has_several(published.manifest) else proof(published)

    def verify_against(self, published: PublishedTables, source: Source, types: Mapping[str, str]) -> tuple[Check, ...]:
        """Compare the tables with their source, whose columns have the given types, by the same module."""
        proof, several = self._find("verification").verify_against, self.has_several(published.manifest)
        return compare_columns(published, proof, source, types) if several else proof(published, source, types)

    @property
    def presence(self) -> Presence | None:
        """Return what writes the query that looks voters up; None where they cannot be (see `lacks`)."""
        return None

    def session(self, engine: Engine, tables: Tables, manifest: Manifest) -> Session:
        """Open a release for questions."""
        raise NotImplementedError

    @property
    def view(self) -> "type[View]":
        """Return what an adversary sees of a release of one sensitive column: VIEW of the folder's module."""
        view: type[View] = self._find("view").VIEW
        return view

    @property
    def completion(self) -> "Callable[[Engine, Tables, Manifest, int], Chain] | Mark":
        """Return what opens a release for completion, with a seed, or why plausible rows are not drawn."""
        return self.lacks["complete"]

    def since_query(self, published: PublishedTables, earlier: PublishedTables) -> str:
        """Return the query that compares a release with an earlier one of its ledger, of the same form.

        Raises UsageError where releases of this form do not follow each other.
        """
        raise UsageError(f"{option(SINCE)} compares groups, and releases of {published.manifest['method']} have none")

    def judge_since(self, row: Mapping[str, Any], manifest: Manifest) -> Check:
        """Return the check that what both show is the same; row: of `since_query`."""
        raise NotImplementedError

    # -- words ---------------------------------------------------------------------------------

    def summary(self, manifest: Mapping[str, Any], where: str) -> dict[str, str]:
        """Return what the publisher is shown, in words: lines by their names; where: what the release is called."""
        rows, dropped, parameters = int(manifest["rows"]), int(manifest["dropped_rows"]), manifest["parameters"]
        shown = [name for name in parameters if name not in self.hidden_parameters]
        if self.shown_parameters is not None:  # releases of earlier versions lack some
            shown = [name for name in self.shown_parameters if name in parameters]
        values = {
            "where": where,
            "share_lost": dropped / max(1, rows + dropped),
            "notable_loss": NOTABLE_LOSS,
            "departed": departed(manifest),
            "shown_parameters": plain({name: parameters[name] for name in shown}),
        }
        macros = {f"say_{line.partition(' (')[0].replace(' ', '_')}": line for line in _LINES}
        return {macros[name]: text for name, text in self._say(macros, manifest, values).items()}

    def _say(
        self, names: Iterable[str], manifest: Mapping[str, Any], values: Mapping[str, object] = {}
    ) -> dict[str, str]:
        """Return what macros of the form's words say, by their names."""
        known = {**manifest, "several": self.has_several(manifest), "sets": of_people(manifest), **values}
        wrong = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
        try:
            return write_parts((*self.words, "forms/words.txt"), names, known)
        except wrong as error:
            if manifest.get("verified") == {}:
                raise ReleaseError(UNVERIFIED) from None
            raise ReleaseError(f"the manifest does not say what is told of its release: {error}") from None

    def tables(self, manifest: Mapping[str, Any]) -> list[Table]:
        """Return what is shown below it."""
        return []

    def describe_sensitive(self, manifest: Manifest) -> str:
        """Say what a sensitive column of the tables is."""
        return self._say(["sensitive_column"], manifest)["sensitive_column"]

    def describe_quasi(self, manifest: Manifest, write_name: Callable[[str], str]) -> dict[str, str]:
        """Say what published quasi columns are that are more than exact values, by their names."""
        return {}

    def advise(self, manifest: Manifest) -> str:
        """Say in a schema's comment what not to do with the tables."""
        return self._say(["advice_of_tables"], manifest)["advice_of_tables"]

    def warning_values(self, manifest: Manifest) -> dict[str, object]:
        """Return the values of the template `warning`."""
        columns = manifest["columns"]
        return {
            "several": self.has_several(manifest),
            "sets": of_people(manifest),
            "weight": weight_name(manifest),
            "views": first_views(manifest),
            "sensitive": columns["sensitive"][0],
            "group": columns.get("group"),
        }

    def write_script(self, manifest: Manifest) -> str | None:
        """Return estimate.sql; None where answers are no sum of weights."""
        return None

    def grouping(self, manifest: Manifest) -> tuple[str, str, list[str]]:
        """Return who is alike: the word for it, the table, and the columns that they share."""
        raise NotImplementedError
