"""Deal each group's values to its rows, as a model learned from the groups says.

The model weighs a way π to deal a group's values by exp Σ_i Σ_j β_j(c_ij, k(π(i))), over its rows i and the quasi
columns j with the rows' codes c; k is a value's kind: the value alone or, of numbers and rare values, with its
neighbours. Its effects β are such that the completed tables have as many rows by code and kind as least squares finds
without bias. Every table has effects of its own, from weights of the groups of its own (a Bayesian bootstrap, Rubin
1981): tables differ by what the release leaves open about the model, too. Ways to deal are drawn by a Markov chain that
swaps values of two rows of a group (heat bath).

Groups are dealt a portion at a time. Where they are many, what all tables share is learned from some of them: each
table's own updates count all of its rows, and end at its own counts.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sqlanon.completion.effects import count_dealt, find_step, keep_effects, salt_of
from sqlanon.completion.group_evidence import read_level_counts
from sqlanon.completion.model_rows import ModelRows
from sqlanon.engines.base import Engine
from sqlanon.engines.chapter_run import ChapterRun
from sqlanon.estimation.qit_st.tables import read_signature
from sqlanon.estimation.sound_tables import load_readable, refuse_unsound
from sqlanon.estimation.temporary_tables import inline
from sqlanon.estimators.evidence import Array
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import Sql, ident

log = logging.getLogger("sqlanon")
FIRST_UPDATES = 20  # of the effects, from none to those of all tables together
UPDATES = 6  # of one table's, from these
SWEEPS = 4  # turns of swaps between two updates
ROWS_AT_ONCE = 1_000_000  # that are dealt by one statement
MOST_LEARNED = 250_000  # rows, about, from which what all tables share is learned: the steps after it are of all rows
STRIDE = 1.7  # of a table's steps: a group's values are dealt among its rows, so that effects move counts by less


class Dealing:
    """The groups of one release and the chain that deals their values."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any], seed: int) -> None:
        """Code the release's rows and number its values."""
        columns = manifest["columns"]
        self.seed, self.sensitive = seed, columns["sensitive"][0]
        self.space = ModelRows(engine, tables["qit"], columns["quasi"], {columns["group"]: "group_id"})
        counted, size = Sql(ident(columns["count"])), manifest["rows"] / manifest["groups"]
        self.value, _, self.rows_of_kinds = self.space.number_values(
            "value", tables["st"], self.sensitive, counted, size
        )
        inputs = {"stored_st": tables["st"], "value": self.value}
        places = {"group_column": columns["group"], "count_column": columns["count"]}
        self.holding = self.space.make(
            "holding", "completion/groups/holding", inputs, sensitive=self.sensitive, **places
        )
        self.coded = self.space.code(len(self.rows_of_kinds))
        self.signature = read_signature(manifest)  # of the groups' classes: no column where there is one
        self.turn = 0

    def complete(self, tables: int) -> Iterator[list[tuple[str, Sql, Sql]]]:
        """Yield for each completed table its sensitive column with the relation of what was dealt, and the values."""
        targets = self.learn(tables)
        rows = int(self.space.rows_of_levels[self.space.parts[0]].sum())
        log.info("learning what all tables share")
        shared, none = targets.mean(axis=0), np.zeros(targets.shape[1:])
        if rows <= MOST_LEARNED:
            seats = self.seat_rows(rows)
            starts, effects = self.run_chain(seats, self.start(seats), shared, none, 0, FIRST_UPDATES)
        else:
            learned = self._seat(self._sample(MOST_LEARNED / rows), "learned")
            dealt, effects = self.run_chain([learned], self.start([learned]), shared, none, 0, FIRST_UPDATES)
            self.space.forget([str(relation) for relation in (learned, *dealt)])
            seats = self.seat_rows(rows)
            starts = self.start(seats)
        for number, target in enumerate(targets, start=1):
            log.info("dealing table %d of %d", number, tables)
            dealt, _ = self.run_chain(seats, starts, target, effects, number, UPDATES)
            yield [(self.sensitive, self._join(dealt, number), self.value)]

    def close(self) -> None:
        """Drop what was made."""
        self.space.close()

    def learn(self, tables: int) -> Array:
        """Return how many rows by level and kind of value each table is to have, tables x T x K."""
        inputs = {"numbered": self.space.numbered}
        classes = self.space.make("group_class", "completion/groups/group_class", inputs, signature=self.signature)
        relations = {"coded_row": self.coded, "holding": self.holding, "group_class": classes}
        draws = {f"weight_{number}": salt_of(self.seed, "weight", number) for number in range(1, tables + 1)}
        weights = self.space.make(
            "group_weight", "completion/groups/group_weight", {"holding": self.holding}, draws=list(draws.items())
        )
        relations["group_weight"] = weights
        targets = read_level_counts(self.space, relations, list(draws), self.rows_of_kinds)
        self.space.forget([str(classes), str(weights)])
        return targets

    def seat_rows(self, rows: int) -> list[Sql]:
        """Return the rows in their groups' places: relations of whole groups, of about `ROWS_AT_ONCE` rows each."""
        sql = self.space.render_own("completion/groups/first_row", {"coded_row": self.coded}, most=ROWS_AT_ONCE)
        firsts = [int(row["first_row"]) for row in self.space.engine.rows(sql)]
        seats = []
        for number, (first, after) in enumerate(pairwise([*firsts, rows + 1]), start=1):
            portion = Sql(f"(select * from {self.coded} where row_number >= {first} and row_number < {after})")
            seats.append(self._seat(portion, str(number)))
        self.space.forget([str(self.coded), str(self.holding)])
        return seats

    def _seat(self, rows: Sql, name: str) -> Sql:
        """Return coded rows of whole groups in their places, with the values that the groups hold."""
        groups = Sql(f"(select * from {self.holding} where group_id in (select group_id from {rows}))")
        slots = inline(self.space.render_own("completion/groups/slots", {"holding": groups}))
        inputs = {"coded_row": rows, "slots": slots}
        return self.space.make(f"seat_{name}", "completion/groups/seat", inputs, levels=self.space.levels)

    def _sample(self, share: float) -> Sql:
        """Return the rows of about a share of the groups: a query."""
        salt = salt_of(self.seed, "learned")
        return inline(
            self.space.render_own("completion/groups/learned_row", {"coded_row": self.coded}, salt=salt, share=share)
        )

    def start(self, seats: Sequence[Sql]) -> list[Sql]:
        """Return the values dealt evenly to rows in their places: queries."""
        salt = salt_of(self.seed, "start")
        return [
            inline(self.space.render_own("completion/groups/dealt_evenly", {"seat": seat}, salt=salt)) for seat in seats
        ]

    def run_chain(
        self, seats: Sequence[Sql], starts: Sequence[Sql], target: Array, effects: Array, chain: int, updates: int
    ) -> tuple[list[Sql], Array]:
        """Deal until counts are those of the target, T x K, as far as draws allow; return what was dealt, and β.

        seats, starts: rows in their places, and the slots that they begin with; some of the groups are dealt in the
        target's proportions. β(c, k) grows by the logarithm of what is wanted over what was dealt, less and less.
        """
        space, before = self.space, list(starts)
        for update in range(updates + 1):
            listed = keep_effects(space, effects)
            dealt = [
                self._deal(seat, rows, listed, f"dealt_{chain}_{update}_{number}")
                for number, (seat, rows) in enumerate(zip(seats, before, strict=True), start=1)
            ]
            self.turn += SWEEPS
            space.forget([str(listed), *(map(str, before) if update else ())])
            before = dealt
            if update < updates:
                counts = sum(
                    (count_dealt(space, rows, self.value, target.shape) for rows in dealt), np.zeros(target.shape)
                )
                step = find_step(target * round(counts.sum()) / round(target.sum()), counts, update)
                effects = effects + (STRIDE if chain else 1) * (step - step.mean(axis=1, keepdims=True))
        return before, effects

    def _deal(self, seat: Sql, dealt: Sql, effects: Sql, name: str) -> Sql:
        """Return the rows with what they hold after some turns of swaps."""
        space, inputs = self.space, {"seat": seat, "dealt": dealt, "effects": effects}
        scored = space.make("scored", "completion/groups/scored", inputs, levels=space.levels)
        for turn in range(self.turn + 1, self.turn + SWEEPS + 1):
            values = {"salt": salt_of(self.seed, "swap", turn), "turn": turn}
            scored = space.replace(f"scored_{turn}", scored, "completion/groups/swapped", {"scored": scored}, **values)
        rows = space.make(name, "completion/groups/dealt", {"seat": seat, "scored": scored}, levels=space.levels)
        space.forget([str(scored)])
        return rows

    def _join(self, dealt: Sequence[Sql], number: int) -> Sql:
        """Return the number of every row's value, of all portions."""
        texts = (f"select row_number, value_number from {rows}" for rows in dealt)
        whole = self.space.keep(f"dealt_{number}", " union all ".join(texts))
        self.space.forget([str(rows) for rows in dealt])
        return whole


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
