"""Groups for several sensitive columns: rows of one group differ in every one of them.

The first column is grouped as Anatomy does it. Rows that then clash, for they share a value of another column with a
row of their group, change places with rows of other groups, in a declared number of turns; who still clashes is left
out. All of this reads draws and sensitive values, never a quasi value: inside a group every assignment of the rows'
values to its rows is as likely as any other. The templates are `sql_templates/methods/several_columns/`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlanon.errors import UsageError
from sqlanon.methods import grouping
from sqlanon.methods.base import Design, Steps
from sqlanon.methods.grouping import ONE_BLOCK, Attribute
from sqlanon.methods.internal_names import identity_names, quasi_names, rows_to_draw_for, sensitive_names
from sqlanon.methods.qit_st import Grouped
from sqlanon.methods.several_limits import (
    Limits,
    limit_guards,
    refuse_limits,
    refuse_suppressed,
    suppressed_guards,
)
from sqlanon.plans.plan import Repeat, Request, Step
from sqlanon.wording import option

FOLDER = "methods/several_columns"
ALIKE_TURNS = 2  # of exchanges between rows of one first value, which are found soonest
TURNS = 16  # of exchanges with any rows, in one block after the other
MOST_SUPPRESSED = 0.005  # of the rows
NOT_FOLLOWED = (
    option("ledger") + " keeps one sensitive column in step, {number} were given: {columns}; their groups would have to"
    " be kept in step in each of them"
)


@dataclass(frozen=True, kw_only=True)
class SharedGroups(Grouped):
    """A design of one set of groups for several columns; further: those after the first."""

    further: tuple[Attribute, ...]

    @property
    def codes(self) -> tuple[str, ...]:
        """Return what the numbers of values are called in our relations, the first column's first."""
        return ("code", *(f"code{one.suffix}" for one in self.further))

    @property
    def values(self) -> Mapping[str, object]:
        """Return the names under which the columns are published."""
        columns = self.columns
        return {"quasi": columns["quasi"], "group_column": columns["group"], "count_column": columns["count"]}


@dataclass(frozen=True, kw_only=True)
class SeveralColumns(SharedGroups):
    """A design whose groups are diverse in several columns.

    most_suppressed: share of the rows, 0 … 1, that may be left out.
    """

    most_suppressed: float

    @property
    def limits(self) -> Limits:
        """Return what data that cannot be grouped is told."""
        request = self.request
        refuses = request.nulls == "refuse"
        return Limits(request.roles.sensitive, self.attribute.size, self.most_suppressed, refuses, request.show_values)


def design(request: Request, method: str, l: int, block: int | None, max_suppressed: float) -> SeveralColumns:
    """Decide on groups of at least l rows with l different values in each column; UsageError under a ledger."""
    first, *further = attributes_of(request, method, "l", l, block)
    return SeveralColumns(
        request=request,
        attribute=first,
        promise={"l": l, "confidence": 1 / l},
        further=tuple(further),
        most_suppressed=max_suppressed,
    )


def attributes_of(request: Request, method: str, parameter: str, size: int, block: int | None) -> list[Attribute]:
    """Return the columns that are grouped together, in groups of at least `size` rows; UsageError under a ledger."""
    if request.following is not None:
        columns = request.roles.sensitive
        raise UsageError(NOT_FOLLOWED.format(number=len(columns), columns=", ".join(map(repr, columns))))
    return [
        Attribute(
            column=column,
            size=size,
            parameter=parameter,
            purpose=f"{method}/{column}",
            groups_per_block=block or ONE_BLOCK,
            carried=(*quasi_names(request), *sensitive_names(request)[1:], "swap_draw"),
            internal=name,
            draws=("draw", "swap_draw"),
            suffix=name.removeprefix("sensitive"),
        )
        for column, name in zip(request.roles.sensitive, sensitive_names(request), strict=True)
    ]


def check_values(design: Grouped) -> Steps:
    """Return the steps that count values and refuse what cannot be grouped, in one column or in several."""
    if not isinstance(design, SeveralColumns):
        return grouping.check_values(design)
    values = {
        "sensitive_columns": sensitive_names(design.request),
        "nulls_are_values": design.request.nulls == "value",
    }
    asked = design.limits
    counted = Step(f"{FOLDER}/limits", "query", refuse=refuse_limits(asked), guards=limit_guards(asked), values=values)
    return (counted, *(_tally(one) for one in (*reversed(design.further), design.attribute)))


