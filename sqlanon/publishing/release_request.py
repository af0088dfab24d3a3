"""A release as it was asked for, and how the source, the roles and the tables beside it become a plan."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.coarser_source import coarsen_source
from sqlanon.engines.runner import read_persons
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.interruption import hold_back
from sqlanon.key import Key
from sqlanon.ledgers.contents import LedgerRequest
from sqlanon.ledgers.ledger_run import LedgerRun, open_ledger
from sqlanon.ledgers.place import note_directory, note_schema
from sqlanon.methods import METHODS
from sqlanon.plans.coarsening import label_tables
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Beside, Draws, Following, Identity, Nulls, Plan, Request, Source, UniqueQuasi, Unit
from sqlanon.plans.roles import Roles, resolve_roles
from sqlanon.plans.templates import Sql, ident
from sqlanon.publishing.thresholds import Threshold, threshold_of
from sqlanon.read_places import refuse_alone
from sqlanon.releases.opening import Place
from sqlanon.releases.targets import DirectoryTarget, SchemaTarget, Target
from sqlanon.sql.source import QueriedSource, source_of_release
from sqlanon.wording import option


@dataclass(frozen=True)
class ReleaseRequest:
    """A release as it was asked for, before any database was looked at.

    parameters: the method's own. require: the thresholds that it has to meet. place: where it goes; overwrite: though
    another release is there. files: what else the run reads.
    """

    method: str
    source: object
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifier: tuple[str, ...] = ()
    nulls: Nulls = "refuse"
    draws: Draws = "keyed"
    key: Key | None = None
    unit: Unit = "person"
    vary: str | None = None
    unique_quasi: UniqueQuasi = "refuse"
    unique_sensitive: UniqueQuasi = "refuse"
    show_values: bool = False
    coarsen: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    require: tuple[Threshold, ...] = ()
    place: Place = Place()  # noqa: RUF009 - it does not change
    overwrite: bool = False
    files: tuple[str, ...] = ()
    ledger: LedgerRequest | None = None

    @property
    def original(self) -> object:
        """Return the source as the release is held against it."""
        return source_of_release(self.source, self.coarsen, self.identifier if self.unit == "person" else (), self.vary)

    @property
    def identity(self) -> Identity:
        """Return how rows are told apart: a key of our own needs a number only, and that is cheapest."""
        return "number" if self.key is None or not self.key.given else self.identity_elsewhere

    @property
    def identity_elsewhere(self) -> Identity:
        """Return how rows are told apart where the key is another's: as they are, whatever numbers them."""
        return "identifier" if self.identifier and self.unit == "person" else "row"

    def to_plan(self, source: Source, roles: Roles, **found: Any) -> Request:
        """Return the request that a method plans from, with what was found of the source."""
        names = ("nulls", "draws", "unit", "unique_quasi", "unique_sensitive", "show_values")
        return Request(source, roles, **{name: getattr(self, name) for name in names}, **found)


def request_of(
    arguments: Mapping[str, Any], method: str, source: object, files: tuple[str, ...] = ()
) -> ReleaseRequest:
    """Return the request of a method's declared arguments."""
    out, into = arguments.get("out"), arguments.get("into")
    place = Place.of(out, into)
    # files that are kept beside a release may be replaced as well
    written = next((name for name in (out, into, arguments.get(METHODS[method].saved)) if name), None)
    refuse_alone(bool(arguments.get("overwrite")), written, "out", "into")
    if arguments.get("draws") == "random" and arguments.get("key") and not arguments.get("ledger"):
        raise UsageError(
            f"{option('draws', 'random')} draws without a key: leave out one of them (SQLANON_KEY is a key, too)"
        )
    read = source.tables if isinstance(source, QueriedSource) else ()
    own = {name: arguments[name] for name in METHODS[method].parameters}
    named = {field.name: arguments[field.name] for field in fields(ReleaseRequest) if field.name in arguments}
    named |= {"identifier": arguments["id"], "ledger": _ledger(arguments), "method": method, "source": source}
    require = tuple(threshold_of(text, method) for text in arguments.get("require", ()))
    named |= {"place": place, "require": require}
    named |= {"parameters": own, "files": (*files, *map(str, read), *label_tables(arguments.get("coarsen", {})))}
    return ReleaseRequest(**named)


