"""Chapters: files of SQL that read like the paper's algorithm, from top to bottom, and their sections.

A section begins with a line of its own, and is one SELECT, or rows of several together (UNION):

    -- table tally: how often each value occurs           a relation that is made once
    -- view known: the rows that have a value             a relation that is text
    -- check feasible: nobody can hide such a value       one column `refusal`: NULL where the run may go on
    -- report dropped: how many rows are left out         one row of figures
    -- repeat exchange until CONDITION, at most N turns   the sections down to `-- end`, again and again

`{{ name }}` is a relation made above, in this chapter or before it. A relation may be made again: what stands below
reads the newer one; inside a loop the newer one takes the place of the older.

Sections that are asked for one by one, as what an adversary reads of a release, stand in a chapter too: `view/truth` is
the section `truth` of the chapter `view`, with what the chapter imports.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import jinja2

from sqlanon.errors import TemplateError, raised_as
from sqlanon.plans.templates import HEAD_MARK, Sql, environment, reading_of, relation_mark

Part = Literal["table", "view", "check", "report"]
TURN = relation_mark("turn")  # what stands in a loop's SQL for the number of the turn, from 0 on

_NAMED = re.compile(r"(table|view|check|report) (\w+): (.+)")
_REPEAT = re.compile(r"repeat (\w+) until (.+), at most (\d+) turns")
_RELATION = re.compile(r"\0(\w+)\0")
_STATIC_HEAD = re.compile(rf"^{HEAD_MARK}-- (?:table|view) (\w+):", re.MULTILINE)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*")


@dataclass(frozen=True)
class Chapter:
    """A chapter that is to run, with the values that it takes: each must be read, and none may be missing.

    notes: what to tell the publisher of a check's or a report's row, by the section's name, where SQL does not say it.
    """

    name: str
    values: Mapping[str, object] = field(default_factory=dict)
    notes: Mapping[str, Callable[[Mapping[str, Any]], str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """One SELECT of a chapter, in which relations are still names (`bind` puts quoted ones in their places)."""

    kind: Part
    name: str
    sentence: str
    text: str


@dataclass(frozen=True)
class Repetition:
    """Sections that are run again until a condition holds, at most `limit` turns."""

    name: str
    until: str
    limit: int
    body: tuple[Section, ...]


def read(chapter: Chapter, standing: Mapping[str, Sql], engine: str) -> tuple[Section | Repetition, ...]:
    """Render a chapter and return its sections.

    standing: the relations that are there before it. engine: whose macros write what engines say differently.
    Raises TemplateError for a name that is neither a value nor a relation, for a value that is not read, and for what
    is no section, or more than one statement.
    """
    made, variables = _names_of(f"{chapter.name}.sql.j2")
    made |= _names_of(f"engines/{engine}.sql.j2")[0]
    relations = {name: relation_mark(name) for name in {*made, *standing, "turn"}}
    if unread := set(chapter.values) - variables:
        raise TemplateError(f"chapter {chapter.name} does not read {sorted(unread)}")
    template = environment().get_template(f"{chapter.name}.sql.j2")
    spelled = environment().get_template(f"engines/{engine}.sql.j2").module
    with raised_as(TemplateError, f"chapter {chapter.name}", jinja2.UndefinedError):
        text = template.render({**relations, **chapter.values, "engine": spelled})
    preface, *pieces = re.split(rf"^{HEAD_MARK}-- ", text, flags=re.MULTILINE)
    if preface.strip():
        raise TemplateError(f"chapter {chapter.name}: {preface.strip()[:60]!r} stands in no section")
    return tuple(_sections(chapter.name, iter(pieces)))


def bind(text: str, relations: Mapping[str, Sql]) -> str:
    """Put relations into the places of their names; the number of a turn stays open."""

    def relation(match: re.Match[str]) -> str:
        if match[1] == "turn":
            return match[0]
        if match[1] not in relations:
            raise TemplateError(f"the relation {match[1]} is read before it is made")
        return relations[match[1]]

    return _RELATION.sub(relation, text)


def _sections(chapter: str, pieces: Iterator[str], loop: bool = False) -> Iterator[Section | Repetition]:
    for piece in pieces:
        head, _, body = piece.partition("\n")
        if named := _NAMED.fullmatch(head.strip()):
            kind, name, sentence = named.groups()
            yield Section(kind, name, sentence, _single(body.strip(), f"{chapter}, {name}"))  # type: ignore[arg-type]
        elif repeat := _REPEAT.fullmatch(head.strip()):
            body_sections = tuple(_sections(chapter, pieces, loop=True))
            singles = tuple(
                part for part in body_sections if isinstance(part, Section) and part.kind in ("table", "view")
            )
            if len(singles) < len(body_sections):
                raise TemplateError(f"chapter {chapter}: {repeat[1]} repeats tables and views alone")
            yield Repetition(repeat[1], repeat[2], int(repeat[3]), singles)
        elif head.strip() == "end" and loop:
            return
        else:
            raise TemplateError(f"chapter {chapter}: {head!r} begins no section")


def _single(sql: str, where: str) -> str:
    if not sql or ";" in _QUOTED.sub("", sql):
        raise TemplateError(f"{where}: a section is one SELECT")
    return sql


def variables_of(chapter: str) -> frozenset[str]:
    """Return the names of values and relations that a chapter reads."""
    return _names_of(f"{chapter}.sql.j2")[1]


@cache
def _names_of(template: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the relations that a chapter makes, and the names that it reads; those of what it includes as well."""
    reading = reading_of(template)
    source, _, _ = environment().loader.get_source(environment(), template)  # type: ignore[union-attr]
    made, variables = set(_STATIC_HEAD.findall(source)), set(reading.names)
    for name in (*reading.included, *reading.imported):
        inner_made, inner_variables = _names_of(name)
        made |= inner_made
        variables |= inner_variables if name in reading.included else set()
    return frozenset(made), frozenset(variables)
