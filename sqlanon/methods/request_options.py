"""Options that the function, command and job of every method take beside its own parameters, declared once."""

import os
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Required, TypedDict

from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.methods.name_types import COARSEN, Columns, TableByColumn, named_place
from sqlanon.methods.parameter_types import FILE, Choice, JobText, ParameterType, Switch
from sqlanon.methods.parameters import Parameter
from sqlanon.plans import json_schema
from sqlanon.plans.json_schema import Schema
from sqlanon.plans.plan import ORDERS, read_order
from sqlanon.wording import option

# What every method takes where releases of the same people follow each other under a ledger, declared once.
Names = str | Iterable[str]
Place = str | os.PathLike[str]


class LedgerPlace(ParameterType):
    """The path of a ledger, or none."""

    typed = str | None
    job = FILE
    recorded = False

    def check(self, name: str, value: Any) -> Any:
        """Take a path or a text."""
        if not (value is None or isinstance(value, str | os.PathLike)):
            raise UsageError(f"{name} is a path, not a {type(value).__name__}")
        return named_place(value)


class ReleasePlace(LedgerPlace):
    """The path of a release, or its schema's name, or none."""

    job = Annotated[str, JobText(lambda folder, text: folder.release(text))]


class LedgerOptions(TypedDict, total=False):
    """How a release follows others of the same people."""

    ledger: Annotated[
        Place | None,
        Parameter(
            LedgerPlace(),
            "What keeps releases in step: a file, as secret as the source.",
            None,
            compiled=False,
        ),
    ]
    changed: Annotated[
        Literal["leave", "keep"],
        Parameter(
            Choice(("leave", "keep")),
            "With a ledger, whoever has another value now leaves, or keeps the old value.",
            "leave",
            compiled=False,
        ),
    ]
    since: Annotated[
        Place | None,
        Parameter(ReleasePlace(), "With a ledger: the release that has to be its last one.", None, compiled=False),
    ]
    expect_departures: Annotated[
        bool,
        Parameter(
            Switch(), "With a ledger: publish although nearly everybody has left the source.", False, compiled=False
        ),
    ]
    new_quasi: Annotated[
        bool,
        Parameter(
            Switch(),
            "With a ledger: publish quasi columns or labels that no release before had.",
            False,
            compiled=False,
        ),
    ]


class KeyText(ParameterType):
    """A key: 64 hex digits, or a Key."""

    typed = str | None

    def check(self, name: str, value: Any) -> Key | None:
        """Take a text or a Key."""
        if not (value is None or isinstance(value, str | Key)):
            raise UsageError(f"a key is text or a Key, not a {type(value).__name__}")
        return Key.of(value) if isinstance(value, str) else value


