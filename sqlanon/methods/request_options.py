"""Options that the function, command and job of every method take beside its own parameters, declared once."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Required, TypedDict

from sqlanon.key import Key
from sqlanon.methods.kinds import TEXT, TEXTS, FilePath, Kind
from sqlanon.methods.name_kinds import (
    COARSEN,
    COLUMNS,
    PATH_TEXT,
    PLACES,
    RELEASE_PLACE,
    SCHEMA_NAME,
    TABLE_BY_COLUMN,
)
from sqlanon.methods.parameters import Parameter
from sqlanon.plans.following import Changed
from sqlanon.plans.plan import Draws, Nulls, UniqueQuasi, Unit, read_order
from sqlanon.wording import option

# What every method takes where releases of the same people follow each other under a ledger, declared once.
Names = str | Iterable[str]


class LedgerOptions(TypedDict, total=False):
    """How a release follows others of the same people."""

    ledger: Annotated[
        FilePath | None,
        PATH_TEXT,
        Parameter("What keeps releases in step: a file, as secret as the source.", None, compiled=False),
    ]
    changed: Annotated[
        Changed,
        Parameter(
            "With a ledger, whoever has another value now leaves, or keeps the old value.", "leave", compiled=False
        ),
    ]
    since: Annotated[
        FilePath | None,
        RELEASE_PLACE,
        Parameter("With a ledger: the release that has to be its last one.", None, compiled=False),
    ]
    expect_departures: Annotated[
        bool, Parameter("With a ledger: publish although nearly everybody has left the source.", False, compiled=False)
    ]
    new_quasi: Annotated[
        bool,
        Parameter("With a ledger: publish quasi columns or labels that no release before had.", False, compiled=False),
    ]


def _key(_: str, value: Any) -> Key:
    """Read a key: 64 hex digits, or a Key."""
    return value if isinstance(value, Key) else Key.of(value)


def _row_of_person(mark: str, value: Any) -> str:
    """Read which row of a person has the quasi values: a word, a blank and a column."""
    read_order(TEXT.read(mark, value))
    return str(value)


KEY_TEXT = Kind(_key)
ROW_OF_PERSON = Kind(_row_of_person)
Hierarchies = Annotated[
    Mapping[str, object],
    TABLE_BY_COLUMN,
    Parameter("COLUMN=FILE, repeatable: child and parent, or one column per level from leaf to root.", {}),
]
Sensitive = Annotated[str, COLUMNS, Parameter("Sensitive column.")]
SeveralSensitive = Annotated[Names, COLUMNS, Parameter("Sensitive columns; commas, repeatable.")]
# where a release goes
Out = Annotated[
    FilePath | None,
    PATH_TEXT,
    Parameter("Directory to appear, with Parquet files and release.json.", None, compiled=False, job=False),
]
Into = Annotated[
    str | None,
    SCHEMA_NAME,
    Parameter("Schema of the database to appear, in one transaction.", None, compiled=False, job=False),
]
Overwrite = Annotated[bool, Parameter("Replace an older release at the target.", False, compiled=False, job=False)]

# what is said of the source that a release is held against
AgainstQuery = Annotated[str | None, Parameter(f"In place of {option('against')}: the query that was published.")]
ScoredBy = Annotated[Names, COLUMNS, Parameter(f"With {option('against')}: what tells its rows apart.")]
Vary = Annotated[
    str | None,
    ROW_OF_PERSON,
    Parameter(f"With {option('against')}: which row of a person has the quasi values, as it was published."),
]
Labels = Annotated[
    Mapping[str, object] | Names | None,
    COARSEN,
    Parameter(f"With {option('against')}: how a column got labels, as it was published: job=map:labels.csv."),
]
Background = Annotated[
    object,
    PLACES,
    Parameter(
        "What the adversary knows: a table (any SOURCE) with quasi columns, the sensitive column and probability;"
        " repeatable."
    ),
]


class QuasiOptions(TypedDict, total=False):
    """The columns that are published as they are."""

    quasi: Required[
        Annotated[Names, COLUMNS, Parameter("Quasi-identifier columns, which others may know; commas, repeatable.")]
    ]


class RowTreatment(TypedDict, total=False):
    """How rows are told apart, treated and drawn for, and where the release goes."""

    id: Annotated[Names, COLUMNS, Parameter("Identifier columns, never published: whose a row is.", ())]
    nulls: Annotated[Nulls, Parameter("NULL sensitive values: refuse, publish as a value, or drop.", "refuse")]
    draws: Annotated[Draws, Parameter("keyed: sha256 under a secret key. random: faster, predictable.", "keyed")]
    key: Annotated[
        str | Key | None,
        KEY_TEXT,
        Parameter(
            "Key of the draws (64 hex digits). Whoever has it can undo the release.", None, compiled=False, job=False
        ),
    ]
    unit: Annotated[
        Unit,
        Parameter(
            f"Whom the promise is about: a person, whose rows {option('id')} tells, or a row, whosever it is.",
            "person",
            compiled=False,
        ),
    ]
    vary: Annotated[
        str | None,
        ROW_OF_PERSON,
        Parameter(
            "Of a person whose quasi values differ from row to row, the row that tells them: 'latest visit_date', or"
            " earliest, largest, smallest of a column.",
            None,
            compiled=False,
        ),
    ]
    unique_quasi: Annotated[
        UniqueQuasi, Parameter("keep: publish a quasi column although it has a value of its own in each row.", "refuse")
    ]
    unique_sensitive: Annotated[
        UniqueQuasi,
        Parameter("keep: publish a sensitive column although most rows have a value of their own in it.", "refuse"),
    ]
    coarsen: Annotated[
        Mapping[str, str],
        COARSEN,
        Parameter(
            "COLUMN=RULE, repeatable: publish a quasi column coarser: age=10, born=year, zip='3 letters', by a table"
            " of values and labels: job=labels.csv, a level of a hierarchy: zip=zips.csv@2, or as pseudonyms under a"
            " key: ward=pseudonym:FILE.",
            {},
            compiled=False,
        ),
    ]
    show_values: Annotated[bool, Parameter("Let messages name sensitive values.", False, compiled=False, job=False)]
    require: Annotated[
        str | Iterable[str],
        TEXTS,
        Parameter(
            "Threshold, e.g. 'rows >= 500' or 'attack <= 0.25'; nothing is published where one is missed; repeatable.",
            (),
            compiled=False,
            job=False,
        ),
    ]
    out: Out
    into: Into
    overwrite: Overwrite


class RowOptions(RowTreatment, LedgerOptions, total=False):
    """The same, and how a release follows others of the same people."""


class RequestOptions(QuasiOptions, RowOptions, total=False):
    """What every method takes whose quasi-identifiers are published exactly."""
