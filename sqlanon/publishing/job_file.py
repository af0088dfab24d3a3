"""Read a job file, which describes a release; every mistake is reported with its line."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from sqlanon.bounded_files import read_text
from sqlanon.errors import QueryError, UsageError
from sqlanon.methods import METHODS
from sqlanon.methods.parameters import Parameter, declared
from sqlanon.methods.request_options import RequestOptions
from sqlanon.plans.engines import ENGINES, Way
from sqlanon.publishing.thresholds import Threshold, threshold
from sqlanon.removed import removed
from sqlanon.sql.sources.source_select import SourceSelect, read_source_select

LONGEST = 2**20  # bytes of a job
_WORDS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "null": "nothing"}


def composed(path: Path) -> Node | None:
    """Return the file's root node, None where the file is empty; raise UsageError where it is not YAML."""
    text = ""
    try:
        text = read_text(path, LONGEST)
        root: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except RecursionError:
        raise UsageError(f"{path}: not YAML that a job needs: lists or mappings are nested too deep") from None
    except OSError as error:
        raise UsageError(f"cannot read {str(path)!r}: {error.strerror}; sqlanon guide jobs shows a job") from None
    except UnicodeDecodeError:
        raise UsageError(f"cannot read {str(path)!r}: it is not UTF-8 text; sqlanon guide jobs shows a job") from None
    except yaml.MarkedYAMLError as error:
        line = min(error.problem_mark.line + 1, len(text.splitlines())) if error.problem_mark else 1
        raise UsageError(f"{path}, line {line}: not YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: not YAML: {str(error).partition(chr(10))[0]}") from None
    return root


class NodeReader:
    """Turn nodes into values of the types that a schema asks for."""

    def __init__(self, path: Path) -> None:
        """Name the file that complaints are about."""
        self.path = path

    def refuse(self, node: yaml.Node, words: str) -> NoReturn:
        """Raise UsageError with the file and the node's line."""
        raise UsageError(f"{self.path}, line {node.start_mark.line + 1}: {words}")

    def pairs(self, node: yaml.Node, name: str) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
        """Return the keys and values of a mapping; refuse what is none, and a key given twice."""
        if not isinstance(node, yaml.MappingNode):
            self.refuse(node, f"{name} is a mapping of keys to values, not {_describe(node)}")
        keys: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.refuse(key, f"a key of {name} is a word, not {_describe(key)}")
            if key.value in keys:
                self.refuse(key, f"the key {key.value!r} is given twice in {name}")
            keys.add(key.value)
        return list(node.value)

    def mapping(
        self, node: yaml.Node, name: str, needed: tuple[str, ...], allowed: tuple[str, ...]
    ) -> dict[str, yaml.Node]:
        """Return a mapping's values by key; refuse unknown keys and missing ones."""
        values: dict[str, yaml.Node] = {}
        for key, value in self.pairs(node, name):
            if key.value not in (*needed, *allowed):
                unknown = f"unknown key {key.value!r} in {name}; there are {', '.join((*needed, *allowed))}"
                self.refuse(key, removed(key.value) or unknown)
            values[key.value] = value
        missing = [key for key in needed if key not in values]
        if missing:
            self.refuse(node, f"{name} lacks {', '.join(missing)}")
        return values

    def typed(self, node: yaml.Node, name: str, tags: tuple[str, ...]) -> Any:
        """Return a scalar's value where YAML reads it as one of `tags`."""
        tag = node.tag.rpartition(":")[2]
        scalar = isinstance(node, yaml.ScalarNode)
        if not scalar or (tag not in tags and not (tag == "int" and "float" in tags)):
            advice = "; put it into quotes" if scalar and tags == ("str",) and node.value else ""
            self.refuse(node, f"{name} is {' or '.join(_WORDS[each] for each in tags)}, not {_describe(node)}{advice}")
        try:
            return yaml.SafeLoader("").construct_object(node, deep=True)
        except ValueError:  # Python reads whole numbers of some thousand digits, no longer ones
            self.refuse(node, f"{name} is a number that is too long")

    def text(self, node: yaml.Node, name: str) -> str:
        """Return a text that is not empty."""
        value: str = self.typed(node, name, ("str",))
        if not value:
            self.refuse(node, f"{name} is empty")
        return value

    def choice(self, node: yaml.Node, name: str, choices: tuple[str, ...]) -> str:
        """Return one of `choices`."""
        value = self.text(node, name)
        if value not in choices:
            self.refuse(node, removed(name, value) or f"{name} is one of {', '.join(choices)}, not {value!r}")
        return value


