"""What an adversary sees of a release: people by their quasi values, groups, values; all relations in SQL."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, UsageError
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.methods import METHODS
from sqlanon.plans.build import render_query
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql
from sqlanon.wording import option

MOST_CODES = 50  # of one quasi column: more values than that are taken together
LINK_TURNS = 8  # by then the sums are right within a thousandth
LEAST_MET = 0.95  # of the people in the release whom the source must hold


class View:
    """The relations of one release as they are asked for; `close` drops them."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> None:
        """Take the published tables and the manifest."""
        columns = manifest["columns"]
        self.engine, self.tables, self.manifest = engine, tables, manifest
        self.quasi = {name: f"quasi_{number}" for number, name in enumerate(columns["quasi"], start=1)}
        self.names = list(self.quasi.values())
        self.codes = [f"code_{number}" for number in range(1, len(self.quasi) + 1)]
        self.sensitive: str = columns["sensitive"][0]
        self.workspace = Workspace(engine, {}, {}, {})
        self.kept: dict[str, Sql] = {}
        self.turn = 0

    def close(self) -> None:
        """Drop what was made."""
        self.workspace.close()

    def keep(self, name: str, template: str, given: Mapping[str, Sql], /, **values: object) -> Sql:
        """Make a relation once; return it."""
        if name not in self.kept:
            self.kept[name] = self.workspace.keep(name, self.workspace.render(f"attacks/{template}", given, **values))
        return self.kept[name]

    def replace(self, name: str, template: str, given: Mapping[str, Sql], /, **values: object) -> Sql:
        """Make a relation anew; an older one of this name, which it may read, is dropped after."""
        before, self.turn = self.kept.get(name), self.turn + 1
        sql = self.workspace.render(f"attacks/{template}", given, **values)
        self.kept[name] = self.workspace.keep(f"{name}_{self.turn}", sql)
        if before is not None:
            self.workspace.forget([str(before)])
        return self.kept[name]

    def row(self, template: str, given: Mapping[str, Sql], /, **values: object) -> dict[str, Any]:
        """Return the one row of figures of a query."""
        (found,) = self.engine.rows(self.workspace.render(f"attacks/{template}", given, **values))
        return found

    @property
    def is_grouped(self) -> bool:
        """Tell whether the release has groups (QIT and ST), or randomized values."""
        return "st" in self.tables

    def people(self) -> Sql:
        """Return everybody as they lie in the release."""
        named = list(self.quasi.items())
        if self.is_grouped:
            stored = {"stored_qit": self.engine.in_stored_order(self.tables["qit"])}
            group = self.manifest["columns"]["group"]
            return self.keep("person", "person", stored, quasi=named, group_column=group)
        stored = {"stored_data": self.engine.in_stored_order(self.tables["data"])}
        return self.keep("person", "published_person", stored, quasi=named, sensitive=self.sensitive)

    def combinations(self) -> Sql:
        """Return what people are known by: combinations of quasi values with their rows."""
        return self.keep("combination", "combination", {"person": self.people()}, quasi=self.names)

    def lines(self) -> Sql:
        """Return the lines of ST as they lie."""
        columns = self.manifest["columns"]
        return self.keep(
            "line", "line", {"stored_st": self.engine.in_stored_order(self.tables["st"])},
            sensitive=self.sensitive, group_column=columns["group"], count_column=columns["count"],
        )  # fmt: skip

    def values(self) -> Sql:
        """Return every published sensitive value with its number."""
        if self.is_grouped:
            return self.keep("value", "value", {"holding": self.lines()}, weight=Sql("held"))
        return self.keep("value", "value", {"holding": self.people()}, weight=Sql("1"))

    def holdings(self) -> Sql:
        """Return what every group holds."""
        return self.keep("holding", "holding", {"line": self.lines(), "value": self.values()})

    def coded_people(self) -> Sql:
        """Return everybody with combination and codes."""
        coded = [(self.code_table(name), name, code) for name, code in zip(self.names, self.codes, strict=True)]
        given = {"person": self.people(), "combination": self.combinations()}
        kept = "group_id" if self.is_grouped else "value"
        return self.keep("coded_person", "coded_person", given, quasi=self.names, codes=coded, kept=kept)

    @cached_property
    def people_figures(self) -> dict[str, Any]:
        """Return how many people there are, and how many nobody else's quasi values equal."""
        return self.row("unique_figures", {"combination": self.combinations()})

    @cached_property
    def value_figures(self) -> dict[str, Any]:
        """Return what chance reaches in the groups: the most frequent value's share, and the mean share."""
        return self.row("value_figures", {"value": self.values(), "holding": self.holdings()})

    def code_table(self, name: str) -> Sql:
        """Return the codes of one quasi column."""
        return self.keep(f"codes_of_{name}", "code", {"person": self.people()}, name=name, most=MOST_CODES)

    def truth(self, against: object, identifier: tuple[str, ...]) -> Sql:
        """Return the source's values of people by combination.

        Raises UsageError where the source lacks a column, DataError where it is about other people, or its identifier
        repeats.
        """
        source, types = self.engine.find_source(against)
        own = resolve_names(list(types), [*self.quasi, self.sensitive])
        kinds = self.engine.columns(f"select * from {self.tables['qit' if self.is_grouped else 'data']}")
        selected = [
            (Sql(f"cast({source.expression(name)} as {kinds[published]})"), ours)
            for name, (published, ours) in zip(own, self.quasi.items(), strict=False)
        ]
        selected.append((source.expression(own[-1]), "value"))
        self._refuse_repeated(source.relation, resolve_names(list(types), identifier))
        rendered = render_query("shared/source", {"relation": source.relation, "selected": selected}, {})
        microdata = self.workspace.keep("microdata", rendered)
        met = self.row("met_figures", {"person": self.people(), "other": microdata}, quasi=self.names)
        if met["met_people"] < LEAST_MET * met["people"]:
            raise DataError(
                f"the source holds {met['met_people']:,} of the release's {met['people']:,} people, as far as quasi"
                " values tell: it is about others, and nothing is scored"
            )
        given = {"microdata": microdata, "combination": self.combinations(), "value": self.values()}
        return self.keep("truth", "truth", given, quasi=self.names)

    def links(self, truth: Sql) -> Sql:
        """Return how likely each value is to be somebody's true one, as source and groups tell: weights sum to 1.

        A release does not say whose row is whose. Who is known by quasi values of their own has one value; others share
        what the source says of people like them, dealt out as the groups hold it (iterative proportional fitting).
        """
        given = {"coded_person": self.coded_people(), "holding": self.holdings(), "truth": truth}
        found = self.replace("link", "link", given)
        for _ in range(LINK_TURNS):
            found = self.replace("link", "settled_link", {"link": found})
        return found

    def _refuse_repeated(self, relation: Sql, identifier: tuple[str, ...]) -> None:
        if not identifier:
            return
        sql = render_query("shared/persons", {"identifier_columns": identifier}, {"population": relation})
        (found,) = self.engine.rows(sql)
        if repeated := found["repeating_persons"]:
            raise DataError(f"{repeated:,} persons have several rows in the source: {option('id')} names no single row")


def is_attacked(manifest: Manifest) -> str:
    """Return '' for a release that attacks know, else the words for why not."""
    method = manifest["method"]
    if METHODS[method].form in ("qit_st", "class_qit_st", "randomized"):
        return ""
    return f"releases of {method} are not attacked yet; verify tells the largest confidence in a group"


def refuse_form(manifest: Manifest) -> None:
    """Raise UsageError for a release that no attack knows."""
    if reason := is_attacked(manifest):
        raise UsageError(reason)
