"""Coarser values of a quasi column (global recoding), in SQL: steps of numbers, units of time, first letters.

Coarsened values keep their order: 40 stands for the numbers from 40 to below 50 where the step is 10, and the first day
of a month for the month. Coarsening twice is the same as once. Any other grouping of values comes from a table of
values and labels, which the source is joined with; pseudonyms are labels that a key makes, one for each value.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlanon.errors import UsageError
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, literal
from sqlanon.wording import option

UNITS = ("year", "quarter", "month", "week")
YEARS = {"decade": 10, "century": 100}
MAPPING = "mapping"  # what a manifest says of a table of values and labels
PSEUDONYM = "pseudonym"  # and of keyed hashes
TABLE = "map:"  # what stands before its name
LOOKED_UP = {MAPPING: TABLE, PSEUDONYM: "pseudonym:"}  # labels, and what stands before the table or the key's file
# how a manifest writes a rule
_NUMBERS = r"[1-9]\d{0,8}(\.\d{0,8}[1-9])?|0\.\d{0,8}[1-9]"
PATTERN = rf"{_NUMBERS}|{'|'.join((*UNITS, *YEARS, *LOOKED_UP))}|[1-9]\d{{0,3}} letters"
_FILE = re.compile(r"\.(csv|tsv|txt|parquet|parq|pq|json|jsonl|ndjson)(\.gz|\.zst)?(@[1-9]\d?)?\Z", re.IGNORECASE)
_LEVEL = re.compile(r"(.+)@([1-9]\d?)")
_LETTERS = re.compile(r"([1-9]\d{0,3})\s*letters?", re.ASCII)
_STEP = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_TIMES = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
_DIGITS = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
# letters of Unicode that stand above or below the one before them
_ACCENTS = "".join(map(chr, (*range(0x300, 0x370), *range(0x1DC0, 0x1E00), *range(0x20D0, 0x2100))))
_MOST_DIGITS = 38  # of a DECIMAL


@dataclass(frozen=True)
class Coarsening:
    """How the values of one column are made coarser; rule: `10`, `2.5`, `year`, `decade`, `3 letters`, `mapping`,
    `pseudonym`.

    table: of a mapping, the table of values and labels, as a source is named, or a hierarchy's and `@LEVEL`; of
    pseudonyms, the file of their key. A manifest does not say it.
    """

    rule: str
    table: str = ""

    @property
    def place(self) -> tuple[str, int]:
        """Return the table or file, and the level of a hierarchy whose labels are published; 0 where it is none."""
        found = _LEVEL.fullmatch(self.table) if self.rule == MAPPING else None
        return (found[1], int(found[2])) if found else (self.table, 0)

    @property
    def typed(self) -> str:
        """Return the rule as it is typed."""
        return f"{LOOKED_UP[self.rule]}{self.table}" if self.table else self.rule

    @classmethod
    def read(cls, column: str, text: str) -> "Coarsening":
        """Read a rule; raise UsageError for what is none."""
        words = " ".join(text.split()).lower()
        for rule, beginning in LOOKED_UP.items():
            if text.startswith(beginning) and text.removeprefix(beginning).strip():
                return cls(rule, text.removeprefix(beginning).strip())
        if letters := _LETTERS.fullmatch(words):
            return cls(f"{letters[1]} letters")
        if _STEP.fullmatch(words) and float(words) > 0:
            whole, _, fraction = words.partition(".")
            digits = fraction.rstrip("0")
            return cls((whole.lstrip("0") or "0") + (f".{digits}" if digits else ""))
        if words in (*UNITS, *YEARS):
            return cls(words)
        if _FILE.search(text.strip()):
            return cls(MAPPING, text.strip())
        raise UsageError(
            f"{option('coarsen')} {column}={text!r} is no way to coarsen values: say a step of numbers ({column}=10), a"
            f" unit of time ({', '.join((*UNITS, *YEARS))}), how many letters to keep ({column}='3 letters'), or a"
            f" table of values and labels, with columns from and to ({column}=labels.csv, {column}={TABLE}labels), a"
            f" level of a hierarchy ({column}=levels.csv@2), or the file of a key for pseudonyms"
            f" ({column}={LOOKED_UP[PSEUDONYM]}FILE)",
            about=["coarsen"],
        )

    @property
    def words(self) -> str:
        """Say what a published value stands for."""
        if self.rule == MAPPING:
            return "a label that the publisher gave to several values"
        if self.rule == PSEUDONYM:
            return "a pseudonym, the same in every table that was hashed under the same key"
        if letters := _LETTERS.fullmatch(self.rule):
            return f"the first {letters[1]} letters" if letters[1] != "1" else "the first letter"
        if self.rule in UNITS:
            return f"the first day of its {self.rule}"
        step = YEARS.get(self.rule, self.rule)
        return f"the lower end of its step of {step}" + (" years" if self.rule in YEARS else "")

    def reads_years(self, sql_type: str) -> bool:
        """Tell whether the years of dates are read, which infinite ones lack. sql_type: the column's type."""
        return self.rule in YEARS and sql_type.partition("(")[0].strip() in _TIMES

    def type_of(self, column: str, sql_type: str) -> str:
        """Return the type of what a column of a type becomes; raise UsageError where the rule is not for that type."""
        family = sql_type.partition("(")[0].strip()
        if self.rule in LOOKED_UP:
            if sql_type != "NESTED":
                return "VARCHAR"
        elif _LETTERS.fullmatch(self.rule):
            if family in (*_WHOLE, "VARCHAR", "UUID"):
                return "VARCHAR"
        elif self.rule in UNITS:
            if family in _TIMES:
                return "DATE"
        elif family in _WHOLE:
            if self.rule in YEARS or "." not in self.rule:
                return "BIGINT"
        elif family in _TIMES and self.rule in YEARS:
            return "BIGINT"
        elif family in ("DOUBLE", "FLOAT") and self.rule not in YEARS:
            return "DOUBLE"
        elif family == "DECIMAL" and self.rule not in YEARS and (decimal := self._type_of_decimals(sql_type)):
            return decimal
        if sql_type == "TIMESTAMP WITH TIME ZONE":
            raise UsageError(
                f"{option('coarsen')} {column}={self.rule!r} is not for values of type {sql_type}, whose day depends on"
                f" where one is: read the column as CAST({column} AS TIMESTAMP) AS {column} in a {option('query')}",
                about=["coarsen"],
            )
        dates = sql_type == "VARCHAR" and self.rule in (*UNITS, *YEARS)
        raise UsageError(
            f"{option('coarsen')} {column}={self.rule!r} is not for values of type {sql_type}: "
            + (f"a file's texts are read as dates with {option('types', f'{column}=DATE')}; " if dates else "")
            + "steps are for numbers (with no more decimals than these have), units of time for dates and timestamps"
            " (decade and century for numbers of years, too), letters for texts",
            about=["coarsen"],
        )

    def _type_of_decimals(self, sql_type: str) -> str:
        """Return a type that holds the lower end of every value's step; none where the step has more decimals."""
        digits = _DIGITS.fullmatch(sql_type)
        if digits is None:
            return sql_type
        width, scale = map(int, digits.groups())
        whole, _, fraction = self.rule.partition(".")
        if len(fraction) > scale:
            return ""
        return f"DECIMAL({min(_MOST_DIGITS, max(width, len(whole) + scale) + 1)},{scale})"

    def write(self, sql: Sql, sql_type: str) -> Sql:
        """Return the SQL of the coarser value of an expression, which is a label already where labels are looked up.

        sql_type: the expression's type.
        """
        if self.rule in LOOKED_UP:
            return sql
        if letters := _LETTERS.fullmatch(self.rule):
            text, after = f"cast({sql} as varchar)", f"substring(cast({sql} as varchar), {int(letters[1]) + 1}) || '.'"
            # accents that follow the last letter are part of it
            accents = f"length({after}) - length(trim({after}, {literal(_ACCENTS)}))"
            return Sql(f"substring({text}, 1, {letters[1]} + {accents})")
        if self.rule in UNITS:
            return Sql(f"cast(date_trunc({literal(self.rule)}, cast({sql} as timestamp)) as date)")
        step = YEARS.get(self.rule, self.rule)
        if sql_type in _TIMES:
            sql, sql_type = Sql(f"cast(year({sql}) as bigint)"), "BIGINT"
        if sql_type in ("DOUBLE", "FLOAT"):
            return self._write_floats(sql, sql_type)
        # as wide as the lower end of the least value needs
        wide_type = "bigint" if sql_type in _WHOLE else self._type_of_decimals(sql_type)
        wide = f"cast({sql} as {wide_type})"
        # a remainder has the sign of the number that is divided
        return Sql(f"cast({wide} - (({wide} % {step}) + {step}) % {step} as {wide_type})")

    def _write_floats(self, sql: Sql, sql_type: str) -> Sql:
        """Return the lower end of a float's step: .3 is the lower end of its step of .1, though 3 times .1 is more."""
        whole, _, fraction = self.rule.partition(".")
        numerator, denominator = int(whole + fraction), 10 ** len(fraction)
        # the nearer end of the step, which is the next step's where it is the upper one
        nearest = f"floor(cast({sql} as double) * {denominator} / {numerator} + 0.5)"
        beyond = f"cast({nearest} * {numerator} / {denominator} as {sql_type}) > {sql}"
        step = f"({nearest} - case when {beyond} then 1 else 0 end)"
        return Sql(f"cast({step} * {numerator} / {denominator} as double)")


