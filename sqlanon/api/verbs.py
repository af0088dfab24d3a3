"""Declare a verb once: the command line makes its options from the signature of its Python function.

A parameter that the command line also has is written `Annotated[type, Parameter(help)]`; name and default are the
signature's. Parameters that several verbs share are declared here.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from sqlanon.methods.kinds import TEXTS, choice
from sqlanon.methods.name_kinds import COARSEN, COLUMNS, PATH_TEXT, PLACE
from sqlanon.methods.parameters import Parameter, parameters_of
from sqlanon.methods.request_options import Names
from sqlanon.plans.engines import ENGINES

Source = Annotated[
    object,
    PLACE,
    Parameter("Parquet, CSV or JSON path or glob; with --database a table or view.", None, metavar="SOURCE"),
]
Query = Annotated[str | None, Parameter("In place of SOURCE: SELECT columns FROM tables or files [WHERE …].", None)]
Quasi = Annotated[Names, COLUMNS, Parameter("Columns that others may know; commas between, or repeat.")]
Sensitive = Annotated[Names, COLUMNS, Parameter("Sensitive columns, each on its own.")]
Persons = Annotated[Names, COLUMNS, Parameter("What tells persons apart.")]
Coarsen = Annotated[
    Mapping[str, object] | Names | None,
    COARSEN,
    Parameter("Quasi column made coarser: age=10, born=year, zip='3 letters', job=labels.csv; repeat."),
]
Views = Annotated[Names, TEXTS, Parameter("SELECT columns FROM base [WHERE …]; repeat it.", flag="--view")]
Secret = Annotated[str, Parameter("SELECT id, property FROM base [WHERE condition].")]
Model = Annotated[
    Literal["unrestricted", "restricted"], Parameter("restricted: the adversary knows that an id has one property.")
]

ScriptTable = Annotated[str, PATH_TEXT, Parameter("Table of the other engine, e.g. schema.patients.", metavar="source")]
Dialect = Annotated[str, choice(tuple(ENGINES)), Parameter("The engine's SQL.", "duckdb")]


def replacing(what: str) -> Parameter:
    """Return the parameter of what may be replaced."""
    return Parameter(f"Replace {what}.")


def arguments_of(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a verb's function would get for all that it declares: the values that there are, defaults else."""
    return {name: values.get(name, parameter.default) for name, parameter in parameters_of(function).items()}
