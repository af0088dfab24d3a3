"""DuckDB's errors as ours: which are the data's, and which a disk's."""

import duckdb
import pytest

from sqlanon.engines.duckdb.errors import translate_error
from sqlanon.errors import ResourceError, SqlanonError, TargetError


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (
            duckdb.OutOfMemoryException("Out of Memory Error: failed to offload data block of size 160.0 KiB"),
            TargetError,
            "no space left on the disk, or in temp_directory",
        ),
        (duckdb.OutOfMemoryException("Out of Memory Error: could not allocate block"), ResourceError, "memory_limit"),
        (duckdb.FatalException("FATAL Error: commit: No space left on device"), TargetError, "no space left"),
        (
            duckdb.TransactionException('Failed to commit: Could not write file "w.wal": File too large'),
            TargetError,
            "File too large",
        ),
        (duckdb.IOException("IO Error: Could not write file"), TargetError, "Could not write"),
        (duckdb.TransactionException("Catalog write-write conflict on create"), TargetError, "another run has written"),
        (duckdb.TransactionException("cannot rollback"), SqlanonError, "cannot rollback"),
    ],
)
def test_an_error_says_whose_it_is(error, kind, says):
    told = translate_error(error)
    assert type(told) is kind and says in str(told)
