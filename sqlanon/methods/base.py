"""What a method is: a name, a paper, parameters, and the steps that run, declared as one object.

A method never holds a connection: it turns a request into a Plan, so that its SQL can be read without a database.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar, cast

from sqlanon.errors import UsageError
from sqlanon.methods.packing import LAYOUT
from sqlanon.models import shapes
from sqlanon.models.fields import Parameter
from sqlanon.models.publication import Publication as AskedPublication
from sqlanon.models.shapes import Shape, Shapes
from sqlanon.plans.build import build_phases
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.coarsening import is_pseudonym
from sqlanon.plans.engines import Mark
from sqlanon.plans.plan import (
    PERSONS,
    Beside,
    Constants,
    KeptFile,
    LinkedRows,
    Plan,
    Publication,
    RangeQuery,
    Request,
    Row,
    Statement,
    relation_name,
)
from sqlanon.plans.templates import Sql
from sqlanon.sql.table_macro import Macro
from sqlanon.wording import option

Steps = tuple[Chapter, ...]
Reports = Mapping[str, Row]
SHARED = ("changed", "draws", "nulls", "coarsen")  # parameters of all methods that the manifest says
LEDGER_TABLES = ("person", "value")  # what a plan leaves to the ledger, in relations called `next_…`


@dataclass(frozen=True, kw_only=True)
class Design:
    """What a method decided before any row is read: from this its steps are made.

    request: what was asked. prefix: what the names of its relations begin with.
    """

    request: Request
    prefix: str = "sqlanon_"

    @property
    def columns(self) -> Mapping[str, Any]:
        """Return the published columns by their roles, as the manifest says them."""
        return {}

    @property
    def guarantee(self) -> Mapping[str, object]:
        """Return what the release promises, as numbers."""
        return {}

    @property
    def recorded(self) -> Mapping[str, Mapping[str, object]]:
        """Return what the manifest says in the place of a parameter, where it is not the value as it was given."""
        return {}

    @property
    def known(self) -> tuple[Beside | Statement, ...]:
        """Return the distributions whose posteriors the finished release is looked at for."""
        return ()

    @property
    def tables_read(self) -> tuple[Beside, ...]:
        """Return the tables that the plan reads beside the source."""
        return ()

    @property
    def kept_tables(self) -> tuple[Statement, ...]:
        """Return the tables that the publisher may keep."""
        return ()

    @property
    def kept_files(self) -> tuple[KeptFile, ...]:
        """Return the reports that the publisher may keep as files."""
        return ()

    @property
    def learned(self) -> Mapping[str, Any]:
        """Return what the publisher may see and the manifest does not say."""
        return {}

    @property
    def constants(self) -> Mapping[str, Mapping[str, int]]:
        """Return what its steps read of the driver's: relations of one row of whole numbers."""
        return {}

    @property
    def range_query(self) -> tuple[Statement, Row] | None:
        """Return what is asked when the plan runs and decides what its steps become, and a row to assume."""
        return None

    def fitted(self, reports: Reports) -> Self:
        """Return the design as the reports of the first phase make it."""
        return self


@dataclass(frozen=True, kw_only=True)
class Strength:
    """What sets how much a method promises, by which `compare` holds it beside others.

    parameter: its name. promise: what a release promises, in words: {value}, {rows}, {background} are put in. takes:
    the list of `compare` whose values it takes. rank: at the same value, the promise of a larger one is worth more.
    boxed: whether the rows of a box are asked for as well (k). verified_figure: the figure of the manifest's `verified`
    that is the confidence in anybody's value; empty where that is 1 / value. chance: whether who knows nothing names 1
    / value of the values. knows: whether some quasi columns are declared as known (background_from).
    """

    parameter: str
    promise: str
    rank: int
    takes: str = "l"
    boxed: bool = False
    verified_figure: str = ""
    chance: bool = False
    knows: bool = False


_IN_SCRIPTS = {  # what a script has in the place of some parameters
    "coarsen": "let the script read a view whose columns are as coarse",
    "key": "a script reads its key from the session, as its first lines tell",
}
REMADE = "_remade"  # a step of `linked` of this name makes the relation before it once more, to be compared with it
OTHERS = ("withheld", "departed", "people")  # steps of `linked` beside the rows, as `LinkedRows` has them
D = TypeVar("D", bound=Design)


def _link(compared: tuple[Statement, ...], prefix: str, layout: Sql | None) -> LinkedRows | None:
    remade = {
        relation_name(prefix, statement.name.removesuffix(REMADE)): statement.sql
        for statement in compared
        if statement.name.endswith(REMADE)
    }
    others = {statement.name: statement.sql for statement in compared if statement.name in OTHERS}
    selects = tuple(
        statement.sql for statement in compared if statement.name not in others and not statement.name.endswith(REMADE)
    )
    return LinkedRows(selects, layout, remade, **others) if selects else None


