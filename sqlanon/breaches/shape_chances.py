"""The shares of worlds without an association, in SQL: what `world_counts.py` does, where there is no Python.

For components of parts with m_1 <= … <= m_K nodes, of which a_i match. Both are Bonferroni's series over the nodes of
all parts but the largest that are left uncovered; its levels fall so fast that those which are summed leave less than
any rounding does.
"""

from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.breaches.world_counts import CERTAIN_EDGES, EPSILON
from sqlanon.plans.build import build
from sqlanon.plans.literal_table import constant_table
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql

LEVELS = 24
LEVELS_OF_MANY = 12  # with three parts and more, whose terms are many: they fall as 2^-r² at least
ROUNDING = 8 * EPSILON  # of an exponential whose exponent is a sum of logarithms, for each unit of the exponent


def lay_out_chances(layout: StatementLayout) -> None:
    """Write `chance` over the shapes that stand."""
    numbers = layout.numbers
    if len(numbers) == 1:
        layout.add("breaches/shape", parts=numbers)
        layout.add("breaches/shape_chances/certain", yields="chance")
        return
    simple = layout.graph.is_simple
    templates = ("breaches/shape", *(["breaches/simple_shape"] if simple else []))
    shapes = [Sql(layout.add(template, parts=numbers).relation) for template in templates]
    layout.add(
        "breaches/shape_chances/different",
        yields="different",
        shapes=shapes,
        parts=numbers,
        certain_tuples=CERTAIN_EDGES,
    )
    _lay_out_removals(layout)
    ranks = {"small": numbers[:-1], "largest": numbers[-1]}
    layout.add("breaches/shape_chances/ways", yields="ways", small=ranks["small"])
    levels = LEVELS if len(numbers) == 2 else LEVELS_OF_MANY
    for template in ("breaches/shape_chances/covered", "breaches/shape_chances/without"):
        layout.add(template, "", levels=levels, epsilon=ROUNDING, **ranks)
    least = 2.0**-CERTAIN_EDGES
    layout.add("breaches/shape_chances/chance", yields="chance", parts=numbers, least=least, epsilon=ROUNDING, **ranks)


def _lay_out_removals(layout: StatementLayout) -> None:
    step = constant_table("removal", {"removed": ("bigint", range(LEVELS + 1))}, {})
    (statement,) = build((step,), {}, layout.prefix, {})
    assert isinstance(statement, Statement)
    layout.relations["removal"] = Sql(statement.relation)
    layout.statements.append(statement)
