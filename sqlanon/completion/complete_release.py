"""Complete a release: several tables of plausible microdata, each as the release allows it."""

import logging
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from sqlanon.completion.completed import Completed
from sqlanon.completion.effects import count_dealt, find_step, keep_effects, salt_of
from sqlanon.completion.group_evidence import GroupEvidence
from sqlanon.completion.model_rows import ModelRows, refuse_many_values
from sqlanon.completion.recovering import Recovering
from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.estimation.qit_st.class_tables import read_signature
from sqlanon.estimation.sound_tables import load_sound
from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.estimators.evidence import Array
from sqlanon.methods.published_forms import form_name, has_several, one_column
from sqlanon.plans.manifest import Manifest, follows
from sqlanon.plans.plan import relation_name
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql
from sqlanon.wording import option

# Deal each group's values to its rows, as a model learned from the groups says. The model weighs a way π to
# deal a group's values by exp Σ_i Σ_j β_j(c_ij, π(i)), over its rows i and the quasi columns j with the rows'
# codes c. Its effects β are such that the completed tables have as many rows by code and value as least
# squares finds without bias. Every table has effects of its own, from weights of the groups of its own (a
# Bayesian bootstrap, Rubin 1981): tables differ by what the release leaves open about the model, too. Ways to
# deal are drawn by a Markov chain that swaps values of two rows of a group (heat bath).


log = logging.getLogger("sqlanon")
FIRST_UPDATES = 20  # of the effects, from none to those of all tables together
UPDATES = 5  # of one table's, from these
SWEEPS = 4  # turns of swaps between two updates


class Dealing:
    """The groups of one release and the chain that deals their values."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any], seed: int) -> None:
        """Code the release's rows and number its values."""
        columns = manifest["columns"]
        self.seed, self.sensitive = seed, columns["sensitive"][0]
        self.space = ModelRows(engine, tables["qit"], columns["quasi"], {columns["group"]: "group_id"})
        column = {"sensitive": self.sensitive}
        self.value = self.space.make("value", "value", {"published": tables["st"]}, **column)
        inputs = {"stored_st": tables["st"], "value": self.value}
        places = {"group_column": columns["group"], "count_column": columns["count"]}
        self.holding = self.space.make("holding", "holding", inputs, **column, **places)
        query = f"select value_number, sum(held) as row_count from {self.holding} group by all"
        sql = f"{query} order by value_number asc nulls last"
        self.rows_of_values: Array = engine.frame(sql)["row_count"].to_numpy(dtype=float)
        self.coded = self.space.code(len(self.rows_of_values))
        self.signature = read_signature(manifest)  # of the groups' classes: no column where there is one
        self.turn = 0

    def complete(self, tables: int) -> Iterator[list[tuple[str, Sql, Sql]]]:
        """Yield for each completed table its sensitive column with the relation of what was dealt, and the values."""
        refuse_many_values(len(self.rows_of_values))
        targets = self.learn(tables)
        slots = self.space.make("slots", "slots", {"holding": self.holding})
        inputs = {"coded_row": self.coded, "slots": slots}
        self.seat = self.space.make("seat", "seat", inputs, cells=self.space.cells)
        dealt = self.space.make("dealt_evenly", "dealt_evenly", {"seat": self.seat}, salt=salt_of(self.seed, "start"))
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
        classes = self.space.make("group_class", "group_class", inputs, signature=self.signature)
        relations = {"coded_row": self.coded, "holding": self.holding, "group_class": classes}
        draws = {f"weight_{number}": salt_of(self.seed, "weight", number) for number in range(1, tables + 1)}
        weights = self.space.make("group_weight", "group_weight", {"holding": self.holding}, draws=list(draws.items()))
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
            dealt = space.replace(f"dealt_{chain}_{update}", before, "dealt", inputs, cells=cells)
            space.forget([str(scored)])
            if update < updates:
                step = find_step(target, count_dealt(space, dealt, target.shape), update)
                effects = effects + step - step.mean(axis=1, keepdims=True)
        return dealt, effects

    def _sweep(self, dealt: Sql, effects: Array) -> Sql:
        """Return the rows with scores after some turns of swaps."""
        listed = keep_effects(self.space, effects)
        inputs = {"seat": self.seat, "dealt": dealt, "effects": listed}
        scored = self.space.make("scored", "scored", inputs, cells=self.space.cells)
        for _ in range(SWEEPS):
            self.turn += 1
            name, values = f"scored_{self.turn}", {"salt": salt_of(self.seed, "swap", self.turn), "turn": self.turn}
            scored = self.space.replace(name, scored, "swapped", {"scored": scored}, **values)
        self.space.forget([str(listed)])
        return scored


FORMS = ("qit_st", "class_qit_st", "randomized")
MOST_TABLES = 99
LARGEST_SEED = 2**63 - 1
Dealt = list[tuple[str, Sql, Sql]]  # each sensitive column, its rows' values by number, the values


