"""sqlanon anonymizes data where it lies: published privacy algorithms as SQL, run by DuckDB."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlanon.adversary.completed import Completed as Completed
    from sqlanon.adversary.findings import Attack as Attack
    from sqlanon.api.judgement import attack as attack
    from sqlanon.api.judgement import breach as breach
    from sqlanon.api.judgement import check as check
    from sqlanon.api.judgement import compare as compare
    from sqlanon.api.judgement import report as report
    from sqlanon.api.operations import adopt as adopt
    from sqlanon.api.operations import ledger as ledger
    from sqlanon.api.operations import macros as macros
    from sqlanon.api.operations import run as run
    from sqlanon.api.publishing import anatomy as anatomy
    from sqlanon.api.publishing import compile as compile
    from sqlanon.api.publishing import mondrian as mondrian
    from sqlanon.api.publishing import publish as publish
    from sqlanon.api.publishing import robust as robust
    from sqlanon.api.publishing import splu as splu
    from sqlanon.api.publishing import uncertain as uncertain
    from sqlanon.api.recipient import complete as complete
    from sqlanon.api.recipient import estimate as estimate
    from sqlanon.api.recipient import open as open
    from sqlanon.api.recipient import pool as pool
    from sqlanon.api.recipient import verify as verify
    from sqlanon.attacks.page import Page as Page
    from sqlanon.breaches.associations import Breach as Breach
    from sqlanon.engines.connect import read_as as read_as
    from sqlanon.errors import AnswerWarning as AnswerWarning
    from sqlanon.errors import DataError as DataError
    from sqlanon.errors import FormatWarning as FormatWarning
    from sqlanon.errors import PrivacyWarning as PrivacyWarning
    from sqlanon.errors import QueryError as QueryError
    from sqlanon.errors import ReleaseError as ReleaseError
    from sqlanon.errors import SourceError as SourceError
    from sqlanon.errors import SqlanonError as SqlanonError
    from sqlanon.errors import TargetError as TargetError
    from sqlanon.errors import UsageError as UsageError
    from sqlanon.errors import VerificationError as VerificationError
    from sqlanon.key import Key as Key
    from sqlanon.ledgers.summary import Ledger as Ledger
    from sqlanon.releases.release import Release as Release
    from sqlanon.risks.check import Check as Check
    from sqlanon.risks.comparison import Comparison as Comparison

    __version__: str

# by the module that defines them, public names: each is loaded when it is first asked for, so that a program starts
# quickly
_HOMES = {
    "adversary.findings": ("Attack",),
    "api.judgement": ("attack", "breach", "check", "compare", "report"),
    "api.operations": ("adopt", "ledger", "macros", "run"),
    "api.publishing": ("anatomy", "compile", "mondrian", "publish", "robust", "splu", "uncertain"),
    "api.recipient": ("complete", "estimate", "open", "pool", "verify"),
    "breaches.associations": ("Breach",),
    "risks.comparison": ("Comparison",),
    "adversary.completed": ("Completed",),
    "engines.connect": ("read_as",),
    "errors": (
        *("AnswerWarning", "DataError", "FormatWarning", "PrivacyWarning", "QueryError", "ReleaseError", "SourceError"),
        *("SqlanonError", "TargetError", "UsageError", "VerificationError"),
    ),
    "key": ("Key",),
    "ledgers.summary": ("Ledger",),
    "releases.release": ("Release",),
    "attacks.page": ("Page",),
    "risks.check": ("Check",),
    "version": ("__version__",),
}
__all__ = sorted(name for names in _HOMES.values() for name in names)  # noqa: PLE0605 - type checkers read the aliases


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'sqlanon' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"sqlanon.{home}"), "VERSION" if name == "__version__" else name)
    return value
