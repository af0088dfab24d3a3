"""What completed tables keep: completing.py SOURCE SENSITIVE QUASI [L …] [--tables 10] [--keys 3] [--categories].

Means by subgroup less everybody's, slopes of a regression on all quasi columns, and correlations: of the sensitive
column, or, with --categories, of each of its six most frequent values (1 where a row has it, else 0).
"""

import argparse
import time

import duckdb
import numpy as np
import pandas as pd

import sqlanon

LEAST_ROWS = 100  # of a subgroup that is looked at
MOST_INDICATORS = 4  # of a column that is no number: its most frequent values but the first
CATEGORIES = 6


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="a Parquet file, or a query in brackets")
    parser.add_argument("sensitive")
    parser.add_argument("quasi", help="columns, commas between")
    parser.add_argument("levels", nargs="*", type=int, default=[5], help="of diversity")
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--keys", type=int, default=3)
    parser.add_argument("--categories", action="store_true", help="the sensitive column is no scale")
    return parser.parse_args()


class Analysis:
    """What is asked of every table: the same columns, subgroups and categories, taken from the microdata."""

    def __init__(self, true: pd.DataFrame, quasi: list[str], sensitive: str, categories: bool) -> None:
        """Look at the microdata once."""
        self.quasi, self.sensitive = quasi, sensitive
        self.is_number = {name: pd.api.types.is_numeric_dtype(true[name]) for name in quasi}
        self.edges = {
            name: np.unique(np.quantile(true[name].dropna(), np.linspace(0, 1, 9)[1:-1]))
            for name in quasi
            if self.is_number[name] and true[name].nunique() > 10
        }
        self.frequent = {
            name: list(true[name].astype(str).value_counts().index[1 : MOST_INDICATORS + 1]) for name in quasi
        }
        self.categories = list(true[sensitive].value_counts().index[:CATEGORIES]) if categories else []
        groups = {name: pd.Series(self.label(true, name)).value_counts() for name in quasi}
        self.groups = {name: list(counts[counts >= LEAST_ROWS].index) for name, counts in groups.items()}

    def label(self, table: pd.DataFrame, name: str) -> np.ndarray:
        """Write a column's values as subgroups; numbers of many values in eight ranges."""
        if name in self.edges:
            return np.searchsorted(self.edges[name], table[name], side="right")
        return table[name].astype(str).to_numpy()

    def figures(self, table: pd.DataFrame) -> dict[str, tuple[list[float], list[float]]]:
        """Return estimates and standard errors by kind of figure."""
        numbers = [
            table[name].to_numpy(float) if value is None else (table[name].astype(str) == value).to_numpy(float)
            for name in self.quasi
            for value in ([None] if self.is_number[name] else self.frequent[name])
        ]
        design = np.column_stack([np.ones(len(table)), *numbers])
        inverse = np.linalg.inv(design.T @ design)
        column = table[self.sensitive]
        outcomes = [(column == value).to_numpy(float) for value in self.categories] or [column.to_numpy(float)]
        found: dict[str, tuple[list[float], list[float]]] = {
            name: ([], []) for name in ("mean", "slope", "correlation")
        }
        for outcome in outcomes:
            slopes = inverse @ (design.T @ outcome)
            scaled = design * (outcome - design @ slopes)[:, None]
            found["slope"][0].extend(slopes[1:])
            found["slope"][1].extend(np.sqrt(np.diag(inverse @ scaled.T @ scaled @ inverse))[1:])
            together = np.array([np.corrcoef(number, outcome)[0, 1] for number in numbers])
            found["correlation"][0].extend(together)
            found["correlation"][1].extend((1 - together**2) / len(table) ** 0.5)
            for name in self.quasi:
                by = pd.Series(outcome).groupby(self.label(table, name)).agg(["mean", "std", "size"])
                by = by.reindex(self.groups[name])
                found["mean"][0].extend(by["mean"] - outcome.mean())
                found["mean"][1].extend(by["std"] / by["size"] ** 0.5)
        return found


def main() -> None:
    """Print the figures of every l: the part of sizes that is kept, and how many pooled intervals hold the truth."""
    asked = read_arguments()
    con, quasi = duckdb.connect(), asked.quasi.split(",")
    source = asked.source if asked.source.startswith("(") else f"'{asked.source}'"
    columns = ", ".join(f'"{name}"' for name in [*quasi, asked.sensitive])
    con.execute(f"create table people as select row_number() over () as id_number, {columns} from {source}").fetchall()
    true = con.execute(f'select {columns} from people where "{asked.sensitive}" is not null').df()
    analysis = Analysis(true, quasi, asked.sensitive, asked.categories)
    truth = analysis.figures(true)
    for l in asked.levels:
        seen: dict[str, list[np.ndarray]] = {name: [] for name in truth}
        used = 0.0
        for key in range(1, asked.keys + 1):
            roles = {"quasi": quasi, "sensitive": asked.sensitive, "id": "id_number", "key": f"{key:02x}" * 32}
            release = sqlanon.anatomy(con, "people", **roles, l=l, nulls="drop")
            start = time.process_time()
            completed = release.complete(asked.tables, seed=key)
            used += time.process_time() - start
            tables = [analysis.figures(one) for one in completed]
            completed.close()
            for name, (true_figures, errors) in truth.items():
                pooled = sqlanon.pool([one[name][0] for one in tables], [one[name][1] for one in tables])
                figures = np.array(true_figures)
                holds = (pooled["low"] <= figures) & (figures <= pooled["high"])
                seen[name].append(np.stack([pooled["estimate"], figures, 1 / np.array(errors) ** 2, holds]))
        print(f"l = {l}: {asked.tables} tables of {len(true):,} rows in {used / asked.keys:.1f} s of the processors")
        for name, parts in seen.items():
            found, real, weight, holds = np.concatenate(parts, axis=1)
            kept = (weight * found * real).sum() / (weight * real**2).sum()
            print(f"  {name:12} kept {kept:6.3f}  holds {holds.mean():.3f} of {len(holds):,}")


if __name__ == "__main__":
    main()