def complete_release(
    engine: Engine,
    tables: Mapping[str, Sql],
    manifest: Manifest,
    count: int,
    seed: int | None = None,
    directory: Path | None = None,
    sensitive: str | None = None,
) -> Completed:
    """Return `count` completed tables of a release; the same seed gives the same ones.

    tables: the published ones; directory: where they lie as files. sensitive: the one column that they shall have, of
    groups with several. Raises UsageError for releases, columns and numbers that do not do.
    """
    if sensitive is not None:
        tables, manifest = _of_column(tables, manifest, sensitive)
    _check(engine, manifest, count, seed)
    chain_seed = secrets.randbelow(LARGEST_SEED) if seed is None else seed
    chain = _open(engine, tables, manifest, chain_seed)
    relations: list[Sql] = []
    alike: list[float] = []
    before: Dealt = []
    try:
        for dealt in chain.complete(count):
            relations.append(_keep(chain.space, len(relations) + 1, dealt))
            alike += [_count_alike(chain.space, *pair) for pair in zip(before, dealt, strict=False)]
            chain.space.forget([str(rows) for _, rows, _ in before])
            before = dealt
    except BaseException:
        with suppress(SqlanonError):
            engine.drop([str(relation) for relation in relations])
        raise
    finally:
        with suppress(SqlanonError):
            chain.close()
    columns = [*manifest["columns"]["quasi"], *manifest["columns"]["sensitive"]]
    return Completed(engine, relations, columns, chain_seed, directory, sum(alike) / len(alike) if alike else None)


def _open(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest, seed: int) -> Dealing | Recovering:
    """Read a release's rows; raise ReleaseError where QIT and ST do not fit each other."""
    if form_name(manifest) == "randomized":
        return Recovering(engine, tables, manifest, seed)
    columns, opened = manifest["columns"], list[Dealing]()
    names = {"group_column": columns["group"], "count_column": columns["count"]}

    def load() -> None:
        opened.append(Dealing(engine, tables, manifest, seed))

    load_sound(Workspace(engine, tables, names, {}), load, "a QIT and an ST")
    return opened[0]


def _keep(space: ModelRows, number: int, dealt: Dealt) -> Sql:
    """Keep a completed table in the session, under a name of its own."""
    sensitive = [
        (column, rows, f"dealt_{place}", values, f"value_{place}")
        for place, (column, rows, values) in enumerate(dealt, start=1)
    ]
    columns = {"quasi": list(space.quasi.items()), "sensitive": sensitive}
    sql = space.render_own("completed", {"numbered": space.numbered}, **columns)
    relation = relation_name(space.prefix, f"completed_{number}")
    space.engine.create(Statement("completed", sql, "table", str(relation)))
    return relation


def _count_alike(space: ModelRows, earlier: tuple[str, Sql, Sql], later: tuple[str, Sql, Sql]) -> float:
    """Return the share of rows that hold the same value in two completed tables."""
    (row,) = space.engine.rows(space.render_own("alike_rows", {"earlier": earlier[1], "later": later[1]}))
    return float(row["alike_rows"]) / max(int(row["row_count"]), 1)


def _of_column(tables: Mapping[str, Sql], manifest: Manifest, column: str) -> tuple[Mapping[str, Sql], Manifest]:
    """Return what a release is for whoever looks at one of its sensitive columns."""
    columns = manifest["columns"]["sensitive"]
    name = next((candidate for candidate in columns if candidate.lower() == column.lower()), None)
    if name is None:
        raise UsageError(f"{column!r} is no sensitive column of the release; it has {', '.join(map(repr, columns))}")
    if has_several(manifest):
        return one_column(tables, manifest, name)
    if len(columns) > 1:
        raise UsageError(f"randomized values are completed in all columns: leave {option('sensitive')} away")
    return tables, manifest


def _check(engine: Engine, manifest: Manifest, count: int, seed: int | None) -> None:
    form, method = form_name(manifest), manifest["method"]
    if has_several(manifest) and "group" in manifest["columns"]:
        raise UsageError(
            "a release of groups with several sensitive columns is completed one column at a time, named with"
            f" {option('sensitive')}: which of their values belong to one person is published nowhere, and rows with"
            " both would show some"
        )
    if form not in FORMS:
        raise UsageError(f"releases of {method} are not completed: exact rows in groups are, and randomized rows")
    if follows(manifest):
        raise UsageError(
            "a release that follows others has groups whose members have left, and whole groups are completed: take the"
            " first release of its ledger"
        )
    if engine.dialect != "duckdb":
        raise UsageError("releases are completed with DuckDB: write this one to a directory and open it there")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_TABLES:
        raise UsageError(f"{option('tables')} is a number from 1 to {MOST_TABLES}, not {count!r}")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED):
        raise UsageError(f"{option('seed')} is a number from 0 to 2**63 - 1, not {seed!r}")
