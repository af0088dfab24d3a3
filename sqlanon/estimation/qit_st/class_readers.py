"""Read the classes of a release as arrays: from ST in memory, or from sums that the database has made."""

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import sparse

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


def count_values_in_memory(occurrences: sparse.csr_array, classes: IntArray) -> pd.DataFrame:
    """Return totals by class and value, with the groups of each class, from s_g(v) and each group's class."""
    line = occurrences.tocoo()
    # Class -1, of groups that several classes share, is counted as 0.
    key = (classes[line.coords[0]] + 1) * line.shape[1] + line.coords[1]
    totals = np.bincount(key, line.data)
    (place,) = np.nonzero(totals)
    class_place, code = np.divmod(place, line.shape[1])
    groups = np.bincount(classes + 1)
    return pd.DataFrame(
        {"class": class_place - 1, "code": code, "row_count": totals[place], "groups": groups[class_place]}
    )


def read_classes_in_memory(occurrences: sparse.csr_array, group_place: IntArray, count: int) -> Iterator[ReleaseClass]:
    """Yield `count` classes from s_g(v) and the place of each group's class; places from `count` on are the rest's."""
    order = np.argsort(group_place, kind="stable")
    edges = np.searchsorted(group_place[order], np.arange(count + 1))
    for start, end in itertools.pairwise(edges):
        lines = occurrences[order[start:end]]
        (codes,) = np.nonzero(lines.sum(axis=0))
        own_lines = lines[:, codes]
        yield ReleaseClass(
            codes, (own_lines.T @ own_lines).toarray(), own_lines.sum(axis=0), int(end - start), own_lines
        )


def read_classes_of_frames(chosen: IntArray, values: pd.DataFrame, products: pd.DataFrame) -> Iterator[ReleaseClass]:
    """Yield the chosen classes from totals by class and value, and from S by class and pair of values."""
    by_class = dict(iter(products.groupby("class")))
    for number, class_values in values[values["class"].isin(chosen)].groupby("class"):
        codes = np.sort(class_values["code"].to_numpy(dtype=np.int64))
        totals = class_values.set_index("code")["row_count"].reindex(codes).to_numpy(dtype=float)
        row, column = (np.searchsorted(codes, by_class[number][name]) for name in ("code", "other_code"))
        normal = np.zeros((len(codes), len(codes)))
        normal[row, column] = normal[column, row] = by_class[number]["product_sum"].to_numpy(dtype=float)
        yield ReleaseClass(codes, normal, totals, int(class_values["groups"].iloc[0]))
