"""What r-robust publishing decides before any row is read: what the adversary knows, and what is promised."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sqlanon.errors import UsageError
from sqlanon.methods import packing, qit_st
from sqlanon.methods.packing import quasi_names, sensitive_names
from sqlanon.methods.qit_st import Grouped
from sqlanon.methods.republication import add_ledger_columns
from sqlanon.methods.robust.background import Background, Columns, declared, learned
from sqlanon.methods.several import SeveralColumns, attributes_of
from sqlanon.plans.build import render_query
from sqlanon.plans.plan import Beside, Request, Statement, relation_name
from sqlanon.plans.roles import free_name, split_columns
from sqlanon.plans.templates import Sql
from sqlanon.wording import option

NAME = "robust"
MOST_SUPPRESSED = 0.01
CLASSES = ("signatures", "distributions")  # what rows of one class have in common: tables may say the same of several
NO_BACKGROUND = (
    f"say what the adversary knows: {option('background', 'FILE')} (a distribution per signature), or"
    f" {option('background_from', 'COLUMNS')} (learned from the data)"
)
NOT_FOLLOWED = (
    f"with {option('ledger')}, groups hold rows of one signature: name the adversary's columns with"
    f" {option('background_from')}, and leave {option('background')} away"
)
NOT_TOGETHER = (
    "with several sensitive columns, or several rows of a person, groups hold rows of one signature: in mixed ones no"
    " condition on each column holds"
    " against who knows how the columns go together; name the adversary's columns with"
    f" {option('background_from')}, and leave {option('background')} away"
)
WITHOUT_DATABASE = (
    "compile reads no data, and a background is data: name its columns with "
    + option("background_from")
    + "; groups then hold rows of one signature each, which is safe whatever the table says of it"
)


def signature(request: Request, backgrounds: Sequence[Background]) -> tuple[str, ...]:
    """Return our names of the quasi columns that any background reads, in the order of the quasi columns."""
    columns = {column for knowledge in backgrounds for column in knowledge.columns}
    return tuple(name for name in quasi_names(request) if name in columns)


@dataclass(frozen=True, kw_only=True)
class Robustness(Grouped):
    """A design whose groups hold rows of one class: rows that every background sees alike.

    r: > 1; no posterior is to be above 1/r, and groups hold at least ceil(r) rows. signature: our names of the quasi
    columns that any background reads. backgrounds: what the adversary knows. most_suppressed: share of the rows, 0 … 1,
    that may be left over. tables: the backgrounds that were given as tables.
    """

    r: float
    signature: tuple[str, ...]
    backgrounds: tuple[Background, ...]
    most_suppressed: float
    tables: tuple[Beside, ...]

    @property
    def recorded(self) -> Mapping[str, Mapping[str, object]]:
        """Return the size of the groups, the sets of columns that the adversary knows distributions on, the classes."""
        sets = [list(background.attributes) for background in self.backgrounds]
        record: dict[str, object] = {"l": self.attribute.size, "backgrounds": sets}
        # a class is a signature where nothing else is said
        return {"background": record | ({"classes": CLASSES[1]} if self.tables else {}), "known_size": {}}

    @property
    def tables_read(self) -> tuple[Beside, ...]:
        """Return the backgrounds that are tables."""
        return self.tables

    @property
    def known(self) -> tuple[Beside | Statement, ...]:
        """Return the backgrounds that prove the groups: those of one signature prove themselves, others do not."""
        # whatever is learned from the data stays apart by its signatures
        return self.tables

    @property
    def kept_tables(self) -> tuple[Statement, ...]:
        """Return the learned distributions as the publisher may keep them, in the form of a background's table.

        One of each sensitive column, and of sets none.
        """
        population, columns = relation_name(self.prefix, "population"), sensitive_names(self.request)
        learned_ones = [known for known in self.backgrounds if known.relation is None and not self.request.sets]
        named = [*zip(self.request.roles.sensitive, columns, strict=True)]
        pairs = itertools.product(learned_ones, named)
        return tuple(_kept(number, *pair, population) for number, pair in enumerate(pairs, start=1))


@dataclass(frozen=True, kw_only=True)
class SeveralRobustness(SeveralColumns, Robustness):
    """The design of an r-robust release of several sensitive columns; each learned distribution is of one of them."""


def design(
    request: Request,
    r: float,
    background: Sequence[Beside],
    background_from: Sequence[Sequence[str]],
    max_suppressed: float,
    known_size: bool,
    block: int | None,
) -> Robustness:
    """Decide on the classes. Raises UsageError where no background is named, or one fits no published columns."""
    several = len(request.roles.sensitive) > 1 or request.sets
    if several and background:
        raise UsageError(NOT_TOGETHER)
    layout = packing.layout_of(request)
    attribute, *further = (
        attributes_of(request, NAME, "r", math.ceil(r), block, layout=layout)
        if several
        else [qit_st.attribute(NAME, request, "r", math.ceil(r), block, layout)]
    )
    if request.following is not None:
        if background:
            raise UsageError(NOT_FOLLOWED)
        attribute = add_ledger_columns(attribute, request.following)
    backgrounds = _backgrounds(request, background, background_from)
    kind = partial(SeveralRobustness, further=tuple(further), known_size=known_size) if several else Robustness
    return kind(
        request=request,
        attribute=attribute,
        layout=layout,
        promise={"r": r, "posterior": 1 / r},
        r=r,
        signature=signature(request, backgrounds),
        backgrounds=backgrounds,
        most_suppressed=max_suppressed,
        tables=tuple(background),
    )


def _backgrounds(
    request: Request, tables: Sequence[Beside], attribute_sets: Sequence[Sequence[str]]
) -> tuple[Background, ...]:
    """Match what the adversary knows with the published columns."""
    sensitive = request.roles.sensitive[0]
    # a cast column is published, and so compared, as what it is cast to
    types = {**request.types, **request.source.casts}
    quasi = zip(request.roles.quasi, quasi_names(request), strict=True)
    published = Columns(
        {column: (name, types.get(column, "")) for column, name in quasi}, (sensitive, types.get(sensitive, ""))
    )
    backgrounds = []
    for table in tables:
        if table.source is None:
            raise UsageError(WITHOUT_DATABASE)
        backgrounds.append(declared(table.named, table.source, table.types, published))
    backgrounds += [learned(split_columns(texts, request.roles.quasi), published) for texts in attribute_sets]
    if not backgrounds:
        raise UsageError(NO_BACKGROUND)
    return tuple(backgrounds)


def _kept(number: int, background: Background, sensitive: tuple[str, str], population: Sql) -> Statement:
    """Return the table of one distribution; sensitive: its column's published name, and ours."""
    name, internal = sensitive
    values = {
        "columns": background.columns,
        "attributes": background.attributes,
        "internal": internal,
        "sensitive": name,
        "probability": free_name("probability", (*background.attributes, name)),
    }
    sql = render_query("robust/kept", values, {"population": population})
    return Statement(f"background_{number}", sql, "query")
