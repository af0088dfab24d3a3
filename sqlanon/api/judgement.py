"""What a table, its views or a release give away, as functions."""

import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.engines.connect import engine_of
from sqlanon.methods.named_kinds import COARSEN, check_names, named_place
from sqlanon.releases.release import Release
from sqlanon.sql.sources.queried_source import read_files
from sqlanon.sql.sources.source_choice import NO_SOURCE, choose_source
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.adversary.findings import Attack
    from sqlanon.breaches.associations import Breach
    from sqlanon.breaches.statement_layout import Model
    from sqlanon.comparison.comparison import Comparison
    from sqlanon.reports.page import Page
    from sqlanon.risks.check import Check


def check(
    con: Any,
    source: object = None,
    *,
    query: str | None = None,
    quasi: str | Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    id: str | Iterable[str] = (),
    coarsen: Mapping[str, object] | None = None,
    population: object = None,
    sampled: float | None = None,
    failing: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    **required: Any,
) -> "Check":
    """Tell what a table risks: whom its quasi columns single out, what the sensitive values of its classes give away.

    con, source, query: as for `anatomy`. Without quasi columns: a line per column with a role that it may have. Rows
    with equal quasi values are a class; NULL is a value. required: what every class must reach: k, l, entropy_l,
    recursive=(c, l), alpha, t, beta, delta. coarsen: as for `anatomy`. population: a table with the
    quasi columns that the source is a part of; sampled: the share of the population that it is. failing: a Parquet
    file for the rows of failing classes.
    Returns the Check; its `holds` says whether all that is required is reached. Raises UsageError, DataError and
    TargetError.
    """
    from sqlanon.risks import assessment
    from sqlanon.risks.failing import check_path
    from sqlanon.risks.limits import limits_of
    from sqlanon.risks.question import CheckQuestion

    engine = engine_of(con)
    question = CheckQuestion(
        source=choose_source(named_place(source), query, engine.dialect, NO_SOURCE),
        quasi=check_names(quasi),
        sensitive=check_names(sensitive),
        identifier=check_names(id),
        limits=limits_of(required),
        coarsen=COARSEN.check("coarsen", coarsen),
        population=None if population is None else named_place(population),
        sampled=sampled,
    )
    target = (
        None if failing is None else check_path(failing, overwrite, (*read_files(question.source), question.population))
    )
    return assessment.check(question, engine, target)


