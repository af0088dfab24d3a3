"""Rivals from the papers' own comparisons. Their answers are computed here; they cannot be published.

dbr: every row's sensitive value is drawn from the distribution of the whole column; a count is the published one
(SPLU-Gen's paper, section 6). laplace: the true count plus noise of scale 1/ε, drawn anew for every question. sampling:
a share p of the rows as they are; a count is the sample's divided by p.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlanon.comparison.own_queries import answer_over
from sqlanon.comparison.workload import AskedQuery, Microdata
from sqlanon.estimators.evidence import NORMAL_QUANTILE

if TYPE_CHECKING:
    import pandas as pd

RIVALS = {"dbr": "", "laplace": "epsilon", "sampling": "share"}  # the parameter of each
PROMISES = {
    "dbr": "values say nothing of their rows",
    "laplace": "odds change by {factor:.3g} a question at most",
    "sampling": "{value:g} of rows are published as they are",
}
ESTIMATORS = {"dbr": "published", "laplace": "noisy", "sampling": "scaled"}


@dataclass(frozen=True)
class Rival:
    """One rival with the value of its parameter (0 where it has none)."""

    method: str
    value: float = 0.0

    @property
    def parameter(self) -> str:
        """Return the parameter as it is shown."""
        return f"{RIVALS[self.method]} = {self.value:.3g}" if RIVALS[self.method] else ""

    @property
    def promise(self) -> str:
        """Return what it promises."""
        return PROMISES[self.method].format(value=self.value, factor=math.exp(self.value))

    @property
    def estimator(self) -> str:
        """Return how its answers are made."""
        return ESTIMATORS[self.method]

    def confidence(self, prior: float, questions: int) -> float:
        """Return what an adversary's confidence in the most frequent value may become.

        prior: its share of the rows. questions: that were answered; each changes the odds by e^ε at most.
        """
        if self.method == "sampling":
            return 1.0
        odds = prior / (1 - prior) if prior < 1 else math.inf
        grown = odds * math.exp(min(self.value * questions, 700.0))
        return 1.0 if math.isinf(grown) else grown / (1 + grown)

    def answer(self, data: Microdata, asked: Sequence[AskedQuery], seed: int) -> Iterator["pd.DataFrame"]:
        """Yield answers to the counts of each query, shaped as a release's."""
        if self.method == "laplace":
            yield from self._add_noise(asked, seed)
            return
        template = "comparison/rivals/redrawn" if self.method == "dbr" else "comparison/rivals/sampled"
        settings: dict[str, Any] = {} if self.method == "dbr" else {"share": self.value}
        text = data.workspace.render(
            template, {"microdata": data.renamed().relation}, quasi=list(data.quasi),
            sensitive=data.sensitive[0], seed=str(seed), **settings
        )  # fmt: skip
        relation = data.workspace.keep("rival", text)
        other = replace(data, relation=relation, name=str(relation)[1:-1])
        for query, counts in zip(asked, answer_over(other, [query.text for query in asked]), strict=True):
            yield self._scale(query, counts)
        data.workspace.forget([str(relation)])

    def _scale(self, query: AskedQuery, counts: "pd.DataFrame") -> "pd.DataFrame":
        """Turn counts of a published table into answers; a sample's interval is the binomial's."""
        answer = counts[list(query.shape.keys)].copy()
        for name in query.shape.counts:
            answer[name] = counts[name] / (self.value or 1.0)
            if self.value:
                half = NORMAL_QUANTILE * (counts[name] * (1 - self.value)) ** 0.5 / self.value
                answer[f"{name}_low"], answer[f"{name}_high"] = answer[name] - half, answer[name] + half
        return answer

    def _add_noise(self, queries: Sequence[AskedQuery], seed: int) -> Iterator["pd.DataFrame"]:
        import numpy as np

        random = np.random.default_rng([seed, int(1e6 * self.value)])
        half = math.log(20) / self.value  # P(|noise| > t) = e^(-εt)
        for query in queries:
            answer = query.truth[list(query.shape.keys)].copy()
            for name in sorted(query.shape.counts):
                answer[name] = query.truth[name] + random.laplace(0.0, 1 / self.value, len(answer))
                answer[f"{name}_low"], answer[f"{name}_high"] = answer[name] - half, answer[name] + half
            yield answer


def read_rivals(method: str, values: Sequence[float]) -> list[Rival]:
    """Return a rival with each value of its parameter."""
    return [Rival(method, value) for value in values] if RIVALS[method] else [Rival(method)]


def largest_share(data: Microdata, name: str, drops: bool) -> float:
    """Return the share of the most frequent value of a sensitive column; drops: of the rows without NULL in any."""
    known = data.sensitive if drops else ()
    values = {"column": name, "known_columns": known}
    rows = data.workspace.engine.rows(
        data.workspace.render("comparison/largest_share", {"microdata": data.relation}, **values)
    )
    return float(rows[0]["largest"])
