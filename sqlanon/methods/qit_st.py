"""QIT and ST: what is published of groups, whichever method made them."""

from collections.abc import Mapping, Sequence
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

# the relations of who is in which group, of groups' lines and of their values
MADE = {"members": "grouped", "lines": "grouped", "valued": "frequency"}
SHOWN = {"members": "shown_person", "lines": "line", "valued": "next_value"}  # under a ledger


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


def publish_qit(design: Grouped) -> Chapter:
    """Return the chapter of the quasi-identifier table: exact quasi values and groups."""
    request = design.request
    values = {
        "packed": design.layout is not None,
        "quasi": [(name, Sql(request.types.get(name, ""))) for name in request.roles.quasi],
        "group_column": design.columns["group"],
        "members": (MADE if request.following is None else SHOWN)["members"],
    }
    return Chapter("qit", values)


def publish(design: Grouped) -> Steps:
    """Return the chapters of the published tables."""
    made = MADE if design.request.following is None else SHOWN
    (sensitive,) = design.request.roles.sensitive
    column = {"sensitive": sensitive, "suffix": "", "valued": made["valued"], "code": "code"}
    return (publish_qit(design), publish_st(design, [column], made["lines"]))


def publish_st(design: Grouped, columns: Sequence[Mapping[str, str]], lines: str, listed: bool = False) -> Chapter:
    """Return the chapter of the sensitive tables; listed: whether a line has a list of all its values' numbers.

    columns: of each sensitive column its name, the suffix of its table, the relation of its values, and the column of
    their numbers in `lines`.
    """
    added = {"group_column": design.columns["group"], "count_column": design.columns["count"]}
    return Chapter("st", {"columns": columns, "lines": lines, "listed": listed, **added})


def link(design: Grouped) -> Steps:
    """Return the chapter of the rows that the run knows to the end."""
    return (link_values(design, [{"suffix": "", "valued": MADE["valued"], "code": "code"}]),)


def link_values(design: Grouped, columns: Sequence[Mapping[str, str]], listed: bool = False) -> Chapter:
    """Return the chapter of the rows that the run knows to the end, for columns as `publish_st` has them."""
    carried = packing.payload_quasi(design.request, design.layout)
    return Chapter("linked", {"carried": carried, "columns": columns, "listed": listed})
