"""A release of groups loaded for estimation: its groups, values, rows and classes, made when they are first needed."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import run_steps
from sqlanon.errors import AnswerError, ReleaseError, UsageError
from sqlanon.estimation.coded_rows import CodedRows
from sqlanon.estimation.memory_need import UNIFORM_FITS, require_memory
from sqlanon.estimation.sound_tables import load_readable, refuse_unsound
from sqlanon.estimation.temporary_tables import Workspace, relations_of, text_of
from sqlanon.estimators.evidence import Array, IntArray
from sqlanon.plans.manifest import follows, of_people
from sqlanon.plans.plan import Loop, Report
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident

if TYPE_CHECKING:
    import pandas as pd
    from scipy import sparse

    from sqlanon.estimators.class_systems import ClassSystems, ReleaseClass
    from sqlanon.estimators.sets import PlacedValues

LARGEST_SYSTEM = 5_000  # sensitive values for which S (V x V) is solved
TOO_MANY_TOGETHER = (
    f"which of more than {LARGEST_SYSTEM:,} values stand in groups together is not counted; ask for one value at a"
    " time, or GROUP BY the values"
)
KIND = "a QIT and an ST"


class GroupTables(Workspace):
    """Hold a release's tables and what depends on them only.

    An Anatomy release is one class. For an r-robust release the recipient can find the classes: the manifest names the
    columns that backgrounds read, and QIT has their values. Groups that several classes share (after a repair), and
    classes for which memory does not suffice, are answered by the uniform estimator.

    signature: our names of the columns that tell classes apart. left_out: rows of the source that the release does not
    hold, as its manifest says. unsolved_rows: those of classes beyond what memory allows.
    """

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) of a release; nothing runs before the first query."""
        columns, parameters = manifest["columns"], manifest.get("parameters", {})
        if not {"qit", "st"} <= set(tables):
            raise UsageError(f"a {manifest.get('method')} release has no QIT and ST; estimates are made from these")
        if len(columns["sensitive"]) != 1:
            raise UsageError(f"estimates need one sensitive column; the release has {len(columns['sensitive'])}")
        self.quasi: list[str] = list(columns["quasi"])
        (self.sensitive,) = columns["sensitive"]
        self._group: str = columns["group"]
        self._named = {"group_column": columns["group"], "count_column": columns["count"]}
        self.people = of_people(manifest)
        self.may_depart = follows(manifest)  # members of groups may be in ST and no longer in QIT
        self.signature = read_signature(manifest)
        # a repaired group is one of its hosts' class, so that what it joins says nothing of classes
        self._banded = bool(parameters.get("known_size"))
        self._owner_values: float = parameters["owner_values"][self.sensitive] if self.people else 1.0
        self._joined = parameters.get("classes") == "distributions" and not parameters.get("repair")
        # Anatomy leaves out only rows without a value, which no query about values asks for.
        self.left_out: int = manifest.get("dropped_rows", 0) if self.signature or self.people else 0
        self.unsolved_rows = 0.0
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)} | {"sensitive": self.sensitive}
        super().__init__(engine, tables, {}, names)
        self._totals: Array | None = None
        self._rows: CodedRows | None = None
        self._classes_made = False
        self._systems: ClassSystems | None = None
        self._placed: PlacedValues | None = None
        self._shared: sparse.csr_array | None = None
        self._place_of_class = np.zeros(0, dtype=np.int64)
        self.relations |= relations_of(self.loading_steps())
        self.relations |= relations_of(self.class_steps(self.relations))

    def loading_steps(self) -> list[Statement | Report | Loop]:
        """Render what every query reads."""
        return self.write(
            "evidence/groups",
            self.tables,
            **self._named,
            quasi=self.quasi,
            sensitive=self.sensitive,
            may_depart=self.may_depart,
            people=self.people,
        )

    def class_steps(self, given: Mapping[str, Sql]) -> list[Statement | Report | Loop]:
        """Render what tells classes over the relations given, and, last, what their totals and S are read from."""
        asked = {"signature": self.signature, "joined": self._joined, "banded": self._banded, "people": self.people}
        return self.write("evidence/classes", given, **asked)

    def base(self) -> dict[str, Sql]:
        """Return the published tables, and what every query reads."""
        return {**self.tables, **relations_of(self.loading_steps())}

    # -- what every query reads ------------------------------------------------------------------

    def load_totals(self) -> Array:
        """Load the release at the first call; return the values' totals f in the order of their codes.

        Raises ReleaseError where its tables are no QIT and ST that fit each other.
        """
        if self._totals is None:
            load_readable(self._load, KIND)
            values = self.engine.arrays(f"select code, row_count from {self.relations['value']}")
            totals = np.zeros(len(values["code"]))
            totals[values["code"].astype(np.int64)] = values["row_count"]
            if self.people:
                (shown,) = self.read_once(f"select count(*) as row_count from {self.relations['person']}")["row_count"]
                totals = np.append(totals, float(shown))
            self._totals = totals
        return self._totals

    def _load(self) -> None:
        # the engine would compare a text with a number as numbers, of which 1 and 01 are the same
        columns = [self.engine.columns(f"select * from {self.tables[name]}") for name in ("qit", "st")]
        sql_types = [types.get(self._group) for types in columns]  # a missing column is told by who reads it
        if "VARCHAR" in sql_types and len(set(sql_types)) > 1:
            raise UsageError(f"the groups of QIT are {sql_types[0]}, those of ST {sql_types[1]}")
        run_steps(self.loading_steps(), self.engine, self._made, look=lambda _, row: refuse_unsound(row))

    def sensitive_rows(self) -> Sql:
        """Write the sensitive column with a row for each person."""
        value, count = ident(self.sensitive), ident(self._named["count_column"])
        repeated = (
            f"select {value}, unnest(generate_series(1, cast({count} as bigint))) as person from {self.tables['st']}"
        )
        return Sql(f"(select {value} from ({repeated}) as repeated)")

    def load_rows(self) -> CodedRows:
        """Return the rows of QIT coded for many queries at once, with their groups."""
        if self._rows is None:
            self.load_totals()
            columns = [f"quasi_{number}" for number in range(1, len(self.quasi) + 1)]
            self._rows = CodedRows(self, "coded_person", self.relations["person"], columns, ["group_id"])
        self._rows.load()
        return self._rows

    # -- classes -----------------------------------------------------------------------------------

    def load_systems(self) -> "ClassSystems | None":
        """Return the classes prepared for solving, None where the release has too many values for it."""
        # pandas and scipy are slow to load, and other estimators need no classes
        from sqlanon.estimators.class_systems import MOST_KEPT, prepare_classes

        totals = self.load_totals()
        if self._systems is None and len(totals) <= LARGEST_SYSTEM:
            *made, read_values, read_products = self.class_steps(self.base())
            if not self._classes_made:
                run_steps(made, self.engine, self._made)
                self._classes_made = True
            values = self.engine.frame(text_of(read_values))
            class_numbers = choose_classes(values, len(totals), MOST_KEPT)
            chosen = values[values["class"].isin(class_numbers)]
            require_memory(self.engine, count_numbers(chosen, len(totals)), remedy=UNIFORM_FITS)
            self.unsolved_rows = float(values.loc[values["class"] >= 0, "row_count"].sum() - chosen["row_count"].sum())
            # By class number from -1: the place among the chosen classes, all others at the rest's place behind them.
            self._place_of_class = np.full(int(values["class"].max()) + 2, len(class_numbers))
            self._place_of_class[class_numbers + 1] = np.arange(len(class_numbers))
            products = self.engine.frame(text_of(read_products))
            self._systems = prepare_classes(read_classes(class_numbers, values, products), len(totals))
        return self._systems

    def load_values(self) -> "PlacedValues":
        """Return the values by class of a release of people who have several."""
        from sqlanon.estimators.sets import PlacedValues

        if self._placed is None:
            count = len(self.load_totals()) - 1
            *made, read_values, _ = self.class_steps(self.base())
            run_steps(made, self.engine, self._made)
            values = self.engine.arrays(text_of(read_values))
            order = np.lexsort([values["code"], values["class"]])
            owner, code = (values[name][order].astype(np.int64) for name in ("class", "code"))
            totals, others, facts = (values[name][order].astype(float) for name in ("row_count", "others", "facts"))
            valued = code < count
            self._placed = PlacedValues(
                owner=owner[valued], code=code[valued], totals=totals[valued], others=others[valued],
                facts=facts[valued], people=totals[~valued], mates=others[~valued], people_facts=facts[~valued],
                owner_values=self._owner_values, value_count=count, shared=self._load_shared,
            )  # fmt: skip
        return self._placed

    def _load_shared(self) -> "sparse.csr_array":
        """Return in how many groups two values stand, V x V, of S: read once, where a question asks for several."""
        from scipy import sparse

        if self._shared is None:
            count = len(self.load_totals()) - 1
            if count > LARGEST_SYSTEM:
                raise AnswerError(TOO_MANY_TOGETHER)
            *_, read_products = self.class_steps(self.base())
            products = self.engine.arrays(text_of(read_products))
            code, other = (products[name].astype(np.int64) for name in ("code", "other_code"))
            pairs = (code < count) & (other < code)
            lower = sparse.csr_array(
                (products["product_sum"][pairs].astype(float), (code[pairs], other[pairs])), (count, count)
            )
            self._shared = lower + lower.T
        return self._shared

    @property
    def class_count(self) -> int:
        """Return how many classes there are, with the rest (-1) that several share, once they are loaded."""
        return len(self._place_of_class)

    def place_classes(self, classes: IntArray) -> IntArray:
        """Return the place among the solved classes of each class number; the rest's is their number."""
        return np.asarray(self._place_of_class[classes + 1])

    def close(self) -> None:
        """Drop the temporary tables; they are made again where they are needed again."""
        super().close()
        self._classes_made = False
        self._totals = self._rows = self._systems = self._placed = self._shared = None


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
    from sqlanon.estimators.class_systems import MOST_SHARED

    classes = values.groupby("class").agg(n=("code", "size"), groups=("groups", "first"))
    size, shared = classes["n"], np.minimum(classes["n"], MOST_SHARED)
    vectors = np.minimum(size, classes["groups"]) * (size + min(value_count, MOST_SHARED))
    # S as it is read and by class, and as a matrix, of one class at a time; of one place of t2 (another is made when a
    # question needs it) a factor, lines, what passes through them, and what they say of shared values
    read = 2 * size**2 + 3 * vectors + shared**2
    return float(read.sum() + 3 * (size**2).max() + 5 * len(classes) * value_count) if len(classes) else 0.0


def read_classes(chosen: IntArray, values: "pd.DataFrame", products: "pd.DataFrame") -> "Iterator[ReleaseClass]":
    """Yield the chosen classes from totals by class and value, and from S by class and pair of values."""
    from scipy import sparse  # slow to load, and read by ridge alone

    from sqlanon.estimators.class_systems import ReleaseClass

    by_class = dict(iter(products.groupby("class")))
    for number, class_values in values[values["class"].isin(chosen)].groupby("class"):
        codes = np.sort(class_values["code"].to_numpy(dtype=np.int64))
        totals = class_values.set_index("code")["row_count"].reindex(codes).to_numpy(dtype=float)
        row, column = (np.searchsorted(codes, by_class[number][name]) for name in ("code", "other_code"))
        numbers, apart = by_class[number]["product_sum"].to_numpy(dtype=float), row != column
        half = sparse.csr_array((numbers[apart], (row[apart], column[apart])), (len(codes), len(codes)))
        diagonal = sparse.csr_array((numbers[~apart], (row[~apart], column[~apart])), half.shape)
        yield ReleaseClass(codes, (half + half.T + diagonal).tocsr(), totals, int(class_values["groups"].iloc[0]))
