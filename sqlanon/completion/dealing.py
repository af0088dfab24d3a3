"""Deal each group's values to its rows, as a model learned from the groups says.

The model (`sqlanon.completion.learning`) weighs a way π to deal a group's values by exp Σ_i Σ_j β_j(c_ij, k(π(i))),
over its rows i and the quasi columns j with the rows' codes c; k is a value's kind. While it is learned, the ways to
deal are weighed as the learned adversary does (`sqlanon.adversary.groups`). Ways to deal are drawn by a Markov chain
that swaps values of two rows of a group (heat bath), from values dealt evenly.

Groups are dealt a portion at a time. Where they are many, the model is learned from some of them.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sqlanon.completion.learning import MOST_PAIRS, MOST_ROWS, Model
from sqlanon.completion.model_rows import ModelRows, salt_of
from sqlanon.engines.base import Engine
from sqlanon.engines.chapter_run import ChapterRun
from sqlanon.estimation.failures import load_readable, refuse_unsound
from sqlanon.estimation.release_tables import inline
from sqlanon.estimators.evidence import Array
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import Sql, ident

log = logging.getLogger("sqlanon")
SWEEPS = 24  # turns of swaps
ROWS_AT_ONCE = 1_000_000  # that are dealt by one statement


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
        slots = self.space.engine.arrays(self.space.render_own("completion/groups/held_kind", inputs))
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
        sql = self.space.render_own("completion/groups/first_row", {"coded_row": self.coded}, most=ROWS_AT_ONCE)
        firsts = [int(row["first_row"]) for row in self.space.engine.rows(sql)]
        seats = []
        for number, (first, after) in enumerate(pairwise([*firsts, self.rows + 1]), start=1):
            rows = Sql(f"(select * from {self.coded} where row_number >= {first} and row_number < {after})")
            groups = Sql(f"(select * from {self.holding} where group_id in (select group_id from {rows}))")
            slots = inline(self.space.render_own("completion/groups/slots", {"holding": groups}))
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
            values = {"salt": salt_of(self.seed, "swap", table, turn), "turn": turn}
            scored = space.replace(f"scored_{turn}", scored, "completion/groups/swapped", {"scored": scored}, **values)
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
