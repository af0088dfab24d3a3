"""A plan: what a method does, as named SELECTs and checks. Pure data; nothing here meets a database."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sqlanon.errors import UsageError
from sqlanon.plans.coarsening import Coarsening
from sqlanon.plans.engines import Traits
from sqlanon.plans.following import Following
from sqlanon.plans.roles import Roles
from sqlanon.plans.statement import Kind, Statement
from sqlanon.plans.templates import Sql, ident

Row = Mapping[str, Any]
Nulls = Literal["refuse", "value", "drop"]
Draws = Literal["keyed", "random"]
PERSONS = ("one", "many", "unchecked")  # how many rows a person has; unchecked where nothing tells persons apart
Identity = Literal["number", "identifier", "row"]
UniqueQuasi = Literal["refuse", "keep"]


@dataclass(frozen=True)
class Source:
    """What is published from: SQL that stands behind `from`, and how its rows can be numbered.

    `casts` names columns that are published as another type: enumerations as text (their type lists every
    value there could be), and what Parquet would round. `texts` names columns whose order is to be binary where
    the database sorts as a language does. `numbering` is any expression that is unique for a row, empty
    without a database. `lists` names columns that hold lists of single values, with the type of these values.
    `lacking` names columns that some of its files lack: how many, and of how many. `floats` names columns of numbers
    among which "no number" (NaN) has many bit patterns, which could hold anything: it is read as one. `coarse` names
    columns that are read coarser than they are, with the type that they have; `labels` those of them that are looked up
    in a table of each `value` and its `label`. `notes` says how columns of text files are read
    where something else may be meant. `collated` names columns whose texts may differ and be one value (a collation).
    """

    relation: Sql
    casts: Mapping[str, str] = field(default_factory=dict)
    numbering: Sql = field(default_factory=Sql)
    texts: frozenset[str] = frozenset()
    lists: Mapping[str, str] = field(default_factory=dict)
    lacking: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    floats: Mapping[str, str] = field(default_factory=dict)
    coarse: Mapping[str, tuple[Coarsening, str]] = field(default_factory=dict)
    labels: Mapping[str, Sql] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    collated: frozenset[str] = frozenset()

    def expression(self, column: str) -> Sql:
        """Return the SQL that reads one column."""
        sql = Sql(f"cast({ident(column)} as {self.casts[column]})" if column in self.casts else ident(column))
        if column in self.floats:
            no_number = f"cast('NaN' as {self.floats[column]})"
            # not `=`: statistics of Parquet may leave out what is no number, and DuckDB 2 concludes that there is none
            sql = Sql(f"case when {sql} is not distinct from {no_number} then {no_number} else {sql} end")
        if column in self.coarse:
            rule, sql_type = self.coarse[column]
            sql = rule.write(sql, sql_type)
        return Sql(f'{sql} collate "C"') if column in self.texts else sql

    def coarsened(
        self, types: Mapping[str, str], rules: Mapping[str, Coarsening]
    ) -> "tuple[Source, Mapping[str, str]]":
        """Return the source with columns read coarser, and the types of its columns then; rules: by the columns' names.

        Labels are looked up already.
        """
        if not rules:
            return self, types
        coarse = {column: (rule, types[column]) for column, rule in rules.items()}
        coarse_types = {column: rule.type_of(column, sql_type) for column, (rule, sql_type) in coarse.items()}
        # a number that becomes text is ordered by bytes wherever texts are
        texts = self.texts | {column for column, sql_type in coarse_types.items() if sql_type == "VARCHAR"}
        return replace(self, coarse=coarse, texts=texts), {**types, **coarse_types}

    def refuse_collated(self, columns: Iterable[str]) -> None:
        """Raise UsageError for a column whose values are not its texts, for which groups would have fewer values."""
        for name in columns:
            if name in self.collated:
                text = ident(name)
                raise UsageError(
                    f"column {name!r} has a collation, under which texts that differ are one value: name a view with"
                    f' lower({text}) collate "C" as {text} in its place, without lower where each spelling is a value'
                    " of its own (in Spark: collate UTF8_BINARY)",
                    about=[name],
                )

    def note_columns(self, columns: Iterable[str]) -> list[str]:
        """Say how files' texts are read, and which of the columns are NULL in the rows of files that lack them."""
        names = {name.lower() for name in columns}
        parts = [
            f"{name!r} ({lacking:,} of {files:,} files)"
            for name, (lacking, files) in self.lacking.items()
            if name.lower() in names
        ]
        notes = [note for name, note in self.notes.items() if name.lower() in names]
        return notes + ([f"NULL stands in the rows of files that lack a column: {', '.join(parts)}"] if parts else [])


def find_floats(types: Mapping[str, str]) -> dict[str, str]:
    """Return the columns whose type has a value that is no number."""
    return {name: sql_type for name, sql_type in types.items() if sql_type in ("DOUBLE", "FLOAT")}


