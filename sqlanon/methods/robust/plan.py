"""r-robust publishing (Wong et al., 2010): safe against who knows how sensitive values are distributed.

The adversary knows, for some sets of quasi-identifiers, the distribution p(s : x) of sensitive value x given the
signature s (the values of the set). A release is r-robust if nobody's posterior p(t : x) is above 1/r. It is an
Anatomy release (QIT and ST) whose groups hold rows of one class: rows that every background sees alike.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from sqlanon.errors import UsageError
from sqlanon.methods import grouping, qit_st
from sqlanon.methods.robust import class_grouping
from sqlanon.methods.robust import repair as repairs
from sqlanon.methods.robust.background import Background, Columns, declared, learned
from sqlanon.methods.robust.class_grouping import GUARANTEES, Classes, Guarantee
from sqlanon.plans.plan import Beside, Plan, Request, relation_name
from sqlanon.plans.roles import free_name, split_columns
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, render
from sqlanon.sql.table_macro import Macro

NAME = "robust"
PAPER = "Wong, Fu, Wang, Xu, Pei and Yu, Anonymization against Background Knowledge of Distributions, 2010"
STEPS = (*class_grouping.STEPS, *repairs.STEPS, *repairs.TURN, "left_over", "suppressed", "qit", "st")
TOO_SMALL = "r = {r:g} protects nobody: a posterior of at most 1/r is none; r is a number above 1"
LARGEST_R = 2**31
NO_BACKGROUND = (
    "say what the adversary knows: --background FILE (a distribution per signature), or --background-from COLUMNS"
    " (learned from the data)"
)
WITHOUT_DATABASE = (
    "compile reads no data, and a background is data: name its columns with --background-from; the groups are made of"
    " its columns alone, so they are the same"
)
MOST_SUPPRESSED = 0.01
MOST_TURNS = 1000
MACROS: tuple[Macro, ...] = ()  # a macro takes one table, and backgrounds are others


def plan(
    request: Request,
    r: float,
    background: Sequence[Beside] = (),
    background_from: Sequence[Sequence[str]] = (),
    max_suppressed: float = MOST_SUPPRESSED,
    guarantee: Guarantee = "exact",
    repair: int = 0,
    block: int | None = grouping.GROUPS_PER_BLOCK,
    prefix: str = "sqlanon_",
    key: Sql | None = None,
) -> Plan:
    """Return the plan of an r-robust release.

    r: number > 1; no posterior is to be above 1/r. background: tables p(s : x), each with the columns of one
    attribute set, the sensitive column and `probability`. background_from: attribute sets whose distributions
    are learned from the data, as texts that commas split. max_suppressed: share of the rows, 0 … 1, that may be
    left out. guarantee: exact (posteriors), or delta (the paper's condition, which does not prove them).
    repair: how many other classes each row that is left over may ask for a group. block: as for Anatomy.
    Raises UsageError where a parameter is out of range, or the roles are not an Anatomy release's.
    """
    _check(r, max_suppressed, guarantee, repair)
    qit_st.check(NAME, request, block)
    known = _backgrounds(request, background, background_from)
    attribute = qit_st.attribute(NAME, request, "r", math.ceil(r), block)
    signature = class_grouping.signature(request, known)
    classes = Classes(r, signature, max_suppressed, attribute, early=not repair)
    repaired = repairs.steps(request, signature, known, r, guarantee, repair) if repair else ()
    steps = (*class_grouping.steps(request, classes, known), *repaired, class_grouping.suppressed(classes))
    parameters = {
        "r": r,
        "l": math.ceil(r),
        "backgrounds": [list(one.attributes) for one in known],
        "guarantee": guarantee,
        "max_suppressed": max_suppressed,
        "repair": repair,
        "block": qit_st.shown_block(block),
    }
    made = qit_st.planned(NAME, request, steps, parameters, class_grouping.promised(r, guarantee, repair), prefix, key)
    learned_tables = _learned(known, prefix)
    named = tuple(table.named for table in background)
    # class by class the groups prove themselves; a group of several classes is proved by its posteriors
    return replace(made, asides=learned_tables, known=(*background, *learned_tables) if repair else (), read=named)


def _check(r: float, max_suppressed: float, guarantee: str, repair: int) -> None:
    if not 1 < r < LARGEST_R:
        raise UsageError(TOO_SMALL.format(r=r) if not r >= LARGEST_R else f"r = {r:g} is more than any table has rows")
    if not 0 <= max_suppressed < 1:
        raise UsageError(
            f"--max-suppressed {max_suppressed:g} is no share of the rows; give a number from 0 to below 1"
        )
    if not 0 <= repair <= MOST_TURNS:
        raise UsageError(f"--repair {repair} is no number of turns; give a whole number from 0 to {MOST_TURNS}")
    if guarantee not in GUARANTEES:
        raise UsageError(f"--guarantee {guarantee!r} is none of {', '.join(GUARANTEES)}")


def _backgrounds(
    request: Request, tables: Sequence[Beside], attribute_sets: Sequence[Sequence[str]]
) -> tuple[Background, ...]:
    """Match what the adversary knows with the published columns."""
    (sensitive,) = request.roles.sensitive
    types = {**request.types, **request.source.casts}
    quasi = zip(request.roles.quasi, grouping.quasi_names(request), strict=True)
    published = Columns(
        {column: (name, types.get(column, "")) for column, name in quasi}, (sensitive, types.get(sensitive, ""))
    )
    found = []
    for table in tables:
        if table.source is None:
            raise UsageError(WITHOUT_DATABASE)
        found.append(declared(table.named, table.source, table.types, published))
    found += [learned(split_columns(texts, request.roles.quasi), published) for texts in attribute_sets]
    if not found:
        raise UsageError(NO_BACKGROUND)
    return tuple(found)


def _learned(known: Sequence[Background], prefix: str) -> tuple[Statement, ...]:
    """Return the learned distributions as the publisher may keep them, in the form that --background reads."""
    tables = []
    for number, one in enumerate(known, start=1):
        if one.relation is None:
            counted = render(
                "methods/robust/background/learned",
                population=relation_name(prefix, "population"),
                attributes=one.columns,
            )
            named = free_name("probability", (*one.attributes, one.sensitive))
            sql = render(
                "methods/robust/kept",
                background=Sql(f"(\n{counted}\n)"),
                attributes=one.attributes,
                sensitive=one.sensitive,
                probability=named,
            )
            tables.append(Statement(f"background_{number}", sql, "query"))
    return tuple(tables)
