"""The forms that a release takes, and what each offers: its verification, its answers, its summary."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from sqlanon.adversary import voter_list
from sqlanon.engines.base import Engine
from sqlanon.methods.published_forms import SEVERAL, form_name
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql
from sqlanon.releases import summaries
from sqlanon.releases.summaries import Summary, Table
from sqlanon.releases.suppression_summary import tell_clashes, tell_left_out
from sqlanon.verification import class_qit_st, generalized, qit_st, randomized, rank_alignment
from sqlanon.verification.checks import Check, PublishedTables, Report
from sqlanon.verification.several_qit_st import SeveralTables
from sqlanon.verification.uncertain import release_checks, true_counts

if TYPE_CHECKING:
    import pandas as pd


class Session(Protocol):
    """Answer queries about one opened release."""

    def answer(self, sql: str, estimator: str | None = ..., **options: Any) -> "pd.DataFrame":
        """Answer one query."""

    def answer_many(self, queries: Sequence[str], estimator: str | None = ...) -> "dict[int, pd.DataFrame]":
        """Answer, by their places, those of many queries that can be answered together."""

    def statements(self, sql: str, estimator: str | None = ...) -> list[tuple[str, str]]:
        """Return the statements that `answer` runs."""

    def script(self, sql: str, estimator: str | None = ...) -> str:
        """Return what can be asked of a shell instead."""

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


Opening = Callable[[Engine, Mapping[str, Sql], Manifest], Session]


@dataclass(frozen=True)
class Form:
    """How releases of one form are verified, asked and described.

    session: opens one for questions. summary: what its publisher is shown, in words; tables: what is shown below it.
    groups: whether groups with exact values are published. nested: the roles of published columns that hold nested
    values. dialects: of the engines that read them, all where none is named. compared, compared_queries: what
    `verify --against` compares beside the tables. presence: the query that looks voters up, with its name.
    """

    verification: Verification
    session: Opening
    summary: Summary
    groups: bool = False
    tables: Callable[[Mapping[str, Any]], list[Table]] = lambda manifest: []
    nested: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ()
    compared: Callable[[PublishedTables, Source, Mapping[str, str]], Check] | None = None
    compared_queries: Callable[[PublishedTables, Source, Mapping[str, str]], list[tuple[str, str]]] | None = None
    presence: Callable[[PublishedTables, Source, Mapping[str, str]], tuple[str, str]] | None = None

    def nested_columns(self, manifest: Manifest) -> set[str]:
        """Return the names of the published columns that hold nested values."""
        return {manifest["columns"][role] for role in self.nested}


# estimation is imported where a release is asked: numbers and statistics are slow to load, and publishing needs none
def _groups_session(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> Session:
    from sqlanon.estimation.qit_st.session import Session as Opened

    return cast(Session, Opened(engine, tables, manifest))


def _several_session(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> Session:
    from sqlanon.estimation.qit_st.several_session import SeveralSession

    return cast(Session, SeveralSession(engine, tables, manifest))


def _randomized_session(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> Session:
    from sqlanon.estimation.randomized.session import Session as Opened

    return cast(Session, Opened(engine, tables, manifest))


def _uncertain_session(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> Session:
    from sqlanon.estimation.uncertain.session import Session as Opened

    return cast(Session, Opened(engine, tables, manifest))


def _generalized_session(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> Session:
    from sqlanon.estimation.generalized.session import Session as Opened

    return cast(Session, Opened(engine, tables, manifest))


FORMS: dict[str, Form] = {
    "qit_st": Form(
        cast(Verification, qit_st),
        _groups_session,
        summaries.summarize_groups,
        groups=True,
        compared=rank_alignment.check_alignment,
        compared_queries=rank_alignment.alignment_queries,
        presence=voter_list.presence_query,
    ),
    "class_qit_st": Form(
        cast(Verification, class_qit_st),
        _groups_session,
        tell_left_out(summaries.summarize_class_groups),
        groups=True,
        compared=rank_alignment.check_alignment,
        compared_queries=rank_alignment.alignment_queries,
        presence=voter_list.presence_query,
    ),
    "randomized": Form(
        cast(Verification, randomized),
        _randomized_session,
        summaries.summarize_randomized,
        tables=summaries.randomized_tables,
    ),
    "uncertain": Form(
        cast(Verification, release_checks),
        _uncertain_session,
        summaries.summarize_uncertain,
        nested=("alternatives",),
        dialects=("duckdb",),
        compared=true_counts.compare_counts,
        compared_queries=true_counts.count_queries,
    ),
    "generalized": Form(
        cast(Verification, generalized),
        _generalized_session,
        summaries.summarize_boxes,
        presence=voter_list.box_presence_query,
    ),
}


def form_of(manifest: Mapping[str, Any]) -> Form:
    """Return the form of a release, by the method that its manifest names and the columns that it publishes."""
    name = form_name(manifest)
    if name != SEVERAL:
        return FORMS[name]
    tables = SeveralTables(len(manifest["columns"]["sensitive"]))
    return Form(cast(Verification, tables), _several_session, tell_clashes(summaries.summarize_groups))
