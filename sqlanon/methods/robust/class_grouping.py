"""Grouping class by class: rows whose signature is equal in every background share their groups.

Inside a class all priors agree, so that a group of n different values has posterior exactly 1/n, whatever the
priors are. The templates are `sql_templates/methods/robust/class_grouping/`, and those of
`grouping.py` for what a class shares with a whole table; plain Anatomy is the same with one class.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.methods.base import Steps
from sqlanon.methods.internal_names import quasi_names
from sqlanon.methods.qit_st import Grouped
from sqlanon.methods.robust.background import Background
from sqlanon.methods.robust.suppression import (
    MILLION,
    Suppression,
    refuse_suppressed,
    suppressed_guards,
)
from sqlanon.plans.plan import Request, Step


@dataclass(frozen=True, kw_only=True)
class ClassGrouping(Grouped):
    """A design whose groups hold rows of one class: rows that every background sees alike.

    r: > 1; no posterior is to be above 1/r, and groups hold at least ceil(r) rows. signature: our names of the quasi
    columns that any background reads. backgrounds: what the adversary knows. most_suppressed: share of the rows, 0 … 1,
    that may be left over. early: refuse before rows are drawn for. promised: what proves that no posterior is above
    1/r: exact, or the paper's condition (delta). turns: how many other classes each row that is left over may ask for a
    group; 0 repairs nothing.
    """

    r: float
    signature: tuple[str, ...]
    backgrounds: tuple[Background, ...]
    most_suppressed: float
    promised: str
    turns: int = 0
    early: bool = True

    @property
    def merges(self) -> bool:
        """Return whether a class may have several signatures: those of which a table says the same."""
        return any(knowledge.relation is not None for knowledge in self.backgrounds)

    @property
    def size(self) -> dict[str, object]:
        """Return the size of a group as templates take it."""
        return {"size": self.attribute.size}

    @property
    def signed(self) -> dict[str, object]:
        """Return the signature as templates take it."""
        return {"signature": self.signature}

    @property
    def suppression(self) -> Suppression:
        """Return what too many rows left over are told."""
        return Suppression(
            r=self.r, size=self.attribute.size, column=self.attribute.column, most=self.most_suppressed,
            early=self.early, refuse_nulls=self.refuse_nulls, merges=self.merges,
            taught=any(knowledge.relation is None and len(knowledge.columns) > 1 for knowledge in self.backgrounds),
        )  # fmt: skip

    @property
    def refuse_nulls(self) -> bool:
        """Return whether rows without a sensitive value are refused."""
        return self.request.nulls == "refuse"


def signature(request: Request, backgrounds: Sequence[Background]) -> tuple[str, ...]:
    """Return our names of the quasi columns that any background reads, in the order of the quasi columns."""
    columns = {column for knowledge in backgrounds for column in knowledge.columns}
    return tuple(name for name in quasi_names(request) if name in columns)


def look_ahead(design: ClassGrouping) -> Steps:
    """Return the steps that count how many rows will be left over, and of which classes."""
    # whole millionths, so that every engine compares the same integers
    most = {"most_millionths": round(design.most_suppressed * MILLION)}
    nulls = {"nulls_are_values": design.request.nulls == "value"}
    one_each = {"class": "merged_sample"} if design.merges else {}
    return (
        Step("methods/robust/class_grouping/worst", values={**design.signed, **design.size}, reads=one_each),
        Step("methods/robust/class_grouping/surplus_summary", values={**design.size, **nulls, **most}),
    )


def check_suppressed(design: ClassGrouping) -> Steps:
    """Return the step that counts the rows that no group holds, and refuses too many of them."""
    return (
        Step(
            "methods/robust/class_grouping/suppressed",
            "query",
            refuse=refuse_suppressed(design.suppression),
            guards=suppressed_guards(),
            dropped="dropped_rows",
        ),
    )
