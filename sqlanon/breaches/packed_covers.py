"""Compute what the join of views ties to each id without making the join: properties as bits of a few numbers.

Two ids seldom lie in the same components, so covers are computed for each id. The union of the properties of two
components is one operation on 480 bits, where the join would have a row for each property of each.
"""

from sqlanon.breaches.statement_layout import StatementLayout
from sqlanon.breaches.statements import lay_out_covers
from sqlanon.plans.templates import Sql

MASKS = tuple(range(1, 9))  # whole numbers in a row
BITS = 60  # of a whole number, none of them its sign


def lay_out_packed_covers(layout: StatementLayout) -> None:
    """Write the covers, and in the restricted model which properties an id may have, over nodes and associations."""
    if layout.graph.together:
        lay_out_covers(layout)
        return
    nodes = {"identifier_node": layout.node(1), "property_node": layout.node(2)}
    identifier, others = {"identifier_node": layout.node(1)}, {"property_node": layout.node(2)}
    layout.add(
        "breaches/packed_covers/place", yields="place", masks=MASKS, bits=BITS, page_bits=len(MASKS) * BITS, **others
    )
    layout.add("breaches/packed_covers/page", yields="page", masks=MASKS, **others)
    needs_common = layout.is_restricted and layout.graph.is_simple
    layout.add("breaches/packed_covers/held", yields="held", masks=MASKS, common=needs_common, **identifier)
    layout.add("breaches/cover", joined=layout.relations["held"], properties=Sql("sum(any_count)"))
    if needs_common:
        layout.add("breaches/span", **nodes)
        layout.add("breaches/packed_covers/shared", yields="shared", **nodes)
