"""What a verification is made of: checks, their report, the published tables that they read, and what all forms check.

Physical row order can leak values: engines write rows in the order in which they were grouped by sensitive value, and
if QIT and ST keep it, their rows can be matched by position. So every published table is sorted by its columns alone.

A release with several sensitive columns is with each column's table a release that is verified by itself: only what
holds of every column by itself is promised. How two columns depend on each other inside a group, or a box, is not
published.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.engines.coarser_source import coarsen_source
from sqlanon.errors import UsageError
from sqlanon.plain_values import plain, shorten_hashes, words
from sqlanon.plans.build import render_queries, render_query
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.coarsening import LOOKED_UP, Coarsening
from sqlanon.plans.manifest import Manifest, of_people, one_column, sensitive_tables
from sqlanon.plans.plan import LinkedRows, Row, Source, read_order
from sqlanon.plans.roles import resolve_names, split_columns
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.source import CoarserSource
from sqlanon.text_tables import write_table
from sqlanon.verdicts import Colour, Section, Verdict, write_card, write_summary
from sqlanon.wording import option

if TYPE_CHECKING:
    import pandas as pd

OWN_GROUP = "own_group"  # the check that everybody is in a group, or box, with their own value
# what no manifest says: a release tells of nobody in a wrong group by being there, and how many quasi values single out
# in the source is told by QIT; a posterior is a function of what is kept secret
UNTOLD = (OWN_GROUP, "posterior")
REPORTED = "reported"  # what is required where nothing is judged
ROUNDING = 1e-12  # what rounding may add to a posterior of exactly 1/r
# by table and column, in order: the types that a column may have; any that holds single values for none; or the name
# of the table's column that it has the type of
Layout = Mapping[str, Mapping[str, tuple[str, ...] | str]]
SINGLE: tuple[str, ...] = ()
TEXT = ("VARCHAR",)
WHOLE = ("BIGINT", "HUGEINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT", "UINTEGER", "INT", "INT8", "INT4")
# where an engine whose tables lie in parts tells a row's file, and its place in it
PLACE_COLUMNS = {"file_column": "sqlanon_file", "place_column": "sqlanon_position"}
LEAST = ("diversity", "k", "l")  # checks of a figure that fails where it is too small


def equal_figures(required: Any, claimed: Any) -> bool:
    """Compare figures as JSON has them; engines, and versions of a library, add fractions in different orders."""
    if isinstance(required, float) and type(claimed) in (int, float):
        return math.isclose(required, claimed, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(required, dict) and isinstance(claimed, dict):
        return set(required) == set(claimed) and all(equal_figures(required[name], claimed[name]) for name in required)
    if isinstance(required, list) and isinstance(claimed, list):
        return len(required) == len(claimed) and all(map(equal_figures, required, claimed))
    return bool(required == claimed) and isinstance(required, bool) == isinstance(claimed, bool)


@dataclass(frozen=True)
class Check:
    """One property of a release: what is required, what was found, and whether it holds (None: not run).

    promised: whether what the release promises rests on it, so that nothing is proved where it was not run. certain:
    whether it tells what is known for certain of people, which stands before all else.
    """

    name: str
    required: object
    found: object
    holds: bool | None
    promised: bool = False
    certain: bool = False

    @property
    def mark(self) -> str:
        """Say whether it holds; one that found something without judging it is `reported`."""
        if self.holds is None:
            return "not run" if self.required != REPORTED or isinstance(self.found, str) else REPORTED
        return "yes" if self.holds else "NO"


@dataclass(frozen=True, repr=False)
class Report:
    """Every check of one verification, and the figures beside them.

    presence: the risk of the voters, a row for all whose quasi values are the same. posterior: for each background
    the figures of `Exposure`; promise: the words for the limit that these are seen against. compared: those of the
    checks that compare with the source.
    """

    checks: tuple[Check, ...]
    figures: Mapping[str, Any] = field(default_factory=dict)
    presence: "pd.DataFrame | None" = None
    posterior: tuple[Mapping[str, Any], ...] = ()
    promise: str = ""
    compared: tuple[Check, ...] = ()

    @property
    def holds(self) -> bool | None:
        """Return whether every check holds; None where none fails and what was promised is not proved."""
        if any(check.holds is False for check in self.checks):
            return False
        return None if self.unproved else True

    @property
    def unproved(self) -> list[str]:
        """Return the checks that were not run though the promise rests on them."""
        return [check.name for check in self.checks if check.promised and check.holds is None]

    def manifest_entries(self, tables: Iterable[str], told: bool) -> dict[str, Any]:
        """Return what a manifest says of the verification: what was found by each check, and the figures.

        tables: whose rows the manifest has elsewhere. told: whether it says figures, or only that each check held.
        """
        checks = [check for check in self.checks if check.name not in UNTOLD]
        if not told:
            return {check.name: "holds" if check.holds else "not run" for check in checks}
        elsewhere = {"rows", "groups", "held_values", *(f"{table}_rows" for table in tables)}
        figures = {name: figure for name, figure in self.figures.items() if name not in elsewhere}
        return {check.name: check.found for check in checks} | figures

    def sections(self) -> list[Section]:
        """Return what is shown below the verdict: every check, and the figures folded."""
        lines = [
            [check.mark, check.name, *(shorten_hashes(words(plain(side))) for side in (check.found, check.required))]
            for check in self.checks
        ]
        figures = [[name.replace("_", " "), plain(value)] for name, value in self.figures.items()]
        return [
            Section("Every check", write_table(["holds", "check", "found", "required"], lines), folded=False),
            Section("Figures of the tables", write_table([], figures) if figures else ""),
        ]

    def __str__(self) -> str:
        """Say in a few lines what it comes to."""
        return write_summary(self.verdict, f"{len(self.checks)} checks: .checks; .holds is {self.holds}")

    __repr__ = __str__

    @property
    def verdict(self) -> Verdict:
        """Return green where all holds, amber where the promise is not proved, red where a check fails; and why."""
        colours: dict[bool | None, Colour] = {True: "green", None: "amber", False: "red"}
        return Verdict(self.sentence, colours[self.holds])

    @property
    def sentence(self) -> str:
        """Say what the verification comes to."""
        if self.holds is False:
            doubt = self.doubt.capitalize()
            return f"This release does not hold what it promises: {self.failed()}. {doubt or 'Do not hand it on.'}"
        if self.holds is None:
            return f"No check fails, and the promise is not proved: {', '.join(self.unproved)} was not run."
        unjudged = [check.name for check in self.checks if check.holds is None]
        others = f"; not judged: {', '.join(unjudged)}" if unjudged else ""
        return f"The release holds what it promises, as far as its files can prove it{others}."

    @property
    def doubt(self) -> str:
        """Return what may be wrong: with the files, or with the source, where the tables hold by themselves."""
        if any(one.name == "files" and one.holds is False for one in self.checks):
            return "its files were changed or lost: get a fresh copy from its publisher."
        if self.holds is not False or any(one.holds is False and one not in self.compared for one in self.checks):
            return ""
        return "by itself all holds: is the source the one that was published, and nothing was changed in it since?"

    def _repr_html_(self) -> str:
        return write_card(self.verdict, self.sections())

    def failed(self) -> str:
        """Return the failed checks in words."""
        return "; ".join(
            shorten_hashes(f"{check.name}: required {words(plain(check.required))}, found {words(plain(check.found))}")
            for check in self.checks
            if check.holds is False
        )


@dataclass(frozen=True)
class PublishedTables:
    """The tables of a release as they stand in an engine, and its manifest.

    answers: where several looks at the same tables ask the same, the answers by the text of the query. script: where
    queries are written down and none is run, their names by their texts, in the order in which they are asked.
    linked: what the run that wrote them still knows of its rows. original: the microdata, with the types of its
    columns, that this run compares them with; None for anybody else. described: columns that were looked up. keys:
    relations with keys of pseudonyms, which `close` drops.
    """

    engine: Engine
    tables: Mapping[str, Sql]
    manifest: Manifest
    answers: dict[str, Sequence[Row]] | None = field(default=None, compare=False, repr=False)
    script: dict[str, str] | None = field(default=None, compare=False, repr=False)
    linked: LinkedRows | None = None
    original: tuple[Source, Mapping[str, str]] | None = None
    described: dict[str, dict[str, str]] = field(default_factory=dict, compare=False, repr=False)
    keys: list[str] = field(default_factory=list, compare=False, repr=False)

    def ask(self, name: str, sql: str) -> Sequence[Row]:
        """Return the rows of a query; where it is only written down, one row in which each figure is 0.

        name: what a script calls the query.
        """
        if self.script is not None:
            self.script.setdefault(sql, name)
            return [defaultdict(int)]
        if self.answers is None:
            return self.engine.rows(sql)
        if sql not in self.answers:
            self.answers[sql] = self.engine.rows(sql)
        return self.answers[sql]

    def answer(self, name: str, sql: str) -> Row:
        """Return the one row of a query over the tables; name: as for `ask`."""
        (row,) = self.ask(name, sql)
        return row

    def answer_chapter(self, chapter: str, **values: object) -> dict[str, Row]:
        """Return the one row of each query of a chapter, by its name."""
        return {name: self.answer(name, sql) for name, sql in self.sections(chapter, **values).items()}

    def query(self, chapter: str, given: Mapping[str, Sql], **values: object) -> str:
        """Render one query over the published tables and the relations `given`."""
        return render_query(chapter, values, {**self.tables, **given})

    def sections(self, chapter: str, given: Mapping[str, Sql] | None = None, /, **values: object) -> dict[str, str]:
        """Render a chapter of queries over the published tables; return their texts by name, in order."""
        return render_queries(Chapter(chapter, values), {**self.tables, **(given or {})}, self.engine.dialect)

    def subquery(self, template: str, given: Mapping[str, Sql] | None = None, **values: object) -> Sql:
        """Render one query in brackets, to stand where a relation does."""
        return Sql(f"(\n{self.query(template, given or {}, **values)}\n)")

    def find_original(self, against: object) -> tuple[Source, Mapping[str, str]]:
        """Find the microdata; return its SQL and its columns with their types, as coarse as they were published.

        Raises UsageError where that takes a table of values and labels which was not named, and where a column is text
        that was published as something else.
        """
        told = against if isinstance(against, CoarserSource) else CoarserSource(against, {})
        source, types = self.engine.find_source(told.source)
        if of_people(self.manifest):
            columns, drops = self.manifest["columns"], self.manifest["parameters"].get("nulls") == "drop"
            required = [*columns["sensitive"], *columns.get("beside", ())] if drops else []
            source = source.of_people(types, told.identifier, columns["quasi"], told.vary, required)
        elif told.vary is not None:  # of people with one row each it is that row, which there has to be a way to tell
            resolve_names(types, [read_order(told.vary)[1]])
        resolve_names(types, split_columns(told.identifier, types))
        self._refuse_texts(types)
        rules = self._typed_rules(told.rules)
        source, types = coarsen_source(self.engine, source, types, rules, resolve_names(types, rules))
        self.keys.extend(source.keys)
        return source, types

    def without_dropped(self, source: Source, types: Mapping[str, str]) -> Source:
        """Return the source without the rows that were left out for want of a sensitive value."""
        if self.manifest["parameters"].get("nulls") != "drop":
            return source
        # of several columns any may lack one, whichever is looked at
        columns = [*self.manifest["columns"]["sensitive"], *self.manifest["columns"].get("beside", ())]
        valued = " and ".join(f"{ident(name)} is not null" for name in resolve_names(types, columns))
        return replace(source, relation=Sql(f"(select * from {source.relation} where {valued})"))

    def close(self) -> None:
        """Drop the keys that the microdata were read with."""
        self.engine.drop(self.keys)

    def _refuse_texts(self, types: Mapping[str, str]) -> None:
        """Refuse a source whose columns are text where they were published as dates, say: no value would be equal."""
        if self.manifest["parameters"].get("alternatives") == "braces":  # text, of alternatives of any type
            return
        shown = {name.lower(): kind for table in self.tables for name, kind in self.columns(table).items()}
        coarser, boxes = (self.manifest["parameters"].get(name, {}) for name in ("coarsen", "published"))
        for column in self.manifest["columns"]["quasi"]:
            here = next((kind for name, kind in types.items() if name.lower() == column.lower()), "")
            there = boxes[column]["type"] if column in boxes else shown.get(column.lower(), "VARCHAR")
            if here == "VARCHAR" != there and not there.endswith("[]") and column not in coarser:
                raise UsageError(
                    f"{column!r} is text in the source and was published as {there}: read it as it was read then,"
                    f" {option('types', f'{column}={there}')}"
                )

    def _typed_rules(self, typed: Mapping[str, str]) -> dict[str, str]:
        """Return the rules of the manifest, with the tables of labels as they are typed; both by column."""
        rules = dict(self.manifest["parameters"].get("coarsen", {}))
        spelled = {column.lower(): column for column in rules}
        typed = {spelled.get(column.lower(), column): text for column, text in typed.items()}
        for column, text in typed.items():
            if rules.get(column) != Coarsening.read(column, text).rule:
                said = f"{column}={rules[column]}" if column in rules else f"no rule for {column}"
                raise UsageError(
                    f"{option('coarsen')} {column}={text!r} is not how this release was made: its manifest has {said}"
                )
        lacking = [column for column, rule in rules.items() if rule in LOOKED_UP and column not in typed]
        if lacking:
            raise UsageError(
                f"{lacking[0]} was published through a table of labels or a key, which no release holds; to compare"
                f" with the source say it again: {option('coarsen')} {lacking[0]}={LOOKED_UP[rules[lacking[0]]]}PLACE"
            )
        return rules | typed

    def columns(self, table: str) -> dict[str, str]:
        """Return a published table's columns with their types."""
        if table not in self.described:
            self.described[table] = self.engine.columns(f"select * from {self.tables[table]}")
        return self.described[table]