def compare(
    con: Any,
    source: object = None,
    *,
    query: str | None = None,
    quasi: str | Iterable[str],
    sensitive: str | Iterable[str],
    id: str | Iterable[str] = (),
    methods: str | Iterable[str] = ("anatomy", "robust", "splu", "mondrian"),
    l: int | Iterable[int] | None = None,
    gamma: int | Iterable[int] | None = None,
    epsilon: float | Iterable[float] = (0.01, 0.1, math.log(2), math.log(3)),
    share: float | Iterable[float] = 0.1,
    queries: int | str | os.PathLike[str] = 200,
    workload: str = "analysts",
    seed: int = 1,
    target_error: float | None = None,
    resist: float | None = None,
    quick: bool = False,
    max_suppressed: float = 0.01,
    nulls: str = "refuse",
    unique_quasi: str = "refuse",
    coarsen: Mapping[str, object] | None = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> "Comparison":
    """Tell what each method and parameter costs in accuracy on this data: relative errors of the same queries.

    con: an open DuckDB connection; what is published for the comparison is dropped again. source, query, quasi,
    sensitive, id, nulls, unique_quasi: as for `anatomy`. l: of anatomy and mondrian (k = 10), and r of robust (usually
    5, with resist 3, 5 and 10; gamma 5, and 10 with resist), whose adversary knows how the sensitive values depend on
    the quasi column with the fewest values. epsilon: of laplace (noise on true counts), share: of sampling; these two
    and dbr are rivals, which cannot be published. queries: how many to draw (seed: another number draws others), or a
    file of SQL queries FROM release. workload: what is drawn, as analysts ask or as in the papers. target_error: the
    largest median relative error to accept.
    Every candidate is attacked, unless quick. resist: what resists is searched, and `command` is the most accurate
    release of which no attack names the values of a larger share of people. max_suppressed: of the rows, for robust.
    coarsen: ways to make quasi columns coarser, as for `anatomy`: each candidate is tried as it is and with all of
    them; with resist, with as few as it takes. out: a folder for the table and every answer.
    Returns the Comparison. Raises UsageError, DataError where this data allows no candidate, and TargetError.
    """
    from sqlanon.comparison.compare import compare as compare_methods
    from sqlanon.comparison.files import check_folder, write_comparison
    from sqlanon.comparison.question import read_question

    engine = engine_of(con)
    chosen_source = choose_source(named_place(source), query, engine.dialect, NO_SOURCE)
    question = read_question(
        chosen_source, check_names(quasi), check_names(sensitive), check_names(id), methods=methods, l=l,
        gamma=gamma, epsilon=epsilon, share=share, seed=seed,
        queries=queries if isinstance(queries, int) else Path(queries), target_error=target_error, resist=resist,
        quick=quick, max_suppressed=max_suppressed, nulls=nulls, unique_quasi=unique_quasi, workload=workload,
        coarsen=COARSEN.check("coarsen", coarsen),
    )  # fmt: skip
    target = None if out is None else check_folder(out, overwrite, question.read)
    comparison = compare_methods(question, engine)
    if target is not None:
        write_comparison(comparison, target)
    return comparison


def breach(
    con: Any,
    *,
    base: object = None,
    query: str | None = None,
    views: str | Iterable[str],
    secret: str,
    model: "Model" = "unrestricted",
    samples: int | None = None,
    seed: int | None = None,
) -> "Breach":
    """Tell how likely each secret association is to an adversary who has the published views and their definitions.

    con: an open connection. base: a table, view, path or glob, or a pandas or Arrow object. query: in its place.
    views: `SELECT columns FROM base` each; secret: `SELECT id, property FROM base [WHERE condition]`; the base is
    called by its table's name, or `base`. model: unrestricted, or restricted (an id is known to have one property).
    samples: where views form a chain, draw so many worlds to narrow what bounds leave open; seed: the same one draws
    the same ones.
    Returns the Breach, whose associations are a relation that stays in the database as long as the session.
    Raises UsageError for what no data could meet.
    """
    from sqlanon.breaches.analysis import BreachQuestion, analyse
    from sqlanon.breaches.limits_and_targets import NO_BASE

    engine = engine_of(con)
    chosen_source = choose_source(named_place(base), query, engine.dialect, NO_BASE, option("base"))
    return analyse(BreachQuestion(chosen_source, check_names(views), secret, model, samples, seed), engine)


def attack(
    release: Release,
    *,
    against: object = None,
    query: str | None = None,
    id: str | Iterable[str] = (),
    others: Iterable[Release] = (),
    background: object = (),
) -> "Attack":
    """Tell what an adversary gets out of a release, promised beside reached: order, learning, composition, presence.

    against: the source, as for `anatomy`; it scores guesses. query: in its place. id: columns that tell its rows apart.
    others: releases of the same people, opened in the same session (`sqlanon.open(path, con=con)`). background: tables
    of distributions, as for `Release.verify`. Returns the Attack. Raises UsageError, and DataError for a source that is
    about others.
    """
    from sqlanon.attacks.attack_release import attack_release

    source = choose_source(named_place(against), query, release.engine.dialect)
    return attack_release(release, source, check_names(id), tuple(others), background)


def report(
    release: Release,
    out: str | os.PathLike[str] | None = None,
    *,
    against: object = None,
    query: str | None = None,
    id: str | Iterable[str] = (),
    others: Iterable[Release] = (),
    comparison: str | os.PathLike[str] | None = None,
    attack: "Attack | str | os.PathLike[str] | None" = None,
    overwrite: bool = False,
) -> "Page":
    """Tell about a release on one page of HTML: promise beside attacks, what was verified, what is lost, columns.

    out: the .html file to write. against, query, id, others: as for `attack`; with the source the page holds figures of
    it and is internal, without it what anybody can compute who has the release. comparison: a folder that `compare`
    wrote, for errors by selectivity, which are figures of the source. attack: an Attack found before, or a file of
    `attack`'s JSON; without it the release is attacked here, above 200,000 rows without order and learning, which take
    minutes.
    Returns the Page, whose `html` is the file's text.
    Raises UsageError, also where altair is not installed, DataError for a source about others, and TargetError.
    """
    from sqlanon.releases.file_beside import check_beside
    from sqlanon.reports.page import ENDINGS
    from sqlanon.reports.report import make_page

    source, beside = choose_source(named_place(against), query, release.engine.dialect), tuple(others)
    if out is not None:
        directories = [each.directory for each in (release, *beside)]
        check_beside(out, ENDINGS, option("out"), overwrite, directories, (*read_files(source), attack))
    page = make_page(release, source, check_names(id), beside, comparison, attack)
    if out is not None:
        page.write(out, overwrite)
    return page
