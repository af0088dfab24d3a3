"""sqlanon anonymizes data where it lies: published privacy algorithms as SQL, run by DuckDB."""

from typing import TYPE_CHECKING, Any

from sqlanon.api import anatomy, open, publish, robust, run, splu, uncertain
from sqlanon.api import breach as breach
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

if TYPE_CHECKING:
    from sqlanon.breach.associations import Breach

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


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Load what only a breach analysis needs when it is asked for."""
    if name == "Breach":
        from sqlanon.breach.associations import Breach

        return Breach
    raise AttributeError(f"module 'sqlanon' has no attribute {name!r}")