def find_wrong_type(layout: Layout, types: Mapping[str, Mapping[str, str]]) -> str | None:
    """Say which column is of a type that it may not be, None where none is; types: of the tables, by their columns.

    A nested value could hold anything: columns of the source, whole rows.
    """
    for table, columns in layout.items():
        for column, declared in columns.items():
            sql_type = types[table][column]
            allowed = (types[table][declared],) if isinstance(declared, str) else declared
            if allowed and sql_type.upper() not in map(str.upper, allowed):
                return (
                    f"{column!r} of {table} is {sql_type}, not {'a whole number' if declared == WHOLE else allowed[0]}"
                )
            if not allowed and is_nested(sql_type):
                return f"nested values in {column!r} of {table}"
    return None


def is_nested(sql_type: str) -> bool:
    """Tell whether a column of this type holds nested values."""
    return sql_type.endswith("]") or sql_type.upper().startswith(("STRUCT", "MAP", "LIST", "UNION", "ARRAY", "VARIANT"))


def check_order(
    published: PublishedTables,
    sort_columns: Mapping[str, Sequence[str]],
    required: str,
    all_differ: Collection[str] = (),
) -> tuple[Check, dict[str, int]]:
    """Check the order of the published tables, inside files and at the seams between them; return their rows, too.

    sort_columns: the columns that each table is sorted by. all_differ: the tables whose lines must all differ. The
    rows of each table are called `TABLE_rows`.
    """
    misplaced, rows = {}, {}
    for table, columns in sort_columns.items():
        engine, relations = published.engine, dict[str, Sql]()
        stretches: Sequence[Sql] = ()
        if engine.in_parts:  # the last line of a file meets the first of the next
            relations["published"] = engine.in_stored_order(published.tables[table])
        else:
            stretches = engine.in_stretches(published.tables[table])
        settings = {"line_columns": columns, "stretches": stretches, "all_differ": table in all_differ, **PLACE_COLUMNS}
        row = published.answer(f"order of {table}", published.query("verify/row_order", relations, **settings))
        misplaced[f"misplaced rows of {table}"] = int(row["misplaced_rows"])
        rows[f"{table}_rows"] = int(row["row_count"])
    sound = not any(misplaced.values())
    return Check("row_order", required, "sorted" if sound else misplaced, sound), rows


