"""The classes of a release: whose values reach their groups at random, and what solving inside them needs.

An Anatomy release is one class. Of an r-robust release the classes are known to the recipient: the columns that
backgrounds read stand in the manifest, their values in QIT. Groups that several classes share (a repair's), and
classes beyond what memory allows, are the rest: answered uniformly.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from sqlanon.errors import ReleaseError
from sqlanon.estimation.qit_st.tables import LARGEST_SYSTEM, Loaded
from sqlanon.estimators.class_systems import MOST_KEPT, MOST_SHARED, Class, Strata, strata
from sqlanon.estimators.moments import Array, Whole
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql

MADE = ("class", "group_class")


def signature(manifest: Mapping[str, Any]) -> list[str]:
    """Return our names of the quasi columns that any background of the release reads, in the columns' order.

    Raises ReleaseError where the manifest names a column that is not published.
    """
    quasi = list(manifest["columns"]["quasi"])
    read = {name for one in manifest.get("parameters", {}).get("backgrounds", []) for name in one}
    unknown = sorted(read - set(quasi))
    if unknown:
        raise ReleaseError(
            f"the release's backgrounds read {', '.join(map(repr, unknown))}, which it does not publish; its columns"
            f" are {', '.join(map(repr, quasi))}"
        )
    return [f"quasi_{number}" for number, name in enumerate(quasi, start=1) if name in read]


class Classes:
    """Prepare a loaded release for estimates class by class; everything is made when it is first needed.

    by_class: the column that tells classes apart, none where there is one class only. left_out: rows of the source
    that the release does not hold, as its manifest says.
    """

    def __init__(self, loaded: Loaded, manifest: Mapping[str, Any]) -> None:
        """Read the manifest; nothing runs yet."""
        self.loaded, self.signature = loaded, signature(manifest)
        self.by_class = ["class"] if self.signature else []
        # Anatomy leaves out only rows without a value, which no query about values asks for.
        self.left_out: int = manifest.get("dropped_rows", 0) if self.signature else 0
        self.relations: dict[str, Sql] = {name: relation_name(loaded.prefix, name) for name in MADE}
        self._made = False
        self._strata: Strata | None = None
        self._index = np.zeros(0, dtype=np.int64)
        self._group_place: Whole | None = None
        self._by_place: sparse.csr_array | None = None

    # -- the statements ------------------------------------------------------------------------

    def render(self, template: str, given: Mapping[str, Sql], **values: object) -> str:
        """Write one template, by class where there are classes."""
        return self.loaded.render(template, {**given, **self.relations}, **values)

    def loading(self) -> list[tuple[str, str]]:
        """Return the names and texts of what tells groups' classes, none for one class."""
        given = self.loaded.relations
        return [
            (name, self.render(f"estimation/qit_st/{name}", given, signature=self.signature))
            for name in MADE
            if self.signature
        ]

    def solving(self) -> list[tuple[str, str]]:
        """Return the names and texts of what S is read from."""
        if self.loaded.in_memory:
            held = ("held", self.loaded.render("estimation/qit_st/held", self.loaded.relations))
            return [held, *([("group_class", self._read_groups())] if self.signature else [])]
        return [("class_value", self._value_text()), ("class_normal", self._normal_text())]

    def _read_groups(self) -> str:
        return f"select group_id, class from {self.relations['group_class']}"

    def _value_text(self) -> str:
        if not self.signature:
            one = Sql(f"(select group_id, 0 as class from {self.loaded.relations['place']})")
            return self.loaded.render("estimation/qit_st/class_value", {**self.loaded.relations, "group_class": one})
        return self.render("estimation/qit_st/class_value", self.loaded.relations)

    def _normal_text(self) -> str:
        return self.render("estimation/qit_st/normal", self.loaded.relations, by_class=self.by_class)

    # -- what is made once ---------------------------------------------------------------------

    def make(self) -> None:
        """Make the tables that tell groups' classes."""
        if not self._made:
            for name, sql in self.loading():
                self.loaded.keep(name, sql)
            self._made = True

    def strata(self) -> Strata | None:
        """Return the classes prepared for solving, None where the release has too many values for it."""
        if self._strata is None and len(self.loaded.totals()) <= LARGEST_SYSTEM:
            self.make()
            values = self._values()
            chosen = self._chosen(values)
            self._index = np.full(int(values["class"].max()) + 2, len(chosen))
            self._index[chosen + 1] = np.arange(len(chosen))
            found = self._classes_in_memory(chosen) if self.loaded.in_memory else self._classes_in_sql(chosen, values)
            self._strata = strata(list(found), len(self.loaded.totals()))
        return self._strata

    def places(self, classes: Whole) -> Whole:
        """Return the place among the strata of each class number; the rest's is their number."""
        return np.asarray(self._index[classes + 1])

    def _values(self) -> pd.DataFrame:
        """Return totals by class and value, and the groups of each class."""
        if not self.loaded.in_memory:
            values = self.loaded.engine.frame(self._value_text())
            sql = f"select 0 as class, count(*) as groups from {self.loaded.relations['place']}"
            if self.signature:
                sql = f"select class, count(*) as groups from {self.relations['group_class']} group by class"
            counted = self.loaded.engine.frame(sql)
            return values.merge(counted, on="class")
        classes = self._group_classes()
        line = self.loaded.held().tocoo()
        key = (classes[line.coords[0]] + 1) * line.shape[1] + line.coords[1]
        totals = np.bincount(key, line.data)
        (place,) = np.nonzero(totals)
        one, code = np.divmod(place, line.shape[1])
        groups = np.bincount(classes + 1)
        return pd.DataFrame({"class": one - 1, "code": code, "row_count": totals[place], "groups": groups[one]})

    def _group_classes(self) -> Whole:
        """Return the class of each group, in memory."""
        if not self.signature:
            return np.zeros(self.loaded.held().shape[0], dtype=np.int64)
        frame = self.loaded.engine.frame(self._read_groups())
        found = np.zeros(len(frame), dtype=np.int64)
        found[frame["group_id"].to_numpy()] = frame["class"]
        return found

    def _chosen(self, values: pd.DataFrame) -> Whole:
        """Choose the classes to solve: those of one signature, the largest first, as far as memory allows."""
        counted = values[values["class"] >= 0].groupby("class").agg(n=("code", "size"), groups=("groups", "first"))
        counted = counted.sort_values("groups", ascending=False, kind="stable")
        rank = np.minimum(counted["n"], counted["groups"])
        shared = min(len(self.loaded.totals()), MOST_SHARED)
        held = (rank * (counted["n"] + shared)).cumsum()
        return np.sort(counted.index[held <= MOST_KEPT].to_numpy(dtype=np.int64))

    def _classes_in_memory(self, chosen: Whole) -> Iterator[Class]:
        held, classes = self.loaded.held(), self._group_classes()
        self._group_place = self.places(classes)
        order = np.argsort(self._group_place, kind="stable")
        edges = np.searchsorted(self._group_place[order], np.arange(len(chosen) + 1))
        for start, end in itertools.pairwise(edges):
            own = held[order[start:end]]
            normal, totals = (own.T @ own).toarray(), own.sum(axis=0)
            (codes,) = np.nonzero(totals)
            yield Class(codes, normal[np.ix_(codes, codes)], totals[codes], int(end - start))

    def _classes_in_sql(self, chosen: Whole, values: pd.DataFrame) -> Iterator[Class]:
        products = self.loaded.engine.frame(self._normal_text())
        if not self.signature:
            products["class"] = 0
        by_class = dict(iter(products.groupby("class")))
        for number, own in values[values["class"].isin(chosen)].groupby("class"):
            codes = np.sort(own["code"].to_numpy(dtype=np.int64))
            totals = own.set_index("code")["row_count"].reindex(codes).to_numpy(dtype=float)
            one, two = (np.searchsorted(codes, by_class[number][name]) for name in ("code", "other_code"))
            normal = np.zeros((len(codes), len(codes)))
            normal[one, two] = normal[two, one] = by_class[number]["product_sum"].to_numpy(dtype=float)
            yield Class(codes, normal, totals, int(own["groups"].iloc[0]))

    def counted(self, groups: Whole) -> dict[str, Array]:
        """Return what `moment` and `scatter` say of rows that lie in these groups: L + 1 classes (x V)."""
        found = self.strata()
        assert found is not None and self._group_place is not None
        held, count = self.loaded.held(), len(found.rows) + 1
        hits = np.bincount(groups, minlength=held.shape[0]).astype(float)
        size = held @ np.ones(held.shape[1])
        if self._by_place is None:
            line = held.tocoo()
            column = self._group_place[line.coords[0]] * held.shape[1] + line.coords[1]
            shape = (held.shape[0], count * held.shape[1])
            self._by_place = sparse.csr_array((line.data, (line.coords[0], column)), shape=shape)
        by_class = {"row_count": hits, "row_square": hits**2, "row_sized": hits * size}
        sums = {name: np.bincount(self._group_place, x, count) for name, x in by_class.items()}
        lines = {"shared": hits @ self._by_place, "uniform": (hits / size) @ self._by_place}
        return sums | {name: x.reshape(count, -1) for name, x in lines.items()}

    def close(self) -> None:
        """Forget what was made; the tables go with the release's."""
        self._made, self._strata, self._group_place, self._by_place = False, None, None, None
