"""Suggest a role for every column of a source, with figures and a reason, and the command that uses these roles.

Few quasi columns are suggested: those that others are likely to know, by their names (in several languages) or because
they are dates. Every further quasi column makes people easier to single out, so all other columns are left out until
asked for.
"""

import csv
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sqlanon.adversary.given_away import GivenAway, select_columns
from sqlanon.engines.base import Engine
from sqlanon.engines.runner import ChapterRun
from sqlanon.methods.uniqueness import MEASURED
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Source
from sqlanon.risks.question import CheckQuestion
from sqlanon.sql.source import QueriedSource, source_words
from sqlanon.wording import option

NEARLY_UNIQUE = 0.9  # of the rows have a value that nobody else has
FEW_VALUES = (
    0.05  # share of different values among the rows, at most, for a column that identifies only together with others
)
MOST_SUGGESTED = 6  # quasi columns
USUAL_L = 5
MONDRIAN_K = 10
LEAVE_OUT = "leave out"
SAYS_NOTHING = "its name says nothing"
NOT_RECOGNIZED = "a column whose name says nothing is a quasi column all the same where others know it"
_DATES = ("DATE", "TIMESTAMP")
_FRACTIONS = ("DOUBLE", "FLOAT", "DECIMAL")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+|\w", re.UNICODE)


