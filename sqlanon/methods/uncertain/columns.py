"""How uncertain data is read: which cells hold alternatives, of what type, and what generalizes them.

Decided from the source's types and from the hierarchies, before any row is looked at.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlanon.errors import UsageError
from sqlanon.methods.packing import identifier_names, quasi_names, tie_names
from sqlanon.methods.uncertain.hierarchy import Hierarchy, read_hierarchy
from sqlanon.models.shapes import LONGEST_TEXT
from sqlanon.plans.build import render_query
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Beside, Request
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.wording import option

MOST_ALTERNATIVES = 16

Written = Literal["lists", "braces"]
Order = Literal["given", "sorted"]
Scale = Literal["number", "moment", "category", "hierarchy"]

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")
_MOMENTS = ("DATE", "TIMESTAMP")


@dataclass(frozen=True)
class Column:
    """One attribute: its published name, its name in our relations, and what its cells hold.

    type: the SQL type of one alternative. uncertain: whether a cell is a list of alternatives.
    """

    name: str
    internal: str
    number: int
    type: str
    uncertain: bool
    hierarchy: Hierarchy | None = None

    @property
    def scale(self) -> Scale:
        """Return how its values are generalized and compared."""
        if self.hierarchy is not None:
            return "hierarchy"
        plain = self.type.removeprefix("U").partition("(")[0]
        if plain in _NUMBERS:
            return "number"
        return "moment" if plain.startswith(_MOMENTS) else "category"

    @property
    def read(self) -> Sql:
        """Return the expression over the deterministic table that reads a number, empty where there is none."""
        return Sql({"number": self.internal, "moment": f"epoch({self.internal})"}.get(self.scale, ""))

    @property
    def height(self) -> int:
        """Return the number of levels below the root."""
        return 1 if self.hierarchy is None else self.hierarchy.height

    @property
    def counted(self) -> bool:
        """Return whether the deterministic table says how many alternatives a cell had."""
        return self.uncertain and self.scale != "category"


@dataclass(frozen=True)
class Reading:
    """How the source is read: its attributes, the label, the tie of tuple-ors, the most alternatives of a cell.

    texts: columns of text whose cells may stand in braces, with the type of one alternative.
    """

    request: Request
    quasi: tuple[Column, ...]
    sensitive: Column
    label: str | None
    tie: str | None
    most: int
    in_order: bool
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return every attribute, the sensitive one last."""
        return (*self.quasi, self.sensitive)

    @property
    def counted(self) -> tuple[Column, ...]:
        """Return the quasi-identifiers whose alternatives are counted."""
        return tuple(column for column in self.quasi if column.counted)

    @property
    def places(self) -> range:
        """Return the places of sensitive alternatives that there may be, from 1."""
        return range(1, (self.most if self.sensitive.uncertain else 1) + 1)

    @property
    def singles(self) -> tuple[str, ...]:
        """Return what is a tuple's own and no alternative: identifiers, the label."""
        return (*identifier_names(self.request), *(["label"] if self.label is not None else []))

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Return the columns that tell rows apart and pass through to the release."""
        return ("row_number", "draw", *tie_names(self.request), *(["label"] if self.label is not None else []))


def read_cells(reading: Reading) -> Chapter:
    """Return the chapter that ends in `population`: one row per person, uncertain cells as lists, checked."""
    request = reading.request
    roles, source = request.roles, request.source
    names = {column.name: column.internal for column in reading.columns}
    identifiers = identifier_names(request)
    pairs = [*names.items(), *zip(roles.identifier, identifiers, strict=True)]
    pairs += [(name, ours) for name, ours in ((reading.label, "label"), (reading.tie, "tie")) if name is not None]
    texts = [
        {"name": names[name], "shown": repr(name), "is_text": sql_type == "VARCHAR"}
        for name, sql_type in reading.texts.items()
    ]
    listed = {*reading.texts, *source.lists}
    shown = [*map(repr, roles.identifier), *([repr(reading.label)] if reading.label is not None else [])]
    lists = [
        {
            "name": column.internal,
            "shown": repr(column.name),
            "bare": column.internal != "sensitive" and column.scale == "category",
            "file": f"{column.name}=FILE",
        }
        for column in reading.columns
        if column.uncertain
    ]
    passed = [ours for _, ours in pairs if ours not in {text["name"] for text in texts}]
    values = {
        "relation": source.relation,
        "selected": [
            *((source.expression(name), ours) for name, ours in pairs),
            (source.numbering or Sql("row_number() over ()"), "row_number"),
        ],
        "texts": texts,
        "passed_columns": [*passed, "row_number"],
        "text_columns": [(names[name], Sql(f"{sql_type}[]")) for name, sql_type in reading.texts.items()],
        "folded": reading.tie is not None,
        "shown_tie": repr(reading.tie),
        "singles": [{"name": name, "shown": words} for name, words in zip(reading.singles, shown, strict=True)],
        "single_columns": reading.singles,
        "scalar_columns": [column.internal for column in reading.columns if column.name not in listed],
        "list_columns": [(one.internal, Sql(one.type)) for one in reading.columns if one.name in listed],
        "most": reading.most,
        "required": ("sensitive",) if request.nulls == "drop" else (),
        "lists": lists,
        "shown_sensitive": repr(reading.sensitive.name),
        "identifiers": () if request.unit == "row" else identifiers,
    }
    return Chapter("uncertain/read", values)


def different_cells(reading: Reading) -> Chapter:
    """Return the chapter of the different cells: ancestors of categories, and sets of sensitive alternatives."""
    sensitive, named = reading.sensitive, ident(reading.sensitive.name)
    shortened = f"read the source through a view with left({named}, {LONGEST_TEXT}) as {named}"
    values = {
        "trees": [column for column in reading.quasi if column.hierarchy is not None],
        "sensitive": sensitive,
        "in_order": reading.in_order,
        "places": reading.places,
        "longest": LONGEST_TEXT,
        "shown_column": repr(sensitive.name),
        "advice": "write shorter alternatives into the source" if sensitive.uncertain else str(shortened),
    }
    return Chapter("uncertain/cells", values)


def determined(reading: Reading, *, suppresses: bool) -> Chapter:
    """Return the chapter of the deterministic table; suppresses: whether a star is to stand for what is suppressed."""
    texts = [column for column in reading.quasi if column.type == "VARCHAR" or column.hierarchy is not None]
    values = {
        "quasi": reading.quasi,
        "trees": [column for column in reading.quasi if column.hierarchy is not None],
        "sensitive": reading.sensitive,
        "kept": reading.row_columns,
        "starred": texts if suppresses else (),
    }
    return Chapter("uncertain/determined", values)


def probe(
    request: Request, alternatives: Written = "lists", hierarchy: Mapping[str, Beside] | None = None, **_: Any
) -> str:
    """Return the query that tells what the alternatives in braces are: numbers, dates, or text. Empty: none to ask."""
    texts = _braced(request, alternatives, hierarchy or {})
    if not texts:
        return ""
    columns = [request.source.expression(name) for name in texts]
    values = {"relation": request.source.relation, "text_columns": columns}
    return render_query("uncertain/brace_tallies", values, {})


def read_source(
    request: Request,
    alternatives: Written,
    tie: str | None,
    most: int,
    label: str | None,
    order: Order,
    hierarchies: Mapping[str, Beside],
) -> Reading:
    """Decide from the source's types what each attribute's cells hold."""
    label, tie = _beside_roles(request, "label", label), _beside_roles(request, "alternative_of", tie)
    trees = find_hierarchies(request, hierarchies, request.roles.sensitive)
    texts = _text_types(request, alternatives, trees)
    listed = {**request.source.lists, **texts}

    def column(name: str, internal: str, number: int) -> Column:
        sql_type = listed.get(name, request.types.get(name, "VARCHAR"))
        return Column(name, internal, number, sql_type, name in listed or tie is not None, trees.get(name))

    pairs = zip(request.roles.quasi, quasi_names(request), strict=True)
    return Reading(
        request=request,
        quasi=tuple(column(name, internal, number) for number, (name, internal) in enumerate(pairs, start=1)),
        sensitive=column(request.roles.sensitive[0], "sensitive", 0), label=label, tie=tie, most=most,
        in_order=order == "sorted", texts=texts,
    )  # fmt: skip


def _beside_roles(request: Request, parameter: str, name: str | None) -> str | None:
    """Return a column that a parameter names as the source spells it; it holds single values and has no other role."""
    if name is None:
        return None
    if request.types:
        (name,) = resolve_names(list(request.types), [name])
    if request.types.get(name) == "NESTED":
        raise UsageError(f"column {name!r} holds nested values; {option(parameter)} takes a column of single values")
    roles = request.roles
    by_role = {"quasi": roles.quasi, "sensitive": roles.sensitive}
    if parameter == "label":
        by_role["id"] = roles.identifier
    for role, columns in by_role.items():
        if name.lower() in (column.lower() for column in columns):
            raise UsageError(
                f"column {name!r} stands in {option(role)} and in {option(parameter)}; a column has one role"
            )
    return name


def find_hierarchies(
    request: Request, hierarchies: Mapping[str, Beside], more: tuple[str, ...] = ()
) -> dict[str, Hierarchy]:
    """Return the trees by the quasi columns that they are for; raise UsageError where one is none, or for no column.

    And for a column whose values have no texts to be told by; more: columns that are told by them too.
    """
    quasi = request.roles.quasi
    spelled = {name.lower(): name for name in quasi}
    by_column: dict[str, Beside] = {}
    for name, beside in hierarchies.items():
        if name.lower() not in spelled:
            raise UsageError(f"a hierarchy is given for {name!r}, which {option('quasi')} does not name")
        if spelled[name.lower()] in by_column:
            raise UsageError(f"a hierarchy is given twice for {spelled[name.lower()]!r}")
        by_column[spelled[name.lower()]] = beside
    for name in (*quasi, *more):
        if request.types.get(name) == "INTERVAL":
            raise UsageError(
                f"column {name!r} is an INTERVAL, of which equal values have several texts (a month, thirty days): read"
                f" its seconds, EPOCH({name}) AS {name}, in a {option('query')}"
            )
    return {name: read_hierarchy(name, beside.rows) for name, beside in by_column.items()}


def _braced(request: Request, alternatives: Written, hierarchies: Mapping[str, Any]) -> list[str]:
    """Return the text columns whose alternatives may be numbers: quasi-identifiers without a hierarchy."""
    if alternatives != "braces":
        return []
    with_tree = {name.lower() for name in hierarchies}
    return [name for name in request.roles.quasi if _is_text(request, name) and name.lower() not in with_tree]


def _is_text(request: Request, name: str) -> bool:
    return request.types.get(name, "VARCHAR") == "VARCHAR"


def _text_types(request: Request, alternatives: Written, trees: Mapping[str, Hierarchy]) -> dict[str, str]:
    """Return the type of the alternatives of every text column whose cells may stand in braces."""
    if alternatives != "braces":
        return {}
    types = {name: "VARCHAR" for name in (*request.roles.quasi, *request.roles.sensitive) if _is_text(request, name)}
    for number, name in enumerate(_braced(request, alternatives, trees), start=1):
        tallies = {
            tally: request.probed.get(f"{tally}_{number}", 0)
            for tally in ("braced", "parts", "whole", "numbers", "dates")
        }
        sql_types = (("whole", "BIGINT"), ("numbers", "DOUBLE"), ("dates", "DATE"))
        types[name] = next(
            (sql_type for tally, sql_type in sql_types if tallies["braced"] and tallies[tally] == tallies["parts"]),
            "VARCHAR",
        )
    return types
