"""Read a job file: the schema of a release that a file describes; every mistake is told with its line."""

import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from sqlanon.errors import UsageError
from sqlanon.methods import METHODS
from sqlanon.methods.uncertain.influence import Learn
from sqlanon.plans.plan import Beside
from sqlanon.publishing.thresholds import Threshold, threshold
from sqlanon.publishing.yaml_nodes import MappingNode, Node, NodeReader, ScalarNode, SequenceNode, composed

# parameters that every method has beside its own, and what they may say
COMMON = {
    "nulls": ("refuse", "value", "drop"),
    "draws": ("keyed", "random"),
    "rows_per_person": ("one", "many"),
}
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True)
class Job:
    """A release as a file describes it; `secrets` are texts that no message may show, with what to show."""

    method: str
    source: str
    database: str | None
    roles: Mapping[str, tuple[str, ...]]
    parameters: Mapping[str, Any]
    options: Mapping[str, str]
    out: Path | None
    into: str | None
    overwrite: bool
    thresholds: tuple[Threshold, ...]
    key_env: str | None
    secrets: Mapping[str, str]


def read_job(path: str | Path, environment: Mapping[str, str] | None = None) -> Job:
    """Read and check a job file; paths in it are relative to its folder.

    environment: where `${NAME}` in `source` and `output` is looked up; the process's own if None.
    Raises UsageError, with the line, for what is not a job.
    """
    reader = _Reader(Path(path), os.environ if environment is None else environment)
    root = composed(reader.path)
    if root is None:
        raise UsageError(f"{path} is empty; a job has the keys method, source, roles, parameters and output")
    return reader.job(root)