@dataclass(frozen=True)
class Method(Generic[D]):
    """A published system as this project runs it.

    steps: functions of the design, in the order in which their steps run; one that has nothing to do returns none.
    outputs: the same for the published tables, in a second phase that may read the reports of the first. design: checks
    the parameters with the request and decides; raises UsageError. form: the kind of release that it publishes.
    options: the model of what it is asked for. sentence, example, compile_sentence, compile_example: what the
    command line says of it. macros: its table macros. lacks: what is not there (macros, ledger, compare,
    pseudonyms), and why. takes_lists: whether columns may hold lists. takes_sets: whether a person may have several
    rows. probe: the query that it wants the source asked first, if any.
    reads_source: whether a compiled script depends on the types of the source's columns. saved: the parameter that
    names files for what the publisher may keep, nothing_saved: what is said where there is nothing to keep.
    plans_promises: the parameter whose promises can be asked for first, for several of its values. most_columns: how
    many quasi columns it takes: engines refuse statements of a thousand nested terms, and plan those below for minutes.
    followed, followed_outputs: the steps of a release under a ledger; lasting: the parameters that decide what is
    promised, in which such releases may not differ. recorded: the shapes of what the manifest's `parameters` say
    beside the method's own, or in place of one; None: they say nothing.
    linked: the rows that a run knows to the end, one step for each sensitive column: they are compared, not published;
    followed_linked: the same under a ledger, with OTHERS.
    strength: what `compare` varies; None: it is not compared.
    """

    name: str
    paper: str
    form: str
    options: type[AskedPublication]
    design: Callable[..., D]
    steps: tuple[Callable[[D], Steps], ...]
    outputs: tuple[Callable[[D], Steps], ...]
    sentence: str
    example: str
    compile_sentence: str
    compile_example: str
    macros: tuple[Macro, ...] = ()
    lacks: Mapping[str, Mark] = field(default_factory=dict)
    takes_lists: bool = False
    takes_sets: bool = False
    probe: Callable[..., str] | None = None
    reads_source: bool = False
    saved: str = ""
    nothing_saved: str = ""
    followed: tuple[Callable[[D], Steps], ...] = ()
    followed_outputs: tuple[Callable[[D], Steps], ...] = ()
    lasting: tuple[str, ...] = ()
    most_columns: int = 400
    recorded: Shapes = field(default_factory=dict)
    linked: Callable[[D], Steps] = lambda design: ()
    followed_linked: Callable[[D], Steps] = lambda design: ()
    strength: Strength | None = None

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Return the method's own parameters, by name."""
        shared = AskedPublication.model_fields
        return {name: parameter for name, parameter in self.options.declared.items() if name not in shared}

    @property
    def arguments(self) -> dict[str, Parameter]:
        """Return everything that its function takes beside connection and source: roles first, then its own."""
        declared = self.options.declared
        return {**{name: declared[name] for name in ("quasi", "sensitive")}, **self.parameters, **declared}

    @property
    def parameters_shape(self) -> Shape:
        """Return the shape of the manifest's `parameters`; early releases say less than those of today."""
        own = {name: each.recorded for name, each in self.parameters.items() if each.recorded}
        shared = {name: self.options.declared[name].recorded for name in SHARED}
        # what 0.2.0 could be asked for as well
        words = {"changed": shapes.word("leave", "keep", "move"), "waiting": shapes.word("together", "alone")}
        shared |= words
        shared |= {"rows_per_person": shapes.word(*PERSONS), "unit": shapes.word("person")}
        shared |= {"owner_values": shapes.by_column("sensitive", shapes.number(1))} if self.takes_sets else {}
        ledger = {"release": shapes.whole(1), "chain": shapes.text("[0-9a-f]{16}")} if self.followed else {}
        every = {**own, **self.recorded, **ledger, **shared, "adopted": shapes.word(True)}
        return shapes.record({}, {name: shape for name, shape in every.items() if shape is not None})

    def refuse_in_scripts(self, names: Iterable[str]) -> None:
        """Raise UsageError for the first of parameters (by name, or as options) that publish takes, and no script."""
        for name in names:
            for parameter in self.arguments.values():
                if name in (parameter.name, parameter.option) and not parameter.on.compiled:
                    instead = _IN_SCRIPTS.get(parameter.name, "publish takes it")
                    raise UsageError(
                        f"{parameter.mark} is not for scripts, which know neither values nor types of their source, and"
                        f" verify nothing: {instead}",
                        about=[parameter.name],
                    )

    def refuse_ledger(self) -> None:
        """Raise UsageError where releases of this method cannot follow each other under a ledger."""
        if not self.followed:
            raise UsageError(f"{self.name} has no {option('ledger')}: {self.lacks['ledger'].why}", about=["ledger"])

    def refuse_many(self, quasi: Sequence[str]) -> None:
        """Raise UsageError for more quasi columns than the method takes, before anything runs."""
        if len(quasi) > self.most_columns:
            raise UsageError(
                f"{len(quasi):,} quasi columns are more than the {self.most_columns} that {self.name} takes; name those"
                " that others may know of people, and leave out the rest"
            )

    def refuse_pseudonyms(self, rules: Mapping[str, str]) -> None:
        """Raise UsageError for pseudonyms where columns are published as boxes; rules: by column, as they are typed."""
        if (mark := self.lacks.get("pseudonyms")) and any(map(is_pseudonym, rules.values())):
            raise UsageError(f"{self.name} publishes no pseudonyms: {mark.why}", about=["coarsen"])

    def plan(self, request: Request, prefix: str = "sqlanon_", key: Sql | None = None, **given: Any) -> Plan:
        """Return the plan of a release.

        given: the method's own parameters; what is missing has its default. key: the relation of the key.
        Raises UsageError where the roles are not the method's.
        """
        self.refuse_many(request.roles.quasi)
        values = {name: given.get(name, parameter.default) for name, parameter in self.parameters.items()}
        # files to keep are the publisher's affair, and decide nothing of the plan
        decided = {name: value for name, value in values.items() if name != self.saved}
        design = replace(self.design(request, **decided), prefix=prefix)
        secret = key if key is not None else relation_name(prefix, "key")
        steps, publication = self._built(design, secret, values)
        return Plan(
            method=self.name,
            steps=steps,
            publication=publication,
            fit=lambda reports: self._fitted(design, reports, secret, values, publication),
            key=secret,
            kept_tables=design.kept_tables,
            kept_files=design.kept_files,
            known=design.known,
            read=tuple(table.named for table in design.tables_read),
            ledger={name: relation_name(prefix, f"next_{name}") for name in LEDGER_TABLES if request.following},
            constants=tuple(
                Constants(name, relation_name(prefix, name), row) for name, row in design.constants.items()
            ),
            range_query=design.range_query
            and RangeQuery(
                *design.range_query,
                lambda row: self.plan(replace(request, ranges=row), prefix=prefix, key=key, **given),
            ),
        )

    def _built(self, design: D, secret: Sql, values: Mapping[str, Any]) -> tuple[Any, Publication]:
        """Render the steps of both phases; a template of the second may read what the first made."""
        release = design.request.following
        steps, outputs = (self.steps, self.outputs) if release is None else (self.followed, self.followed_outputs)
        first = [step for function in steps for step in function(design)]
        second = [step for function in outputs for step in function(design)]
        relations = {"key": secret, "given_key": secret, **(release.relations if release is not None else {})}
        relations |= {name: relation_name(design.prefix, name) for name in design.constants}
        linked = self.linked(design) if release is None else self.followed_linked(design)
        engine = design.request.engine
        made, published, compared = build_phases((first, second, linked), design.prefix, relations, engine)
        publication = Publication(
            outputs=cast(tuple[Statement, ...], published),
            parameters=self._recorded(design, values),
            columns=design.columns,
            guarantee=design.guarantee,
            learned=design.learned,
            linked=_link(cast(tuple[Statement, ...], compared), design.prefix, relations.get(LAYOUT)),
        )
        return made, publication

    def _fitted(
        self, design: D, reports: Reports, secret: Sql, values: Mapping[str, Any], expected: Publication
    ) -> Publication:
        fitted = design.fitted(reports)
        # rendering again is cheap, and only a design that the data changed needs it
        return expected if fitted == design else self._built(fitted, secret, values)[1]

    def _recorded(self, design: D, values: Mapping[str, Any]) -> dict[str, object]:
        """Return the manifest's `parameters`: the method's own numbers, never paths."""
        recorded: dict[str, object] = {}
        for name, parameter in self.parameters.items():
            # what the method resolved (a default, a column's spelling) is recorded in the place of what was typed
            if name in design.recorded:
                recorded |= design.recorded[name]
            elif parameter.recorded:
                recorded[name] = parameter.shown(values[name])
        request = design.request
        if request.following is not None:
            release = request.following
            recorded |= {"release": release.number, "changed": release.changed}
            recorded |= {"chain": release.chain} if release.chain else {}
        recorded |= {"coarsen": dict(request.coarsen)} if request.coarsen else {}
        # what every promise is about is a row: whether that is a person, the release has to say
        persons = design.recorded.get("unit") or {"rows_per_person": request.rows_per_person}
        return recorded | {"draws": request.draws, "nulls": request.nulls, **persons}