def _describe(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return _WORDS.get(node.tag.rpartition(":")[2], f"a {node.tag.rpartition(':')[2]}")


ROLES = ("quasi", "sensitive", "id")
SHARED = {name: argument for name, argument in declared(RequestOptions).items() if argument.job and name not in ROLES}
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True)
class Job:
    """A release as a file describes it; `secrets` are texts that no message may show, with what to show.

    source: a name, a path, or a query. engine: what runs the SQL; master: Spark's, dsn: PostgreSQL's, None for their
    defaults. types, missing: how text files are read.
    path: the file. lines: where it names columns (without case) and parameters.
    """

    method: str
    source: str | SourceSelect
    database: str | None
    roles: Mapping[str, tuple[str, ...]]
    parameters: Mapping[str, Any]
    options: Mapping[str, Any]
    out: Path | None
    into: str | None
    overwrite: bool
    thresholds: tuple[Threshold, ...]
    key_env: str | None
    secrets: Mapping[str, str]
    engine: str = "duckdb"
    master: str | None = None
    dsn: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    path: Path = Path()
    lines: Mapping[str, int] = field(default_factory=dict)


def own_parameters(method: str) -> dict[str, Parameter]:
    """Return the method's own parameters that a job can say; SHARED are those of all methods."""
    return {name: parameter for name, parameter in METHODS[method].parameters.items() if parameter.job}


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


KEYS: Way = (("method", "source", "roles", "parameters", "output"), ("require", "key_env"))
ROLE_KEYS: Way = (("quasi", "sensitive"), ("id",))
OUTPUT_KEYS: Way = ((), ("out", "into", "overwrite"))


@dataclass(frozen=True)
class _Place:
    """Where a job's rows are, and what runs its SQL."""

    engine: str
    source: str | SourceSelect
    database: str | None = None
    master: str | None = None
    dsn: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


