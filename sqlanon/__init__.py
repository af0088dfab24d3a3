"""sqlanon anonymizes data where it lies: published privacy algorithms as SQL, run by DuckDB."""

<<<<<<< HEAD
from sqlanon.api import anatomy, breach, open, run
from sqlanon.disclosure import Breach
=======
from sqlanon.api import anatomy, open, splu
>>>>>>> bde55dd (SPLU-Gen publishes: decoy groups on the shared grouping, forms of releases, stricter verification)
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
<<<<<<< HEAD
    "run",
=======
    "splu",
>>>>>>> bde55dd (SPLU-Gen publishes: decoy groups on the shared grouping, forms of releases, stricter verification)
]
