"""Read the folder that `compare` wrote: lines of errors, by candidate, workload and band of selectivity."""

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlanon.bounded_files import read_bytes
from sqlanon.comparison.comparison import ORDER
from sqlanon.comparison.files import TABLES
from sqlanon.errors import SourceError
from sqlanon.methods import METHODS
from sqlanon.plain_values import records
from sqlanon.plans.manifest import Manifest
from sqlanon.wording import option

MOST_LINES = 10_000
_NEEDED = ("method", "parameter", "workload", "selectivity")


def read_comparison(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the lines of a comparison, their median relative error as `error`.

    Raises SourceError for a folder that holds none.
    """
    import pandas as pd

    path = Path(folder) / f"{TABLES[0]}.csv"
    refused = f"no comparison in {str(folder)!r}; `compare` writes one with its {option('out')}"
    try:
        frame = pd.read_csv(io.BytesIO(read_bytes(path)), nrows=MOST_LINES)
        lines = frame[list(_NEEDED)].assign(error=frame["median_relative_error"].astype(float))
    except (OSError, ValueError, KeyError):
        raise SourceError(refused) from None
    if lines.empty:
        raise SourceError(refused)
    return records(lines)


def read_candidates(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return what was attacked of a comparison, a line per candidate; none of one that earlier versions wrote.

    `knowing` and `target`, the share up to which a release was to resist, are None where nothing was said of them.
    """
    import numpy as np
    import pandas as pd

    path = Path(folder) / f"{TABLES[2]}.csv"
    if not path.is_file():
        return []
    try:
        frame = pd.read_csv(io.BytesIO(read_bytes(path)), nrows=MOST_LINES, keep_default_na=False, na_values=[""])
        shares = frame[["reached", "promised", "error"]].astype(float)
        optional = frame.reindex(columns=["knowing", "target"])
        known = optional["knowing"].astype(object).where(optional["knowing"].notna(), None)
        target = pd.to_numeric(optional["target"]).where(lambda share: (share > 0) & (share <= 1))
        texts = frame[["method", "parameter"]].astype(str).assign(knowing=known, target=target)
        lines = records(texts.join(shares)[shares.apply(np.isfinite).all(axis=1)])
    except (OSError, ValueError, KeyError):
        raise SourceError(f"{str(path)!r} holds no candidates as `compare` writes them") from None
    return [line for line in lines if all(0 <= line[name] <= 1 for name in ("reached", "promised"))]


def candidate_of(manifest: Manifest) -> str:
    """Return the candidate that a release is, as charts name it."""
    strength = METHODS[manifest["method"]].strength
    name = strength.parameter if strength is not None else None
    value = manifest["parameters"].get(name)
    if isinstance(value, Mapping):
        value = next(iter(value.values()), None)
    return "" if name is None or value is None else f"{manifest['method']}, {name} = {value:g}"


def by_workload(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return candidate, band and median error of each line that has one, by workload."""
    workloads: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        if isinstance(line["error"], float) and line["selectivity"] in ORDER:
            workloads.setdefault(str(line["workload"]), []).append({
                "candidate": f"{line['method']}, {line['parameter']}" if line["parameter"] else str(line["method"]),
                "band": line["selectivity"],
                "error": line["error"],
            })  # fmt: skip
    return workloads
