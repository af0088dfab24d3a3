"""What is chosen on the page, one object for all its tabs; and the runs that its steps begin.

A result is kept with the calls that it is about: where the choice has changed since, the page dims it.
"""

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import sqlanon
from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_duckdb
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.methods import METHODS
from sqlanon.models.fields import Parameter
from sqlanon.models.values import SHARE
from sqlanon.page.calls import Call, read_value, write_value
from sqlanon.page.work import Run, Work
from sqlanon.plans.coarsening import label_tables
from sqlanon.read_places import MANIFEST
from sqlanon.releases.release import Release
from sqlanon.verdicts import Section
from sqlanon.wording import spoken

LEFT_OUT, QUASI, SENSITIVE, IDENTIFIER = ROLES = ("leave out", "quasi", "sensitive", "identifier")
_NAMES = {"quasi": QUASI, "sensitive": SENSITIVE, "id": IDENTIFIER}
_ELSEWHERE = {*_NAMES, "ledger", "changed", "since", "expect_departures", "new_quasi"}
_OF_RELEASE = ("verify", "attack", "ask", "hand over")


@dataclass(frozen=True)
class Shown:
    """A release as a run left it: what it is in words, and the parts that show it, its first rows among them."""

    words: str
    parts: Sequence[Section]
    published: bool

    def sections(self) -> Sequence[Section]:
        """Return the parts."""
        return self.parts


@dataclass
class State:
    """The choices, and the runs that they begin.

    texts: of the method's parameters as they are typed, by name. resist: of compare. version: counts changes, so that
    each tab knows when to look again.
    """

    source: str = ""
    database: str = ""
    columns: tuple[dict[str, Any], ...] = ()
    roles: dict[str, str] = field(default_factory=dict)
    method: str = "anatomy"
    texts: dict[str, str] = field(default_factory=dict)
    require: str = ""
    out: str = "release"
    overwrite: str = ""
    resist: str = "30%"
    question: str = ""
    fault: dict[str, str] = field(default_factory=dict)
    version: int = 0

    def __post_init__(self) -> None:
        """Have runs in sessions of their own."""
        self.work = Work(lambda: open_duckdb(self.database or None), self.changed)

    def changed(self) -> None:
        """Let all tabs look again."""
        self.version += 1

    # -- what is chosen ------------------------------------------------------------------------

    def edit(self, name: str, value: str) -> None:
        """Take what was typed into a field, or chosen in it; another table has other columns."""
        setattr(self, name, value)
        if name in ("source", "database"):
            self.columns, self.roles = (), {}
        self.changed()

    def set_text(self, name: str, text: str) -> None:
        """Take what was typed for a parameter."""
        self.texts[name] = text
        if name == "coarsen":
            self.start("risks")
        self.changed()

    def role(self, column: str) -> str:
        """Return the role that a column has."""
        return self.roles.get(column, LEFT_OUT)

    def set_role(self, column: str, role: str) -> None:
        """Give a column a role; its risks are looked at anew."""
        if column in self.roles and role in ROLES and self.roles[column] != role:
            self.roles[column] = role
            self.start("risks")

    def use(self, method: str, arguments: Mapping[str, Any], without: Iterable[str] = ()) -> None:
        """Take a candidate of the comparison for what is to be published, in the place of what was typed before.

        without: quasi columns that it does not publish.
        """
        self.method = method
        for column in without:
            self.set_role(column, LEFT_OUT)
        for name in METHODS[method].parameters:
            self.texts.pop(name, None)
        self.texts |= {name: write_value(value) for name, value in arguments.items()}
        self.changed()

    @property
    def chosen(self) -> dict[str, list[str]]:
        """Return the columns of each role that has any, as the verbs name the roles."""
        columns = {
            name: [column for column, role in self.roles.items() if role == word] for name, word in _NAMES.items()
        }
        return {name: listed for name, listed in columns.items() if listed}

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters that the page offers: those of the method but ledgers, keys, and files to keep."""
        arguments = METHODS[self.method].arguments
        return {name: each for name, each in arguments.items() if each.on.job and name not in _ELSEWHERE}

    def given(self, *names: str) -> dict[str, Any]:
        """Return those of some parameters that are given and not the default; raise UsageError for no such value."""
        texts = {name: self.texts.get(name, "").strip() for name in names}
        values = {name: read_value(self.parameters[name], text) for name, text in texts.items() if text}
        return {name: value for name, value in values.items() if value != self.parameters[name].default}

    # -- what the steps call -------------------------------------------------------------------

    def calls(self, step: str) -> tuple[Call, ...]:
        """Return what a step runs, as it is chosen now; raise UsageError where the choice is not complete."""
        if not self.source.strip():
            raise UsageError("name a file (Parquet, CSV or JSON), or a table of a database")
        if step == "data":
            return (Call("check", {"source": self.source}, database=self.database),)
        for role in ("quasi",) if step == "risks" else ("quasi", "sensitive"):
            if role not in self.chosen:
                raise UsageError(f"no column is {role}: give one that role in step 2")
        if step == "risks":
            return (self._over_source("check", self.given("coarsen")),)
        if step == "compare":
            resist = {"resist": SHARE.of(self.resist, "the share that attacks may name")} if self.resist.strip() else {}
            return (self._over_source("compare", self.given("coarsen", "nulls", "unique_quasi") | resist),)
        if step == "publish":
            return (self._publication(),)
        if step == "ask":
            if not self.question.strip():
                raise UsageError("type a question")
            return (Call("estimate", {"query": self.question}, self.out),)
        against = self._against()
        if step != "hand over":
            return (Call(step, against, self.out, self.database),)
        pages = {"out": f"{self.out}.html"}, {"out": f"{self.out}-internal.html", **against}
        return Call("report", pages[0], self.out), Call("report", pages[1], self.out, self.database)

    def _over_source(self, verb: str, options: Mapping[str, Any], method: str = "") -> Call:
        return Call(verb, {"source": self.source, **self.chosen, **options}, database=self.database, method=method)

    def _publication(self) -> Call:
        for name, parameter in self.parameters.items():
            if parameter.required and not self.texts.get(name, "").strip():
                raise UsageError(f"fill in {name}: {spoken(parameter.help, 'python')}")
        if not self.out.strip():
            raise UsageError("name the directory that the release is to appear in")
        required = [line.strip() for line in self.require.splitlines() if line.strip()]
        options = self.given(*self.parameters) | ({"require": required} if required else {}) | {"out": self.out}
        return self._over_source("publish", options | ({"overwrite": True} if self.overwrite else {}), self.method)

    def _against(self) -> dict[str, Any]:
        """Return the source as a release of it is held against it."""
        given = self.given("coarsen", *({"vary", "unit"} & self.parameters.keys()))
        labels = {column: rule for column, rule in given.get("coarsen", {}).items() if label_tables({column: rule})}
        by_row = given.get("unit") == "row"
        named = {"coarsen": labels, "id": [] if by_row else self.chosen.get("id"), "vary": given.get("vary")}
        return {"against": self.source, **{name: value for name, value in named.items() if value}}

    def inputs(self, step: str) -> Any:
        """Return what a step's result is about, to be compared with what is chosen later; None where it cannot run."""
        with suppress(UsageError):
            run = self.work.runs.get("publish")
            return self.calls(step), run.begun if run is not None and step in _OF_RELEASE else 0
        return None

    def is_stale(self, run: Run) -> bool:
        """Tell whether a run is about another choice than the one that stands."""
        return bool(run.inputs != self.inputs(run.step))

    def result(self, step: str) -> Any:
        """Return what a step's last run found, None where there is nothing, or something about another choice."""
        run = self.work.runs.get(step)
        return None if run is None or self.is_stale(run) else run.value

    # -- what is done --------------------------------------------------------------------------

    def start(self, step: str, *, preview: bool = False) -> None:
        """Begin a run of a step on what is chosen now; of checks the latest counts, all others run one at a time."""
        self.fault.pop(step, None)
        try:
            function, inputs = self._function(step, self.calls(step), preview), self.inputs(step)
        except UsageError as error:
            self.fault[step] = str(error)
            self.changed()
            return
        if step in ("data", "risks"):
            self.work.start_latest(step, function, inputs)
        elif not self.work.start(step, function, inputs):
            self.fault[step] = "this step runs already: wait for its end, or cancel it"
            self.changed()

    def _function(self, step: str, calls: tuple[Call, ...], preview: bool) -> Callable[[Engine], Any]:
        call = calls[0]
        if step == "data":
            return lambda engine: self._take(call, call.run(engine))
        if step == "publish":
            return lambda engine: _publish(call, engine, preview)
        if step == "ask":
            run = self.work.runs.get("publish")  # the truth is that of the columns that were published
            original = self._over_source("check", {}) if run is None else run.inputs[0][0]
            return lambda engine: _answer(call, engine, original.options)
        if step == "hand over":  # both pages stay here, until they are downloaded
            return lambda engine: [replace(each, options={**each.options, "out": None}).run(engine) for each in calls]
        return call.run

    def _take(self, call: Call, profile: Any) -> Any:
        """Take the roles, and the numbers, that a check suggests, where its table is still the one that is chosen."""
        if (call,) != self.calls("data"):
            return profile
        command = shlex.split(profile.command)
        # one sensitive column is published by most methods: the command names the one that leaves room for groups
        protected = command[command.index("--sensitive") + 1] if "--sensitive" in command else ""
        self.roles = {
            line["column"]: LEFT_OUT
            if line["suggested_role"] == SENSITIVE and protected and line["column"] != protected
            else line["suggested_role"]
            for line in profile.columns
        }
        self.texts = {"l": command[command.index("-l") + 1] if "-l" in command else "", "k": "10", "gamma": "5"}
        self.texts |= {"r": self.texts["l"]}
        self.columns = profile.columns
        self.start("risks")
        return profile


