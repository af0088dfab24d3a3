"""What every method's function, command and job take beside the method's own parameters, declared once."""

import os
from collections.abc import Iterable
from typing import Annotated, Any, Literal, Required, TypedDict

from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.methods.kinds import Choice, Columns, Kind, Switch, named_place
from sqlanon.methods.parameters import Parameter
from sqlanon.wording import option

Names = str | Iterable[str]
Place = str | os.PathLike[str]


class KeyText(Kind):
    """A key: 64 hex digits, or a Key."""

    typed = str | None

    def check(self, name: str, value: Any) -> Key | None:
        """Take a text or a Key."""
        if not (value is None or isinstance(value, str | Key)):
            raise UsageError(f"a key is text or a Key, not a {type(value).__name__}")
        return Key.of(value) if isinstance(value, str) else value


class Target(Kind):
    """A directory or a schema to appear, or none."""

    typed = str | None

    def check(self, name: str, value: Any) -> Any:
        """Take a path (out) or a text."""
        if not (value is None or isinstance(value, str) or (name == "out" and isinstance(value, os.PathLike))):
            raise UsageError("out is a path and into a schema's name")
        return named_place(value)


SENSITIVE = Parameter(Columns(), "Sensitive column.")
SEVERAL_SENSITIVE = Parameter(Columns(), "Sensitive columns; commas, repeatable.")


class RequestOptions(TypedDict, total=False):
    """The roles of columns, how rows are treated and drawn for, and where the release goes."""

    quasi: Required[
        Annotated[Names, Parameter(Columns(), "Quasi-identifier columns, published exactly; commas, repeatable.")]
    ]
    id: Annotated[Names, Parameter(Columns(), "Identifier columns: never published, one row each.", ())]
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
    rows_per_person: Annotated[
        Literal["one", "many"],
        Parameter(
            Choice(("one", "many")),
            f"many: publish although an {option('id')} has several rows.",
            "one",
            compiled=False,
        ),
    ]
    show_values: Annotated[
        bool, Parameter(Switch(), "Let messages name sensitive values.", False, compiled=False, job=False)
    ]
    out: Annotated[
        Place | None,
        Parameter(
            Target(),
            "Directory to appear, with Parquet files and release.json.",
            None,
            compiled=False,
            job=False,
        ),
    ]
    into: Annotated[
        str | None,
        Parameter(Target(), "Schema of the database to appear, in one transaction.", None, compiled=False, job=False),
    ]
    overwrite: Annotated[
        bool, Parameter(Switch(), "Replace an older release at the target.", False, compiled=False, job=False)
    ]
