"""The classes of a release: rows whose values reach their groups at random, and what solving inside them needs.

An Anatomy release is one class. For an r-robust release the recipient can find the classes: the manifest names the
columns that backgrounds read, and QIT has their values. Where the manifest says that classes have equal or similar
distributions, signatures that share groups are one class. Groups that several classes share (after a repair), and
classes for which memory does not suffice, are answered by the uniform estimator.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.errors import ReleaseError
from sqlanon.estimation.memory_need import UNIFORM_FITS, require_memory
from sqlanon.estimation.qit_st.tables import LARGEST_SYSTEM, GroupTables
from sqlanon.estimators.evidence import IntArray
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.estimators.class_systems import ClassSystems, ReleaseClass


def choose_classes(values: "pd.DataFrame", value_count: int, most_kept: int) -> IntArray:
    """Choose the classes to solve: those of one signature (>= 0), the largest first, as far as memory allows.

    values: a row per class and value, with the class's groups. A class keeps rank (n + k) numbers: its eigenvectors,
    at most as many as it has values and groups, over its n values and the k that classes share.
    """
    from sqlanon.estimators.class_systems import MOST_SHARED

    classes = values[values["class"] >= 0].groupby("class").agg(n=("code", "size"), groups=("groups", "first"))
    classes = classes.sort_values("groups", ascending=False, kind="stable")
    rank = np.minimum(classes["n"], classes["groups"])
    memory = (rank * (classes["n"] + min(value_count, MOST_SHARED))).cumsum()
    return np.sort(classes.index[memory <= most_kept].to_numpy(dtype=np.int64))


def count_numbers(values: "pd.DataFrame", value_count: int) -> float:
    """Return about how many numbers are held at once while the classes with these values are read and prepared."""
    from sqlanon.estimators.class_systems import MOST_SHARED, count_place

    classes = values.groupby("class").agg(n=("code", "size"), groups=("groups", "first"))
    size, shared = classes["n"], np.minimum(classes["n"], MOST_SHARED)
    vectors = np.minimum(size, classes["groups"]) * (size + min(value_count, MOST_SHARED))
    # S as it is read and by class, and as a matrix, of one class at a time; the vectors, copied once; the blocks of one
    # place of t2, for another is made when a question needs it
    read = 2 * size**2 + 2 * vectors + count_place(size, shared)
    return float(read.sum() + 3 * (size**2).max() + 5 * len(classes) * value_count) if len(classes) else 0.0


def read_classes(chosen: IntArray, values: "pd.DataFrame", products: "pd.DataFrame") -> "Iterator[ReleaseClass]":
    """Yield the chosen classes from totals by class and value, and from S by class and pair of values."""
    from sqlanon.estimators.class_systems import ReleaseClass  # slow to load, and read by ridge alone

    by_class = dict(iter(products.groupby("class")))
    for number, class_values in values[values["class"].isin(chosen)].groupby("class"):
        codes = np.sort(class_values["code"].to_numpy(dtype=np.int64))
        totals = class_values.set_index("code")["row_count"].reindex(codes).to_numpy(dtype=float)
        row, column = (np.searchsorted(codes, by_class[number][name]) for name in ("code", "other_code"))
        normal = np.zeros((len(codes), len(codes)))
        normal[row, column] = normal[column, row] = by_class[number]["product_sum"].to_numpy(dtype=float)
        yield ReleaseClass(codes, normal, totals, int(class_values["groups"].iloc[0]))


CLASS_TABLES = ("class", "group_class")
ROUNDS = 6  # in which signatures that hang together by their groups find one name
LABELS = tuple(f"label_{number}" for number in range(1, ROUNDS + 1))


def read_signature(manifest: Mapping[str, Any]) -> list[str]:
    """Return our names of the quasi columns that any background of the release reads, in the columns' order.

    Raises ReleaseError where the manifest names a column that is not published.
    """
    quasi = list(manifest["columns"]["quasi"])
    background_names = {
        name for background in manifest.get("parameters", {}).get("backgrounds", []) for name in background
    }
    unknown = sorted(background_names - set(quasi))
    if unknown:
        raise ReleaseError(
            f"the release's backgrounds read {', '.join(map(repr, unknown))}, which it does not publish; its columns"
            f" are {', '.join(map(repr, quasi))}"
        )
    return [f"quasi_{number}" for number, name in enumerate(quasi, start=1) if name in background_names]


class ClassTables:
    """Prepare a loaded release for estimates class by class; everything is made when it is first needed.

    by_class: the column that tells classes apart, none where there is one class only. left_out: rows of the source
    that the release does not hold, as its manifest says. unsolved_rows: those of classes beyond what memory allows.
    """

    def __init__(self, loaded: GroupTables, manifest: Mapping[str, Any]) -> None:
        """Read the manifest; nothing runs yet."""
        self.loaded, self.signature = loaded, read_signature(manifest)
        self.by_class = ["class"] if self.signature else []
        parameters = manifest.get("parameters", {})
        # a repaired group is one of its hosts' class, so that what it joins says nothing of classes
        self.joined = parameters.get("classes") == "distributions" and not parameters.get("repair")
        # Anatomy leaves out only rows without a value, which no query about values asks for.
        self.left_out: int = manifest.get("dropped_rows", 0) if self.signature else 0
        self.relations: dict[str, Sql] = {name: relation_name(loaded.prefix, name) for name in CLASS_TABLES}
        names = ("signature_class", "held_class", *LABELS)
        self.relations |= {name: relation_name(loaded.prefix, name) for name in names if self.joined}
        self.unsolved_rows = 0.0
        self._made = False
        self._systems: ClassSystems | None = None
        self._place_of_class = np.zeros(0, dtype=np.int64)

    # -- the statements ------------------------------------------------------------------------

    def loading_statements(self) -> list[tuple[str, str]]:
        """Return the names and texts of what tells groups' classes, none for one class."""
        if not self.signature:
            return []
        classes = [("class", self._render("estimation/qit_st/class", signature=self.signature))]
        if self.joined:
            classes = self._joining_statements(classes[0][1])
        return [*classes, ("group_class", self._render("estimation/qit_st/group_class", signature=self.signature))]

    def _joining_statements(self, signatures: str) -> list[tuple[str, str]]:
        """Return what names classes where they may have several signatures: those that share groups are of one."""
        signature_class, signed = self.relations["signature_class"], {"signature": self.signature}
        statements = [
            ("signature_class", signatures),
            ("held_class", self._render("estimation/qit_st/held_class", {"class": signature_class}, **signed)),
        ]
        label = Sql(f"(select class, class as label from {signature_class})")
        for name in LABELS:
            statements.append((name, self._render("estimation/qit_st/label", {"label": label})))
            label = self.relations[name]
        return [
            *statements,
            (
                "class",
                self._render("estimation/qit_st/joined_class", {"class": signature_class, "label": label}, **signed),
            ),
        ]

    def solving_statements(self) -> list[tuple[str, str]]:
        """Return the names and texts of what S is read from."""
        return [("class_value", self._render_values()), ("class_normal", self._render_normal())]

    def _render(self, template: str, more_relations: Mapping[str, Sql] | None = None, **values: object) -> str:
        relations = {**self.loaded.relations, **self.relations, **(more_relations or {})}
        return self.loaded.render(template, relations, **values)

    def _render_values(self) -> str:
        only_class = Sql(f"(select group_id, 0 as class from {self.loaded.relations['place']})")
        return self._render("estimation/qit_st/class_value", {} if self.signature else {"group_class": only_class})

    def _render_normal(self) -> str:
        return self._render("estimation/qit_st/normal", by_class=self.by_class)

    # -- what is made once ---------------------------------------------------------------------

    def load_systems(self) -> "ClassSystems | None":
        """Return the classes prepared for solving, None where the release has too many values for it."""
        # pandas and scipy are slow to load, and other estimators need no classes
        from sqlanon.estimators.class_systems import MOST_KEPT, prepare_classes

        totals = self.loaded.load_totals()
        if self._systems is None and len(totals) <= LARGEST_SYSTEM:
            self._make_tables()
            values = self._read_values()
            class_numbers = choose_classes(values, len(totals), MOST_KEPT)
            chosen = values[values["class"].isin(class_numbers)]
            needed = count_numbers(chosen, len(totals))
            require_memory(self.loaded.engine, needed, remedy=UNIFORM_FITS)
            self.unsolved_rows = float(values.loc[values["class"] >= 0, "row_count"].sum() - chosen["row_count"].sum())
            # By class number from -1: the place among the chosen classes, all others at the rest's place behind them.
            self._place_of_class = np.full(int(values["class"].max()) + 2, len(class_numbers))
            self._place_of_class[class_numbers + 1] = np.arange(len(class_numbers))
            products = self.loaded.engine.frame(self._render_normal())
            products = products if self.signature else products.assign(**{"class": 0})
            classes = read_classes(class_numbers, values, products)
            self._systems = prepare_classes(classes, len(totals))
        return self._systems

    def place_classes(self, classes: IntArray) -> IntArray:
        """Return the place among the solved classes of each class number; the rest's is their number."""
        return np.asarray(self._place_of_class[classes + 1])

    def _make_tables(self) -> None:
        if not self._made:
            self.loaded.keep_rows()
            for name, sql in self.loading_statements():
                self.loaded.keep(name, sql)
            self._made = True

    def _read_values(self) -> "pd.DataFrame":
        """Return totals by class and value with the groups of each class."""
        values = self.loaded.engine.frame(self._render_values())
        sql = f"select 0 as class, count(*) as groups from {self.loaded.relations['place']}"
        if self.signature:
            sql = f"select class, count(*) as groups from {self.relations['group_class']} group by class"
        return values.merge(self.loaded.engine.frame(sql), on="class")

    def close(self) -> None:
        """Forget what was made; the tables go with the release's."""
        self._made, self._systems = False, None
