"""Views with a WHERE of their own: where the worlds of what all views show are the same as without it.

A view's condition over columns that every view shows is true in all of a component or nowhere in it. Where all views
show a component, its worlds are those of the same views without conditions; where one shows nothing, a world may hold
anything that its condition excludes, and nothing is counted.
"""

from collections.abc import Sequence

from sqlanon.errors import QueryError
from sqlanon.sql.view_definitions import Condition, Secret, View


def find_selections(views: Sequence[View], kept: Sequence[int], secret: Secret) -> tuple[Condition, ...]:
    """Return the conditions under which every view shows a row.

    kept: the views that no other one implies, by their places. Raises QueryError for a condition that cuts through
    components, and where views that show a component without another one tell of associations all the same.
    """
    common = set.intersection(*(set(view.columns) for view in views))
    for number, view in enumerate(views, start=1):
        for condition in view.conditions:
            _check_condition(number, condition, common)
    found = tuple(dict.fromkeys(condition for place in kept for condition in views[place].conditions))
    together = any({secret.identifier, secret.property} <= set(views[place].columns) for place in kept)
    two_sides = len(kept) == 2 and not together
    for number, view in enumerate(views):
        needed = number not in kept or not two_sides
        if needed and not set(found) <= set(view.conditions):
            raise QueryError(
                f"view {number + 1} shows rows that another view's WHERE leaves out, and tells of associations there;"
                " give every view the same WHERE"
            )
    return found


def _check_condition(number: int, condition: Condition, common: set[str]) -> None:
    hidden = condition.columns - common
    if not condition.columns:
        raise QueryError(f"a part of the WHERE of view {number} reads no column; leave it out")
    if hidden:
        names = ", ".join(repr(name) for name in sorted(hidden))
        raise QueryError(
            f"the WHERE of view {number} reads {names}, which not every view shows: a row that it leaves out may hold"
            " any value there, and stand behind what other views show, so that no number of worlds follows; select by"
            " columns that every view shows"
        )
