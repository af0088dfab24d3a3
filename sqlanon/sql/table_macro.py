"""One table macro: chapters as the relations of one SELECT, stored in a database for clients without Python."""

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent

from sqlanon.errors import TemplateError
from sqlanon.plans.chapters import Chapter, Repetition, bind, read
from sqlanon.plans.plan import Statement
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.wording import option, spoken

ENGINE = "duckdb_macro"  # whose macros chapters read
# without MATERIALIZED DuckDB decides itself, and a random or expensive step could run once per reader
_KEEPING = {"table": "as materialized", "view": "as not materialized"}
_MARKED = re.compile("'(?:[^'\ue000-\ue004]|'')*[\ue000-\ue004](?:[^']|'')*'")
_OPEN = re.compile("\ue000([^\ue001]*)\ue001[^\ue001]*\ue001\\Z")  # what is given stands behind the constant


@dataclass(frozen=True)
class Macro:
    """Name a macro, its parameters as they are written (`draws := 'keyed'` has a default), and its chapters.

    What the last one makes is the answer. `sentence` says what it yields, `example` calls it.
    A parameter's name must be no column of any template: DuckDB would put the parameter in its place.
    """

    name: str
    parameters: tuple[str, ...]
    sentence: str
    example: str
    parts: tuple[Chapter, ...]

    @property
    def signature(self) -> str:
        """Return how the macro is called."""
        return f"{self.name}({', '.join(self.parameters)})"

    @property
    def body(self) -> str:
        """Return the macro's one SELECT, each relation in a WITH of its own.

        Beside each table of a WITH DuckDB 1.4 keeps a copy of all the others: opening a file of our macros took 5.6 GB.
        """
        *steps, answer = _relations(self.parts)
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


def _relations(parts: Sequence[Chapter]) -> list[Statement]:
    """Return the relations of chapters one after the other; what is drawn by `key` is drawn where no check refuses.

    The sections of a chapter but its reports are relations; behind each check stands a new `key`.
    """
    made: list[Statement] = []
    named: dict[str, Sql] = {}
    refusals: list[Sql] = []

    def make(name: str, sql: str, kind: str) -> Sql:
        number = sum(statement.name == name for statement in made)
        relation = ident(f"sqlanon_{name}{f'_{number + 1}' if number else ''}")
        made.append(Statement(name, _in_words(sql), "view" if kind == "view" else "table", str(relation)))
        return relation

    def raised() -> str:
        """Return the beginning of a CASE that raises the first refusal, whichever relation is asked for first."""
        refusal = ", ".join(f"(select refusal from {relation})" for relation in refusals)
        found = f"coalesce({refusal}, null)"
        return f"case when {found} is not null then cast(system.main.error({found}) as varchar)"

    for part in parts:
        for section in read(part, named, ENGINE):
            if isinstance(section, Repetition):
                raise TemplateError(f"chapter {part.name}: one SELECT cannot repeat {section.name}")
            if section.kind == "report":
                continue
            relation = make(section.name, bind(section.text, named), section.kind)
            if section.kind == "check":
                refusals.append(relation)
            else:
                named[section.name] = relation
            if refusals and "key" in named and (section.kind == "check" or section.name == "key"):
                secret = f"select {raised()} else secret end as secret from {named['key']}"
                named["key"] = make("key", secret, "table")
    if refusals and "key" not in named:  # without draws the answer itself is what a refusal takes the place of
        make("answered", f"select * from {made[-1].relation} where {raised()} end is null", "table")
    return made


def _expression(statement: Statement) -> str:
    if not statement.relation:
        raise TemplateError(f"step {statement.name}: a query has no name to stand in a macro")
    return f"{statement.relation} {_KEEPING[statement.kind]} (\n{indent(statement.sql, '    ')}\n)"


def _in_words(sql: str) -> str:
    """Name a macro's parameters where the command line names its options, in the constants of a statement."""
    many = f"say {option('unit', 'row')}"

    def worded(match: re.Match[str]) -> str:
        text = match[0][1:-1].replace("''", "'").replace(many, "leave out id")
        return literal(_OPEN.sub(r"\1 := ", spoken(text, "macro")).replace("\ue002", ""))

    return _MARKED.sub(worded, sql)


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
