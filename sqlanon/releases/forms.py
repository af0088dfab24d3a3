"""The forms that a release takes, and what each offers: its verification, its answers, its summary.

A release as HTML, for notebooks: what it is, in words, and the first rows of each table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

from sqlanon.engines.base import Engine
from sqlanon.estimation.open_session import Session
from sqlanon.html_tables import write_table
from sqlanon.methods.published_forms import form_name, has_several
from sqlanon.plain_values import cell, plain
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql
from sqlanon.releases import summaries
from sqlanon.releases.summaries import Summary, Table
from sqlanon.releases.suppression_summary import tell_apart, tell_clashes, tell_left_out
from sqlanon.verification.checks import Check, PublishedTables, Verification
from sqlanon.wording import spoken

SHOWN_ROWS = 5
Opening = Callable[[Engine, Mapping[str, Sql], Manifest], Session]


def write_html(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> str:
    """Return tables of HTML; names and values from a release are escaped, for a stranger may have written them."""
    summary = form_of(manifest).summary(manifest, "these tables").items()
    lines = [[name, spoken(text)] for name, text in summary if name != "files"]
    return write_table([], lines) + "".join(_sample(engine, name, relation) for name, relation in tables.items())


def _sample(engine: Engine, name: str, relation: Sql) -> str:
    frame = engine.frame(f"select * from {relation} limit {SHOWN_ROWS}")
    lines = [[cell(plain(value)) for value in row] for row in frame.itertuples(index=False, name=None)]
    return write_table(list(frame.columns), lines, f"{name}, the first rows")


@dataclass(frozen=True)
class Form:
    """How releases of one form are verified, asked and described.

    session: opens one for questions. summary: what its publisher is shown, in words; tables: what is shown below it.
    groups: whether groups with exact values are published. nested: the roles of published columns that hold nested
    values. compared, compared_queries: what `verify --against` compares beside the tables. presence: the query that
    looks voters up, with its name.
    """

    verification: Verification
    session: Opening
    summary: Summary
    groups: bool = False
    tables: Callable[[Mapping[str, Any]], list[Table]] = lambda manifest: []
    nested: tuple[str, ...] = ()
    compared: Callable[[PublishedTables, Source, Mapping[str, str]], Check] | None = None
    compared_queries: Callable[[PublishedTables, Source, Mapping[str, str]], list[tuple[str, str]]] | None = None
    presence: Callable[[PublishedTables, object], tuple[str, str]] | None = None

    def nested_columns(self, manifest: Manifest) -> set[str]:
        """Return the names of the published columns that hold nested values."""
        return {manifest["columns"][role] for role in self.nested}


# estimation is imported where a release is asked: numbers and statistics are slow to load, and publishing needs none
def _groups_session(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> Session:
    from sqlanon.estimation.qit_st.session import Session as Opened

    return cast(Session, Opened(engine, tables, manifest))


def _several_groups_session(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> Session:
    from sqlanon.estimation.several_session import GO_TOGETHER, SeveralSession

    return cast(Session, SeveralSession(_groups_session, engine, tables, manifest, GO_TOGETHER))


def _several_boxes_session(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> Session:
    from sqlanon.estimation.several_session import SeveralSession

    return cast(Session, SeveralSession(_generalized_session, engine, tables, manifest))


def _randomized_session(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> Session:
    from sqlanon.estimation.randomized.session import Session as Opened

    return cast(Session, Opened(engine, tables, manifest))


def _uncertain_session(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> Session:
    from sqlanon.estimation.uncertain.session import Session as Opened

    return cast(Session, Opened(engine, tables, manifest))


def _generalized_session(engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> Session:
    from sqlanon.estimation.generalized.session import Session as Opened

    return cast(Session, Opened(engine, tables, manifest))


# so is what verifies it: a release is of one form
@cache
def _groups() -> Form:
    from sqlanon.adversary import voter_list
    from sqlanon.verification import qit_st, rank_alignment

    return Form(
        cast(Verification, qit_st),
        _groups_session,
        summaries.summarize_groups,
        groups=True,
        compared=rank_alignment.check_alignment,
        compared_queries=rank_alignment.alignment_queries,
        presence=voter_list.presence_query,
    )


@cache
def _class_groups() -> Form:
    from sqlanon.verification import class_qit_st

    summary = tell_left_out(summaries.summarize_class_groups)
    return replace(_groups(), verification=cast(Verification, class_qit_st), summary=summary)


@cache
def _randomized() -> Form:
    from sqlanon.verification import randomized

    return Form(
        cast(Verification, randomized),
        _randomized_session,
        summaries.summarize_randomized,
        tables=summaries.randomized_tables,
    )


@cache
def _uncertain() -> Form:
    from sqlanon.verification.uncertain import release_checks, true_counts

    return Form(
        cast(Verification, release_checks),
        _uncertain_session,
        summaries.summarize_uncertain,
        nested=("alternatives",),
        compared=true_counts.compare_counts,
        compared_queries=true_counts.count_queries,
    )


@cache
def _generalized() -> Form:
    from sqlanon.adversary import voter_list
    from sqlanon.verification import generalized

    return Form(
        cast(Verification, generalized),
        _generalized_session,
        summaries.summarize_boxes,
        presence=voter_list.box_presence_query,
    )


FORMS: dict[str, Callable[[], Form]] = {
    "qit_st": _groups,
    "class_qit_st": _class_groups,
    "randomized": _randomized,
    "uncertain": _uncertain,
    "generalized": _generalized,
}


def form_of(manifest: Mapping[str, Any]) -> Form:
    """Return the form of a release, by the method that its manifest names and the columns that it publishes."""
    name = form_name(manifest)
    return _SEVERAL_FORMS[name](dict(manifest)) if has_several(manifest) else FORMS[name]()


def _several_groups(manifest: Manifest) -> Form:
    from sqlanon.verification.several_columns import SeveralTables

    verification = cast(Verification, SeveralTables(_groups().verification, manifest))
    return Form(verification, _several_groups_session, tell_clashes(tell_apart(summaries.summarize_groups)))


def _several_class_groups(manifest: Manifest) -> Form:
    from sqlanon.verification.several_columns import SeveralTables

    verification = cast(Verification, SeveralTables(_class_groups().verification, manifest))
    return Form(verification, _several_groups_session, tell_clashes(tell_apart(summaries.summarize_class_groups)))


def _several_boxes(manifest: Manifest) -> Form:
    from sqlanon.verification.several_boxes import SeveralBoxes

    verification = cast(Verification, SeveralBoxes(_generalized().verification, manifest))
    return Form(verification, _several_boxes_session, tell_apart(summaries.summarize_boxes))


# how many tables there are is known from a manifest alone
_SEVERAL_FORMS: dict[str, Callable[[Manifest], Form]] = {
    "several_qit_st": _several_groups,
    "several_class_qit_st": _several_class_groups,
    "several_generalized": _several_boxes,
}
