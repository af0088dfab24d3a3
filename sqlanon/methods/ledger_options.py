"""What every method takes where releases of the same people follow each other under a ledger, declared once."""

import os
from typing import Annotated, Any, Literal, TypedDict

from sqlanon.errors import UsageError
from sqlanon.methods.kinds import Choice, JobReader, Kind, Switch
from sqlanon.methods.named_kinds import named_place
from sqlanon.methods.parameters import Parameter
from sqlanon.plans import json_schema
from sqlanon.plans.json_schema import Schema

Place = str | os.PathLike[str]


class LedgerPlace(Kind):
    """The path of a ledger, or its table's name on a server, or none."""

    typed = str | None
    recorded = False

    def check(self, name: str, value: Any) -> Any:
        """Take a path or a text."""
        if not (value is None or isinstance(value, str | os.PathLike)):
            raise UsageError(f"{name} is a path, not a {type(value).__name__}")
        return named_place(value)

    def load(self, reader: JobReader, node: Any, name: str) -> str:
        """Read a path relative to the job's folder, or a name."""
        return reader.ledger(node, name)

    def job_schema(self, limits: Schema) -> Schema:
        """Return the schema of a path or a name."""
        return json_schema.any_text()


class ReleasePlace(LedgerPlace):
    """The path of a release, or its schema's name, or none."""

    def load(self, reader: JobReader, node: Any, name: str) -> str:
        """Read a path relative to the job's folder, or a name."""
        return reader.release(node, name)


class JobSwitch(Switch):
    """Yes or no, in a job file as well."""

    def load(self, reader: JobReader, node: Any, name: str) -> Any:
        """Read true or false."""
        return reader.typed(node, name, ("bool",))

    def job_schema(self, limits: Schema) -> Schema:
        """Return the schema of true and false."""
        return {"type": "boolean"}


class LedgerOptions(TypedDict, total=False):
    """How a release follows others of the same people."""

    ledger: Annotated[
        Place | None,
        Parameter(
            LedgerPlace(),
            "What keeps releases in step, as secret as the source: a file (spark: directory, postgres: SCHEMA.TABLE).",
            None,
            compiled=False,
        ),
    ]
    changed: Annotated[
        Literal["leave", "keep", "move"],
        Parameter(
            Choice(("leave", "keep", "move")),
            "With a ledger, whoever has another value now leaves, keeps the old value, or takes another group.",
            "leave",
            compiled=False,
        ),
    ]
    waiting: Annotated[
        Literal["together", "alone"],
        Parameter(
            Choice(("together", "alone")),
            "With a ledger, those who come new wait together until all find a group, which tells of nobody's value; or"
            " alone, who finds none: sooner shown, but once shown the value is told.",
            "together",
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
            JobSwitch(), "With a ledger: publish although nearly everybody has left the source.", False, compiled=False
        ),
    ]
    new_quasi: Annotated[
        bool,
        Parameter(
            JobSwitch(), "With a ledger: publish quasi columns that no release before had.", False, compiled=False
        ),
    ]