class Requirements(ParameterType):
    """Thresholds that the finished release has to meet, each a text as in `rows >= 500`."""

    typed = list[str]
    recorded = False

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Take one text or several."""
        texts = (value,) if isinstance(value, str) else tuple(value)
        if not all(isinstance(text, str) for text in texts):
            raise UsageError(f"{name} takes texts such as 'rows >= 500'")
        return texts


class Target(ParameterType):
    """A directory or a schema to appear, or none."""

    typed = str | None

    def check(self, name: str, value: Any) -> Any:
        """Take a path (out) or a text."""
        if not (value is None or isinstance(value, str) or (name == "out" and isinstance(value, os.PathLike))):
            raise UsageError("out is a path and into a schema's name")
        return named_place(value)


class RowOfPerson(ParameterType):
    """Which row of a person has the quasi values: a word, a blank and a column."""

    typed = str | None

    def check(self, name: str, value: Any) -> str | None:
        """Refuse what begins with another word, or names no column."""
        if value is not None and not isinstance(value, str):
            raise UsageError(f"{name} is text, not a {type(value).__name__}")
        if value is not None:
            read_order(value)
        return value

    def schema(self, limits: Schema) -> Schema:
        """Return the schema of such a text."""
        return json_schema.text(rf"({'|'.join(ORDERS)}) \S.*")


HIERARCHIES = Parameter(
    TableByColumn(),
    "COLUMN=FILE, repeatable: child and parent, or one column per level from leaf to root.",
    {},
)
SENSITIVE = Parameter(Columns(), "Sensitive column.")
SEVERAL_SENSITIVE = Parameter(Columns(), "Sensitive columns; commas, repeatable.")
# where a release goes
OUT = Parameter(Target(), "Directory to appear, with Parquet files and release.json.", None, compiled=False, job=False)
INTO = Parameter(Target(), "Schema of the database to appear, in one transaction.", None, compiled=False, job=False)
OVERWRITE = Parameter(Switch(), "Replace an older release at the target.", False, compiled=False, job=False)


class QuasiOptions(TypedDict, total=False):
    """The columns that are published as they are."""

    quasi: Required[
        Annotated[Names, Parameter(Columns(), "Quasi-identifier columns, which others may know; commas, repeatable.")]
    ]


class RowTreatment(TypedDict, total=False):
    """How rows are told apart, treated and drawn for, and where the release goes."""

    id: Annotated[Names, Parameter(Columns(), "Identifier columns, never published: whose a row is.", ())]
    nulls: Annotated[
        Literal["refuse", "value", "drop"],
        Parameter(
            Choice(("refuse", "value", "drop")),
            "NULL sensitive values: refuse, publish as a value, or drop.",
            "refuse",
        ),
    ]
    draws: Annotated[
        Literal["keyed", "random"],
        Parameter(
            Choice(("keyed", "random")), "keyed: sha256 under a secret key. random: faster, predictable.", "keyed"
        ),
    ]
    key: Annotated[
        str | Key | None,
        Parameter(
            KeyText(),
            "Key of the draws (64 hex digits). Whoever has it can undo the release.",
            None,
            compiled=False,
            job=False,
        ),
    ]
    unit: Annotated[
        Literal["person", "row"],
        Parameter(
            Choice(("person", "row")),
            f"Whom the promise is about: a person, whose rows {option('id')} tells, or a row, whosever it is.",
            "person",
            compiled=False,
        ),
    ]
    vary: Annotated[
        str | None,
        Parameter(
            RowOfPerson(),
            "Of a person whose quasi values differ from row to row, the row that tells them: 'latest visit_date', or"
            " earliest, largest, smallest of a column.",
            None,
            compiled=False,
        ),
    ]
    unique_quasi: Annotated[
        Literal["refuse", "keep"],
        Parameter(
            Choice(("refuse", "keep")),
            "keep: publish a quasi column although it has a value of its own in each row.",
            "refuse",
        ),
    ]
    unique_sensitive: Annotated[
        Literal["refuse", "keep"],
        Parameter(
            Choice(("refuse", "keep")),
            "keep: publish a sensitive column although most rows have a value of their own in it.",
            "refuse",
        ),
    ]
    coarsen: Annotated[
        Mapping[str, str],
        Parameter(
            COARSEN,
            "COLUMN=RULE, repeatable: publish a quasi column coarser: age=10, born=year, zip='3 letters', by a table"
            " of values and labels: job=labels.csv, or as pseudonyms under a key: ward=pseudonym:FILE.",
            {},
            compiled=False,
        ),
    ]
    show_values: Annotated[
        bool, Parameter(Switch(), "Let messages name sensitive values.", False, compiled=False, job=False)
    ]
    require: Annotated[
        str | Iterable[str],
        Parameter(
            Requirements(),
            "Threshold, e.g. 'rows >= 500' or 'off_at_least(3) >= 0.5'; nothing is published where one is missed;"
            " repeatable.",
            (),
            compiled=False,
            job=False,
        ),
    ]
    out: Annotated[Place | None, OUT]
    into: Annotated[str | None, INTO]
    overwrite: Annotated[bool, OVERWRITE]


class RowOptions(RowTreatment, LedgerOptions, total=False):
    """The same, and how a release follows others of the same people."""


class RequestOptions(QuasiOptions, RowOptions, total=False):
    """What every method takes whose quasi-identifiers are published exactly."""
