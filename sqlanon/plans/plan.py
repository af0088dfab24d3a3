"""A plan: what a method does, as named SELECTs and checks. Pure data; nothing here meets a database."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sqlanon.errors import DataError, UsageError
from sqlanon.plans.coarsening import Coarsening
from sqlanon.plans.roles import Roles, resolve_names, split_columns
from sqlanon.plans.templates import Sql, ident
from sqlanon.wording import option

Kind = Literal["table", "view", "query"]


@dataclass(frozen=True)
class Statement:
    """Hold one SELECT in DuckDB's dialect and the relation it yields.

    `kind` is how an engine keeps the result: `table` (materialized once), `view` (named text),
    `query` (rows for the driver; nothing stays in the database).
    `relation` is the quoted name under which later statements read it, empty for a query.
    `template` is what it was rendered from, `sentence` what it makes. `once`: of a view that numbers rows, one
    statement alone reads the numbers, so that they need not stay the same. `replaces`: of a loop's table, the relation
    whose place it takes, under that relation's name, as soon as it is made.
    """

    name: str
    sql: str
    kind: Kind = "table"
    relation: str = ""
    template: str = ""
    once: bool = False
    sentence: str = ""
    replaces: str = ""


Changed = Literal["leave", "keep"]
PERSON = {  # what a ledger keeps of a person, with the types
    **{"person": "UUID", "group_id": "BIGINT", "code": "BIGINT", "entered": "BIGINT", "standing": "VARCHAR"},
    **{"mark": "BIGINT", "class_mark": "BIGINT", "published": "BIGINT"},
}


@dataclass(frozen=True)
class Following:
    """Which release of a ledger is to come, and where the ledger of the one before stands.

    number: of the release, from 1. changed: what becomes of persons whose sensitive value changed. relations: the
    tables of the ledger by the names that steps read them under, none for the first release. losses: whether nearly
    everybody may have left. quasi: the columns of the release before. put_off: whether the release before let rows
    wait though enough had come. chain: what all releases of the ledger are called, and no others.
    """

    number: int
    changed: Changed = "leave"
    relations: Mapping[str, Sql] = field(default_factory=dict)
    losses: bool = False
    quasi: tuple[str, ...] = ()
    put_off: bool = False
    chain: str = ""

    @property
    def is_first(self) -> bool:
        """Return whether there is no release before."""
        return self.number == 1


Row = Mapping[str, Any]
Nulls = Literal["refuse", "value", "drop"]
Draws = Literal["keyed", "random"]
ORDERS = {"latest": False, "earliest": True, "largest": False, "smallest": True}  # whether the least value tells
NUMBER = "sqlanon row"  # what the numbers of a source's rows are called where it is read again
Unit = Literal["person", "row"]
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
    in a table of each `value` and its `label`, and `keys` the relations that hold keys for it. `notes` says how columns
    of text files are read where something else may be meant. `collated` names columns whose texts may differ and be one
    value (a collation). `persons` names the columns that tell persons apart, where what is published of a person is no
    row but different values; `required` those whose values a row of theirs must have.
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
    keys: tuple[str, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    collated: frozenset[str] = frozenset()
    persons: tuple[str, ...] = ()
    required: tuple[str, ...] = ()

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

    def select(self, expressions: Sequence[str], facts: bool = False) -> Sql:
        """Return its rows with these expressions, each with its name; of persons each different one once.

        facts: whether sensitive values are among them, which only rows with all that is required have.
        """
        listed = ", ".join(expressions)
        if not self.persons:
            return Sql(f"(select {listed} from {self.relation})")
        names = ", ".join(expression.rpartition(" as ")[2] for expression in expressions)
        return Sql(f"(select {names} from {self._told(listed, facts)})")

    def _told(self, listed: str, facts: bool) -> str:
        told = ", ".join(f"{self.expression(column)} as person_{n}" for n, column in enumerate(self.persons, start=1))
        known = "".join(f" and {ident(column)} is not null" for column in self.required if facts)
        return f"(select distinct {told}, {listed} from {self.relation} where true{known}) as told"

    def largest(self, column: str, people: int) -> Sql:
        """Return the query of how many values of a column those of so many persons are at most."""
        told = self._told(f"{self.expression(column)} as value", facts=True)
        by = ", ".join(f"person_{n}" for n, _ in enumerate(self.persons, start=1))
        sizes = f"select count(*) as size from {told} group by {by} order by size desc nulls last limit {people}"
        return Sql(f"select coalesce(cast(sum(size) as bigint), 0) as most from ({sizes}) as largest")

    def of_people(
        self,
        columns: Collection[str],
        identifier: Sequence[str],
        quasi: Sequence[str],
        vary: str | None,
        required: Sequence[str] = (),
    ) -> "Source":
        """Return the source of people, whose rows an identifier tells; columns: all of its columns.

        required: columns whose values a row must have. vary: which of a person's rows has the quasi values, where these
        differ. Raises UsageError.
        """
        if not identifier:
            raise UsageError(
                f"people have several rows in the source: say whose they are with {option('id', 'COLUMN')}"
            )
        persons = resolve_names(columns, split_columns(identifier, columns))
        told = self if vary is None else self._told_by(persons, resolve_names(columns, quasi), vary, columns)
        return replace(told, persons=persons, required=resolve_names(columns, required))

    def _told_by(
        self, identifier: Sequence[str], columns: Sequence[str], vary: str, every: Collection[str]
    ) -> "Source":
        """Return the source with one value of each of `columns` in all rows of a person: that of one of the rows.

        vary: it is the row in which a column is the least, or the largest, and of several of them the first.
        """
        word, named = read_order(vary)
        (order,), least = resolve_names(every, [named]), ORDERS[word]
        by = ", ".join(f"{self.expression(column)} asc nulls last" for column in columns)
        window = (
            f"(partition by {', '.join(map(ident, identifier))} order by {ident(order)} {'asc' if least else 'desc'}"
            f" nulls last, {by} rows between unbounded preceding and unbounded following)"
        )
        told = [
            f"first_value({ident(column)}) over {window} as {ident(column)}" if column in columns else ident(column)
            for column in every
        ]
        numbering = f"{self.numbering} as {ident(NUMBER)}, " if self.numbering else ""
        text = f"(select {numbering}{', '.join(told)} from {self.relation}) as told"
        return replace(self, relation=Sql(text), numbering=Sql(ident(NUMBER) if self.numbering else ""))

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


def read_order(text: str) -> tuple[str, str]:
    """Return the word and the column by which one row of a person is told; raise UsageError for another text."""
    word, _, column = text.strip().partition(" ")
    if word not in ORDERS or not column.strip():
        raise UsageError(f"{option('vary', text)}: write {' or '.join(ORDERS)}, a blank and a column", about=["vary"])
    return word, column.strip()


def find_floats(types: Mapping[str, str]) -> dict[str, str]:
    """Return the columns whose type has a value that is no number."""
    return {name: sql_type for name, sql_type in types.items() if sql_type in ("DOUBLE", "FLOAT")}


@dataclass(frozen=True)
class Request:
    """What every method is asked: a source, roles, and how to treat NULLs, draws and identities.

    coarsen: how quasi columns of the source are made coarser, by their names. types: the source's columns with their
    types, empty without a database. sets: whether a person's rows are put together, as a set of values for each
    sensitive column. probed: what the method's own `probe` found in the source. ranges: least and
    greatest values of its columns, as `range_query` found them. following: the ledger that the release is published
    under, if any. engine: the name of the one that runs the plan, or a script's dialect.
    """

    source: Source
    roles: Roles
    nulls: Nulls = "refuse"
    draws: Draws = "keyed"
    identity: Identity = "number"
    unit: Unit = "person"
    sets: bool = False
    unique_quasi: UniqueQuasi = "refuse"
    unique_sensitive: UniqueQuasi = "refuse"
    show_values: bool = False
    coarsen: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    probed: Row = field(default_factory=dict)
    ranges: Row = field(default_factory=dict)
    following: Following | None = None
    engine: str = "duckdb"

    @property
    def rows_per_person(self) -> str:
        """Return what is known of it: one, many, or unchecked where nothing tells persons apart."""
        one, many, unchecked = PERSONS
        if self.unit == "row":
            return many
        return one if self.roles.identifier else unchecked


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

    note: what to tell the publisher of the row, empty for nothing; the row's own `note`, if none is given. check:
    whether its `refusal` decides if the plan may go on.
    """

    statement: Statement
    note: Callable[[Row], str] | None = None
    check: bool = False

    def tell(self, row: Row) -> str:
        """Return what to tell the publisher of the row."""
        return str(row.get("note") or "") if self.note is None else self.note(row)


