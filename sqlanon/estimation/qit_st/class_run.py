"""A query on its way through QIT and ST, answered class by class."""

import numpy as np
import pandas as pd

from sqlanon.errors import AnswerError
from sqlanon.estimation.qit_st.uniform_run import UniformAsking
from sqlanon.estimators.class_moments import counted, tallies
from sqlanon.estimators.inference import Inference
from sqlanon.estimators.inference_by_class import ByClass
from sqlanon.estimators.moments import Moments, SelectedValues


class ClassAsking(UniformAsking):
    """Add the classes, the moments by class, and how hits scatter over groups."""

    solved = True

    def preparing(self) -> list[tuple[str, str]]:
        """Add what tells groups' classes."""
        return self.classes.loading()

    def moments(self) -> list[tuple[str, str]]:
        """Read the moments by class, and how hits scatter over groups."""
        return [("moment", self.moment_text(self.classes.by_class)), ("scatter", self.scatter_text())]

    def solving(self) -> list[tuple[str, str]]:
        """Return the queries for the classes' S."""
        return self.classes.solving()

    def scatter_text(self) -> str:
        """Write the query for how hits scatter over groups."""
        by_class = self.classes.by_class
        return self.loaded.render(
            "estimation/qit_st/scatter", self.relations, measures=self.measures, by_class=by_class
        )

    def inference(self, asked: SelectedValues) -> Inference:
        """Read what the hits say class by class."""
        self.loaded.totals()
        strata = self.classes.strata()
        if strata is None:
            self.too_many_values()
            return super().inference(asked)
        if self.counted:
            groups = self.loaded.engine.frame(self.hit_row_text())["group_id"].to_numpy(dtype=np.int64)
            columns = self.classes.counted(groups)
            whole = {name: columns[name].sum(axis=0)[None, None] for name in ("shared", "uniform")}
            return ByClass(Moments(whole, self.loaded.totals()), asked, strata, counted(columns), self.classes.left_out)
        moment = self._by_place(self.moment_text(self.classes.by_class))
        whole_moments = self.arranged(moment, asked)  # which refuses what is no number
        scatter = self._by_place(self.scatter_text())
        if not np.isfinite(scatter.fillna(0.0).to_numpy(dtype=float)).all():
            raise AnswerError("SUM and AVG were asked of numbers whose squares are too large; divide them first")
        found = tallies(moment, scatter, len(strata.rows), len(self.loaded.totals()))
        return ByClass(whole_moments, asked, strata, found, self.classes.left_out)

    def tell(self, inference: Inference, unsolved: int, exact: bool) -> None:
        """Say also what the release leaves out."""
        if self.classes.left_out and not exact:
            rows = inference.moments.row_count + self.classes.left_out
            self.messages.append(
                f"the release leaves out {self.classes.left_out:,} of {rows:,.0f} rows: answers count those published,"
                " intervals reach as far as the others may take them"
            )
        super().tell(inference, unsolved, exact)

    def _by_place(self, sql: str) -> pd.DataFrame:
        """Run a query by class; add each class's place among those that are solved."""
        frame = self.loaded.engine.frame(sql)
        classes = frame["class"].to_numpy(dtype=np.int64) if "class" in frame else np.zeros(len(frame), dtype=np.int64)
        return frame.assign(place=self.classes.places(classes))