def verify_columns(published: PublishedTables, verify: Callable[[PublishedTables], Report]) -> Report:
    """Check a release from its tables alone, in every column; verify: does so of one."""
    reports = [verify(tables) for tables in by_column(published)]
    checks = tuple(map(_worst, zip(*(report.checks for report in reports), strict=True)))
    tables = [*sensitive_tables(published.manifest).values()]
    return Report(checks, _add_figures(tables, [report.figures for report in reports]))


def compare_columns(
    published: PublishedTables,
    compare: Callable[[PublishedTables, Source, Mapping[str, str]], tuple[Check, ...]],
    source: Source,
    types: Mapping[str, str],
) -> tuple[Check, ...]:
    """Check that the published values are the source's, up to the dropped rows; compare: does so of one column."""
    checks = [compare(tables, source, types) for tables in by_column(published)]
    return tuple(map(_worst, zip(*checks, strict=True)))


def _add_figures(tables: Sequence[str], figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of the groups, which all columns share; errors are those of all columns together."""
    together = dict(figures[0])
    # whoever looks at one column finds its values in the table of the first
    together |= {f"{table}_rows": each[f"{tables[0]}_rows"] for table, each in zip(tables, figures, strict=True)}
    if "largest_confidence" in together:
        together["largest_confidence"] = max(each["largest_confidence"] for each in figures)
    if "reconstruction_error" in together:
        for name in ("reconstruction_error", "reconstruction_error_bound"):
            together[name] = sum(each[name] or 0 for each in figures)
        bound = together["reconstruction_error_bound"]
        together["reconstruction_error_ratio"] = together["reconstruction_error"] / bound if bound else None
    return together


def by_column(published: PublishedTables) -> Iterator[PublishedTables]:
    """Yield what the release is for whoever looks at one sensitive column alone.

    What is asked of the tables that all columns share is asked once.
    """
    answers = {} if published.answers is None else published.answers
    for place, column in enumerate(published.manifest["columns"]["sensitive"]):
        tables, manifest = one_column(published.tables, published.manifest, column)
        linked = published.linked and replace(published.linked, selects=published.linked.selects[place : place + 1])
        yield replace(published, tables=tables, manifest=manifest, answers=answers, linked=linked, described={})


def _worst(checks: Sequence[Check]) -> Check:
    """Return one check for all columns: the first that fails, else with the figure that is nearest to failing."""
    failing = [check for check in checks if check.holds is False]
    if failing:
        return failing[0]
    if checks[0].name in LEAST:
        return min(checks, key=lambda check: check.found)  # type: ignore[arg-type, return-value]
    if checks[0].name == "confidence":
        return max(checks, key=lambda check: check.found)  # type: ignore[arg-type, return-value]
    dropped = [check for check in checks if isinstance(check.found, dict) and "missing_rows" in check.found]
    return max(dropped, key=lambda check: check.found["missing_rows"]) if dropped else checks[0]  # type: ignore[index]