def _ledger(arguments: Mapping[str, Any]) -> LedgerRequest | None:
    options: dict[str, Any] = {
        name: arguments.get(name) for name in ("changed", "since", "expect_departures", "new_quasi")
    }
    if arguments.get("ledger") is not None:
        return LedgerRequest(path=arguments["ledger"], **options)
    option_names = [name for name, value in options.items() if value not in (None, False, "leave")]
    if option_names:
        raise UsageError(
            f"{option(option_names[0])} is about releases under a ledger; say which with {option('ledger')}"
        )
    return None


@contextmanager
def prepare(
    asked: ReleaseRequest,
    engine: Engine,
    prefix: str,
    following: Following | None = None,
    table: Sql | None = None,
    dialect: str | None = None,
    **parameters: Any,
) -> Iterator[tuple[Plan, tuple[Source, Mapping[str, str]]]]:
    """Resolve the source and the roles; give the block the plan, and the source with its columns' types.

    Keys of pseudonyms, which the source is read with, go with the block, and where the request is refused.

    following: the ledger to publish under. table: the table of another engine that the plan is to read, whose columns
    are those of the source. dialect: of the script that the plan becomes; None where the engine runs it. parameters: in
    place of those that were asked for.
    """
    method, parameters = METHODS[asked.method], {**asked.parameters, **parameters}
    source, types = engine.find_source(asked.source)
    roles = resolve_roles(types, asked.quasi, asked.sensitive, asked.identifier)
    method.refuse_many(roles.quasi)
    _refuse_types(source, types, roles, source.lists if method.takes_lists else {})
    of_persons = bool(roles.identifier) and asked.unit == "person" and method.takes_sets
    for name, given in (("vary", asked.vary), ("known_size", parameters.get("known_size"))):
        if given and not of_persons:
            takers = " and ".join(each.name for each in METHODS.values() if each.takes_sets)
            raise UsageError(
                f"{option(name)} is about the rows of a person, whom {option('id')} tells, and {takers} alone take"
                " several",
                about=[name],
            )
    if asked.vary is not None:
        source = source.of_people(types, roles.identifier, roles.quasi, asked.vary)
    sets = False
    if of_persons and dialect is None and following is None:
        sets = bool(read_persons(engine, source.relation, roles.identifier)["repeating_persons"])
    method.refuse_pseudonyms(asked.coarsen)
    source, types = coarsen_source(engine, source, types, asked.coarsen, roles.quasi, asked.key)
    try:
        request = asked.to_plan(
            source if table is None else _elsewhere(source, table),
            roles,
            identity=asked.identity if dialect is None else asked.identity_elsewhere,
            sets=sets,
            coarsen={column: rule.rule for column, (rule, _) in source.coarse.items()},
            types=types,
            following=following,
            engine=dialect or engine.dialect,
        )
        values = {name: _look_up(value, engine) for name, value in parameters.items()}
        for parameter, value in values.items():
            if isinstance(value, Mapping):
                values[parameter] = {
                    name: _fit_lines(engine, source, types, name, part) if isinstance(part, Beside) else part
                    for name, part in value.items()
                }
        # what is asked of the source is asked here
        if method.probe is not None and (question := method.probe(replace(request, source=source), **values)):
            request = replace(request, probed=engine.rows(question)[0])
        if sets:
            source = replace(
                source, persons=roles.identifier, required=roles.sensitive if asked.nulls == "drop" else ()
            )
        yield method.plan(request, prefix=prefix, **values), (source, types)
    finally:
        if source.keys:
            with suppress(SqlanonError):
                engine.drop(source.keys)


def _refuse_types(source: Source, types: Mapping[str, str], roles: Roles, lists: Mapping[str, str]) -> None:
    """Refuse columns that cannot have their role; lists: of nested columns, those that can be alternatives."""
    source.refuse_collated(roles.all)
    for name in roles.all:
        if types[name] == "NESTED" and (name not in lists or name in roles.identifier):
            raise UsageError(f"column {name!r} holds nested values; roles take columns of single values")
        if types[name].startswith("GEOMETRY"):
            raise UsageError(
                f"column {name!r} is a GEOMETRY, which is not published: read its text, ST_AsText({name}) AS {name}, in"
                f" a {option('query')}"
            )
        if types[name] == '"NULL"' and name in roles.quasi:
            raise UsageError(f"column {name!r} has no type, for it is always NULL; cast it to one, or leave it out")


def _elsewhere(source: Source, table: Sql) -> Source:
    """Return a source as another engine has it: numbered by no name of this one, lists of texts ordered by bytes."""
    texts = source.texts | {name for name, sql_type in source.lists.items() if sql_type == "VARCHAR"}
    return replace(source, relation=table, numbering=Sql("row_number() over ()"), texts=texts)


