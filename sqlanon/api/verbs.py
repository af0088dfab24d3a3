"""Declare a verb once: the command line makes its options from the signature of its Python function.

A parameter that the command line also has is written `Annotated[type, Field(description=…)]`; name and default are the
signature's. Parameters that several verbs share are declared here.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from sqlanon.models.fields import Option, parameters_of
from sqlanon.models.values import COARSEN, COLUMNS, PATH_TEXT, PLACE, TEXTS, Names, choice
from sqlanon.plans.engines import ENGINES

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
    Mapping[str, Any] | None,
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
