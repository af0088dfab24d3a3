"""Deal each group's values to its rows, as a model learned from the groups says.

    p(k | c) = exp(Σ_j β_j(c_j, k)) / Z(c)

c: a row's codes, one of each quasi column j; k: a kind of sensitive values, which is a value alone or, of numbers and
rare values, with its neighbours. The effects β are those under which what is published is likeliest: how many rows of
each combination of codes have values of each kind is expected over all that the release leaves possible, then effects
move until as many are expected of the model, by turns (expectation maximization). As the turns get nearer to the end by
the same part each, three of them and an extrapolation do what many would (SQUAREM, Varadhan and Roland 2008).

A way π to deal a group's values weighs exp Σ_i Σ_j β_j(c_ij, k(π(i))), over its rows i. While the model is learned, the
ways to deal are weighed as the learned adversary does (`sqlanon.adversary.evidence`). Ways to deal are drawn by a
Markov chain that swaps values of two rows of a group (heat bath), from values dealt evenly. Groups are dealt a portion
at a time. Where they are many, the model is learned from some of them.

Each completed table has effects of its own, from random weights of the groups of its own (a Bayesian bootstrap,
Rubin 1981): tables differ by what the release leaves open about the model, too. Nothing is drawn towards independence,
for what is pooled over tables would be, as well.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from sqlanon.adversary.evidence import Pairs, pair_up
from sqlanon.adversary.model_rows import ModelRows, Whole, salt_of
from sqlanon.engines.base import Engine
from sqlanon.engines.runner import ChapterRun
from sqlanon.estimation.failures import load_readable, refuse_unsound
from sqlanon.estimation.release_tables import inline
from sqlanon.estimators.evidence import Array
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import Sql, ident

log = logging.getLogger("sqlanon")

FIRST_ROUNDS, ROUNDS = 8, 4  # of three turns each: from no effects to everybody's, from these to one table's
MOST_ROWS, MOST_PAIRS = 250_000, 2_000_000  # that are learned from: rows, and rows with each possible kind
WORTH = 0.5  # rows that are added to every count
FURTHEST = 10.0  # turns that an extrapolation stands for, about
SWEEPS = 24  # turns of swaps
ROWS_AT_ONCE = 1_000_000  # that are dealt by one statement


class Model:
    """The effects of T codes on K kinds, fitted to N rows in groups, whose values may be dealt in many ways."""

    def __init__(
        self, codes: Whole, parts: Sequence[slice], kinds: int, group: Whole, slot_group: Whole, slot_kind: Whole,
        held: Array,
    ) -> None:  # fmt: skip
        """Take the rows' codes, N x J, numbered through all columns, and for each column those that are its own.

        kinds: K. group: of each row, from 0. slot_group, slot_kind, held: what the groups hold of each kind. All stand
        in the order of the groups.
        """
        self.parts, self.group = parts, group
        row, slot = pair_up(group, slot_group)
        self.ends = np.searchsorted(row, np.arange(len(group) + 1))
        self.pairs = Pairs(np.ones(len(group)), row, slot, slot_group, slot_kind, held, kinds, passes=3)
        combinations, inverse = np.unique(codes, axis=0, return_inverse=True)
        self.combination: Whole = inverse.ravel()
        place = np.arange(len(combinations))
        # of each column: which of its codes each combination has
        self.has = [
            sparse.csr_array(
                (np.ones(len(place)), (codes_of_column - part.start, place)), (part.stop - part.start, len(place))
            )
            for part, codes_of_column in zip(parts, combinations.T, strict=True)
        ]

    def learn_shared(self) -> Array:
        """Return the effects of all rows together, T x K."""
        return self._learn(np.zeros((self.parts[-1].stop, self.pairs.values)), np.ones(len(self.group)), FIRST_ROUNDS)

    def learn_table(self, shared: Array, seed: int) -> Array:
        """Return one table's effects, T x K, from those of all rows together."""
        weights = np.random.default_rng(seed).exponential(size=int(self.group.max()) + 1)
        return self._learn(shared, weights[self.group], ROUNDS)

    def weigh(self, chances: Array) -> sparse.csr_array:
        """Return how likely each row has each kind over all ways to deal, N x K; chances: by combination, U x K."""
        score = np.log(chances[self.combination[self.pairs.person], self.pairs.value])
        weights, _ = self.pairs.weigh(score, np.zeros(0))
        return sparse.csr_array((weights, self.pairs.value, self.ends), shape=(len(self.group), self.pairs.values))

    def _learn(self, effects: Array, weights: Array, rounds: int) -> Array:
        for _ in range(rounds):
            once = self._turn(effects, weights)
            step = once - effects
            change = self._turn(once, weights) - once - step
            length = np.sqrt((step**2).sum() / max((change**2).sum(), 1e-12))
            length = min(max(length, 1.0), FURTHEST)
            effects = self._turn(effects + 2 * length * step + length**2 * change, weights)
        return effects

    def _turn(self, effects: Array, weights: Array) -> Array:
        """Return effects by which the model expects as many rows as the evidence does now, one column after another."""
        logits = np.sum([has.T @ effects[part] for has, part in zip(self.has, self.parts, strict=True)], axis=0)
        chances = _norm(np.exp(logits - logits.max(axis=1, keepdims=True)))
        by_combination = sparse.csr_array((weights, (self.combination, np.arange(len(weights)))))
        counts = (by_combination @ self.weigh(chances)).toarray()
        people = by_combination.sum(axis=1)[:, None]
        moved = []
        for has, part in zip(self.has, self.parts, strict=True):
            step = np.log((has @ counts + WORTH) / (has @ (chances * people) + WORTH))
            chances = _norm(chances * (has.T @ np.exp(step)))
            moved.append(effects[part] + step)
        return np.concatenate(moved)