def example_rule(sql_type: str) -> str:
    """Return a rule for values of a type, to begin with; empty where there is none."""
    family = sql_type.partition("(")[0].strip()
    rules = {"year": _TIMES, "1letter": ("VARCHAR", "UUID"), "10": (*_WHOLE, "DECIMAL", "DOUBLE", "FLOAT")}
    return next((rule for rule, families in rules.items() if family in families), "")


def is_pseudonym(rule: str) -> bool:
    """Tell whether a rule, as it is typed, makes pseudonyms."""
    return rule.startswith(LOOKED_UP[PSEUDONYM])


def label_tables(rules: Mapping[str, str]) -> list[str]:
    """Return the tables of values and labels, and the files of keys, that rules name, as they were typed."""
    return [
        Coarsening(looked_up, rule.removeprefix(beginning)).place[0]
        for rule in rules.values()
        for looked_up, beginning in LOOKED_UP.items()
        if rule.startswith(beginning)
    ]


def resolve_rules(rules: Mapping[str, str], quasi: Sequence[str], types: Mapping[str, str]) -> dict[str, Coarsening]:
    """Return the rule of each quasi column that has one, by the column's own name; raise UsageError for others."""
    resolved = {}
    for name, text in rules.items():
        (column,) = resolve_names(types, (name,))
        if column not in quasi:
            raise UsageError(
                f"{option('coarsen')} is for quasi columns, and {column!r} is none of them;"
                f" name it with {option('quasi')}, too, or leave it out",
                about=["coarsen"],
            )
        rule = Coarsening.read(column, text)
        rule.type_of(column, types[column])
        resolved[column] = rule
    return resolved