def _tally(one: Attribute) -> Step:
    return Step("methods/grouping/tally", values={"sensitive_column": one.internal}, suffix=one.suffix)


def order_values(design: Grouped) -> Steps:
    """Return the steps that number the values; the first column's come last, for they are dealt out next."""
    further = reversed(design.further) if isinstance(design, SeveralColumns) else ()
    others = (step for one in further for step in grouping.order_values(replace(design, attribute=one)))
    return (*others, *grouping.order_values(design))


def code_rows(design: Grouped) -> Steps:
    """Return the step that gives rows the code of their first value, before they are drawn for."""
    if not isinstance(design, SeveralColumns):
        return grouping.code_rows(design)
    request, attribute = design.request, design.attribute
    rows = rows_to_draw_for(request)
    # the draws of an exchange are made with the others
    columns = tuple(name for name in attribute.carried if name not in attribute.draws)
    return grouping.code_rows_of(design, rows, (*columns, *identity_names(request)))


def form_groups(design: Grouped) -> Steps:
    """Return the steps that end in `grouped`: every row that is published with its group."""
    if not isinstance(design, SeveralColumns):
        return grouping.form_groups(design)
    carried = {"carried": quasi_names(design.request), "codes": design.codes}
    return (
        *code_further(design),
        Step(f"{FOLDER}/seated", values={"codes": design.codes}),
        *exchange_places(design),
        Step(f"{FOLDER}/grouped", values=carried),
        *show_further(design),
    )


def code_further(design: SharedGroups) -> Steps:
    """Return the steps that put the codes of the further columns' values beside the numbered rows."""
    return tuple(
        Step(
            f"{FOLDER}/coded",
            "view",
            yields="numbered",
            suffix=f"_coded{one.suffix}",
            values={"value_column": one.internal, "code_column": f"code{one.suffix}"},
            reads={"frequency": f"frequency{one.suffix}"},
        )
        for one in design.further
    )


def exchange_places(design: SharedGroups) -> Steps:
    """Return the steps from `seated` to `settled`: clashing rows change places, and who still clashes leaves."""
    codes, further = {"codes": design.codes}, {"further_codes": design.codes[1:]}
    return (
        _exchange(design, "exchange_alike", True, ALIKE_TURNS),
        _exchange(design, "exchange", False, TURNS),
        Step(f"{FOLDER}/clashing", values=further, suffix="_last"),
        Step(f"{FOLDER}/settled", values={**codes, "group_size": design.attribute.size}),
    )


def _exchange(design: SharedGroups, name: str, alike: bool, turns: int) -> Repeat:
    """Return the turns in which clashing rows change places."""
    codes, further = {"codes": design.codes}, {"further_codes": design.codes[1:]}
    named = [(code, f"partner_{code}") for code in design.codes]
    # between rows of one first value nothing changes in the first column
    checked = named[1:] if alike else named
    turn = (
        Step(f"{FOLDER}/clashing", values=further),
        Step(f"{FOLDER}/proposed", values={"codes": named, "checked_codes": checked, "alike": alike}),
        Step(f"{FOLDER}/exchange"),
        Step(f"{FOLDER}/reseated", values=codes),
    )
    return Repeat(name, "seated", turn, Step(f"{FOLDER}/left_over", "query", values=further), turns)


def show_further(design: SharedGroups) -> Steps:
    """Return the views of the groups by each further column, as an ST of it reads them."""
    return tuple(
        Step(
            f"{FOLDER}/shown",
            "view",
            suffix=one.suffix,
            values={"code_column": f"code{one.suffix}"},
        )
        for one in design.further
    )


def check_suppressed(design: Design) -> Steps:
    """Return the step that refuses more rows left out than may be, where there are several columns."""
    if not isinstance(design, SeveralColumns):
        return ()
    asked = design.limits
    told = Step(
        f"{FOLDER}/suppressed",
        "query",
        refuse=refuse_suppressed(asked),
        guards=suppressed_guards(asked),
        dropped="dropped_rows",
    )
    return (told,)


def publish_st(design: Grouped) -> Steps:
    """Return the steps of the sensitive tables, one for each column."""
    if not isinstance(design, SharedGroups):
        return (Step("methods/qit_st/st"),)
    first = Step("methods/qit_st/st", values={"sensitive": design.attribute.column})
    others = (
        Step(
            "methods/qit_st/st",
            suffix=one.suffix,
            values={"sensitive": one.column},
            reads={"grouped": f"shown{one.suffix}", "frequency": f"frequency{one.suffix}"},
        )
        for one in design.further
    )
    return (first, *others)
