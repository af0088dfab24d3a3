"""What completed tables keep: python tests/benchmarks/completing.py SOURCE SENSITIVE QUASI [L …] [--tables 10]."""

import argparse
import time

import duckdb
import numpy as np
import pandas as pd
from scipy import stats

import sqlanon

LEAST_ROWS = 100  # of a subgroup that is looked at


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="a Parquet file, or a query in brackets")
    parser.add_argument("sensitive")
    parser.add_argument("quasi", help="columns, commas between")
    parser.add_argument("levels", nargs="*", type=int, default=[5], help="of diversity")
    parser.add_argument("--tables", type=int, default=10)
    return parser.parse_args()


def label(column: pd.Series) -> np.ndarray:
    """Write values as subgroups; numbers of many values in ten ranges."""
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > 10:
        return pd.qcut(column, 10, duplicates="drop").astype(str).to_numpy()
    return column.astype(str).fillna("missing").to_numpy()


def show(true: pd.DataFrame, tables: list[pd.DataFrame], quasi: list[str], sensitive: str) -> None:
    """Print, by column, the part of deviations that is kept and how many pooled intervals hold the truth."""
    share = true[sensitive].value_counts(normalize=True)
    for column in quasi:
        counts = pd.crosstab(label(true[column]), true[sensitive].to_numpy())
        counts = counts[counts.sum(axis=1) >= LEAST_ROWS]
        rows, values = counts.sum(axis=1).to_numpy()[:, None], counts.columns
        found = np.array([pd.crosstab(label(one[column]), one[sensitive].to_numpy()).reindex(
            index=counts.index, columns=values, fill_value=0).to_numpy() for one in tables]) / rows  # fmt: skip
        truth, mean = counts.to_numpy() / rows, share[values].to_numpy()
        within, between = (found * (1 - found) / rows).mean(axis=0), found.var(axis=0, ddof=1) * (1 + 1 / len(tables))
        freedom = (len(tables) - 1) * ((within + between) / np.maximum(between, 1e-30)) ** 2
        half = stats.t.ppf(0.975, freedom) * np.sqrt(within + between)
        pooled, real = found.mean(axis=0) - mean, truth - mean
        kept = (rows * pooled * real).sum() / (rows * real**2).sum()
        print(f"  {column:20} kept {kept:6.3f}  holds {(np.abs(pooled - real) <= half + 1e-12).mean():.3f}")


def main() -> None:
    """Print the figures of every l."""
    asked = read_arguments()
    con, quasi = duckdb.connect(), asked.quasi.split(",")
    source = asked.source if asked.source.startswith("(") else f"'{asked.source}'"
    columns = ", ".join(f'"{name}"' for name in [*quasi, asked.sensitive])
    con.execute(f"create table people as select row_number() over () as id_number, {columns} from {source}").fetchall()
    true = con.execute(f"select {columns} from people").df()
    for l in asked.levels:
        roles = {"quasi": quasi, "sensitive": asked.sensitive, "id": "id_number", "key": f"{l:02x}" * 32}
        release = sqlanon.anatomy(con, "people", **roles, l=l, nulls="drop")
        start = time.perf_counter()
        completed = release.complete(asked.tables, seed=1)
        print(f"l = {l}: {asked.tables} tables of {len(true):,} rows in {time.perf_counter() - start:.1f} s")
        show(true, list(completed), quasi, asked.sensitive)


if __name__ == "__main__":
    main()