def _look_up(value: Any, engine: Engine, as_text: bool | str = True) -> Any:
    """Look up the tables that parameters name beside the source, alone, in a tuple or in a mapping by column."""
    if isinstance(value, Beside):
        source, types = engine.find_source(value.named, value.as_text and as_text)
        texts = ", ".join(f"cast({ident(name)} as varchar) as {ident(name)}" for name in types)
        columns = texts if value.as_text else "*"
        rows = tuple(engine.rows(f"select {columns} from {source.relation}")) if value.fetched else ()
        return replace(value, source=source, types=types, rows=rows)
    if isinstance(value, tuple):
        return tuple(_look_up(part, engine) for part in value)
    if isinstance(value, Mapping):
        return {name: _look_up(part, engine, "lines") for name, part in value.items()}
    return value


def _fit_lines(engine: Engine, source: Source, types: Mapping[str, str], name: str, table: Beside) -> Beside:
    """Return a hierarchy without a first line of names, its numbers written as the column writes them.

    A first line is names only where none of its cells is a value of the column, or a node of another line.
    """
    column = next((own for own in types if own.lower() == name.lower()), None)
    if column is None or not table.rows:
        return table
    reading = source.expression(column).removesuffix(' collate "C"')
    most = len(table.rows) * len(table.rows[0]) + 1  # more values than that are not all in the hierarchy
    written = engine.rows(f"select distinct cast({reading} as varchar) as text from {source.relation} limit {most}")
    texts = {row["text"] for row in written}
    numeric = types[column].endswith("INT") or types[column].startswith(("INTEGER", "DECIMAL", "DOUBLE", "FLOAT"))
    numbers = {_number(text): text for text in texts if numeric and _number(text) is not None}
    rows = [{key: numbers.get(_number(cell), cell) for key, cell in row.items()} for row in table.rows]
    first, others = rows[0].values(), {cell for row in rows[1:] for cell in row.values()}
    may_be_names = next(iter(table.types)) in ("column0", "_c0") and not texts.intersection(first)
    if may_be_names and (len(first) > 2 or not others.intersection(first)):
        rows = rows[1:]
    return replace(table, rows=tuple(rows))


def _number(text: str | None) -> Decimal | None:
    """Return the number that a text is, None where it is none."""
    try:
        number = Decimal(text or "")
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


@contextmanager
def prepared(
    asked: ReleaseRequest, engine: Engine, prefix: str
) -> Iterator[tuple[Plan, tuple[Source, Mapping[str, str]], LedgerRun | None]]:
    """Prepare a request, and hold the ledger that it names for the block; None where it names none.

    Raises UsageError where the request does not follow what was published under the ledger.
    """
    with _ledger_of(asked, engine) as ledger:
        following = None if ledger is None else ledger.following
        with prepare(asked, engine, prefix, following=following) as (plan, against):
            if ledger is not None:
                ledger.check(plan, asked.identifier, against, asked.place)
            yield plan, against, ledger


def _ledger_of(asked: ReleaseRequest, engine: Engine) -> AbstractContextManager[LedgerRun | None]:
    if asked.ledger is None:
        return nullcontext()
    METHODS[asked.method].refuse_ledger()
    request = {name: getattr(asked, name) for name in ("identifier", "draws", "unit")}
    return open_ledger(asked.ledger, engine, asked.key, request, asked.place)


@contextmanager
def in_step(target: Target, ledger: LedgerRun | None, plan: Plan) -> Iterator[Callable[[Manifest], None] | None]:
    """Write what a ledger will hold, and enter the release's target; give what lets the ledger appear, before it.

    Both appear or neither: the next run can take back a ledger without its release, but make none for a release.
    """
    if ledger is None:
        with target:
            yield None
        return
    assert isinstance(target, DirectoryTarget | SchemaTarget), "a ledger is opened for a release that lasts"
    schema = note_schema(target.engine, target.schema) if isinstance(target, SchemaTarget) else {}
    # its rows come first, for a database writes to one file at a time
    ledger.write_rows(plan.ledger)
    with target:

        def appear(manifest: Manifest) -> None:
            # if the release does not appear, `open_ledger` puts the ledger of before back
            hold_back()
            ledger.appear(manifest, note_directory(target.staged) if isinstance(target, DirectoryTarget) else schema)

        yield appear
