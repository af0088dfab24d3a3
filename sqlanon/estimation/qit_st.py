"""Answers from groups: QIT and ST, their values, rows and classes, made when they are first needed."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import run_steps
from sqlanon.errors import AnswerError, ReleaseError, UsageError
from sqlanon.estimation.failures import UNIFORM_FITS, load_readable, refuse_unsound, require_memory
from sqlanon.estimation.plain_counts import CodedRows, answer_of_groups
from sqlanon.estimation.query_run import LARGEST_ANSWER, Estimator, Lines, QueryRun
from sqlanon.estimation.release_tables import ReleaseTables, Steps, listed, relations_of, select_columns, text_of
from sqlanon.estimators.evidence import Array, BoolArray, Estimate, IntArray
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.moments import Moments, lay_out
from sqlanon.plans.manifest import follows, of_people
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.aggregate_query import Query

if TYPE_CHECKING:
    import pandas as pd
    from scipy import sparse

    from sqlanon.estimation.answered import Answered
    from sqlanon.estimation.plain_counts import PlainCount
    from sqlanon.estimators.class_systems import ClassSystems, ReleaseClass
    from sqlanon.estimators.sets import PlacedValues

LARGEST_SYSTEM = 5_000  # sensitive values for which S (V x V) is solved
TOO_MANY_TOGETHER = (
    f"which of more than {LARGEST_SYSTEM:,} values stand in groups together is not counted; ask for one value at a"
    " time, or GROUP BY the values"
)
FACTS = (
    "people have several values each: somebody counts once for each of the values that are asked for together; how many"
    " people have any of them is published nowhere"
)
TOO_MANY_VALUES = f"the release has more than {LARGEST_SYSTEM} sensitive values: answered by uniform"
UPPER_BOUND = (
    "the condition joins quasi and sensitive columns in a way whose cases are not followed pair by pair: standard"
    " errors and intervals are upper bounds"
)
UNSOLVED = (
    "{:,.0f} of {:,.0f} rows are of classes too many to solve together with the largest ones: answered by uniform,"
    " their part of intervals as if values were dealt to rows at random"
)
LEFT_OUT = (
    "the release leaves out {:,} of {:,.0f} rows: answers count those published, intervals reach as far as rows like"
    " those of its smallest classes may take them, which is only a bound"
)


class GroupTables(ReleaseTables):
    """Hold QIT and ST, and what depends on them only.

    An Anatomy release is one class. For an r-robust release the recipient can find the classes: the manifest names the
    columns that backgrounds read, and QIT has their values. Groups that several classes share (after a repair), and
    classes for which memory does not suffice, are answered by the uniform estimator.

    left_out: rows of the source that the release does not hold, as its manifest says. unsolved_rows: those of classes
    beyond what memory allows. place_of_class: by class number from -1 the place among the classes that are solved, all
    others at the rest's place behind them; known when these are loaded.
    """

    sensitive: str

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any]) -> None:
        """Take the published tables (`qit`, `st`) of a release; nothing runs before the first query."""
        columns, parameters = manifest["columns"], manifest.get("parameters", {})
        if not {"qit", "st"} <= set(tables):
            raise UsageError(f"a {manifest.get('method')} release has no QIT and ST; estimates are made from these")
        if len(columns["sensitive"]) != 1:
            raise UsageError(f"estimates need one sensitive column; the release has {len(columns['sensitive'])}")
        self.quasi, (self.sensitive,) = list(columns["quasi"]), columns["sensitive"]
        self._group, self._count = columns["group"], columns["count"]
        self.people = of_people(manifest)
        self._may_depart = follows(manifest)  # members of groups may be in ST and no longer in QIT
        signature = read_signature(manifest)
        self._classes = {
            "signature": signature,
            # a repaired group is one of its hosts' class, so that what it joins says nothing of classes
            "joined": parameters.get("classes") == "distributions" and not parameters.get("repair"),
            "banded": bool(parameters.get("known_size")),
            "people": self.people,
        }
        self._owner_values: float = parameters["owner_values"][self.sensitive] if self.people else 1.0
        # Anatomy leaves out only rows without a value, which no query about values asks for.
        self.left_out: int = manifest.get("dropped_rows", 0) if signature or self.people else 0
        self.unsolved_rows = 0.0
        self.place_of_class = np.zeros(0, dtype=np.int64)
        names = {f"quasi_{n}": name for n, name in enumerate(self.quasi, start=1)} | {"sensitive": self.sensitive}
        super().__init__(engine, tables, names)
        self.relations |= relations_of(self.loading_steps())
        self._base = dict(self.relations)
        self.relations |= relations_of(self.class_steps())

    def loading_steps(self) -> Steps:
        """Render what every query reads."""
        return self.write(
            "evidence/groups",
            self.tables,
            group_column=self._group,
            count_column=self._count,
            quasi=self.quasi,
            sensitive=self.sensitive,
            may_depart=self._may_depart,
            people=self.people,
        )

    def class_steps(self) -> Steps:
        """Render what tells classes, and, last, what their totals and S are read from."""
        return self.write("evidence/classes", self._base, **self._classes)

    # -- queries ---------------------------------------------------------------------------------

    def start(self, query: Query, name: str) -> "QueryRun":
        """Start the run of an estimator."""
        return GroupRun(self, query, by_class=name != "uniform")

    def exact_rows(self, columns: frozenset[str]) -> Sql | None:
        """Return QIT for quasi columns, ST with each line as often as it counts for the sensitive one.

        Of a release that follows others ST has the values of members who have departed, too: there it is not exact.
        """
        if self.sensitive not in columns:
            return select_columns(columns, self.tables["qit"])
        if self._may_depart or len(columns) > 1:
            return None
        value, size = ident(self.sensitive), ident(self._count)
        repeated = (
            f"select {value}, unnest(generate_series(1, cast({size} as bigint))) as person from {self.tables['st']}"
        )
        return Sql(f"(select {value} from ({repeated}) as repeated)")

    def ask_exactly(self, sql: str, query: Query | None) -> "Answered | None":
        """Answer a query that reads exact columns alone; of people who have several values it is said what counts."""
        answer = super().ask_exactly(sql, query)
        if answer is not None and self.people and self.sensitive.lower() in sql.lower():
            answer.messages = [*answer.messages, FACTS]
        return answer

    def answer_together(
        self, plain: "Iterator[tuple[int, PlainCount]]", name: str, estimate: "Estimator"
    ) -> "dict[int, Answered]":
        """Answer plain counts of releases that do not have many classes, those over the same columns in one pass."""
        return answer_of_groups(self, plain, name, estimate)

    # -- what every query reads ------------------------------------------------------------------

    @cached_property
    def totals(self) -> Array:
        """The values' totals f in the order of their codes; of people, everybody comes last.

        Raises ReleaseError where the tables are no QIT and ST that fit each other.
        """
        load_readable(self._load, "a QIT and an ST")
        values = self.engine.arrays(f"select code, row_count from {self.relations['value']}")
        totals = np.zeros(len(values["code"]))
        totals[values["code"].astype(np.int64)] = values["row_count"]
        return np.append(totals, self.count_rows("person")) if self.people else totals

    def _load(self) -> None:
        # the engine would compare a text with a number as numbers, of which 1 and 01 are the same
        columns = [self.engine.columns(f"select * from {self.tables[name]}") for name in ("qit", "st")]
        sql_types = [types.get(self._group) for types in columns]  # a missing column is told by who reads it
        if "VARCHAR" in sql_types and len(set(sql_types)) > 1:
            raise UsageError(f"the groups of QIT are {sql_types[0]}, those of ST {sql_types[1]}")
        run_steps(self.loading_steps(), self.engine, self._made, look=lambda _, row: refuse_unsound(row))

    def count_rows(self, name: str) -> float:
        """Return how many rows a loaded relation has."""
        (rows,) = self.read_once(f"select count(*) as row_count from {self.relations[name]}")["row_count"]
        return float(rows)

    @cached_property
    def rows(self) -> CodedRows:
        """The rows of QIT coded for many queries at once, with their groups."""
        columns = [f"quasi_{number}" for number in range(1, len(self.quasi) + 1)]
        rows = CodedRows(self, "coded_person", self.relations["person"], columns, ["group_id"])
        rows.load()
        return rows

    # -- classes -----------------------------------------------------------------------------------

    @cached_property
    def _class_texts(self) -> tuple[str, str]:
        """What the totals of classes, and S, are read from, when classes are told."""
        *made, values, products = self.class_steps()
        run_steps(made, self.engine, self._made)
        return text_of(values), text_of(products)

    @cached_property
    def systems(self) -> "ClassSystems | None":
        """The classes prepared for solving, None where the release has too many values for it."""
        # pandas and scipy are slow to load, and other estimators need no classes
        from sqlanon.estimators.class_systems import MOST_KEPT, prepare_classes

        count = len(self.totals)
        if count > LARGEST_SYSTEM:
            return None
        values = self.engine.frame(self._class_texts[0])
        numbers, held = choose_classes(values, count, MOST_KEPT)
        require_memory(self.engine, held, remedy=UNIFORM_FITS)
        chosen = values[values["class"].isin(numbers)]
        self.unsolved_rows = float(values.loc[values["class"] >= 0, "row_count"].sum() - chosen["row_count"].sum())
        self.place_of_class = np.full(int(values["class"].max()) + 2, len(numbers))
        self.place_of_class[numbers + 1] = np.arange(len(numbers))
        return prepare_classes(read_classes(chosen, self.engine.frame(self._class_texts[1])), count)

    @cached_property
    def placed(self) -> "PlacedValues":
        """The values by class of a release of people who have several."""
        from sqlanon.estimators.sets import PlacedValues

        count = len(self.totals) - 1
        values = self.engine.arrays(self._class_texts[0])
        order = np.lexsort([values["code"], values["class"]])
        owner, code = (values[name][order].astype(np.int64) for name in ("class", "code"))
        totals, others, facts = (values[name][order].astype(float) for name in ("row_count", "others", "facts"))
        valued = code < count
        return PlacedValues(
            owner=owner[valued], code=code[valued], totals=totals[valued], others=others[valued],
            facts=facts[valued], people=totals[~valued], mates=others[~valued], people_facts=facts[~valued],
            owner_values=self._owner_values, value_count=count, shared=lambda: self.shared,
        )  # fmt: skip

    @cached_property
    def shared(self) -> "sparse.csr_array":
        """In how many groups two values stand, V x V, of S: read once, where a question asks for several."""
        from scipy import sparse

        count = len(self.totals) - 1
        if count > LARGEST_SYSTEM:
            raise AnswerError(TOO_MANY_TOGETHER)
        products = self.engine.arrays(self._class_texts[1])
        code, other = (products[name].astype(np.int64) for name in ("code", "other_code"))
        pairs = (code < count) & (other < code)
        lower = sparse.csr_array(
            (products["product_sum"][pairs].astype(float), (code[pairs], other[pairs])), (count, count)
        )
        return lower + lower.T

    def close(self) -> None:
        """Drop the temporary tables; they are made again where they are needed again."""
        super().close()
        for made in ("totals", "rows", "_class_texts", "systems", "placed", "shared"):
            self.__dict__.pop(made, None)


def read_signature(manifest: Mapping[str, Any]) -> list[str]:
    """Return our names of the quasi columns that any background of the release reads, in the columns' order.

    Raises ReleaseError where the manifest names a column that is not published.
    """
    quasi = list(manifest["columns"]["quasi"])
    read = {name for background in manifest.get("parameters", {}).get("backgrounds", []) for name in background}
    if unknown := sorted(read - set(quasi)):
        raise ReleaseError(
            f"the release's backgrounds read {', '.join(map(repr, unknown))}, which it does not publish; its columns"
            f" are {', '.join(map(repr, quasi))}"
        )
    return [f"quasi_{number}" for number, name in enumerate(quasi, start=1) if name in read]


def choose_classes(values: "pd.DataFrame", value_count: int, most_kept: int) -> tuple[IntArray, float]:
    """Choose the classes to solve: those of one signature (>= 0), the largest first, as far as memory allows.

    values: a row per class and value, with the class's groups. A class keeps rank (n + k) numbers: its eigenvectors,
    at most as many as it has values and groups, over its n values and the k that classes share. Return with them about
    how many numbers are held at once while they are read and prepared.
    """
    from sqlanon.estimators.class_systems import MOST_SHARED

    classes = values[values["class"] >= 0].groupby("class").agg(n=("code", "size"), groups=("groups", "first"))
    classes = classes.sort_values("groups", ascending=False, kind="stable")
    classes["kept"] = np.minimum(classes["n"], classes["groups"]) * (classes["n"] + min(value_count, MOST_SHARED))
    chosen = classes[classes["kept"].cumsum() <= most_kept]
    # S as it is read and by class, and as a matrix, of one class at a time; of one place of t2 (another is made when a
    # question needs it) a factor, lines, what passes through them, and what they say of shared values
    read = 2 * chosen["n"] ** 2 + 3 * chosen["kept"] + np.minimum(chosen["n"], MOST_SHARED) ** 2
    largest = float(chosen["n"].max() ** 2) if len(chosen) else 0.0
    return np.sort(chosen.index.to_numpy(dtype=np.int64)), read.sum() + 3 * largest + 5 * len(chosen) * value_count


def read_classes(values: "pd.DataFrame", products: "pd.DataFrame") -> "Iterator[ReleaseClass]":
    """Yield classes from totals by class and value, and from S by class and pair of values."""
    from scipy import sparse  # slow to load, and read by ridge alone

    from sqlanon.estimators.class_systems import ReleaseClass

    by_class = dict(iter(products.groupby("class")))
    for number, class_values in values.sort_values("code").groupby("class"):
        codes, totals = class_values["code"].to_numpy(dtype=np.int64), class_values["row_count"].to_numpy(dtype=float)
        row, column = (np.searchsorted(codes, by_class[number][name]) for name in ("code", "other_code"))
        numbers = by_class[number]["product_sum"].to_numpy(dtype=float)
        lower = sparse.csr_array((numbers, (row, column)), (len(codes), len(codes)))
        whole = lower + lower.T - sparse.diags_array(lower.diagonal())
        yield ReleaseClass(codes, whole.tocsr(), totals, int(class_values["groups"].iloc[0]))


class GroupRun(QueryRun):
    """One query on its way through QIT and ST. by_class: whether classes are solved, else the paper's answer."""

    counts_values = True

    def __init__(self, loaded: GroupTables, query: Query, by_class: bool) -> None:
        """Place the query's relations; nothing runs yet."""
        super().__init__(loaded, query)
        self.loaded, self.by_class = loaded, by_class
        self.held = (6, 10, 3 if by_class else 1)

    def load(self) -> None:
        """Number the groups and values, and keep the rows under our names; prepare classes where they are solved."""
        self.count_values()
        if self.by_class and (self.loaded.placed if self.loaded.people else self.loaded.systems) is None:
            self.by_class = False
            self.messages.append(TOO_MANY_VALUES)

    def counting_steps(self) -> Steps:
        """Render what counts the hits; the last one is read: what an estimate needs of them."""
        measures = list(range(1, len(self.measures) + 1))
        moment = self.space.write(
            "evidence/moments", self.relations, measures=measures, by_class=self.by_class, flags=self.flags
        )
        return [*self.write_hits(["group_id"]), *moment]

    def statements(self) -> list[tuple[str, str]]:
        """Return the statements of this query, in order, behind those of the classes."""
        classes = self.loaded.class_steps() if self.by_class else []
        return [*listed(classes), *super().statements()]

    def estimate_aggregates(self, estimate: Estimator) -> tuple[Sequence[Estimate], BoolArray]:
        """Estimate; say what an answer about several values of people counts."""
        found = super().estimate_aggregates(estimate)
        if self.loaded.people and self.selected.set_count < len(self.selected.code):
            self.messages.insert(0, FACTS)
        return found

    def count_values(self) -> int:
        """Return how many values the release has."""
        return len(self.loaded.totals)

    def infer(self, lines: Lines, cells: int, thresholds: int = 1) -> Inference:
        """Return what lines of moments say of so many cells, ready to be asked for evidence.

        Raises AnswerError where arrays would be too large.
        """
        loaded, cases, values = self.loaded, self.selected.case_count, self.count_values()
        if cells * cases * values > LARGEST_ANSWER:
            raise AnswerError(
                f"the query asks for {cells} groups x {cases} cases x {values} sensitive values at once;"
                " group by fewer columns, or narrow WHERE"
            )
        # those of several classes are summed
        columns = lay_out(lines, lines["code"].astype(np.int64), (cells, cases, values))
        moments = Moments(columns, loaded.totals, loaded.people)
        if not self.by_class:
            return Inference(moments, self.selected)
        from sqlanon.estimators.moments import HitSums  # scipy is slow to load

        classes = lines["class"].astype(np.int64)
        if loaded.people:
            from sqlanon.estimators.sets import SetInference

            hit_sums = HitSums(lines, classes, len(loaded.placed.people), values)
            return SetInference(moments, self.selected, loaded.placed, hit_sums, loaded.left_out)
        from sqlanon.estimators.inference_by_class import ClassInference

        systems = loaded.systems
        assert systems is not None  # else nothing is solved by class
        hit_sums = HitSums(lines, loaded.place_of_class[classes + 1], len(systems.rows), values)
        return ClassInference(moments, self.selected, systems, hit_sums, loaded.left_out, thresholds)

    def tell_limits(self, row_count: float, upper_bound: bool) -> None:
        """Say where an interval is only a bound, and what the release leaves out."""
        if self.by_class and self.loaded.unsolved_rows:
            self.messages.append(UNSOLVED.format(self.loaded.unsolved_rows, row_count))
        if left_out := self.loaded.left_out * self.by_class:
            # which of them meet a condition is not published: where they are many, the likely ones may be too few
            counts = any(aggregate.function.counts for aggregate in self.query.aggregates)
            most = f"; a count of the source may lie up to {left_out:,} above the upper end" if counts else ""
            self.messages.append(LEFT_OUT.format(left_out, row_count + left_out) + most)
        if upper_bound:
            self.messages.append(UPPER_BOUND)

    def count_lines(self, values: int) -> tuple[float, float]:
        """Return how many lines are read: of a cell and case at most all classes' values, of a row its group's."""
        if self.by_class and self.loaded.people:
            values += len(self.loaded.placed.code)
        elif self.by_class and self.loaded.systems is not None:
            values += self.loaded.systems.cell_count
        return values, float(self.loaded.totals.sum() / max(self.loaded.count_rows("place"), 1.0))

    def count_solved(self, cells: int) -> int:
        """Return how many numbers are kept of what is solved: posteriors, and the one that is being solved."""
        systems = self.loaded.systems if self.by_class and not self.loaded.people else None
        if systems is None:
            return 0
        from sqlanon.estimators.inference_by_class import count_solved

        return count_solved(systems, cells, self.selected)
