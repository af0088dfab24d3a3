"""The engines, declared once each: how they are named and opened, and what they lack.

Options, job files, manifests, refusals and guides read it here; how an engine spells its SQL stands under `sql`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

OURS = "not implemented by us"
ENGINE = "not possible on this engine"
NEVER = "never"


@dataclass(frozen=True)
class Mark:
    """Why something is not there. kind: one of the three above. why: the rest of a sentence about what lacks it."""

    kind: str
    why: str

    def __str__(self) -> str:
        """Write it as the guide does."""
        return f"*{self.kind}*{', because' if self.kind == NEVER else ':'} {self.why}"


# the keys that a job's source needs, and those that may stand beside them
Way = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class DeclaredEngine:
    """What is known of an engine before it is opened.

    libraries: whose objects are its connections. extra: what to install for it, and the subject of a sentence that says
    so; empty for DuckDB, which is always there. options: of the command line, those that it knows. reads: what a source
    is, in the help of --engine. sources: what a job's source is found by; the key that tells a source comes first, and
    the way of a source that has none of these before the others. lacks: places where a release may go (directory,
    schema, session), values, checks and verbs.
    """

    libraries: tuple[str, ...]
    options: tuple[str, ...]
    sources: dict[str, Way]
    lacks: Mapping[str, Mark] = field(default_factory=dict)
    extra: tuple[str, str] = ("", "")
    reads: str = ""


_LIMITS = ("--threads", "--memory-limit", "--temp-directory")
_IN_THE_SESSION = Mark(OURS, "its releases live in the session alone")
_WITH_DUCKDB = Mark(OURS, "releases are completed with DuckDB: write this one to a directory and open it there")

# the first runs what names no engine
ENGINES: Mapping[str, DeclaredEngine] = {
    "duckdb": DeclaredEngine(
        libraries=("duckdb", "_duckdb"),
        options=("--database", *_LIMITS),
        sources={
            "table": (("database", "table"), ()),
            "path": (("path",), ("types", "missing")),
            "query": (("query",), ("database", "types", "missing")),
        },
    ),
    "spark": DeclaredEngine(
        libraries=("pyspark",),
        extra=("Spark is", "spark"),
        reads="Parquet only",
        options=("--master", *_LIMITS),
        sources={name: ((name,), ("master",)) for name in ("path", "table", "query")},
        lacks={
            "schema": Mark(OURS, "publishes to a directory"),
            "session": Mark(OURS, "publishes to a directory"),
            "look_alikes": Mark(ENGINE, "no function of its SQL normalizes Unicode"),
            "infinite_dates": Mark(ENGINE, "its calendar ends"),
            "compare": _IN_THE_SESSION,
            "complete": _WITH_DUCKDB,
        },
    ),
    "postgres": DeclaredEngine(
        libraries=("psycopg",),
        extra=("the PostgreSQL client is", "postgres"),
        reads="tables only",
        options=("--dsn",),
        sources={name: ((name,), ("dsn",)) for name in ("table", "query")},
        lacks={
            "directory": Mark(ENGINE, "keeps everything in the server and writes no files"),
            "look_alikes": Mark(OURS, "the letters that have no width are not spelled in its SQL"),
            "compare": _IN_THE_SESSION,
            "complete": _WITH_DUCKDB,
        },
    ),
}
