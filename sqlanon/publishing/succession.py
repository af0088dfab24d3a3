"""What it means that a release stood at the target: whoever kept it has two releases of the same people."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError
from sqlanon.plans.manifest import Manifest
from sqlanon.releases.release import open_release
from sqlanon.releases.stored_release import read_directory_manifest
from sqlanon.wording import option


def standing_release(engine: Engine, out: str | Path | None, into: str | None) -> Manifest | None:
    """Return the manifest of the release that stands at the target, None where there is none."""
    try:
        if out is not None:
            # its tables are not read: to look at files is a job of Spark's
            return read_directory_manifest(Path(out), engine) if Path(out).is_dir() else None
        # a database is open already: any name of it stands for the engine's own
        return open_release(into, "", engine).manifest if into is not None else None
    except SqlanonError:  # nothing that is a release; publishing says so where that matters
        return None


def describe_succession(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Say what it means that a release stood at the target."""
    if all("sha256" in said for said in now["files"].values()) and before["files"] == now["files"]:
        return "the target held this very release already"
    if "release" in now["parameters"]:  # what they tell together is what the ledger is for
        return ""
    return (
        f"the target held an earlier release ({before['rows']} rows; now {now['rows']}): this is a second release of"
        " the same people, and releases intersect. Whoever kept the earlier one learns more from both than either"
        f" promises. Releases that are published under one ledger ({option('ledger', 'FILE')}) tell no more together"
    )
