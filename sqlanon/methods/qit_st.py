"""QIT and ST: what is published of groups, whichever method made them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlanon.errors import UsageError
from sqlanon.methods import packing
from sqlanon.methods.base import Steps
from sqlanon.methods.grouping import ONE_BLOCK, Attribute, Grouping
from sqlanon.methods.packing import Layout
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Request
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql


@dataclass(frozen=True, kw_only=True)
class Grouped(Grouping):
    """A design whose first phase ends in `grouped` (quasi_1 …, code, group_id) and `frequency` (code, sensitive)."""

    promise: Mapping[str, object]

    @property
    def columns(self) -> Mapping[str, Any]:
        """Return the roles of the published columns; names that we add give way to the user's."""
        roles = self.request.roles
        # a user's own column may be called group_id: ours gives way, and the manifest says so
        published = (*roles.quasi, *roles.sensitive)
        return {
            "quasi": list(roles.quasi),
            "sensitive": list(roles.sensitive),
            "group": free_name("group_id", published),
            "count": free_name("count", published),
        }

    @property
    def valued(self) -> list[dict[str, str]]:
        """Return of each sensitive column its name, the suffix of its table, the relation of its values, and the column
        of their numbers in groups' lines.
        """
        valued = "frequency" if self.request.following is None else "next_value"
        return [{"sensitive": self.attribute.column, "suffix": "", "valued": valued, "code": "code"}]

    @property
    def guarantee(self) -> Mapping[str, object]:
        """Return what the groups promise."""
        return self.promise


def one_sensitive(method: str, request: Request) -> str:
    """Return the one sensitive column; raise UsageError where there are several."""
    if len(request.roles.sensitive) != 1:
        raise UsageError(
            f"{method} publishes one sensitive column, {len(request.roles.sensitive)} were given:"
            f" {', '.join(map(repr, request.roles.sensitive))}"
        )
    return request.roles.sensitive[0]


def attribute(
    method: str, request: Request, parameter: str, size: int, block: int | None, layout: Layout | None = None
) -> Attribute:
    """Return the one attribute that is grouped, in groups of at least `size` rows."""
    sensitive = one_sensitive(method, request)
    return Attribute(
        column=sensitive,
        size=size,
        parameter=parameter,
        purpose=f"{method}/{sensitive}",
        groups_per_block=block or ONE_BLOCK,
        payload=packing.payload_quasi(request, layout),
    )


def publish(design: Grouped) -> Steps:
    """Return the chapters of the published tables: QIT, and an ST of each sensitive column."""
    request, names = design.request, design.columns
    members, lines = ("grouped", "grouped") if request.following is None else ("shown_person", "line")
    qit = {
        "packed": design.layout is not None,
        "quasi": [(name, Sql(request.types.get(name, ""))) for name in request.roles.quasi],
        "group_column": names["group"],
        "members": members,
    }
    st = {
        "columns": design.valued,
        "lines": lines,
        "listed": request.sets,
        "group_column": names["group"],
        "count_column": names["count"],
    }
    return (Chapter("qit", qit), Chapter("st", st))


def link(design: Grouped) -> Steps:
    """Return the chapter of the rows that the run knows to the end, for each sensitive column."""
    carried = packing.payload_quasi(design.request, design.layout)
    return (Chapter("linked", {"carried": carried, "columns": design.valued, "listed": design.request.sets}),)
