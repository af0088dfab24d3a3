"""What is chosen on the page, one object for all its tabs; and which runs it starts.

A result is kept with the inputs that it is about: where the choice has changed since, the page dims it.
"""

import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.connect import open_duckdb
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.key import Key
from sqlanon.methods import METHODS
from sqlanon.methods.base import Method
from sqlanon.methods.name_types import Files
from sqlanon.methods.parameter_types import Share
from sqlanon.methods.parameters import Parameter
from sqlanon.methods.request_options import LedgerOptions
from sqlanon.page.values import read_value, write_value
from sqlanon.page.work import Run, Work
from sqlanon.releases.targets import MANIFEST
from sqlanon.sql.sources.queried_source import source_of_release
from sqlanon.wording import spoken

LEFT_OUT, QUASI, SENSITIVE, IDENTIFIER = "leave out", "quasi", "sensitive", "identifier"
ROLES = (LEFT_OUT, QUASI, SENSITIVE, IDENTIFIER)
_ROLE_NAMES = ("quasi", "sensitive", "id")
_ELSEWHERE = {*_ROLE_NAMES, *LedgerOptions.__annotations__, "key", "out", "into", "overwrite", "require", "show_values"}
KEY = "SQLANON_KEY"


@dataclass
class State:
    """The choices, and the runs that they begin.

    typed_source, typed_database: what stands in the fields of step 1, and has not been looked at yet. texts: of the
    method's parameters as they are typed, by name. resist: of compare. published: the roles of the release. version:
    counts changes, so that each tab knows when to look again.
    """

    folder: Path
    typed_source: str = ""
    typed_database: str = ""
    source: str = ""
    database: str = ""
    columns: tuple[dict[str, Any], ...] = ()
    roles: dict[str, str] = field(default_factory=dict)
    method: str = "anatomy"
    texts: dict[str, str] = field(default_factory=dict)
    require: str = ""
    out: str = "release"
    overwrite: bool = False
    resist: str = "30%"
    question: str = ""
    published: dict[str, Any] = field(default_factory=dict)
    fault: dict[str, str] = field(default_factory=dict)
    version: int = 0

    def __post_init__(self) -> None:
        """Have runs in sessions of their own."""
        self.work = Work(self.open_session, self.changed)

    def changed(self) -> None:
        """Let all tabs look again."""
        self.version += 1

    def open_session(self) -> Engine:
        """Open a session of a run's own; a database file is attached to it, read only."""
        return open_duckdb(self.database or None)

    # -- what is chosen ------------------------------------------------------------------------

    @property
    def chosen(self) -> dict[str, Any]:
        """Return the columns of each role, as the verbs name the roles."""
        named = zip(_ROLE_NAMES, (QUASI, SENSITIVE, IDENTIFIER), strict=True)
        return {name: [column for column, role in self.roles.items() if role == word] for name, word in named}

    @property
    def filled_roles(self) -> dict[str, list[str]]:
        """Return the columns of the roles that have any."""
        return {name: columns for name, columns in self.chosen.items() if columns}

    @property
    def row_identifier(self) -> list[str]:
        """Return the columns that tell the source's rows apart; none where a person may have several rows."""
        return [] if self.texts.get("unit") == "row" else self.chosen["id"]

    @property
    def declared(self) -> Method[Any]:
        """Return the method that is chosen."""
        return METHODS[self.method]

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters that the page offers: those of the method but ledgers, keys, and files to keep."""
        return {
            name: parameter
            for name, parameter in self.declared.arguments.items()
            if name not in _ELSEWHERE and not isinstance(parameter.type, Files)
        }

    def options(self) -> dict[str, Any]:
        """Return the parameters that are given, as Python takes them; raise UsageError for what cannot be read."""
        values = {}
        for name, parameter in self.parameters.items():
            text = self.texts.get(name, "").strip()
            if text:
                values[name] = read_value(parameter, text)
            elif parameter.required:
                raise UsageError(f"fill in {name}: {spoken(parameter.help, 'python')}")
        return {name: value for name, value in values.items() if value != self.parameters[name].default}

    @property
    def required_texts(self) -> list[str]:
        """Return the thresholds, one to a line."""
        return [line.strip() for line in self.require.splitlines() if line.strip()]

    @property
    def target(self) -> Path:
        """Return where the release goes; what is relative lies in the start folder."""
        return self.folder / self.out

    def inputs(self, step: str) -> object:
        """Return what a step's result is about, to be compared with what is chosen later."""
        source = (self.source, self.database)
        if step == "data":
            return source
        chosen = (*source, str(self.chosen), self.texts.get("coarsen", ""))
        if step == "risks":
            return chosen
        if step == "compare":
            return (*chosen, self.resist)
        if step == "publish":
            return (*chosen, self.method, str(self.texts), self.require, self.out)
        about = (self.out, self.work.runs["publish"].begun if "publish" in self.work.runs else 0)
        return (*about, self.question) if step == "ask" else about

    def is_stale(self, run: Run) -> bool:
        """Tell whether a run is about another choice than the one that stands."""
        return run.inputs != self.inputs(run.step)

    # -- what is done --------------------------------------------------------------------------

    def start(self, step: str, function: Callable[[Engine], Any], latest: bool = False) -> None:
        """Begin a run of a step on what is chosen now."""
        self.fault.pop(step, None)
        if latest:
            self.work.start_latest(step, function, self.inputs(step))
        elif not self.work.start(step, function, self.inputs(step)):
            self.fail(step, "this step runs already: wait for its end, or cancel it")

    def fail(self, step: str, words: str) -> None:
        """Tell at a step what is wrong with what was typed."""
        self.fault[step] = words
        self.changed()

    def edit(self, name: str, value: object) -> None:
        """Take what was typed into a field, or chosen in it."""
        setattr(self, name, value)
        self.changed()

    def open_source(self) -> None:
        """Look at the table that is typed: its columns, with the roles that their names and values suggest."""
        from sqlanon import check

        self.source, self.database = self.typed_source.strip(), self.typed_database.strip()
        self.columns, self.roles = (), {}
        if not self.source:
            self.fail("data", "name a file (Parquet, CSV or JSON), or a table of a database")
            return
        name = self.source

        def look(engine: Engine) -> Any:
            profile = check(engine, name)
            if name == self.source:
                self._take(profile)
            return profile

        self.start("data", look, latest=True)

    def _take(self, profile: Any) -> None:
        """Take the roles, and the numbers, that a check suggests."""
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
        self.check_risks()

    def set_role(self, column: str, role: str) -> None:
        """Give a column a role; its risks are looked at anew."""
        if column in self.roles and role in ROLES and self.roles[column] != role:
            self.roles[column] = role
            self.check_risks()

    def set_text(self, name: str, text: str) -> None:
        """Take what was typed for a parameter."""
        self.texts[name] = text
        if name == "coarsen":
            self.check_risks()
        self.changed()

    def check_risks(self) -> None:
        """Check the table with the roles as they are: the latest check counts, an earlier one is interrupted."""
        from sqlanon import check

        chosen, source = self.chosen, self.source
        if not chosen["quasi"]:
            self.fail("risks", "choose at least one quasi column: what others may know of people")
            return
        try:
            coarsen = self.options_of("coarsen")
        except UsageError as error:
            self.fail("risks", str(error))
            return
        self.start("risks", lambda engine: check(engine, source, **chosen, **coarsen), latest=True)

    def options_of(self, *names: str) -> dict[str, Any]:
        """Return those of some parameters that are given."""
        given = {name: self.texts.get(name, "").strip() for name in names}
        return {name: read_value(self.parameters[name], text) for name, text in given.items() if text}

    @property
    def original(self) -> object:
        """Return the source as the release is held against it."""
        given = self.options_of("coarsen", "vary")
        return source_of_release(self.source, given.get("coarsen", {}), self.row_identifier, given.get("vary"))

    def compare_methods(self) -> None:
        """Try candidates on the table."""
        from sqlanon import compare

        try:
            options = self.compare_options()
            if not (self.chosen["quasi"] and self.chosen["sensitive"]):
                raise UsageError("choose the quasi columns and the sensitive one in step 2")
        except UsageError as error:
            self.fail("compare", str(error))
            return
        source, chosen = self.source, self.chosen
        self.start("compare", lambda engine: compare(engine, source, **chosen, **options))

    def compare_options(self) -> dict[str, Any]:
        """Return what compare is asked, beside the roles."""
        options = self.options_of("coarsen", "nulls", "unique_quasi")
        if self.resist.strip():
            options["resist"] = Share().read("the share that attacks may name", self.resist)
        return options

    def use(self, method: str, arguments: Mapping[str, Any], without: Iterable[str] = ()) -> None:
        """Take a candidate of the comparison for what is to be published, in the place of what was typed before.

        without: quasi columns that it does not publish.
        """
        self.method = method
        for column in without:
            self.set_role(column, LEFT_OUT)
        for name in self.declared.parameters:
            self.texts.pop(name, None)
        self.texts |= {name: write_value(value) for name, value in arguments.items()}
        self.changed()

    def publish_options(self) -> dict[str, Any]:
        """Return everything that the method's function is given beside session, source and key."""
        options: dict[str, Any] = {**self.filled_roles}
        for name in ("quasi", "sensitive"):
            if name not in options:
                raise UsageError(f"no column is {name}: give one that role in step 2")
        options |= self.options()
        if self.required_texts:
            options["require"] = self.required_texts
        options["out"] = self.out
        return options | ({"overwrite": True} if self.overwrite else {})

    def publish(self) -> None:
        """Publish what is chosen; of two runs to one directory the second is refused."""
        from sqlanon import open as open_release
        from sqlanon import publish

        try:
            options = self.publish_options()
            if not self.out.strip():
                raise UsageError("name the directory that the release is to appear in")
        except UsageError as error:
            self.fail("publish", str(error))
            return
        key = os.environ.get(KEY)
        options |= {"out": str(self.target)} | ({"key": Key.of(key)} if key else {})
        source, method, target, chosen = self.source, self.method, self.target, self.chosen

        def run(engine: Engine) -> Any:
            before = _read_manifest(target)
            try:
                release = publish(method, engine, source, **options)
            except SqlanonError:
                # a run may be interrupted behind the point from which on the release stands
                if _read_manifest(target) in (None, before):
                    raise
                release = open_release(target)
            self.published = chosen
            return release

        self.start("publish", run)


def _read_manifest(target: Path) -> bytes | None:
    """Return the manifest that stands in a directory, None where there is none."""
    with suppress(OSError):
        return (target / MANIFEST).read_bytes()
    return None
