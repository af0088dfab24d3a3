"""One SELECT with a name: what a template renders to, before any engine sees it."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["table", "view", "query"]


@dataclass(frozen=True)
class Statement:
    """Hold one SELECT in DuckDB's dialect and the relation it yields.

    `kind` is how an engine keeps the result: `table` (materialized once), `view` (named text),
    `query` (rows for the driver; nothing stays in the database).
    `relation` is the quoted name under which later statements read it, empty for a query.
    `template` is what it was rendered from, `sentence` what it makes. `once`: of a view that numbers rows, one
    statement alone reads the numbers, so that they need not stay the same. `replaces`: of a loop's table, the relation
    whose place it takes, under that relation's name, as soon as it is made.
    """

    name: str
    sql: str
    kind: Kind = "table"
    relation: str = ""
    template: str = ""
    once: bool = False
    sentence: str = ""
    replaces: str = ""
