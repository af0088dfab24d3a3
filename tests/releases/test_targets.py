"""A commit that fails tells its own error, and what is visible after it."""

import pytest

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import TargetError

ASKED = {"quasi": "age,sex,zipcode", "sensitive": "disease", "id": "ssn", "l": 4}


@pytest.mark.parametrize(("late", "says"), [(False, "nothing was published"), (True, "has been published and stands")])
def test_the_first_error_of_a_commit_is_told_and_what_is_visible(patients, monkeypatch, late, says):
    """As DuckDB does where the disk is full: the transaction is gone, and a rollback fails."""

    def commit(self):
        self.execute("commit" if late else "rollback")
        raise TargetError("Could not write file: No space left on device")

    monkeypatch.setattr(DuckDBEngine, "commit", commit)
    with pytest.raises(TargetError, match=f"No space left on device; .*{says}"):
        sqlanon.anatomy(patients, "patients", into="ward", **ASKED)
    held = patients.execute("select table_name from duckdb_tables() where schema_name = 'ward'").fetchall()
    assert bool(held) is late
