"""Deal each group's values to its rows, as a model learned from the groups says.

The model weighs a way π to deal a group's values by exp Σ_i Σ_j β_j(c_ij, π(i)), over its rows i and the quasi columns
j with the rows' codes c. Its effects β are such that the completed tables have as many rows by code and value as least
squares finds without bias. Every table has effects of its own, from weights of the groups of its own (a Bayesian
bootstrap, Rubin 1981): tables differ by what the release leaves open about the model, too. Ways to deal are drawn by a
Markov chain that swaps values of two rows of a group (heat bath).
"""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sqlanon.completion.effects import count_dealt, find_step, keep_effects, salt_of
from sqlanon.completion.group_evidence import GroupEvidence
from sqlanon.completion.model_rows import ModelRows, refuse_many_values
from sqlanon.engines.base import Engine
from sqlanon.estimation.qit_st.class_tables import read_signature
from sqlanon.estimation.sound_tables import load_sound
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.estimators.evidence import Array
from sqlanon.plans.templates import Sql

log = logging.getLogger("sqlanon")
FIRST_UPDATES = 20  # of the effects, from none to those of all tables together
UPDATES = 5  # of one table's, from these
SWEEPS = 4  # turns of swaps between two updates
MOST_VALUES = 5_000  # sensitive values of groups


class Dealing:
    """The groups of one release and the chain that deals their values."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any], seed: int) -> None:
        """Code the release's rows and number its values."""
        columns = manifest["columns"]
        self.seed, self.sensitive = seed, columns["sensitive"][0]
        self.space = ModelRows(engine, tables["qit"], columns["quasi"], {columns["group"]: "group_id"})
        column = {"sensitive": self.sensitive}
        self.value = self.space.make("value", "completion/value", {"published": tables["st"]}, **column)
        inputs = {"stored_st": tables["st"], "value": self.value}
        places = {"group_column": columns["group"], "count_column": columns["count"]}
        self.holding = self.space.make("holding", "completion/holding", inputs, **column, **places)
        query = f"select value_number, sum(held) as row_count from {self.holding} group by all"
        sql = f"{query} order by value_number asc nulls last"
        self.rows_of_values: Array = engine.frame(sql)["row_count"].to_numpy(dtype=float)
        self.coded = self.space.code(len(self.rows_of_values))
        self.signature = read_signature(manifest)  # of the groups' classes: no column where there is one
        self.turn = 0

    def complete(self, tables: int) -> Iterator[list[tuple[str, Sql, Sql]]]:
        """Yield for each completed table its sensitive column with the relation of what was dealt, and the values."""
        refuse_many_values(len(self.rows_of_values), MOST_VALUES)
        targets = self.learn(tables)
        slots = self.space.make("slots", "completion/slots", {"holding": self.holding})
        inputs = {"coded_row": self.coded, "slots": slots}
        self.seat = self.space.make("seat", "completion/seat", inputs, cells=self.space.cells)
        dealt = self.space.make(
            "dealt_evenly", "completion/dealt_evenly", {"seat": self.seat}, salt=salt_of(self.seed, "start")
        )
        log.info("learning what all tables share")
        start, effects = self.run_chain(dealt, targets.mean(axis=0), np.zeros(targets.shape[1:]), 0, FIRST_UPDATES)
        for number, target in enumerate(targets, start=1):
            log.info("dealing table %d of %d", number, tables)
            relation, _ = self.run_chain(start, target, effects, number, UPDATES)
            yield [(self.sensitive, relation, self.value)]

    def close(self) -> None:
        """Drop what was made."""
        self.space.close()

    def learn(self, tables: int) -> Array:
        """Return how many rows by cell and value each table is to have, tables x T x V."""
        inputs = {"numbered": self.space.numbered}
        classes = self.space.make("group_class", "completion/group_class", inputs, signature=self.signature)
        relations = {"coded_row": self.coded, "holding": self.holding, "group_class": classes}
        draws = {f"weight_{number}": salt_of(self.seed, "weight", number) for number in range(1, tables + 1)}
        weights = self.space.make(
            "group_weight", "completion/group_weight", {"holding": self.holding}, draws=list(draws.items())
        )
        relations["group_weight"] = weights
        return GroupEvidence(self.space, relations, list(draws), self.rows_of_values).estimate()

    def run_chain(self, dealt: Sql, target: Array, effects: Array, chain: int, updates: int) -> tuple[Sql, Array]:
        """Deal until counts are those of the target, T x V, as far as draws allow; return what was dealt, and β.

        β(c, v) grows by the logarithm of what is wanted over what was dealt, less and less from one update to the next.
        """
        space, cells = self.space, self.space.cells
        for update in range(updates + 1):
            scored = self._sweep(dealt, effects)
            inputs = {"seat": self.seat, "scored": scored}
            before = dealt if update else None
            dealt = space.replace(f"dealt_{chain}_{update}", before, "completion/dealt", inputs, cells=cells)
            space.forget([str(scored)])
            if update < updates:
                step = find_step(target, count_dealt(space, dealt, target.shape), update)
                effects = effects + step - step.mean(axis=1, keepdims=True)
        return dealt, effects

    def _sweep(self, dealt: Sql, effects: Array) -> Sql:
        """Return the rows with scores after some turns of swaps."""
        listed = keep_effects(self.space, effects)
        inputs = {"seat": self.seat, "dealt": dealt, "effects": listed}
        scored = self.space.make("scored", "completion/scored", inputs, cells=self.space.cells)
        for _ in range(SWEEPS):
            self.turn += 1
            name, values = f"scored_{self.turn}", {"salt": salt_of(self.seed, "swap", self.turn), "turn": self.turn}
            scored = self.space.replace(name, scored, "completion/swapped", {"scored": scored}, **values)
        self.space.forget([str(listed)])
        return scored


def open_groups(engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any], seed: int) -> Dealing:
    """Read a release's rows; raise ReleaseError where QIT and ST do not fit each other."""
    columns, opened = manifest["columns"], list[Dealing]()
    names = {"group_column": columns["group"], "count_column": columns["count"]}

    def load() -> None:
        opened.append(Dealing(engine, tables, manifest, seed))

    load_sound(Workspace(engine, tables, names, {}), load, "a QIT and an ST")
    return opened[0]
