"""Draw plausible true values of randomized rows.

A row with codes c that shows y has the true value x of the kind k with probability in proportion to
exp(Σ_j β_j(c_j, k)) f_x/f_k T_xy; T is the channel of the closed form, f how many rows have each value, of what is
published. The effects β are learned as those of groups are (`sqlanon.completion.learning`), each row weighed by itself.
Each sensitive column is recovered on its own.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from sqlanon.completion.learning import MOST_PAIRS, MOST_ROWS, Model
from sqlanon.completion.model_rows import ModelRows, Whole, salt_of
from sqlanon.engines.base import Engine
from sqlanon.errors import DataError
from sqlanon.estimation.randomized.tables import Randomized
from sqlanon.estimators.closed_form import ClosedForm
from sqlanon.estimators.evidence import Array
from sqlanon.plans.templates import Sql

log = logging.getLogger("sqlanon")
MOST_VALUES = 500  # of a randomized column: every row is weighed with each
Recovered = list[tuple[str, Sql, Sql]]


class Recovering:
    """The rows of one randomized release, and the models of their true values."""

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Mapping[str, Any], seed: int) -> None:
        """Number the release's rows; raise ReleaseError where the manifest does not say γ."""
        self.seed, self.loaded = seed, Randomized(engine, {"data": tables["data"]}, manifest)
        self.sensitive = self.loaded.sensitive
        shown_columns = {name: f"shown_{number}" for number, name in enumerate(self.sensitive, start=1)}
        self.published = tables["data"]
        self.space = ModelRows(engine, self.published, self.loaded.quasi, shown_columns)

    def complete(self, tables: int) -> Iterator[Recovered]:
        """Yield for each completed table its sensitive columns, each with the relation of its true values' numbers."""
        numbered = [
            self.space.number_values(f"value_{place}", self.published, column, Sql("1"), self.loaded.gamma[place])
            for place, column in enumerate(self.sensitive)
        ]
        most = max(len(codes) for _, codes in numbered)
        if most > MOST_VALUES:
            raise DataError(
                f"the release has {most:,} sensitive values; complete learns of {MOST_VALUES:,} at most where they are"
                " randomized"
            )
        self.coded = self.space.code(int(max(codes.max() for _, codes in numbered)))
        models = [_Column(self, place, value, codes) for place, (value, codes) in enumerate(numbered)]
        for number in range(1, tables + 1):
            log.info("recovering table %d of %d", number, tables)
            yield [model.draw(number) for model in models]

    def close(self) -> None:
        """Drop what was made."""
        self.space.close()
        self.loaded.close()


class _Column:
    """One randomized column of numbered rows: its channel, and the model of its true values."""

    def __init__(self, release: Recovering, place: int, value: Sql, codes: Whole) -> None:
        self.release, self.place, self.value, self.codes = release, place, value, codes - 1
        space = self.space = release.space
        # the level of the rows that show the first value; levels of quasi columns come before
        first = space.parts[-1].stop
        columns = {"levels": space.levels, "shown": f"shown_{place + 1}", "first": first}
        inputs = {"coded_row": release.coded, "value": value}
        self.shown = space.make(f"shown_row_{place}", "completion/randomized/shown_row", inputs, **columns)
        release.loaded.load([place])
        self.form, self.of_kind = release.loaded.closed_form(place), np.eye(codes.max())[self.codes]
        self.channel = self._find_channel(self.form)
        log.info("learning what all tables share of one column")
        self.model = self._read_model()
        self.shared = self.model.learn_shared()

    def _find_channel(self, form: ClosedForm) -> Array:
        """Return how likely a row of each value's kind has the value (column) and shows each one (row), V x V."""
        inside = form.counts / np.maximum(form.counts @ self.of_kind, 1e-12)[self.codes]
        return np.maximum(form.expected(np.eye(len(inside))), 1e-12) * np.maximum(inside, 1e-12)

    def _read_model(self) -> Model:
        """Read the rows that are learned from, with what each shows."""
        rows, (values, kinds) = self.form.rows, self.of_kind.shape
        sample = {
            "salt": salt_of(self.release.seed, "learned", self.place),
            "share": min(1.0, MOST_ROWS / rows, MOST_PAIRS / (rows * kinds)),
        }
        inputs, levels = {"shown_row": self.shown}, self.space.levels
        sql = self.space.render_own("completion/randomized/learned_row", inputs, levels=levels, **sample)
        read = {name: np.asarray(column, np.int64) for name, column in self.space.engine.arrays(sql).items()}
        shown = read["shown_number"] - 1

        def weigh(chances: Array, combination: Whole, weights: Array) -> sparse.csr_array:
            # weighed rows have published counts, and by these a channel, of their own; true counts are nearly those
            counts = np.bincount(shown, weights, minlength=values) * rows / weights.sum()
            drawn = replace(self.form, counts=np.minimum(counts, np.floor(rows / self.form.gamma)))
            likely = chances[combination] * (self._find_channel(drawn) @ self.of_kind)[shown]
            likely /= likely.sum(axis=1, keepdims=True)
            whole = drawn.counts @ self.of_kind * weights.sum() / drawn.counts.sum()
            return sparse.csr_array(likely * (whole / np.maximum(weights @ likely, 1e-12)))

        codes = np.stack([read[level] for level in levels], axis=1)
        return Model(codes, self.space.parts, kinds, np.arange(len(codes)), weigh)

    def draw(self, number: int) -> tuple[str, Sql, Sql]:
        """Return a table's values of this column: its name, the relation of numbers by row, the relation of values."""
        seed, place = self.release.seed, self.place
        effects = self.model.learn_table(self.shared, salt_of(seed, "weight", place, number))
        listed = self.space.keep_effects(np.concatenate([effects[:, self.codes], np.log(self.channel)]))
        inputs = {"shown_row": self.shown, "effects": listed}
        values = {"levels": self.space.levels, "salt": salt_of(seed, "recover", place, number)}
        relation = self.space.make(
            f"recovered_{place}_{number}", "completion/randomized/recovered", inputs, values=len(self.codes), **values
        )
        self.space.forget([str(listed)])
        return self.release.sensitive[place], relation, self.value