@dataclass(frozen=True)
class Request:
    """What every method is asked: a source, roles, and how to treat NULLs, draws and identities.

    coarsen: how quasi columns of the source are made coarser, by their names. types: the source's columns with their
    types, empty without a database. probed: what the method's own `probe` found in the source. ranges: least and
    greatest values of its columns, as `range_query` found them. following: the ledger that the release is published
    under, if any. traits: those of the engine that runs the plan; engine: its name, or a script's dialect.
    """

    source: Source
    roles: Roles
    nulls: Nulls = "refuse"
    draws: Draws = "keyed"
    identity: Identity = "number"
    many_rows_per_person: bool = False
    unique_quasi: UniqueQuasi = "refuse"
    unique_sensitive: UniqueQuasi = "refuse"
    show_values: bool = False
    coarsen: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    probed: Row = field(default_factory=dict)
    ranges: Row = field(default_factory=dict)
    following: Following | None = None
    traits: Traits = field(default_factory=Traits)
    engine: str = "duckdb"

    @property
    def rows_per_person(self) -> str:
        """Return what is known of it: one, many, or unchecked where nothing tells persons apart."""
        one, many, unchecked = PERSONS
        if self.many_rows_per_person:
            return many
        return one if self.roles.identifier else unchecked


@dataclass(frozen=True)
class Guard:
    """What a script refuses without a driver: a portable SQL condition on a query's one row, and why."""

    condition: str
    message: str


@dataclass(frozen=True)
class Step:
    """One template and the relation it yields, or, as a query, the one row that a check or a report looks at.

    refuse: reads a query's row and may raise, which makes the step a check; guards say the same, in order, for
    scripts that run without Python. Any other query is a report. dropped: the column of a query's row that counts
    rows which are not published; note: what to tell the publisher of the row, if anything. values: parameters of this
    step (and its like) alone. Where a method takes the same
    steps for several attributes, suffix tells their relations apart, and reads names the relation behind an input
    where it is not the latest of the input's own name. once: of a view that numbers rows, one statement alone reads
    the numbers.
    """

    template: str
    kind: Kind = "table"
    yields: str = ""
    refuse: Callable[[Row], None] | None = None
    guards: tuple[Guard, ...] = ()
    values: Mapping[str, object] = field(default_factory=dict)
    suffix: str = ""
    reads: Mapping[str, str] = field(default_factory=dict)
    dropped: str = ""
    note: Callable[[Row], str] | None = None
    once: bool = False

    @property
    def stem(self) -> str:
        """Return the name under which later steps read the relation: the template's own unless another was given."""
        return self.yields or self.template.rpartition("/")[2]

    @property
    def name(self) -> str:
        """Return the name of the relation."""
        return f"{self.stem}{self.suffix}"


@dataclass(frozen=True)
class Repeat:
    """Steps that are taken again until none is left over, at most `limit` turns.

    body: one turn; its last step is a table that takes the place of the relation `state`, which it reads.
    left: a query of one row with the column `left_over`; 0 ends the loop. left.refuse: raises where the limit
    is reached and some are left over, None where that does not matter; left.guards say it for scripts.
    """

    name: str
    state: str
    body: tuple[Step, ...]
    left: Step
    limit: int


@dataclass(frozen=True)
class Beside:
    """A second table that a method is given beside its source: a background, a hierarchy.

    named: how it was named, as SOURCE is. source, types: what the engine found there. rows: all of its
    rows, where `fetched` asks for them: what is a parameter rather than data; `as_text`: as they are written.
    """

    named: object
    fetched: bool = False
    as_text: bool = False
    source: Source | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Report:
    """A query of one row of figures.

    dropped: its column that counts rows which are not published. note: what to tell the publisher of the row, empty for
    nothing. guards: what a script refuses, where it is a check; speaks: the row itself says it, as `refusal`.
    """

    statement: Statement
    dropped: str = ""
    note: Callable[[Row], str] | None = None
    guards: tuple[Guard, ...] = ()
    speaks: bool = False


@dataclass(frozen=True)
class Check(Report):
    """A report that decides whether the plan may go on: `refuse` raises where it may not."""

    refuse: Callable[[Row], None] = field(kw_only=True)


@dataclass(frozen=True)
class Loop:
    """A turn's statements, run until the query `left` counts none or the limit is reached.

    A statement that `replaces` a relation takes its place; the other relations of a turn are forgotten after it.
    """

    name: str
    body: tuple[Statement, ...]
    left: Report
    limit: int


@dataclass(frozen=True)
class KeptFile:
    """A file that a report fills for the publisher alone: lines of values under their heads, as CSV."""

    report: str
    heads: tuple[str, ...]
    lines: Callable[[Row], Iterable[Sequence[Any]]]


