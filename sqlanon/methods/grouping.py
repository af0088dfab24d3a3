"""Grouping: N rows into floor(N/l) groups of different sensitive values, mixed in blocks.

Anatomy, SPLU-Gen and r-robust publishing begin with these chapters, releases under a ledger group their arrivals by
them: `sql_templates/grouping.sql.j2` and those before it. What engines do in ways of their own is in `engines/`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from sqlanon.methods import packing
from sqlanon.methods.base import Design, Steps
from sqlanon.methods.packing import (
    Layout,
    identifier_names,
    identity_names,
    quasi_names,
    sensitive_names,
)
from sqlanon.models.fields import Option
from sqlanon.models.values import BLOCK
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Request, Row, Statement
from sqlanon.plans.templates import Sql

GROUPS_PER_BLOCK = 64
ONE_BLOCK = 2**62  # more groups than any table has: a single block

Blocks = Annotated[
    int | Literal["all"] | None,
    BLOCK,
    Field(default=GROUPS_PER_BLOCK, description="Groups per block of mixed values, or all for one block."),
]

LEFT_OUT = "{option} {value} is no share of the rows; give a number from 0 to below 1"
KnownSize = Annotated[
    bool,
    Field(
        default=False,
        description="Several rows a person: people of a group have about as many values (1, 2, 3-4, 5-8, …), which"
        " others may know.",
    ),
    Option(compiled=False),
]


@dataclass(frozen=True)
class Attribute:
    """One sensitive attribute to group by: groups of at least `size` rows, all with different values.

    column: its published name; internal: its name in our relations (`sensitive`, `sensitive_2` …).
    parameter: what `size` is called in messages (l, gamma). purpose: what its draws are for, unlike any other's.
    payload: the columns that pass through the grouping. draws: one draw a row for each name.
    """

    column: str
    size: int
    parameter: str
    purpose: str
    groups_per_block: int
    payload: tuple[str, ...]
    internal: str = "sensitive"
    draws: tuple[str, ...] = ("draw",)
    suffix: str = ""


@dataclass(frozen=True, kw_only=True)
class Grouping(Design):
    """A design that groups rows by one attribute; layout: how their quasi values are packed, None: they are columns."""

    attribute: Attribute
    layout: Layout | None = None

    @property
    def range_query(self) -> tuple[Statement, Row] | None:
        """Return the query of the quasi columns' ranges, by which rows may be packed."""
        return packing.range_query(self.request)

    @property
    def constants(self) -> Mapping[str, Layout]:
        """Return how rows are packed."""
        return {} if self.layout is None else {packing.LAYOUT: self.layout}


def population(request: Request) -> Chapter:
    """Return the chapter that ends in `population`: the rows to publish, under names of our own."""
    roles, source = request.roles, request.source
    columns = (
        *zip(roles.quasi, quasi_names(request), strict=True),
        *zip(roles.identifier, identifier_names(request), strict=True),
        *zip(roles.sensitive, sensitive_names(request), strict=True),
    )
    selected = [(source.expression(column), name) for column, name in columns]
    if identity_names(request) == ("row_number",):
        # with a key of our own any unique numbering tells rows apart, and costs no hash of the whole row
        selected.append((source.numbering, "row_number"))
    values = {
        "relation": source.relation,
        "selected": selected,
        # under a ledger, a person whose value is missing today has not left
        "required": sensitive_names(request)
        if request.nulls == "drop" and request.following is None and not request.sets
        else (),
        "known_again": request.following is not None,
        "identifiers": () if request.unit == "row" or request.sets else identifier_names(request),
        "told_apart": True,
    }
    return Chapter("population", values)


def tally(signature: Sequence[str] = (), column: str = "sensitive") -> Chapter:
    """Return the chapter that counts each sensitive value of each signature."""
    return Chapter("tally", {"signature": signature, "column": column})


def classify(design: Grouping, signature: Sequence[str]) -> Chapter:
    """Return the chapter that ends in `class`: rows of equal signatures are of one class."""
    return Chapter("robust/classes", {"signature": signature, "purpose": design.attribute.purpose, "spelled": None})


def count_values(design: Grouping, signature: Sequence[str] = ()) -> Chapter:
    """Return the chapter that ends in `ranked` and `capacity`: values by class, and the groups that they give."""
    attribute, nulls = design.attribute, design.request.nulls == "value"
    values = {
        "signature": signature,
        "nulls_are_values": nulls,
        "purpose": attribute.purpose,
        "size": attribute.size,
    }
    return Chapter("counting", values)


def no_help(parameter: str) -> str:
    """Return what helps nobody where a value stands in too many rows."""
    return "; merging values makes none rarer" + (", and splu has the same limit" if parameter == "l" else "")