def _norm(weights: Array) -> Array:
    return np.asarray(np.maximum(weights / weights.sum(axis=1, keepdims=True), 1e-300))


class Dealing:
    """The groups of one release and the chain that deals their values."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any], seed: int) -> None:
        """Code the release's rows and number its values."""
        columns = manifest["columns"]
        self.seed, self.sensitive = seed, columns["sensitive"][0]
        self.rows, self.groups = manifest["rows"], manifest["groups"]
        self.space = ModelRows(engine, tables["qit"], columns["quasi"], {columns["group"]: "group_id"})
        counted = Sql(ident(columns["count"]))
        self.value, codes = self.space.number_values(
            "value", tables["st"], self.sensitive, counted, self.rows / self.groups
        )
        self.kinds = int(codes.max())
        inputs = {"stored_st": tables["st"], "value": self.value}
        places = {"group_column": columns["group"], "count_column": columns["count"]}
        self.holding = self.space.make(
            "holding", "completion/groups/holding", inputs, sensitive=self.sensitive, **places
        )
        self.coded = self.space.code(self.kinds)

    def complete(self, tables: int) -> Iterator[list[tuple[str, Sql, Sql]]]:
        """Yield for each completed table its sensitive column with the relation of what was dealt, and the values."""
        log.info("learning what all tables share")
        model = self.read_model()
        shared = model.learn_shared()
        seats = self.seat_rows()
        for number in range(1, tables + 1):
            log.info("dealing table %d of %d", number, tables)
            effects = model.learn_table(shared, salt_of(self.seed, "weight", number))
            yield [(self.sensitive, self.deal(seats, effects, number), self.value)]

    def close(self) -> None:
        """Drop what was made."""
        self.space.close()

    def read_model(self) -> Model:
        """Read the rows of the groups that are learned from, with the kinds of values that they may have."""
        (lines,) = self.space.engine.rows(f"select count(*) as n from {self.holding}")
        share = min(1.0, MOST_ROWS / self.rows, MOST_PAIRS * self.groups / (self.rows * int(lines["n"])))
        salt = salt_of(self.seed, "learned")
        inputs = {"coded_row": self.coded}
        learned = self.space.make("learned_row", "completion/groups/learned_row", inputs, salt=salt, share=share)
        inputs = {"holding": self.holding, "learned_row": learned}
        slots = self.space.engine.arrays(self.space.render("completion/groups/held_kind", inputs))
        columns = ", ".join(self.space.levels)
        order = "group_id asc nulls last, row_number asc nulls last"
        read = self.space.engine.arrays(f"select group_id, {columns} from {learned} order by {order}")
        self.space.forget([str(learned)])
        _, group = np.unique(read["group_id"], return_inverse=True)
        _, slot_group = np.unique(slots["group_id"], return_inverse=True)
        kind, held = np.asarray(slots["code"], np.int64) - 1, np.asarray(slots["held"], float)
        codes = np.stack([np.asarray(read[level], np.int64) for level in self.space.levels], axis=1)
        return Model(codes, self.space.parts, self.kinds, group.ravel(), slot_group.ravel(), kind, held)

    def seat_rows(self) -> list[Sql]:
        """Return the rows in their groups' places: relations of whole groups, of about `ROWS_AT_ONCE` rows each."""
        sql = self.space.render("completion/groups/first_row", {"coded_row": self.coded}, most=ROWS_AT_ONCE)
        firsts = [int(row["first_row"]) for row in self.space.engine.rows(sql)]
        seats = []
        for number, (first, after) in enumerate(pairwise([*firsts, self.rows + 1]), start=1):
            rows = Sql(f"(select * from {self.coded} where row_number >= {first} and row_number < {after})")
            groups = Sql(f"(select * from {self.holding} where group_id in (select group_id from {rows}))")
            slots = inline(self.space.render("completion/groups/slots", {"holding": groups}))
            inputs, levels = {"coded_row": rows, "slots": slots}, self.space.levels
            seats.append(self.space.make(f"seat_{number}", "completion/groups/seat", inputs, levels=levels))
        self.space.forget([str(self.coded), str(self.holding)])
        return seats

    def deal(self, seats: Sequence[Sql], effects: Array, table: int) -> Sql:
        """Return the number of every row's value, dealt by effects T x K."""
        listed = self.space.keep_effects(effects)
        dealt = [self._deal(seat, listed, table, portion) for portion, seat in enumerate(seats, start=1)]
        whole = self.space.keep(f"dealt_{table}", " union all ".join(f"select * from {rows}" for rows in dealt))
        self.space.forget([str(listed), *map(str, dealt)])
        return whole

    def _deal(self, seat: Sql, effects: Sql, table: int, portion: int) -> Sql:
        space = self.space
        inputs = {"seat": seat, "effects": effects}
        salt = salt_of(self.seed, "start", table)
        scored = space.make("scored", "completion/groups/scored", inputs, levels=space.levels, salt=salt)
        for turn in range(1, SWEEPS + 1):
            before, values = scored, {"salt": salt_of(self.seed, "swap", table, turn), "turn": turn}
            scored = space.make(f"scored_{turn}", "completion/groups/swapped", {"scored": before}, **values)
            space.forget([str(before)])
        rows = space.make(f"dealt_{table}_{portion}", "completion/groups/dealt", {"seat": seat, "scored": scored})
        space.forget([str(scored)])
        return rows


def open_groups(engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any], seed: int) -> Dealing:
    """Read a release's rows; raise ReleaseError where QIT and ST do not fit each other."""
    columns, opened = manifest["columns"], list[Dealing]()
    roles = {f"{role}_column": columns[role] for role in ("group", "count")}

    def load() -> None:
        run = ChapterRun(engine, dict(tables))
        try:
            refuse_unsound(
                run.take([Chapter("evidence/places", {**roles, "may_depart": False, "people": False})])["soundness"]
            )
        finally:
            run.drop()
        opened.append(Dealing(engine, tables, manifest, seed))

    load_readable(load, "a QIT and an ST")
    return opened[0]
