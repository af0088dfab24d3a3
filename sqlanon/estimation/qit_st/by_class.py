"""How a run reads what its groups say class by class."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.estimation.failures import require_finite_sums
from sqlanon.estimation.qit_st.group_run import Uniform
from sqlanon.estimators.class_moments import sums_of_columns
from sqlanon.estimators.class_systems import OWN_GRID
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.inference_by_class import MOST_KEPT, ClassInference, count_kinds, find_merged
from sqlanon.estimators.moments import SelectedValues
from sqlanon.estimators.ridge import SHARED_GRID

if TYPE_CHECKING:
    from sqlanon.engines.base import Numbers

POSTERIOR = 2 * len(OWN_GRID) + 1  # numbers that are kept for an eigenvector
_BY_CLASS = {"moment": "estimation/qit_st/moment", "scatter": "estimation/qit_st/scatter"}


class ByClass(Uniform):
    """Add the classes, the moments by class, and how hits scatter over groups."""

    held = replace(Uniform.held, copies=3)
    reads_hits_twice = True  # for the moments by class, and for how hits scatter
    splits_averages = False  # the posteriors of a sum and of a count are not of one model: their ratio is no average

    def preparing_statements(self) -> list[tuple[str, str]]:
        """Add what tells groups' classes."""
        return self.run.classes.loading_statements()

    def moment_statements(self) -> list[tuple[str, str]]:
        """Return the queries for the moments by class, and for how hits scatter over groups."""
        return [(name, self._render_by_class(template)) for name, template in _BY_CLASS.items()]

    def solving_statements(self) -> list[tuple[str, str]]:
        """Return the queries for the classes' S."""
        return self.run.classes.solving_statements()

    def _render_by_class(self, template: str) -> str:
        parameters = {"measures": self.run.measures, "by_class": self.run.classes.by_class}
        return self.run.loaded.render(template, self.run.relations, **parameters)

    def count_lines(self, values: int) -> int:
        """Count the values of every class."""
        systems = self.run.classes.load_systems()
        return values if systems is None else values + len(systems.cells[0])

    def count_solved(self, cells: int, selected: SelectedValues) -> int:
        """Count the posteriors that are kept, and the one that is being solved."""
        systems = self.run.classes.load_systems()
        if systems is None:
            return 0
        roots, shared, place_size = len(systems.roots), len(systems.shared_codes), systems.blocks.place_size
        if len(find_merged(systems, selected.code, selected.set)) == selected.set_count:
            kinds = count_kinds(systems)
            roots, shared, place_size = min(roots, kinds * len(systems.rows)), min(shared, kinds), 0
        size = POSTERIOR * roots + len(OWN_GRID) * len(SHARED_GRID) * shared**2
        return int(min(cells * size, MOST_KEPT) + 2 * size + place_size)

    def infer(self, selected: SelectedValues) -> Inference:
        """Read what the hits say class by class."""
        classes, totals = self.run.classes, self.run.loaded.load_totals()
        systems = classes.load_systems()
        if systems is None:
            self.tell_too_many_values()
            return super().infer(selected)
        moment = self._read_by_place("moment")
        # refuses what is no number, before squares are read
        moments = self.run.arrange_moments(moment, selected)
        scatter = self._read_by_place("scatter")
        require_finite_sums(scatter)
        hit_sums = sums_of_columns(moment, scatter, len(systems.rows), len(totals))
        return ClassInference(moments, selected, systems, hit_sums, classes.left_out)

    def tell_limits(self, inference: Inference, undetermined: int, exact: bool) -> None:
        """Say also what the release leaves out."""
        if self.run.classes.unsolved_rows and not exact:
            unsolved, rows = self.run.classes.unsolved_rows, inference.moments.row_count
            self.run.messages.append(
                f"{unsolved:,.0f} of {rows:,.0f} rows are of classes too many to solve together with the largest ones:"
                " answered by uniform, their part of intervals as if values were dealt to rows at random"
            )
        if self.run.classes.left_out and not exact:
            left_out = self.run.classes.left_out
            rows = inference.moments.row_count + left_out
            # which of them meet a condition is not published: where they are many, the likely ones may be too few
            counts = any(aggregate.function.counts for aggregate in self.run.query.aggregates)
            most = f"; a count of the source may lie up to {left_out:,} above the upper end" if counts else ""
            self.run.messages.append(
                f"the release leaves out {left_out:,} of {rows:,.0f} rows: answers count those published, intervals"
                f" reach as far as rows like those of its smallest classes may take them, which is only a bound{most}"
            )
        super().tell_limits(inference, undetermined, exact)

    def _read_by_place(self, name: str) -> "dict[str, Numbers]":
        """Run a query by class; add each class's place among those that are solved."""
        columns = self.run.loaded.engine.arrays(self._render_by_class(_BY_CLASS[name]))
        lines = len(columns["cell"])
        classes = columns["class"].astype(np.int64) if "class" in columns else np.zeros(lines, dtype=np.int64)
        return columns | {"place": self.run.classes.place_classes(classes)}
