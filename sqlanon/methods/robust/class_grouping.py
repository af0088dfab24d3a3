"""Grouping class by class: rows whose signature is equal in every background share their groups.

Inside a class all priors agree, so that a group of n different values has posterior exactly 1/n, whatever the
priors are. The templates are `sql_templates/methods/robust/class_grouping/`, and those of
`grouping.py` for what a class shares with a whole table; plain Anatomy is the same with one class.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.methods import grouping
from sqlanon.methods.base import Steps
from sqlanon.methods.internal_names import identity_names, quasi_names
from sqlanon.methods.packing import payload_quasi
from sqlanon.methods.qit_st import Grouped
from sqlanon.methods.robust.background import Background
from sqlanon.methods.robust.suppression import (
    MILLION,
    Suppression,
    refuse_left_over,
    refuse_suppressed,
    suppressed_guards,
    surplus_guards,
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


def number_classes(design: ClassGrouping) -> Steps:
    """Return the steps that count each signature's values, and make every signature a class."""
    values = {**design.signed, "class_purpose": f"{design.attribute.purpose}/class/"}
    suffix = "_first" if design.merges else ""
    return (
        Step(
            "methods/robust/class_grouping/signature_tally", values={**design.signed, "sensitive_column": "sensitive"}
        ),
        Step("methods/robust/class_grouping/class", suffix=suffix, values=values),
    )


def count_classes(design: ClassGrouping) -> Steps:
    """Return the steps that count the values of classes of one signature, and how many groups each class gives."""
    if design.merges:
        return ()
    nulls = {"nulls_are_values": design.request.nulls == "value"}
    valued = {**design.signed, **nulls, "value_purpose": f"{design.attribute.purpose}/value/"}
    return (
        Step("methods/robust/class_grouping/ranked", values=valued),
        Step("methods/robust/class_grouping/capacity", values=design.size),
        Step("methods/robust/class_grouping/kept"),
    )


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


def check_surplus(design: ClassGrouping) -> Steps:
    """Return the step that refuses what leaves too many rows over, before any row is drawn for."""
    return (
        Step(
            "methods/robust/class_grouping/feasibility",
            "query",
            refuse=refuse_left_over(design.suppression),
            guards=surplus_guards(design.suppression),
        ),
    )


def order_class_values(design: ClassGrouping) -> Steps:
    """Return the step that gives every value of every class its place in the order in which seats are dealt."""
    # the values of a class of several signatures are not told apart by signature
    signed = {"signature": ()} if design.merges else design.signed
    values = {**signed, **design.size, "groups_per_block": design.attribute.groups_per_block}
    return (Step("methods/robust/class_grouping/frequency", values=values),)


def coding(design: ClassGrouping) -> tuple[dict[str, object], dict[str, str]]:
    """Return the parameters and the inputs of the step that gives rows a code."""
    request = design.request
    # codes are given to rows that already have their identity, so that draws depend on it and not on the code
    identified = identity_names(request) == ("identity",)
    drawn_from = (*payload_quasi(request, design.layout), *identity_names(request))
    # under a ledger rows carry their person's name
    drawn_from += tuple(name for name in design.attribute.payload if name not in drawn_from)
    values: dict[str, object] = {"drawn_from": drawn_from, "signature": design.signature}
    return values, {"population": "identified"} if identified else {}


def code_rows(design: ClassGrouping) -> Steps:
    """Return the step that gives rows the code of their class and value, where a class has one signature."""
    if design.merges:
        return ()
    values, reads = coding(design)
    return (Step("methods/robust/class_grouping/coded", "view", values=values, reads=reads),)


def draw_coded(design: ClassGrouping) -> Steps:
    """Return the step that draws for every coded row, once."""
    return grouping.draw_coded(design, "signature_tally")


def seat_coded(design: ClassGrouping) -> Steps:
    """Return the steps that seat the rows in blocks, class by class; those that are left over may be read again."""
    return grouping.seat_coded(design, again=bool(design.turns))


def renumber_groups(design: ClassGrouping) -> Step:
    """Return the step that numbers groups anew: made class by class, their order would tell the class of each."""
    numbers = {"group_purpose": f"{design.attribute.purpose}/group/", **grouping.draw_groups(design)}
    return Step("methods/robust/class_grouping/renumbered", values=numbers)


def form_class_groups(design: ClassGrouping) -> Steps:
    """Return the steps that end in `grouped`: every kept row with its group; group numbers tell of no class."""
    return (
        renumber_groups(design),
        Step("methods/robust/class_grouping/grouped", values={"payload": design.attribute.payload}),
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
