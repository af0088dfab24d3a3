"""What is not there, and why: strict marks, which refusals read and the guide of engines shows in its tables."""

from collections.abc import Mapping
from dataclasses import dataclass

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


_IN_THE_SESSION = Mark(OURS, "its releases live in the session alone")
_WITH_DUCKDB = Mark(OURS, "releases are completed with DuckDB: write this one to a directory and open it there")
_DRIVER = Mark(OURS, "Python decides after each statement what the next one asks")
_ONE_SELECT = Mark(ENGINE, "a macro is one SELECT")
# by engine, and of scripts and macros: places where a release may go (directory, schema, session), values that an
# engine does not have, checks and verbs
LACKS: Mapping[str, Mapping[str, Mark]] = {
    "duckdb": {},
    "spark": {
        "schema": Mark(OURS, "publishes to a directory"),
        "session": Mark(OURS, "publishes to a directory"),
        "look_alikes": Mark(ENGINE, "no function of its SQL normalizes Unicode"),
        "infinite_dates": Mark(ENGINE, "its calendar ends"),
        "compare": _IN_THE_SESSION,
        "complete": _WITH_DUCKDB,
    },
    "postgres": {
        "directory": Mark(ENGINE, "keeps everything in the server and writes no files"),
        "look_alikes": Mark(OURS, "the letters that have no width are not spelled in its SQL"),
        "compare": _IN_THE_SESSION,
        "complete": _WITH_DUCKDB,
    },
    "script": dict.fromkeys(("attack", "report", "compare", "complete"), _DRIVER),
    "macros": dict.fromkeys(("verify", "estimate", "attack", "report", "compare", "complete"), _ONE_SELECT),
}
