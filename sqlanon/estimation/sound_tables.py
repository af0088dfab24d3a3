"""Load the tables of a release only if they fit each other; say what is wrong with them in its own terms."""

from collections.abc import Callable, Mapping
from typing import Any

from sqlanon.errors import DataError, ReleaseError, ResourceError, SqlanonError, TargetError, UsageError


def load_readable(load: Callable[[], None], contents: str) -> None:
    """Load what queries read of a release; raise ReleaseError where its tables cannot be read as `contents`."""
    try:
        load()
    except (ReleaseError, ResourceError, TargetError):
        raise
    except SqlanonError as error:
        # Another error's text may quote a value of the release.
        cause = str(error) if isinstance(error, UsageError | DataError) else type(error).__name__
        raise ReleaseError(
            f"the release's tables cannot be read as {contents} ({cause}); sqlanon verify says more"
        ) from None


def refuse_unsound(row: Mapping[str, Any]) -> None:
    """Raise ReleaseError for the row of such a query where QIT and ST do not fit each other."""
    if not row["line_count"] or row["unequal_groups"] or row["faulty_lines"]:
        raise ReleaseError(
            f"the release is damaged: {int(row['unequal_groups'])} groups are not as large in QIT as in ST,"
            f" {int(row['faulty_lines'])} lines have no group or no whole count"
            f"{'' if row['line_count'] else ', there are no rows'}; sqlanon verify says more"
        )
