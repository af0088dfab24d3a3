"""sqlanon anonymizes data where it lies: published privacy algorithms as SQL, run by DuckDB."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlanon.api import anatomy, breach, open, publish, robust, run, splu, uncertain
    from sqlanon.breaches.associations import Breach
    from sqlanon.errors import (
        DataError,
        QueryError,
        ReleaseError,
        SourceError,
        SqlanonError,
        TargetError,
        UsageError,
        VerificationError,
    )
    from sqlanon.key import Key, PrivacyWarning
    from sqlanon.releases.release import Release
    from sqlanon.version import VERSION as __version__

__all__ = [
    "Breach",
    "DataError",
    "Key",
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
    "anatomy",
    "breach",
    "open",
    "publish",
    "robust",
    "run",
    "splu",
    "uncertain",
]

# where each name is defined: a name is loaded when it is first asked for, so that a program starts quickly
_HOMES = {
    "Breach": "breaches.associations",
    "Key": "key",
    "PrivacyWarning": "key",
    "Release": "releases.release",
    "__version__": "version",
} | dict.fromkeys(("anatomy", "breach", "open", "publish", "robust", "run", "splu", "uncertain"), "api")


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name not in __all__:
        raise AttributeError(f"module 'sqlanon' has no attribute {name!r}")
    home = import_module(f"sqlanon.{_HOMES.get(name, 'errors')}")
    value = globals()[name] = getattr(home, "VERSION" if name == "__version__" else name)
    return value
