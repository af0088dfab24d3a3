"""Pool what several completed tables say: Rubin's rules.

Rubin, Multiple imputation for nonresponse in surveys, 1987, with m estimates q_i and their variances u_i = std_error²:

    q = Σ q_i / m,   w = Σ u_i / m,   b = Σ (q_i - q)² / (m - 1),   t = w + (1 + 1/m) b,
    r = (1 + 1/m) b / w,   ν = (m - 1) (1 + 1/r)²,   q ± t_ν(.975) √t.

With the degrees of freedom ν_0 that complete data would have, ν is that of Barnard and Rubin, Biometrika 1999:
1/ν + 1/((1 - γ) ν_0 (ν_0 + 1) / (ν_0 + 3)), γ = (1 + 1/m) b / t, turned over.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from sqlanon.errors import UsageError
from sqlanon.estimators.evidence import Array

LEVEL = 0.95


def pool_estimates(estimates: Any, std_errors: Any, complete_df: float | None = None) -> pd.DataFrame:
    """Return the pooled figures, a row per parameter.

    estimates, std_errors: a row per completed table and a column per parameter (frames, arrays, lists of rows), or one
    number per table. complete_df: degrees of freedom of complete data. Columns: estimate, std_error, low and high
    (95 %), df, missing_information: (1 + 1/m) b / t. Raises UsageError for fewer than two tables, and for other shapes.
    """
    figures, errors = _read(estimates, "estimates"), _read(std_errors, "std_errors")
    frames = {"estimates are": figures, "std_errors": errors}
    if figures.shape != errors.shape:
        shapes = " and ".join(f"{name} {len(frame)} x {frame.shape[1]}" for name, frame in frames.items())
        raise UsageError(f"{shapes}: pool takes one of each per table and parameter")
    tables = len(figures)
    if tables < 2:
        raise UsageError(f"pool takes what at least 2 completed tables say; there is {tables}")
    if (errors.to_numpy() < 0).any():
        raise UsageError("a standard error is negative")
    within = (errors.to_numpy() ** 2).mean(axis=0)
    between = (1 + 1 / tables) * figures.to_numpy().var(axis=0, ddof=1)
    total = within + between
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (tables - 1) * (total / between) ** 2  # 1 + 1/r = t / ((1 + 1/m) b)
        missing = np.where(total > 0, between / total, 0.0)
        freedom = _adjust(np.where(between > 0, freedom, np.inf), missing, complete_df)
    centre, error = figures.to_numpy().mean(axis=0), np.sqrt(total)
    half = stats.t.ppf((1 + LEVEL) / 2, freedom) * error
    columns = {"estimate": centre, "std_error": error, "low": centre - half, "high": centre + half}
    return pd.DataFrame(columns | {"df": freedom, "missing_information": missing}, index=figures.columns)


def _read(values: Any, name: str) -> pd.DataFrame:
    try:
        rows = list(values.iterrows()) if isinstance(values, pd.DataFrame) else list(values)
        frame = values if isinstance(values, pd.DataFrame) else pd.DataFrame(rows)
        return frame.astype(float)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: one row of numbers per completed table") from None


def _adjust(freedom: Array, missing: Array, complete_df: float | None) -> Array:
    if complete_df is None:
        return freedom
    observed = (complete_df + 1) / (complete_df + 3) * complete_df * (1 - missing)
    return np.asarray(1 / (1 / freedom + 1 / observed))
