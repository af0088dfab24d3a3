"""sqlanon anonymizes data where it lies: published privacy algorithms as SQL, run by DuckDB."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlanon.adversary.findings import Attack
    from sqlanon.api.judgement import attack, breach, check, compare, report
    from sqlanon.api.operations import adopt, ledger, macros, run
    from sqlanon.api.publishing import anatomy, compile, mondrian, publish, robust, splu, uncertain
    from sqlanon.api.recipient import complete, estimate, open, pool, verify
    from sqlanon.breaches.associations import Breach
    from sqlanon.comparison.comparison import Comparison
    from sqlanon.completion.completed import Completed
    from sqlanon.engines.connect import read_as
    from sqlanon.errors import (
        AnswerWarning,
        DataError,
        FormatWarning,
        QueryError,
        ReleaseError,
        SourceError,
        SqlanonError,
        TargetError,
        UsageError,
        VerificationError,
    )
    from sqlanon.key import Key, PrivacyWarning
    from sqlanon.ledgers.summary import Ledger
    from sqlanon.releases.release import Release
    from sqlanon.reports.page import Page
    from sqlanon.risks.check import Check
    from sqlanon.version import VERSION as __version__

__all__ = [
    "AnswerWarning",
    "Attack",
    "Breach",
    "Check",
    "Comparison",
    "Completed",
    "DataError",
    "FormatWarning",
    "Key",
    "Ledger",
    "Page",
    "PrivacyWarning",
    "QueryError",
    "Release",
    "ReleaseError",
    "SourceError",
    "SqlanonError",
    "TargetError",
    "UsageError",
    "VerificationError",
    "__version__",
    "adopt",
    "anatomy",
    "attack",
    "breach",
    "check",
    "compare",
    "compile",
    "complete",
    "estimate",
    "ledger",
    "macros",
    "mondrian",
    "open",
    "pool",
    "publish",
    "read_as",
    "report",
    "robust",
    "run",
    "splu",
    "uncertain",
    "verify",
]

_VERBS = {
    "api.judgement": ("attack", "breach", "check", "compare", "report"),
    "api.operations": ("adopt", "ledger", "macros", "run"),
    "api.publishing": ("anatomy", "compile", "mondrian", "publish", "robust", "splu", "uncertain"),
    "api.recipient": ("complete", "estimate", "open", "pool", "verify"),
}

# where names are defined: each is loaded when it is first asked for, so that a program starts quickly
_HOMES = {verb: home for home, verbs in _VERBS.items() for verb in verbs} | {
    "Attack": "adversary.findings",
    "Breach": "breaches.associations",
    "Check": "risks.check",
    "Comparison": "comparison.comparison",
    "Completed": "completion.completed",
    "Key": "key",
    "Ledger": "ledgers.summary",
    "Page": "reports.page",
    "PrivacyWarning": "key",
    "Release": "releases.release",
    "__version__": "version",
    "read_as": "engines.connect",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name not in __all__:
        raise AttributeError(f"module 'sqlanon' has no attribute {name!r}")
    home = import_module(f"sqlanon.{_HOMES.get(name, 'errors')}")
    value = globals()[name] = getattr(home, "VERSION" if name == "__version__" else name)
    return value
