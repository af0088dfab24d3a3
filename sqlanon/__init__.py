"""sqlanon anonymizes data where it lies: published privacy algorithms as SQL, run by DuckDB."""

from sqlanon.api import anatomy, breach, open, robust, run, splu, uncertain
from sqlanon.breach.associations import Breach
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
    "robust",
    "run",
    "splu",
    "uncertain",
]