def refuse_as_said(row: Row) -> None:
    """Raise DataError with the `refusal` that a check's row says, UsageError where it is right on no data (`is_usage`).

    `about`: the parameters that it is about, with commas between them. `possible`: the largest value that may work.
    """
    if row.get("refusal"):
        about = [name for name in (row.get("about") or "").split(",") if name]
        if row.get("is_usage"):
            raise UsageError(row["refusal"], about=about)
        raise DataError(row["refusal"], about=about, possible=int(row.get("possible") or 0))


@dataclass(frozen=True)
class Loop:
    """A turn's statements, run until the query `left` says 0 (`left_over`) or the limit is reached.

    A statement that `replaces` a relation takes its place; the other relations of a turn are forgotten after it.
    """

    name: str
    body: tuple[Statement, ...]
    left: Statement
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
    people: a SELECT of whoever is published, with the group, where the others have a row for each of somebody's values.
    """

    selects: tuple[str, ...]
    layout: Sql | None = None
    remade: Mapping[Sql, str] = field(default_factory=dict)
    withheld: str | None = None
    departed: str | None = None
    people: str | None = None


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
        counting = [step.statement.name for step in self.steps if isinstance(step, Report)]
        return sum(int(reports[name].get("dropped_rows", 0)) for name in counting)

    def notes(self, reports: Mapping[str, Row]) -> list[str]:
        """Return what the reports have to tell the publisher."""
        notes = [step.tell(reports[step.statement.name]) for step in self.steps if isinstance(step, Report)]
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
        return (step.left, *step.body)
    return (step.statement,) if isinstance(step, Report) else (step,)


def relation_name(prefix: str, name: str) -> Sql:
    """Return the name under which a step's relation stands in the database."""
    return ident(f"{prefix}{name}")
