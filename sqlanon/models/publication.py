"""What every method is asked for beside its own parameters, and what several verbs are told alike."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from sqlanon.key import Key
from sqlanon.models.fields import BEYOND, MOST, Asked, Option, parameters_of
from sqlanon.models.values import (
    COARSEN,
    COLUMNS,
    KEY_TEXT,
    PATH_TEXT,
    PLACE,
    PLACES,
    RELEASE_PLACE,
    ROW_OF_PERSON,
    SCHEMA_NAME,
    TABLE_BY_COLUMN,
    TEXTS,
    FilePath,
    Names,
    choice,
)
from sqlanon.plans.engines import ENGINES
from sqlanon.plans.plan import Changed, Draws, Nulls, UniqueQuasi, Unit
from sqlanon.wording import option

Hierarchies = Annotated[
    Mapping[str, object],
    TABLE_BY_COLUMN,
    Field({}, description="COLUMN=FILE, repeatable: child and parent, or one column per level from leaf to root."),
]
# where a release goes
Out = Annotated[
    FilePath | None,
    PATH_TEXT,
    Field(None, description="Directory to appear, with Parquet files and release.json."),
    Option(compiled=False, job=False),
]
Into = Annotated[
    str | None,
    SCHEMA_NAME,
    Field(None, description="Schema of the database to appear, in one transaction."),
    Option(compiled=False, job=False),
]
Overwrite = Annotated[
    bool, Field(False, description="Replace an older release at the target."), Option(compiled=False, job=False)
]

# what is said of the source that a release is held against
AgainstQuery = Annotated[
    str | None, Field(description=f"In place of {option('against')}: the query that was published.")
]
ScoredBy = Annotated[Names, COLUMNS, Field(description=f"With {option('against')}: what tells its rows apart.")]
Vary = Annotated[
    str | None,
    ROW_OF_PERSON,
    Field(description=f"With {option('against')}: which row of a person has the quasi values, as it was published."),
]
Labels = Annotated[
    Mapping[str, object] | Names | None,
    COARSEN,
    Field(description=f"With {option('against')}: how a column got labels, as it was published: job=map:labels.csv."),
]
Endless = Annotated[float, Field(allow_inf_nan=True)]  # a number that may have no end
# of r, for whoever publishes and whoever holds a release against what is known
NO_R = "r = {value} protects nobody: a posterior of at most 1/r is none; r is a number above 1"
Bound = Annotated[
    float | None,
    Field(
        description=f"With {option('background')}: fail where a posterior is above 1/r; reported if not given.", gt=1
    ),
    Option(flag="-r", words=NO_R),
]
# of completed tables
LARGEST_SEED = 2**63 - 1
Tables = Annotated[
    int,
    Field(description="How many tables.", ge=1, le=99),
    Option(words="{option} is a number from 1 to 99, not {value}"),
]
Seed = Annotated[
    int | None,
    Field(description="The same number gives the same tables; fresh if not given.", ge=0, le=LARGEST_SEED),
    Option(words="{option} is a number from 0 to 2**63 - 1, not {value}"),
]
Completable = Annotated[str | None, Field(description="Of several sensitive columns in groups, the one to complete.")]
BACKGROUND = (
    "What the adversary knows: a table (any SOURCE) with quasi columns, the sensitive column and probability;"
    " repeatable."
)
Background = Annotated[object, PLACES, Field(description=BACKGROUND)]


class OfTable(Asked):
    """What is asked with numbers that a table may reach."""

    @field_validator("*")
    @classmethod
    def _refuse_endless(cls, value: Any) -> Any:
        """Refuse numbers whose products would be beyond the numbers of every engine."""
        for each in value.values() if isinstance(value, Mapping) else (value,):
            if isinstance(each, int | float) and abs(each) > MOST:
                said = {"words": BEYOND, "of": (each,)}
                raise PydanticCustomError("refused", "is refused", said)
        return value


class Publication(OfTable):
    """What every method is asked for: the roles of columns, how rows are treated, and where the release goes."""

    quasi: Annotated[Names, COLUMNS] = Field(
        description="Quasi-identifier columns, which others may know; commas, repeatable."
    )
    sensitive: Annotated[Names, COLUMNS] = Field(description="Sensitive columns; commas, repeatable.")
    id: Annotated[Names, COLUMNS] = Field((), description="Identifier columns, never published: whose a row is.")
    nulls: Nulls = Field("refuse", description="NULL sensitive values: refuse, publish as a value, or drop.")
    draws: Draws = Field("keyed", description="keyed: sha256 under a secret key. random: faster, predictable.")
    key: Annotated[str | Key | None, KEY_TEXT, Option(compiled=False, job=False)] = Field(
        None, description="Key of the draws (64 hex digits). Whoever has it can undo the release."
    )
    unit: Annotated[Unit, Option(compiled=False)] = Field(
        "person",
        description=f"Whom the promise is about: a person, whose rows {option('id')} tells, or a row, whosever it is.",
    )
    vary: Annotated[str | None, ROW_OF_PERSON, Option(compiled=False)] = Field(
        None,
        description="Of a person whose quasi values differ from row to row, the row that tells them: 'latest"
        " visit_date', or earliest, largest, smallest of a column.",
    )
    unique_quasi: UniqueQuasi = Field(
        "refuse", description="keep: publish a quasi column although it has a value of its own in each row."
    )
    unique_sensitive: UniqueQuasi = Field(
        "refuse", description="keep: publish a sensitive column although most rows have a value of their own in it."
    )
    coarsen: Annotated[Mapping[str, str], COARSEN, Option(compiled=False)] = Field(
        {},
        description="COLUMN=RULE, repeatable: publish a quasi column coarser: age=10, born=year, zip='3 letters', by a"
        " table of values and labels: job=labels.csv, a level of a hierarchy: zip=zips.csv@2, or as pseudonyms under a"
        " key: ward=pseudonym:FILE.",
    )
    show_values: Annotated[bool, Option(compiled=False, job=False)] = Field(
        False, description="Let messages name sensitive values."
    )
    require: Annotated[Names, TEXTS, Option(compiled=False, job=False)] = Field(
        (),
        description="Threshold, e.g. 'rows >= 500' or 'attack <= 0.25'; nothing is published where one is missed;"
        " repeatable.",
    )
    out: Out
    into: Into
    overwrite: Overwrite
    # how a release follows others of the same people
    ledger: Annotated[FilePath | None, PATH_TEXT, Option(compiled=False)] = Field(
        None, description="What keeps releases in step: a file, as secret as the source."
    )
    changed: Annotated[Changed, Option(compiled=False)] = Field(
        "leave", description="With a ledger, whoever has another value now leaves, or keeps the old value."
    )
    since: Annotated[FilePath | None, RELEASE_PLACE, Option(compiled=False)] = Field(
        None, description="With a ledger: the release that has to be its last one."
    )
    expect_departures: Annotated[bool, Option(compiled=False)] = Field(
        False, description="With a ledger: publish although nearly everybody has left the source."
    )
    new_quasi: Annotated[bool, Option(compiled=False)] = Field(
        False, description="With a ledger: publish quasi columns or labels that no release before had."
    )


Source = Annotated[
    object,
    PLACE,
    Field(default=None, description="Parquet, CSV or JSON path or glob; with --database a table or view."),
    Option(metavar="SOURCE"),
]
Query = Annotated[
    str | None, Field(default=None, description="In place of SOURCE: SELECT columns FROM tables or files [WHERE …].")
]
Quasi = Annotated[Names, COLUMNS, Field(description="Columns that others may know; commas between, or repeat.")]
Sensitive = Annotated[Names, COLUMNS, Field(description="Sensitive columns, each on its own.")]
Persons = Annotated[Names, COLUMNS, Field(description="What tells persons apart.")]
Coarsen = Annotated[
    Mapping[str, object] | Names | None,
    COARSEN,
    Field(description="Quasi column made coarser: age=10, born=year, zip='3 letters', job=labels.csv; repeat."),
]
Views = Annotated[
    Names, TEXTS, Field(description="SELECT columns FROM base [WHERE …]; repeat it."), Option(flag="--view")
]
Secret = Annotated[str, Field(description="SELECT id, property FROM base [WHERE condition].")]
Model = Annotated[
    Literal["unrestricted", "restricted"],
    Field(description="restricted: the adversary knows that an id has one property."),
]

ScriptTable = Annotated[
    str, PATH_TEXT, Field(description="Table of the other engine, e.g. schema.patients."), Option(metavar="source")
]
Dialect = Annotated[str, choice(tuple(ENGINES)), Field(default="duckdb", description="The engine's SQL.")]


def replacing(what: str) -> Any:
    """Return the field of what may be replaced."""
    return Field(description=f"Replace {what}.")


def arguments_of(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a verb's function would get for all that it declares: the values that there are, defaults else."""
    return {name: values.get(name, parameter.default) for name, parameter in parameters_of(function).items()}
