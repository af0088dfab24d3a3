"""Read the classes of a release as arrays, from sums that the database has made."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from sqlanon.estimators.class_systems import MOST_SHARED, ReleaseClass
from sqlanon.estimators.evidence import IntArray


def choose_classes(values: pd.DataFrame, value_count: int, most_kept: int) -> IntArray:
    """Choose the classes to solve: those of one signature (>= 0), the largest first, as far as memory allows.

    values: a row per class and value, with the class's groups. A class keeps rank (n + k) numbers: its eigenvectors,
    at most as many as it has values and groups, over its n values and the k that classes share.
    """
    classes = values[values["class"] >= 0].groupby("class").agg(n=("code", "size"), groups=("groups", "first"))
    classes = classes.sort_values("groups", ascending=False, kind="stable")
    rank = np.minimum(classes["n"], classes["groups"])
    memory = (rank * (classes["n"] + min(value_count, MOST_SHARED))).cumsum()
    return np.sort(classes.index[memory <= most_kept].to_numpy(dtype=np.int64))


def read_classes(chosen: IntArray, values: pd.DataFrame, products: pd.DataFrame) -> Iterator[ReleaseClass]:
    """Yield the chosen classes from totals by class and value, and from S by class and pair of values."""
    by_class = dict(iter(products.groupby("class")))
    for number, class_values in values[values["class"].isin(chosen)].groupby("class"):
        codes = np.sort(class_values["code"].to_numpy(dtype=np.int64))
        totals = class_values.set_index("code")["row_count"].reindex(codes).to_numpy(dtype=float)
        row, column = (np.searchsorted(codes, by_class[number][name]) for name in ("code", "other_code"))
        normal = np.zeros((len(codes), len(codes)))
        normal[row, column] = normal[column, row] = by_class[number]["product_sum"].to_numpy(dtype=float)
        yield ReleaseClass(codes, normal, totals, int(class_values["groups"].iloc[0]))
