"""One table macro: steps of templates as the CTEs of one SELECT, stored in a database for clients without Python."""

import string
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import indent

from sqlanon.errors import TemplateError
from sqlanon.plans.build import build
from sqlanon.plans.plan import Step, statements_of
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.wording import spoken

# without MATERIALIZED DuckDB decides itself, and a random or expensive step could run once per reader
_KEEPING = {"table": "as materialized", "view": "as not materialized"}


@dataclass(frozen=True)
class Macro:
    """Name a macro, its parameters as they are written (`draws := 'keyed'` has a default), and its steps.

    Steps may be statements that are written already. The last one is the answer. `sentence` says what it yields,
    `example` calls it.
    A parameter's name must be no column of any template: DuckDB would put the parameter in its place.
    """

    name: str
    parameters: tuple[str, ...]
    sentence: str
    example: str
    steps: tuple[Step | Statement, ...]
    values: Mapping[str, object]

    @property
    def signature(self) -> str:
        """Return how the macro is called."""
        return f"{self.name}({', '.join(self.parameters)})"

    @property
    def body(self) -> str:
        """Return the macro's one SELECT, each step in a WITH of its own.

        Beside each table of a WITH DuckDB 1.4 keeps a copy of all the others: opening a file of our macros took 5.6 GB.
        """
        built = build([step for step in self.steps if isinstance(step, Step)], self.values, "sqlanon_", {})
        written = [step for step in self.steps if isinstance(step, Statement)]
        *steps, answer = [statement for step in built for statement in statements_of(step)] + written
        opening = "".join(f"with {_expression(step)}\nselect *\nfrom (\n" for step in steps)
        return f"{opening}{indent(answer.sql, '    ')}\n{')' * len(steps)} as answer"

    @property
    def sql(self) -> str:
        """Return the statement that stores the macro."""
        return self.sql_in("")

    def sql_in(self, place: str) -> str:
        """Return the statement that stores the macro in a database's schema, `"hospital"."main".`, or where it runs."""
        parameters = ",\n".join(f"    {parameter}" for parameter in self.parameters)
        return f"create or replace macro {place}{ident(self.name)}(\n{parameters}\n) as table\n{self.body}"


def _expression(statement: Statement) -> str:
    if not statement.relation:
        raise TemplateError(f"step {statement.name}: a query has no name to stand in a macro")
    return f"{statement.relation} {_KEEPING[statement.kind]} (\n{indent(statement.sql, '    ')}\n)"


def write_message(text: str, fields: Mapping[str, str]) -> Sql:
    """Write a message with `{fields}` as SQL: its words as literals, its fields as expressions."""
    # the words come from our own constants: fields are SQL, never a user's text
    pieces = []
    for words, field, _, _ in string.Formatter().parse(spoken(text, "command line")):
        if words:
            pieces.append(str(literal(words)))
        if field is not None:
            pieces.append(f"cast({fields[field]} as varchar)")
    return Sql(" || ".join(pieces))


def describe_macro(macro: Macro) -> dict[str, str]:
    """Return what a user should know of a macro."""
    return {"macro": macro.signature, "yields": macro.sentence, "example": macro.example}
