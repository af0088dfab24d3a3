"""The shares of worlds without an association, in SQL: what `world_counts.py` does, where there is no Python.

For components of two parts of m <= n nodes, of which a and b match. Both are Bonferroni's series over the nodes of the
smaller part that are left uncovered; its levels fall so fast that LEVELS of them leave less than any rounding does.
"""

from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.breaches.world_counts import CERTAIN_EDGES, EPSILON
from sqlanon.plans.build import build
from sqlanon.plans.literal_table import constant_table
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql

FOLDER = "shape_chances"
LEVELS = 24
ROUNDING = 8 * EPSILON  # of an exponential whose exponent is a sum of logarithms, for each unit of the exponent


def lay_out_chances(layout: StatementLayout) -> None:
    """Write `chance` over the shapes of two parts that stand."""
    simple = layout.graph.is_simple
    for name in ("shape", *(["simple_shape"] if simple else [])):
        layout.add(name, parts=layout.numbers)
    shapes = [layout.relations[name] for name in ("shape", *(["simple_shape"] if simple else []))]
    layout.add(f"{FOLDER}/different", yields="different", shapes=shapes, certain_tuples=CERTAIN_EDGES)
    _lay_out_removals(layout)
    layout.add(f"{FOLDER}/ways", yields="ways")
    for name in ("covered", "without"):
        layout.add(f"{FOLDER}/{name}", yields=name, levels=LEVELS, epsilon=ROUNDING)
    layout.add(f"{FOLDER}/chance", yields="chance", least=2.0**-CERTAIN_EDGES, epsilon=ROUNDING)


def _lay_out_removals(layout: StatementLayout) -> None:
    step = constant_table("removal", {"removed": ("bigint", range(LEVELS + 1))}, {})
    (made,) = build((step,), {}, layout.prefix, {})
    assert isinstance(made, Statement)
    layout.relations["removal"] = Sql(made.relation)
    layout.statements.append(made)
