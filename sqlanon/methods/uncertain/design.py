"""What a release of uncertain rows decides before any row is read, and what the data decides about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from sqlanon.errors import UsageError
from sqlanon.methods.base import Design, Reports
from sqlanon.methods.packing import tie_names
from sqlanon.methods.qit_st import one_sensitive
from sqlanon.methods.uncertain import influence as influences
from sqlanon.methods.uncertain.clustering import Clustering, Undiverse
from sqlanon.methods.uncertain.columns import Column, Order, Reading, Written, read_source
from sqlanon.methods.uncertain.influence import LEARN, Learn
from sqlanon.plans.plan import Beside, KeptFile, Request, Row
from sqlanon.plans.roles import free_name
from sqlanon.wording import option

NAME = "uncertain"
HIGHEST_THRESHOLD = 0.99  # of learned weights, which are kept apart in 12 digits


@dataclass(frozen=True, kw_only=True)
class Uncertain(Design):
    """The design of a release of uncertain rows.

    reading: how the source is read. clustering: what is asked of the clusters. influence: the matrix's table, or LEARN.
    tables: what is read beside the source. width: how many columns of sensitive alternatives are published. facts:
    their report, where the first phase has run.
    """

    reading: Reading
    clustering: Clustering
    influence: Beside | Learn
    tables: tuple[Beside, ...]
    width: int
    facts: Row | None = None

    @property
    def columns(self) -> Mapping[str, Any]:
        """Return the published columns by their roles, no two alike.

        One column of alternatives keeps the sensitive column's name; several are numbered, as the paper's `disease1`,
        `disease2`.
        """
        sensitive, quasi = self.reading.sensitive.name, list(self.request.roles.quasi)
        label = {} if self.reading.label is None else {"label": self.reading.label}
        used_names = [*quasi, sensitive, *label.values()]

        def free(name: str) -> str:
            used_names.append(free_name(name, used_names))
            return used_names[-1]

        several = [free(f"{sensitive}{number}") for number in range(1, self.width + 1)] if self.width > 1 else []
        return {
            **label,
            "quasi": quasi,
            "sensitive": [sensitive],
            "qiid": free("qiid"),
            "alternatives": free("alternatives"),
            "group": free("group_id"),
            "values": several or [sensitive],
            "count": free("count"),
        }

    @property
    def counted(self) -> Sequence[Column]:
        """Return the quasi-identifiers whose alternatives are told: all where a group may be generalized."""
        return self.reading.quasi if self.clustering.undiverse == "generalize" else self.reading.counted

    @property
    def guarantee(self) -> Mapping[str, object]:
        """Return K, L and the weight from which on a value is grave."""
        return {"k": self.clustering.k, "l": self.clustering.l, "threshold": self.clustering.threshold}

    @property
    def recorded(self) -> Mapping[str, Mapping[str, object]]:
        """Return what the manifest says of how the source was read; the weights where they are known."""
        trees = {column.name: column.hierarchy.pairs for column in self.reading.quasi if column.hierarchy is not None}
        types = {column.name: column.type for column in self.reading.quasi}
        weights = (
            {}
            if self.facts is None
            else {"weights": [{"value": line[0], "weight": line[-1]} for line in influences.lines(self.facts)]}
        )
        return {
            "max_group": {"max_group": self.clustering.most_rows},
            "max_alternatives": {"max_alternatives": self.reading.most},
            "alternative_of": {"alternative_of": self.reading.tie},
            "hierarchy": {"hierarchies": trees, "types": types, **weights},
            "label": {},
        }

    @property
    def heads(self) -> tuple[str, ...]:
        """Return the names of an influence file's columns."""
        return influences.heads(self.request.roles)

    @property
    def tables_read(self) -> tuple[Beside, ...]:
        """Return the hierarchies, and the matrix where it was given."""
        return self.tables

    @property
    def kept_files(self) -> tuple[KeptFile, ...]:
        """Return the learned matrix, which its expert wants whatever comes of the release."""
        # written when the report is there: a release that is refused later still leaves its expert something to correct
        return (KeptFile("facts", self.heads, influences.lines),) if self.influence is LEARN else ()

    @property
    def learned(self) -> Mapping[str, Any]:
        """Return the learned matrix, for the publisher alone."""
        if self.facts is None or self.influence is not LEARN:
            return {}
        return {"influence": [self.heads, *influences.lines(self.facts)]}

    def fitted(self, reports: Reports) -> Self:
        """Return the design with as many sensitive columns as the data has alternatives, and its weights."""
        facts = reports["facts"]
        return replace(self, width=facts["most_alternatives"], facts=facts)


def design(
    request: Request,
    k: int,
    l: int,
    threshold: float,
    influence: Beside | Learn,
    undiverse: Undiverse,
    max_group: int | None,
    max_alternatives: int,
    order_alternatives: Order,
    alternatives: Written,
    alternative_of: str | None,
    hierarchy: Mapping[str, Beside],
    label: str | None,
) -> Uncertain:
    """Decide how the source is read and what is asked of the clusters.

    Raises UsageError where a hierarchy or the matrix cannot be right on any data.
    """
    one_sensitive(NAME, request)
    if request.nulls == "value":
        raise UsageError(
            f"{option('nulls', 'value')} is not for uncertain: NULL has no weight, and in ST it says that there is no"
            f" further alternative; say {option('nulls', 'drop')}, or write a value of its own into the source"
        )
    # rows that are left over find a place in a group of K as long as it may have K - 1 more
    if max_group is not None and max_group < 2 * k - 1:
        raise UsageError(
            f"{option('max_group', max_group)} leaves no room for rows that make no group of {k} by themselves; give"
            f" {2 * k - 1} or more"
        )
    if isinstance(influence, Learn) and threshold > HIGHEST_THRESHOLD:
        raise UsageError(
            f"{option('threshold', threshold)} leaves no room for weights that are learned: all of them lie above it;"
            f" give at most {HIGHEST_THRESHOLD}, or a file of weights"
        )
    reading = read_source(
        request, alternatives, tie=alternative_of, most=max_alternatives, label=label, order=order_alternatives,
        hierarchies=hierarchy,
    )  # fmt: skip
    # a learned matrix is made of the source itself: there is no table to read
    matrix_tables = () if isinstance(influence, Learn) else (influence,)
    if undiverse == "generalize":
        bare = [repr(column.name) for column in reading.quasi if column.hierarchy is None]
        if bare:
            raise UsageError(
                f"{option('undiverse', 'generalize')} climbs the hierarchy of every quasi column, and"
                f" {', '.join(bare)} has none; give {option('hierarchy')} for each, or say"
                f" {option('undiverse', 'merge')}"
            )
    return Uncertain(
        request=request,
        reading=reading,
        clustering=Clustering(
            columns=reading.quasi, k=k, l=l, threshold=threshold,
            undiverse=undiverse,
            ties=("draw", *tie_names(request)), max_group=max_group,
        ),
        influence=influence,
        tables=(*hierarchy.values(), *matrix_tables),
        width=len(reading.places),
    )  # fmt: skip