def _publish(call: Call, engine: Engine, preview: bool) -> Shown:
    """Publish, and say what an attack is expected to reach; as a preview into the session alone, which is forgotten."""
    from sqlanon.publishing.publish import look_at_attacks

    if preview:
        options = {name: value for name, value in call.options.items() if name not in ("out", "overwrite")}
        release: Release = replace(call, options=options).run(engine)
        return Shown(release.verdict.words, release.sections(), published=False)
    target = call.options["out"]
    before = read_manifest(target)
    try:
        release = call.run(engine)
    except SqlanonError:
        # a run may be interrupted behind the point from which on the release stands
        if read_manifest(target) in (None, before):
            raise
        release = sqlanon.open(target)
    look_at_attacks(release)
    return Shown(release.verdict.words, release.sections(), published=True)


def read_manifest(target: str | os.PathLike[str]) -> bytes | None:
    """Return the manifest that stands in a directory, None where there is none."""
    with suppress(OSError):
        return (Path(target) / MANIFEST).read_bytes()
    return None


def _answer(call: Call, engine: Engine, original: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the release's answer, and beside it the truth or why there is none."""
    from sqlanon.risks.workload import true_answer

    query = call.options["query"]
    release = sqlanon.open(call.release, con=engine)
    answer = release.ask(query)
    try:
        return answer, true_answer(engine, original["source"], original["quasi"], original["sensitive"], query)
    except SqlanonError as error:
        return answer, str(error)