class _Reader(NodeReader):
    """Turn nodes of YAML into a Job."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        super().__init__(path)
        self.environment = environment
        self.secrets: dict[str, str] = {}

    def job(self, root: Node) -> Job:
        """Read the whole file."""
        keys = self.mapping(
            root, "the job", ("method", "source", "roles", "parameters", "output"), ("require", "key_env")
        )
        method = self.choice(keys["method"], "method", tuple(METHODS))
        source, database = self.source(keys["source"])
        roles = self.mapping(keys["roles"], "roles", ("quasi", "sensitive"), ("id",))
        out, into, overwrite = self.output(keys["output"], database)
        parameters, options = self.parameters(keys["parameters"], method)
        return Job(
            method=method,
            source=source,
            database=database,
            roles={role: self.columns(node, role) for role, node in roles.items()},
            parameters=parameters,
            options=options,
            out=out,
            into=into,
            overwrite=overwrite,
            thresholds=self.thresholds(keys["require"]) if "require" in keys else (),
            key_env=self.text(keys["key_env"], "key_env") if "key_env" in keys else None,
            secrets=self.secrets,
        )

    def source(self, node: Node) -> tuple[str, str | None]:
        """Read a path, or a database and a table in it."""
        if isinstance(node, ScalarNode):
            return self.beside(self.expanded(node, "source")), None
        keys = self.mapping(node, "source", ("database", "table"), ())
        database = self.beside(self.expanded(keys["database"], "database"))
        return self.expanded(keys["table"], "table"), database

    def output(self, node: Node, database: str | None) -> tuple[Path | None, str | None, bool]:
        """Read where the release goes."""
        keys = self.mapping(node, "output", (), ("out", "into", "overwrite"))
        if ("out" in keys) == ("into" in keys):
            self.refuse(node, "output takes out (a directory) or into (a schema), and one of them")
        if "into" in keys and database is None:
            self.refuse(
                keys["into"], "into names a schema of the source's database; give source a database and a table"
            )
        overwrite = self.typed(keys["overwrite"], "overwrite", ("bool",)) if "overwrite" in keys else False
        if "into" in keys:
            return None, self.expanded(keys["into"], "into"), overwrite
        return Path(self.beside(self.expanded(keys["out"], "out"))), None, overwrite

    def parameters(self, node: Node, method: str) -> tuple[dict[str, Any], dict[str, str]]:
        """Read the method's own parameters, and the options that every method has."""
        own = method_parameters(method)
        needed = tuple(name for name, known in own.items() if known.required)
        keys = self.mapping(node, "parameters", needed, tuple(name for name in (*own, *COMMON) if name not in needed))
        values: dict[str, Any] = {}
        options: dict[str, str] = {}
        for name, value in keys.items():
            if name in own:
                values[name] = self.parameter(value, name, own[name])
            else:
                options[name] = self.choice(value, name, COMMON[name])
        return values, options

    def parameter(self, node: Node, name: str, known: "Parameter") -> Any:
        """Read one parameter; `all` stands for none where the method knows a number or none."""
        if known.choices:
            return self.choice(node, name, known.choices)
        if "null" in known.kinds and "int" in known.kinds and isinstance(node, ScalarNode) and node.value == "all":
            return None
        if known.each and isinstance(node, MappingNode):  # one for each of several columns
            pairs = self.pairs(node, name)
            return {key.value: self.single(value, f"{name} of {key.value}", (known.each,)) for key, value in pairs}
        if known.each and known.kinds == ("null",):
            self.refuse(node, f"{name} is a mapping of columns")
        if known.many:
            nodes = node.value if isinstance(node, SequenceNode) else [node]
            return tuple(self.one(each, name, known.many) for each in nodes)
        return self.single(node, name, tuple(kind for kind in known.kinds if kind != "null"))

    def one(self, node: Node, name: str, kind: str) -> Any:
        """Read one of several: a table or a file beside the source, or a set of columns."""
        if kind != "Beside":
            return self.columns(node, name)
        place = self.expanded(node, name)
        return Beside(self.beside(place) if Path(place).suffix or os.sep in place else place)

    def single(self, node: Node, name: str, kinds: tuple[str, ...]) -> Any:
        """Read a number, a text, or a file beside the source; `learn` stands for what is learned from the data."""
        if "Beside" not in kinds:
            return self.typed(node, name, kinds)
        path = self.expanded(node, name)
        return Learn() if "Learn" in kinds and path == "learn" else Beside(self.beside(path), True, True)

    def thresholds(self, node: Node) -> tuple[Threshold, ...]:
        """Read the thresholds."""
        found = []
        for key, value in self.pairs(node, "require"):
            text = self.text(value, key.value)
            try:
                found.append(threshold(key.value, text))
            except UsageError as error:
                self.refuse(key, str(error))
        return tuple(found)

    def columns(self, node: Node, role: str) -> tuple[str, ...]:
        """Return the one column of a role, or a list of them."""
        if not isinstance(node, SequenceNode):
            return (self.text(node, role),)
        if not node.value:
            self.refuse(node, f"{role} names no column")
        return tuple(self.text(item, f"a column of {role}") for item in node.value)

    def expanded(self, node: Node, name: str) -> str:
        """Put environment variables in the place of `${NAME}`; remember what no message may show."""

        def value(match: re.Match[str]) -> str:
            found = self.environment.get(match[1])
            if not found:
                self.refuse(node, f"the environment variable {match[1]} is not set")
            self.secrets |= {found: match[0], os.path.normpath(found): match[0]}
            return found

        return _VARIABLE.sub(value, self.text(node, name))

    def beside(self, path: str) -> str:
        """Return a path relative to the job's folder; what lies elsewhere stays."""
        return path if "://" in path else os.path.normpath(self.path.parent / path)


def _kind(hint: Any) -> str:
    return str(getattr(hint, "__name__", hint))


@dataclass(frozen=True)
class Parameter:
    """What a parameter takes: values of some kinds, one of some choices, `each` of a kind by column, or `many`."""

    required: bool
    kinds: tuple[str, ...]
    choices: tuple[str, ...]
    each: str
    many: str


def method_parameters(method: str) -> dict[str, Parameter]:
    """Return a method's own parameters, as its plan takes them."""
    plan: Callable[..., Any] = METHODS[method].plan
    hints = get_type_hints(plan)
    found = {}
    for name, parameter in inspect.signature(plan).parameters.items():
        if name not in ("request", "prefix", "key"):
            hint = hints[name]
            choices = get_args(hint) if get_origin(hint) is Literal else ()
            kinds = () if choices else (get_args(hint) if isinstance(hint, UnionType) else (hint,))
            each = [get_args(kind)[1].__name__ for kind in kinds if get_origin(kind) is Mapping]
            single = tuple("null" if kind is NoneType else kind.__name__ for kind in kinds if not get_origin(kind))
            many = [_kind(get_args(kind)[0]) for kind in kinds if get_origin(kind) is Sequence]
            required = parameter.default is inspect.Parameter.empty
            found[name] = Parameter(required, single, choices, each[0] if each else "", many[0] if many else "")
    return found
