"""Chapters that answer a question, run in a database: what they make stands until the answer is told."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix, run_steps
from sqlanon.errors import SqlanonError
from sqlanon.plans.build import build
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Loop, Report, Statement, relation_name
from sqlanon.plans.templates import Sql

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class ChapterRun:
    """What the chapters of one question have made in a database so far.

    relations: by the names under which chapters read them; a newer one takes the place of an older. made: what is to
    be dropped. named: all names that were given so far.
    """

    engine: Engine
    relations: dict[str, Sql] = field(default_factory=dict)
    prefix: str = field(default_factory=fresh_prefix)
    made: list[str] = field(default_factory=list)
    named: set[str] = field(default_factory=set)

    def build(self, written: Sequence[Chapter]) -> list[Statement | Report | Loop]:
        """Render chapters; what they make stands for those that are written later on."""
        steps = build(written, self.prefix, self.relations, self.engine.dialect, self.named)
        made = [step for step in steps if isinstance(step, Statement)]
        self.named |= {statement.relation for statement in made}
        self.relations |= {statement.name: Sql(statement.relation) for statement in made}
        return [*steps]

    def take(self, written: Sequence[Chapter]) -> dict[str, Any]:
        """Run chapters; return the rows of their reports by name."""
        return run_steps(self.build(written), self.engine, self.made)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a relation, in the order in which it is written."""
        return self.engine.rows(f"select * from {self.relations[name]}")

    def keep(self, name: str, frame: "pd.DataFrame") -> None:
        """Put a table of the driver's beside the relations."""
        self.relations[name] = relation_name(self.prefix, name)
        self.made.append(str(self.relations[name]))
        self.engine.keep_frame(self.relations[name], frame)

    def drop(self, kept: Sequence[str] = ()) -> None:
        """Forget all relations but some; an engine that failed may refuse that as well."""
        with suppress(SqlanonError):
            self.engine.drop([relation for relation in self.made if relation not in kept])
