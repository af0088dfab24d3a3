"""sqlanon anonymizes data where it lies: published privacy algorithms as SQL, run by DuckDB."""

from sqlanon.api import anatomy, breach, open, robust, run, splu, uncertain
from sqlanon.disclosure import Breach
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
from sqlanon.release import Release
from sqlanon.secret import Key, PrivacyWarning
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
    "robust",
    "run",
    "splu",
    "uncertain",
]