@dataclass(frozen=True)
class RangeQuery:
    """A query of one row that is asked when a plan runs, and what its steps become by that row.

    assumed: a row to show the steps by where nothing is to run.
    """

    statement: Statement
    assumed: Row
    replan: Callable[[Row], "Plan"]


@dataclass(frozen=True)
class Constants:
    """Whole numbers that the driver read of the source, as a relation of one row: bound, and in no text of SQL."""

    name: str
    relation: Sql
    row: Mapping[str, int]


@dataclass(frozen=True)
class LinkedRows:
    """What a run knows of its rows to the end, and no release shows: a SELECT for each sensitive column.

    Its columns: quasi_1 … (or `packed`, by the ranges in the relation `layout`), `sensitive`, `group_id`. remade:
    relations that were made of these rows, with SELECTs that make them once more. withheld: a SELECT of the source's
    rows that are not published, without a group; departed: one of the lines of ST that nobody of today has a row for.
    """

    selects: tuple[str, ...]
    layout: Sql | None = None
    remade: Mapping[Sql, str] = field(default_factory=dict)
    withheld: str | None = None
    departed: str | None = None


@dataclass(frozen=True)
class Publication:
    """The second phase of a plan: the published tables, and what the manifest says of them.

    learned: what the publisher may see and the manifest does not say. linked: what the tables are compared with.
    """

    outputs: tuple[Statement, ...]
    parameters: Mapping[str, object] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    guarantee: Mapping[str, object] = field(default_factory=dict)
    learned: Mapping[str, Any] = field(default_factory=dict)
    linked: LinkedRows | None = None


@dataclass(frozen=True)
class Plan:
    """Statements, checks, reports and loops in order, then the published tables.

    publication: the second phase as far as it is known before any row is read; fit: the same with the rows of the
    reports by name, where a published table has as many columns as the data asks for.
    kept_tables: tables that the publisher may keep beside the release, and that never become part of it; kept_files:
    the same of reports. known: distributions, as tables that were given or as queries, whose posteriors the finished
    release is looked at for. read: what the plan reads beside the source, as it was named. ledger: relations of the
    steps by the names of the ledger's tables that hold them after this release. constants: relations of the
    driver's that the steps read. range_query: what the source is asked first, where that decides what the steps are.
    """

    method: str
    steps: tuple["Statement | Report | Loop", ...]
    publication: Publication
    fit: Callable[[Mapping[str, Row]], Publication] | None = None
    key: Sql = field(default_factory=Sql)
    kept_tables: tuple[Statement, ...] = ()
    kept_files: tuple[KeptFile, ...] = ()
    known: tuple[Beside | Statement, ...] = ()
    read: tuple[object, ...] = ()
    ledger: Mapping[str, Sql] = field(default_factory=dict)
    constants: tuple[Constants, ...] = ()
    range_query: RangeQuery | None = None

    def with_ranges(self, ask: Callable[[str], Sequence[Row]]) -> "Plan":
        """Return the plan as the source makes it; ask: runs a query."""
        if self.range_query is None:
            return self
        (row,) = ask(self.range_query.statement.sql)
        return self.range_query.replan(row)

    def assumed(self) -> "Plan":
        """Return the plan as most sources make it, where nothing is to run."""
        return self if self.range_query is None else self.range_query.replan(self.range_query.assumed)

    def published(self, reports: Mapping[str, Row]) -> Publication:
        """Return the second phase as the reports make it."""
        return self.publication if self.fit is None else self.fit(reports)

    def dropped_rows(self, reports: Mapping[str, Row]) -> int:
        """Return how many rows are not published, as the reports count them."""
        counting = [step for step in self.steps if isinstance(step, Report) and step.dropped]
        return sum(int(reports[step.statement.name].get(step.dropped, 0)) for step in counting)

    def notes(self, reports: Mapping[str, Row]) -> list[str]:
        """Return what the reports have to tell the publisher."""
        telling = [step for step in self.steps if isinstance(step, Report)]
        notes = [step.note(reports[step.statement.name]) for step in telling if step.note is not None]
        return [note for note in notes if note]

    @property
    def outputs(self) -> tuple[Statement, ...]:
        """Return the published tables as far as they are known before any row is read."""
        return self.publication.outputs

    @property
    def parameters(self) -> Mapping[str, object]:
        """Return what the manifest says of the parameters, as far as it is known before any row is read."""
        return self.publication.parameters

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Return every statement in the order in which it runs, checks included, a loop's once."""
        return tuple(statement for step in self.steps for statement in statements_of(step)) + self.publication.outputs


def statements_of(step: Statement | Report | Loop) -> tuple[Statement, ...]:
    """Return the statements of one step: a loop's query and one turn of it."""
    if isinstance(step, Loop):
        return (step.left.statement, *step.body)
    return (step.statement,) if isinstance(step, Report) else (step,)


def relation_name(prefix: str, name: str) -> Sql:
    """Return the name under which a step's relation stands in the database."""
    return ident(f"{prefix}{name}")
