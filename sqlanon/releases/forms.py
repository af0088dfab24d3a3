"""The forms that a release takes, and what each offers: its tables, its verification, its answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd

from sqlanon.engines.base import Engine
from sqlanon.estimation.qit_st import session as estimation
from sqlanon.estimation.randomized import session as reconstruction
from sqlanon.estimation.uncertain import session as possibility
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql
from sqlanon.verification import class_qit_st, qit_st, randomized
from sqlanon.verification.checks import Check, PublishedTables, Report
from sqlanon.verification.uncertain import release_checks as uncertainty
from sqlanon.verification.uncertain import true_counts


class Session(Protocol):
    """Answer queries about one opened release."""

    def answer(self, sql: str, estimator: str | None = ..., **options: Any) -> pd.DataFrame:
        """Answer one query."""

    def statements(self, sql: str, estimator: str | None = ...) -> list[tuple[str, str]]:
        """Return the statements that `answer` runs."""

    def close(self) -> None:
        """Forget what the session keeps in the database."""


class Verification(Protocol):
    """A module that verifies releases of one form."""

    TABLES: tuple[str, ...]
    check_manifest: Callable[[Manifest, str], None]
    check_types: Callable[[PublishedTables], str | None]
    published_columns: Callable[[Manifest], dict[str, list[str]]]
    queries: Callable[[PublishedTables], list[tuple[str, str]]]
    verify: Callable[[PublishedTables], Report]
    guarantee: Callable[[Manifest, int], dict[str, Any]]
    verified_figures: Callable[[Report], dict[str, Any]]
    against_queries: Callable[[PublishedTables, Source, Mapping[str, str]], list[tuple[str, str]]]
    verify_against: Callable[[PublishedTables, Source, Mapping[str, str]], tuple[Check, ...]]


@dataclass(frozen=True)
class Form:
    """How a method's releases are verified and asked.

    groups: whether groups with exact values are published. nested: the roles of published columns that hold nested
    values. dialects: of the engines that read them, all where none is named. compared, compared_queries: what
    `verify --against` compares beside the tables.
    """

    verification: Verification
    session: Callable[[Engine, Mapping[str, Sql], Manifest], Session]
    groups: bool
    nested: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ()
    compared: Callable[[PublishedTables, Source, Mapping[str, str]], Check] | None = None
    compared_queries: Callable[[PublishedTables, Source, Mapping[str, str]], list[tuple[str, str]]] | None = None

    def nested_columns(self, manifest: Manifest) -> set[str]:
        """Return the names of the published columns that hold nested values."""
        return {manifest["columns"][role] for role in self.nested}


FORMS: dict[str, Form] = {
    "anatomy": Form(qit_st, estimation.Session, groups=True),  # type: ignore[arg-type]
    "robust": Form(class_qit_st, estimation.Session, groups=True),  # type: ignore[arg-type]
    "splu": Form(randomized, reconstruction.Session, groups=False),  # type: ignore[arg-type]
    "uncertain": Form(
        uncertainty,  # type: ignore[arg-type]
        possibility.Session,  # type: ignore[arg-type]
        groups=False,
        nested=("alternatives",),
        dialects=("duckdb",),
        compared=true_counts.compare_counts,
        compared_queries=true_counts.count_queries,
    ),
}