class _Reader(NodeReader):
    """Turn nodes of YAML into a Job."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        super().__init__(path)
        self.environment = environment
        self.secrets: dict[str, str] = {}
        self.lines: dict[str, int] = {}
        self.on_server = self.in_schema = False

    def job(self, root: Node) -> Job:
        """Read the whole file."""
        keys = self.mapping(root, "the job", *KEYS)
        method = self.choice(keys["method"], "method", tuple(METHODS))
        place = self.source(keys["source"])
        roles = self.mapping(keys["roles"], "roles", *ROLE_KEYS)
        out, into, overwrite = self.output(keys["output"], place)
        self.on_server, self.in_schema = "directory" in ENGINES[place.engine].lacks, into is not None
        parameters, options = self.parameters(keys["parameters"], method)
        return Job(
            method=method,
            source=place.source,
            database=place.database,
            engine=place.engine,
            master=place.master,
            dsn=place.dsn,
            types=place.types,
            missing=place.missing,
            roles={role: self.columns(node, role) for role, node in roles.items()},
            parameters=parameters,
            options=options,
            out=out,
            into=into,
            overwrite=overwrite,
            thresholds=self.thresholds(keys["require"]) if "require" in keys else (),
            key_env=self.text(keys["key_env"], "key_env") if "key_env" in keys else None,
            secrets=self.secrets,
            path=self.path,
            lines=self.lines,
        )

    def source(self, node: Node) -> "_Place":
        """Read a path, or a mapping: what runs the SQL, and what that engine finds its rows by."""
        if isinstance(node, ScalarNode):
            return _Place("duckdb", self.beside(self.expanded(node, "source")))
        engine = "duckdb"
        for key, value in self.pairs(node, "source"):
            if key.value == "engine":
                engine = self.choice(value, "engine", tuple(ENGINES))
        names = {key.value for key, _ in self.pairs(node, "source")}
        ways = ENGINES[engine].sources
        names_required, others = ways[next((name for name in reversed(ways) if name in names), next(iter(ways)))]
        keys = self.mapping(node, "source", names_required, ("engine", *others))
        types = dict(self.pairs(keys["types"], "types")) if "types" in keys else {}
        missing = self.several(keys["missing"]) if "missing" in keys else []
        read_apart = ("engine", "query", "types", "missing")
        text = {name: self.expanded(value, name) for name, value in keys.items() if name not in read_apart}
        database = self.beside(text["database"]) if "database" in text else None
        source: str | SourceSelect
        if "query" in keys:
            source = self.query(keys["query"], engine)
        else:
            source = text["table"] if "table" in text else self.beside(text["path"])
        # a DSN may hold a password: the variable that the command line reads serves a job, too
        dsn = text.get("dsn", self.environment.get("SQLANON_DSN")) if "--dsn" in ENGINES[engine].options else None
        return _Place(
            engine, source, database, text.get("master"), dsn,
            {key.value: self.text(value, key.value) for key, value in types.items()},
            tuple(self.text(item, "missing") for item in missing),
        )  # fmt: skip

    def query(self, node: Node, engine: str) -> SourceSelect:
        """Read a query; its files lie beside the job."""
        text = self.text(node, "query")
        # a value from outside would be read as SQL
        if _VARIABLE.search(text):
            self.refuse(node, "a query takes no environment variables; put what varies into a view or into database")
        try:
            return read_source_select(text, engine).beside(str(self.path.parent))
        except QueryError as error:
            self.refuse(node, str(error))

    def output(self, node: Node, place: "_Place") -> tuple[Path | None, str | None, bool]:
        """Read where the release goes."""
        keys = self.mapping(node, "output", *OUTPUT_KEYS)
        if ("out" in keys) == ("into" in keys):
            self.refuse(node, "output takes out (a directory) or into (a schema), and one of them")
        lacks = ENGINES[place.engine].lacks
        if "into" in keys and (mark := lacks.get("schema")):
            self.refuse(keys["into"], f"{place.engine} {mark.why}; write out in the place of into")
        if "out" in keys and (mark := lacks.get("directory")):
            self.refuse(keys["out"], f"{place.engine} {mark.why}; write into: and a schema")
        if "into" in keys and place.engine == "duckdb" and place.database is None:
            self.refuse(
                keys["into"], "into names a schema of the source's database; give source a database and a table"
            )
        overwrite = self.typed(keys["overwrite"], "overwrite", ("bool",)) if "overwrite" in keys else False
        if "into" in keys:
            return None, self.expanded(keys["into"], "into"), overwrite
        return Path(self.beside(self.expanded(keys["out"], "out"))), None, overwrite

    def parameters(self, node: Node, method: str) -> tuple[dict[str, Any], dict[str, str]]:
        """Read the method's own parameters, and the options that every method has."""
        # what a job cannot say (files to keep, keys) is unknown in it, and told so with the line
        parameters = own_parameters(method)
        names_required = tuple(name for name, parameter in parameters.items() if parameter.required)
        allowed = tuple(name for name in (*parameters, *SHARED) if name not in names_required)
        nodes = self.mapping(node, "parameters", names_required, allowed)
        self.lines |= {name: value.start_mark.line + 1 for name, value in nodes.items()}
        values = {name: (parameters | SHARED)[name].type.load(self, value, name) for name, value in nodes.items()}
        return (
            {name: value for name, value in values.items() if name in parameters},
            {name: value for name, value in values.items() if name not in parameters},
        )

    # -- what types of parameters read ---------------------------------------------------------

    def several(self, node: Node) -> list[Node]:
        """Return the nodes of a list, or the one node."""
        return list(node.value) if isinstance(node, SequenceNode) else [node]

    def by_column(self, node: Node, name: str) -> dict[str, Node] | None:
        """Return the nodes of a mapping, None where the node is none."""
        return {key.value: value for key, value in self.pairs(node, name)} if isinstance(node, MappingNode) else None

    def file(self, node: Node, name: str) -> str:
        """Return the path of a file, relative to the job's folder."""
        return self.beside(self.expanded(node, name))

    def text_or_file(self, node: Node, name: str, word: str) -> str:
        """Return `word` where it stands there, else the path of a file."""
        text = self.expanded(node, name)
        return text if text == word else self.beside(text)

    def release(self, node: Node, name: str) -> str:
        """Return the path of a release; for one that goes to a schema, what is no path is a schema, too."""
        if self.on_server:
            return self.expanded(node, name)
        return self.place(node, name) if self.in_schema else self.file(node, name)

    def place(self, node: Node, name: str, before: str = "") -> str:
        """Return the name of a table, or the path of a file: what has a suffix or lies in a folder is one.

        before: what may stand before it.
        """
        text = self.expanded(node, name).removeprefix(before).strip()
        return self.beside(text) if Path(text).suffix or os.sep in text else text

    def thresholds(self, node: Node) -> tuple[Threshold, ...]:
        """Read the thresholds."""
        thresholds = []
        for key, value in self.pairs(node, "require"):
            if isinstance(value, ScalarNode) and value.tag.rpartition(":")[2] in ("int", "float"):
                self.refuse(value, f"a threshold has a relation: write {key.value}: '>= {value.value}'")
            text = self.text(value, key.value)
            try:
                thresholds.append(threshold(key.value, text))
            except UsageError as error:
                self.refuse(key, str(error))
        return tuple(thresholds)

    def columns(self, node: Node, role: str) -> tuple[str, ...]:
        """Return the one column of a role, or a list of them."""
        if not isinstance(node, SequenceNode):
            return (self.column(node, role),)
        if not node.value:
            self.refuse(node, f"{role} names no column")
        return tuple(self.column(item, f"a column of {role}") for item in node.value)

    def column(self, node: Node, name: str) -> str:
        """Return the name of a column, and remember its line."""
        text = self.text(node, name)
        self.lines.setdefault(text.lower(), node.start_mark.line + 1)
        return text

    def expanded(self, node: Node, name: str) -> str:
        """Put environment variables in the place of `${NAME}`; remember what no message may show."""

        def value(match: re.Match[str]) -> str:
            setting = self.environment.get(match[1])
            if not setting:
                self.refuse(node, f"the environment variable {match[1]} is not set")
            self.secrets |= {setting: match[0], os.path.normpath(setting): match[0]}
            return setting

        return _VARIABLE.sub(value, self.text(node, name))

    def beside(self, path: str) -> str:
        """Return a path relative to the job's folder; what lies elsewhere stays."""
        return path if "://" in path else os.path.normpath(self.path.parent / path)