def refuse_missing(design: Grouping) -> Chapter:
    """Return the chapter that refuses rows without a sensitive value, unless it was said what becomes of them."""
    attribute = design.attribute
    values = {
        "column": attribute.column,
        "shown_column": repr(attribute.column),
        "suffix": attribute.suffix,
        "refuse_nulls": design.request.nulls == "refuse",
    }
    return Chapter("known", values)


def refuse_frequent(
    design: Grouping, note: Callable[[Row], str] | None = None, together: Sequence[str] = (), who: str = "rows"
) -> Chapter:
    """Return the chapter that refuses a value that stands in too many rows.

    note: what to tell of its figures. together: the counts of all columns, where these are grouped together; who: of
    whom.
    """
    request, attribute = design.request, design.attribute
    values = {
        "size": attribute.size,
        "parameter": attribute.parameter,
        "shown": [*map(repr, request.roles.sensitive if together else (attribute.column,))],
        # a value of the data is named only where the publisher said so: messages end in logs
        "shown_value": Sql("' (''' || coalesce(largest_value, 'NULL') || ''')'" if request.show_values else "''"),
        "nulls_are_values": request.nulls == "value",
        "only": len(request.roles.sensitive) == 1,
        "no_help": no_help(attribute.parameter),
        "suffix": attribute.suffix,
        "counted": together or ("tally",),
        "together": bool(together),
        "who": who,
    }
    return Chapter("feasible", values, {} if note is None else {f"feasible{attribute.suffix}": note})


def bind(design: Design, alternatives: Sequence[Sql] = ()) -> Steps:
    """Return the chapter that makes the secret of the draws of a given key and of the rows, in the place of `key`.

    A fresh key is of one run, and so of one table, anyhow. alternatives: what tells a row's sensitive values, where it
    is not their columns.
    """
    request = design.request
    if request.identity == "number":
        return ()
    quasi = quasi_names(request) if request.identity == "row" else ()
    told_by = (*quasi, *identifier_names(request), *(() if alternatives else sensitive_names(request)))
    return (Chapter("secret", {"texts": (), "told_by": told_by, "values": alternatives}),)


def tell_apart(design: Design, passed: Sequence[str] = (), label: Sequence[str] = ()) -> Steps:
    """Return the chapter that gives rows what they are drawn for by under a given key.

    passed: further columns that rows keep. label: one that is published beside the row, and so tells it apart.
    """
    request = design.request
    if identity_names(request) != ("identity",):
        return ()
    by_identifier = request.identity == "identifier"
    own = (*quasi_names(request), *sensitive_names(request))
    every = (*quasi_names(request), *identifier_names(request), *sensitive_names(request))
    values = {
        "payload": (*own, *passed, *label),
        "identifiers": identifier_names(request) if by_identifier else (),
        "compared": () if by_identifier else (*every, *label),
    }
    return (Chapter("identity", values),)


def identify(design: Grouping, signature: Sequence[str] = ()) -> Steps:
    """Return the chapters that give rows what they are drawn for by, and pack their quasi values."""
    request = design.request
    if design.layout is None:
        return tell_apart(design)
    kept = (*signature, *sensitive_names(request), *identity_names(request))
    return (*tell_apart(design), Chapter("packing", {"quasi": quasi_names(request), "kept": kept}))


def drawing_of(request: Request) -> str:
    """Return what rows are drawn for by: their number, their identity, or nothing."""
    return "random" if request.draws == "random" else "number" if request.identity == "number" else "identity"


def draw(request: Request, kept: Sequence[str], purpose: str, further: Sequence[str] = ()) -> Chapter:
    """Return the chapter that gives every row a draw, and `further` ones, beside the columns that are kept."""
    values = {"drawing": drawing_of(request), "kept": kept, "further": list(further), "purpose": purpose}
    return Chapter("draws", values)


def shuffle(design: Grouping, signature: Sequence[str] = ()) -> Chapter:
    """Return the chapter that gives every row its draws."""
    attribute = design.attribute
    kept = (*(name for name in attribute.payload if name not in attribute.draws), *signature, "sensitive")
    return draw(design.request, tuple(dict.fromkeys(kept)), attribute.purpose, attribute.draws[1:])


def group(design: Grouping, signature: Sequence[str] = (), *, slots: bool = False, places: bool = False) -> Chapter:
    """Return the chapter that ends in `grouped`: every row with its group, its slot there, or its place in a block."""
    request, attribute = design.request, design.attribute
    values = {
        "signature": signature,
        "groups_per_block": attribute.groups_per_block,
        "purpose": attribute.purpose,
        "carried": attribute.payload,
        "slots": slots,
        "places": places,
        "drawing": drawing_of(request),
        # only where NULL is a value need it be compared as one
        "equals": Sql("is not distinct from" if request.nulls == "value" else "="),
    }
    return Chapter("grouping", values)