@dataclass(frozen=True)
class ColumnProfile:
    """One column of a source as a scan finds it."""

    name: str
    type: str
    rows: int
    distinct_values: int
    nulls: int
    unique_rows: int
    largest_count: int
    running: bool = False

    @property
    def unique_share(self) -> float:
        """Return the share of the rows whose value nobody else has."""
        return self.unique_rows / self.rows if self.rows else 0.0

    @property
    def largest_l(self) -> int:
        """Return the largest l, up to the usual one, that the most frequent value leaves room for; NULL is a value."""
        return min(USUAL_L, self.rows // max(self.largest_count, self.nulls, 1))


def profile_columns(engine: Engine, source: Source, types: Mapping[str, str]) -> list[ColumnProfile]:
    """Scan each column once; nested columns are only counted as such."""
    profiles = []
    for name, type_name in types.items():
        if type_name == "NESTED":
            (counts,) = engine.rows(f"select count(*) as row_count from {source.relation}")
            rows, values, nulls, unique_rows, largest = (
                int(counts["row_count"]),
                2,
                0,
                0,
                1,
            )  # of more is not looked for
            profiles.append(ColumnProfile(name, type_name, rows, values, nulls, unique_rows, largest))
            continue
        whole = type_name.endswith(("INT", "INTEGER"))
        run = ChapterRun(engine, {"microdata": select_columns(source, {name: "value"})})
        counts = run.take([Chapter("check/columns/profile", {"whole": whole})])["profile"]
        # told as what it is, for its values are not its texts
        shown = f"{type_name} COLLATE" if name in source.collated else type_name
        names = ("row_count", "distinct_values", "null_count", "unique_rows", "largest_count")
        rows, values, nulls, unique_rows, largest = (int(counts[part]) for part in names)
        running = whole and unique_rows == rows > 1 and counts["width"] == rows - 1
        profiles.append(ColumnProfile(name, shown, rows, values, nulls, unique_rows, largest, running))
    return profiles


@cache
def _roles_by_word() -> Mapping[str, tuple[str, int, str]]:
    """Return of each word the role, its place in the file (what more people know stands further up), and why."""
    with (Path(__file__).with_name("column_names.csv")).open(encoding="utf-8", newline="") as lines:
        words = [(word, line) for line in csv.DictReader(lines) for word in line["words"].split()]
    return {word: (line["role"], place, line["why"]) for place, (word, line) in enumerate(words)}


def read_name(name: str) -> tuple[str, tuple[bool, int], str]:
    """Return the role that a column's name suggests, what ranks it, and why.

    It is ranked by whether words remain unknown, then by its place. The role is '' where the name says nothing.
    """
    parts = [word.lower() for word in _WORD.findall(name)]
    roles = sorted(_roles_by_word()[word] for word in {name.lower(), *parts} if word in _roles_by_word())
    unknown = [word for word in parts if word not in _roles_by_word() and word != "_"]
    is_partial = bool(unknown) and name.lower() not in _roles_by_word()
    for candidate in ("identifier", "sensitive", "quasi"):
        for role, place, why in roles:
            if role == candidate:
                return role, (is_partial, place), why
    return "", (True, 0), SAYS_NOTHING


def suggest_roles(columns: Sequence[ColumnProfile]) -> list[tuple[str, str]]:
    """Return a role (identifier, quasi, sensitive, leave out) and the reason for each column, for people to weigh."""
    suggestions = [_suggest_role(column) for column in columns]
    quasi = [number for number, (role, _) in enumerate(suggestions) if role == "quasi"]
    # dates without a telling name come last
    quasi.sort(key=lambda number: (read_name(columns[number].name)[0] != "quasi", read_name(columns[number].name)[1]))
    for number in quasi[MOST_SUGGESTED:]:
        suggestions[number] = LEAVE_OUT, f"{MOST_SUGGESTED} others are known better"
    sensitive = [number for number, (role, _) in enumerate(suggestions) if role == "sensitive"]
    published = _published_first(columns, sensitive)
    for number in sensitive:
        if number != published:
            why = f"{suggestions[number][1]}; leave it out, or publish it beside {columns[published].name}"
            suggestions[number] = "sensitive", why
    told = []
    for column, (role, why) in zip(columns, suggestions, strict=True):
        # whom the column singles out by itself; where nearly all have a value of their own that is the reason
        if column.unique_rows and column.unique_share < NEARLY_UNIQUE and not column.running:
            rows = "1 row has" if column.unique_rows == 1 else f"{column.unique_rows:,} rows have"
            told.append((role, f"{why}; {rows} a value nobody else has"))
        else:
            told.append((role, why))
    return told


def _published_first(columns: Sequence[ColumnProfile], sensitive: Sequence[int]) -> int:
    """Return which sensitive column a release may have: the first one whose values leave room for groups."""
    return next((number for number in sensitive if columns[number].largest_l >= 2), sensitive[0] if sensitive else -1)


def _suggest_role(column: ColumnProfile) -> tuple[str, str]:
    role, _, why = read_name(column.name)
    if column.distinct_values <= 1:
        return LEAVE_OUT, "one value at most" if column.nulls < column.rows else "no value at all"
    if column.type == "NESTED":
        return LEAVE_OUT, "nested values"
    if column.type.endswith(" COLLATE"):
        return LEAVE_OUT, "its collation takes texts that differ for one value: publish is to read a view without"
    if column.running and role != "identifier":
        return LEAVE_OUT, "a running number, which tells rows apart, not people"
    if column.unique_share >= NEARLY_UNIQUE and not column.type.startswith(_FRACTIONS):
        return "identifier", f"{column.unique_share:.0%} of the rows have a value of their own"
    if role == "identifier" and column.distinct_values > FEW_VALUES * column.rows:
        return "identifier", why
    if role == "sensitive" and 2 * column.unique_rows > column.rows and not column.type.startswith(MEASURED):
        return LEAVE_OUT, "most rows have a value of their own, which tells whose it is"
    if role in ("quasi", "sensitive"):
        return role, why
    if column.type.startswith(_DATES):
        return "quasi", "a date, which others may know"
    return LEAVE_OUT, SAYS_NOTHING


def describe_columns(columns: Sequence[ColumnProfile], roles: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return a line for each column with its figures, its suggested role and the reason."""
    return [
        {
            "column": column.name,
            "type": column.type,
            "values": column.distinct_values,
            "nulls": column.nulls,
            "unique_rows": column.unique_rows,
            "most_frequent": column.largest_count / column.rows if column.rows else 0.0,
            "suggested_role": role,
            "why": reason,
        }
        for column, (role, reason) in zip(columns, roles, strict=True)
    ]


def suggest_command(
    source: object, columns: Sequence[ColumnProfile], roles: Sequence[tuple[str, str]]
) -> tuple[str, str]:
    """Return the publish command that the suggested roles make, or '' and the reason why there is none."""
    by_role: dict[str, list[ColumnProfile]] = {"identifier": [], "quasi": [], "sensitive": []}
    for column, (role, _) in zip(columns, roles, strict=True):
        by_role.get(role, []).append(column)
    if not by_role["sensitive"]:
        rest = [column.name for column, (role, _) in zip(columns, roles, strict=True) if role == LEAVE_OUT]
        among = f" ({', '.join(rest[:MOST_SUGGESTED])})" if rest else ""
        return "", f"which column is nobody to learn of somebody{among}? Name it with {option('sensitive')}"
    if not by_role["quasi"]:
        return "", (
            f"which columns may others know of somebody (age, sex, place, a date)? Name them with {option('quasi')}"
        )
    if not isinstance(source, str | QueriedSource):
        return "", "a table of Python has no command; publish it by sqlanon.publish with the roles suggested"
    sensitive = by_role["sensitive"][_published_first(by_role["sensitive"], range(len(by_role["sensitive"])))]
    quasi = [column.name for column in by_role["quasi"]]
    identifiers = [column.name for column in by_role["identifier"][:1]]
    if sensitive.largest_l < 2:
        share = max(sensitive.largest_count, sensitive.nulls) / sensitive.rows
        return mondrian_command(source, quasi, sensitive.name, identifiers), say_frequent(sensitive.name, share)
    named = {"quasi": quasi, "sensitive": [sensitive.name], "id": identifiers}
    more = [*(["--nulls", "value"] if sensitive.nulls else []), "-l", str(sensitive.largest_l), "--out", "release"]
    return write_command(["publish", "anatomy"], source, named, *more), ""


def write_command(verb: Sequence[str], source: object, roles: Mapping[str, Sequence[str]], *more: str) -> str:
    """Return a command over a source, called SOURCE where it is no text; roles: quasi, sensitive, id, with columns."""
    words = ["sqlanon", *verb, *source_words(source)]
    for role, names in roles.items():
        # a name with a comma in it is read as one column where it stands alone
        joined = [",".join(names)] if names and not any("," in name for name in names) else names
        words += [word for name in joined for word in (f"--{role}", name)]
    return shlex.join([*words, *more])


def say_frequent(column: str, share: float) -> str:
    """Say what becomes of a sensitive column one value of which is too frequent to hide among others."""
    return (
        f"{column} has one value in {share:.1%} of the rows, where groups that hide it need at most 50%: publish it"
        " with mondrian, which makes people alike in what others know, or protect another column"
    )


def mondrian_command(source: object, quasi: Sequence[str], sensitive: str, identifiers: Sequence[str]) -> str:
    """Return the command that publishes a table in boxes of people who are alike."""
    if not isinstance(source, str | QueriedSource):
        return ""
    roles = {"quasi": quasi, "sensitive": [sensitive], "id": identifiers}
    return write_command(["publish", "mondrian"], source, roles, "-k", str(MONDRIAN_K), "--out", "release")


def suggest_next(question: CheckQuestion, given_away: Sequence[GivenAway], comparable: bool, nulls: bool) -> str:
    """Return the command to type next: check without what tells most, or compare what may be published.

    comparable: whether `compare` takes this table. nulls: whether a sensitive column has NULLs.
    """
    worst = max((each for each in given_away if each.note), key=lambda each: each.named, default=None)
    if not isinstance(question.source, str | QueriedSource):
        return ""
    quasi, rules, verb = list(question.quasi), dict(question.coarsen), "check"
    if worst is not None:
        # of a pair the column is made coarser that tells more by itself, or left out where no rule helps
        alone = {each.known: each.named for each in given_away if len(each.columns) == 1}
        column = max(worst.columns, key=lambda name: alone[name])
        if worst.rule:
            rules[column] = worst.rule
        else:
            quasi.remove(column)
            rules.pop(column, None)
    else:
        verb = "compare"
    if not quasi or (verb == "compare" and not comparable):
        return ""
    roles = {"quasi": quasi, "sensitive": question.sensitive, "id": question.identifier}
    more = ["--nulls", "value"] if nulls and verb == "compare" else []
    more += [word for name, rule in rules.items() for word in ("--coarsen", f"{name}={rule}")]
    return write_command([verb], question.source, roles, *more)
