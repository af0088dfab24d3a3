"""UDAK-anonymity (Ren, Yang, Zhang and Jia, 2012): groups of at least K uncertain rows, published as QIT and ST.

Cells hold several alternatives. Quasi values become deterministic (a common ancestor, a largest number) and say
how many alternatives they stand for; sensitive alternatives stand side by side. Rows that are alike by the influence
of their attributes form clusters, and a cluster with a grave sensitive value holds at least L different weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.errors import UsageError
from sqlanon.methods import grouping
from sqlanon.methods.uncertain import clustering, influence, refinement
from sqlanon.methods.uncertain.cell_faults import no_stars
from sqlanon.methods.uncertain.clustering import Clustering, Undiverse
from sqlanon.methods.uncertain.columns import MOST_ALTERNATIVES, Column, Order, Reading, Written, probe, read_source
from sqlanon.methods.uncertain.deterministic import determined, opening
from sqlanon.methods.uncertain.dimensions import Dimension
from sqlanon.methods.uncertain.influence import Learn, read_matrix
from sqlanon.methods.uncertain.published_tables import manifest_columns, outputs, published_names, shown
from sqlanon.plans.plan import Beside, Plan, Repeat, Request, Row, Step, build, relation_name
from sqlanon.plans.templates import Sql

__all__ = ["NAME", "PAPER", "STEPS", "plan", "probe"]

NAME = "uncertain"
PAPER = "Ren, Yang, Zhang and Jia, Uncertain Data Privacy Protection Based on K-anonymity Via Anatomy, 2012"
STEPS = (
    *("source", "kinds", "braces", "listed", "tuples", "folded", "population", "cells", "persons", "drawn"),
    *("constants", "cell", "alternative", "sorted_alternative", "single", "outside", "ancestor", "sensitive_set"),
    *("determined", "stars", "weightless", "influence"),
    *("occurrence", "met", "met_number", "association", "learned", "facts"),
    *clustering.STEPS,
    *refinement.STEPS,
    *("kept", "starred", "pattern", "numbered", "set_values", "qit", "st"),
)
TAKES_LISTS = True
DIALECTS = ("duckdb",)
DIALECTS_WHY = "lists of alternatives are taken apart and put together by functions of DuckDB's own"
MACROS = ()  # a macro has no loops, and its columns are of one type
MOST_COLUMNS = 1000


def plan(
    request: Request,
    k: int,
    l: int,
    threshold: float,
    influence: Beside | Learn,
    hierarchy: Mapping[str, Beside] | None = None,
    undiverse: Undiverse = "merge",
    refine: int = 0,
    alternatives: Written = "lists",
    alternative_of: str | None = None,
    max_alternatives: int = MOST_ALTERNATIVES,
    label: str | None = None,
    order_alternatives: Order = "given",
    prefix: str = "sqlanon_",
    key: Sql | None = None,
) -> Plan:
    """Return the plan of a release of uncertain rows.

    k: least rows of a cluster. l: least different weights in a cluster where one is at least `threshold` (0 to 1).
    influence: the matrix's table, or Learn. hierarchy: a table for each quasi-identifier that has one.
    undiverse: what becomes of clusters that are not diverse. refine: turns of swaps between clusters.
    alternatives: how cells hold them, as lists or in braces. alternative_of: the column that ties alternative rows.
    max_alternatives: the most of a cell. label: a column that is published with the rows.
    order_alternatives: sensitive alternatives as they are given, or sorted.
    Raises UsageError where a parameter, a hierarchy or the matrix cannot be right on any data.
    """
    _refuse_parameters(request, k, l, threshold, refine, max_alternatives)
    if isinstance(influence, Learn):
        influence.refuse_existing()
    reading = read_source(
        request, alternatives, alternative_of, max_alternatives, label, order_alternatives, hierarchy or {}
    )
    asked = _Asked(k, l, threshold, influence, undiverse, refine, alternatives, order_alternatives, prefix, key)
    saves = (influence.path,) if isinstance(influence, Learn) and influence.path is not None else ()
    tables = (*(hierarchy or {}).values(), *(() if isinstance(influence, Learn) else (influence,)))
    return replace(asked.plan(reading), saves=saves, read=tuple(table.named for table in tables))


def _refuse_parameters(request: Request, k: int, l: int, threshold: float, refine: int, most: int) -> None:
    if k < 2:
        raise UsageError(f"-k {k} groups nobody with others; K is a whole number of at least 2")
    if l < 2:
        raise UsageError(f"-L {l} asks for no difference; L is a whole number of at least 2")
    if not 0 < threshold <= 1:
        raise UsageError(f"--threshold {threshold} is not above 0 and at most 1; it is compared with the weights")
    if refine < 0:
        raise UsageError(f"--refine {refine} is not a number of turns; give 0 or more")
    if not 1 <= most <= MOST_COLUMNS:
        raise UsageError(f"--max-alternatives {most} is not a whole number from 1 to {MOST_COLUMNS}")
    if len(request.roles.sensitive) != 1:
        raise UsageError(
            f"uncertain publishes one sensitive column, {len(request.roles.sensitive)} were given:"
            f" {', '.join(map(repr, request.roles.sensitive))}"
        )
    if request.nulls == "value":
        raise UsageError(
            "--nulls value is not for uncertain: NULL has no weight, and in ST it says that there is no further"
            " alternative; say --nulls drop, or write a value of its own into the source"
        )


@dataclass(frozen=True)
class _Asked:
    """What a release was asked to be, but for how its source is read."""

    k: int
    l: int
    threshold: float
    influence: Beside | Learn
    undiverse: Undiverse
    refine: int
    alternatives: Written
    order: Order
    prefix: str
    key: Sql | None

    def plan(self, reading: Reading) -> Plan:
        """Return the plan, with as many columns of sensitive alternatives as there may be."""
        names = published_names(reading, len(reading.places))
        secret = self.key if self.key is not None else relation_name(self.prefix, "key")
        tables = outputs(reading, names)
        built = build((*self._steps(reading), *tables), {}, self.prefix, {"key": secret})
        plan = Plan(
            method=NAME,
            steps=built[: -len(tables)],
            outputs=built[-len(tables) :],  # type: ignore[arg-type]
            parameters=self._parameters(reading),
            columns=manifest_columns(reading, names),
            guarantee={"k": self.k, "l": self.l, "threshold": self.threshold},
            key=secret,
        )
        return replace(plan, fitted=lambda found: self._fitted(plan, reading, found))

    def _steps(self, reading: Reading) -> list[Step | Repeat]:
        request = reading.request
        attribute = grouping.Attribute(
            column=reading.sensitive.name,
            size=self.k,
            parameter="K",
            purpose=f"{NAME}/{reading.sensitive.name}",
            groups_per_block=grouping.ONE_BLOCK,
            carried=(*grouping.quasi_names(request), "row_number", *(["label"] if reading.label is not None else [])),
        )
        steps: list[Step | Repeat] = [*opening(reading), *grouping.persons(request)]
        steps += [*_identified(reading), *grouping.drawn(request, attribute), *determined(reading, self.prefix)]
        steps += [no_stars(reading)] if self.undiverse == "suppress" else []
        learn = self.influence if isinstance(self.influence, Learn) else None
        if isinstance(self.influence, Learn):
            steps += influence.learned([column.read for column in reading.quasi], self.prefix)
        else:
            steps += influence.given(read_matrix(request.roles, self.influence.rows), len(reading.quasi))
        steps += [
            influence.facts(request.roles, learn),
        ]
        dimensions = [_dimension(column) for column in reading.quasi]
        ties = ("draw", *grouping.ties(request))
        steps += clustering.steps(
            Clustering(dimensions, self.k, self.l, self.threshold, self.undiverse, self.refine, ties)
        )
        return [*steps, *shown(reading, self.undiverse)]

    def _parameters(self, reading: Reading) -> dict[str, object]:
        request = reading.request
        trees = {column.name: column.hierarchy.pairs for column in reading.quasi if column.hierarchy is not None}
        return {
            "k": self.k,
            "l": self.l,
            "threshold": self.threshold,
            "undiverse": self.undiverse,
            "refine": self.refine,
            "max_alternatives": reading.most,
            "order_alternatives": self.order,
            "alternatives": self.alternatives,
            "alternative_of": reading.tie,
            "hierarchies": trees,
            "types": {column.name: column.type for column in reading.quasi},
            "draws": request.draws,
            "nulls": request.nulls,
        }

    def _fitted(self, plan: Plan, reading: Reading, found: Mapping[str, Row]) -> Plan:
        """Return the plan with as many sensitive columns as the data has alternatives, and the weights."""
        names = published_names(reading, found["facts"]["most_alternatives"])
        standing = {name: relation_name(self.prefix, name) for name in ("shown", "pattern", "numbered", "set_values")}
        matrix = influence.lines(found["facts"])
        weights = [{"value": line[0], "weight": line[-1]} for line in matrix]
        learned = {"influence": [influence.heads(reading.request.roles), *matrix]}
        return replace(
            plan,
            outputs=build(outputs(reading, names), {}, self.prefix, standing),  # type: ignore[arg-type]
            parameters={**plan.parameters, "weights": weights},
            columns=manifest_columns(reading, names),
            learned=learned if isinstance(self.influence, Learn) else {},
            notes=(_quality(found["quality"]),),
        )


def _quality(row: Row) -> str:
    """Say how alike the rows of a cluster are; the figures come from the rows, so they are the publisher's alone."""
    said = f"{row['cluster_count']} clusters of {row['row_count']} rows, the largest of {row['largest_cluster']}"
    if row["objective"] is not None:
        said += (
            f"; objective {row['objective']:.4g} (mean of rows times largest distance), largest distance"
            f" {row['largest_diameter']:.4g}"
        )
    if row["measured_clusters"] < row["cluster_count"]:
        said += f" in the {row['measured_clusters']} clusters that were measured"
    return f"quality: {said}; {row['suppressed_rows']} rows suppressed"


def _identified(reading: Reading) -> tuple[Step, ...]:
    """Return the step that gives rows their identity text; number and label pass through it, and the label tells."""
    label = ["label"] if reading.label is not None else []
    return tuple(replace(step, values=_widened(step.values, label)) for step in grouping.identified(reading.request))


def _widened(values: Mapping[str, Any], label: list[str]) -> dict[str, Any]:
    widened = {**values, "identified_columns": [*values["identified_columns"], "row_number", *label]}
    if "row_columns" in values:
        widened["row_columns"] = [*values["row_columns"], *label]
    return widened


def _dimension(column: Column) -> Dimension:
    if column.hierarchy is not None:
        relation = f"hierarchy_{column.number}"
        return Dimension(column.internal, "hierarchy", column.hierarchy.height, relation)
    if column.kind == "category":
        return Dimension(column.internal, "category")
    return Dimension(column.internal, "number", number=column.read)
