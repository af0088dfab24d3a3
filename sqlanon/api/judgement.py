"""What a table, its views or a release give away, as functions."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import Field

from sqlanon.api.recipient import NamedRelease, opened
from sqlanon.engines.connect import engine_of, session_and_source
from sqlanon.errors import UsageError
from sqlanon.models.fields import Option, verb
from sqlanon.models.publication import (
    AgainstQuery,
    Background,
    Coarsen,
    Labels,
    Model,
    Persons,
    Quasi,
    Query,
    ScoredBy,
    Secret,
    Sensitive,
    Source,
    Vary,
    Views,
    replacing,
)
from sqlanon.models.values import (
    COUNT_OR_FILE,
    PATH,
    PLACE,
    SHARE,
    WHOLE_NUMBERS,
    WORDS,
    FilePath,
    Names,
    source_against,
)
from sqlanon.plans.plan import Nulls, UniqueQuasi
from sqlanon.read_places import check_new_file, refuse_alone
from sqlanon.releases.opening import RELEASES
from sqlanon.risks.question import PAIR
from sqlanon.sql.source import read_files
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.adversary.findings import Attack
    from sqlanon.attacks.page import Page
    from sqlanon.breaches.associations import Breach
    from sqlanon.releases.release import Release
    from sqlanon.risks.check import Check
    from sqlanon.risks.comparison import Comparison


_FROM_1, _FROM_0, _TO_1 = (
    f"{{option}} = {{value}} cannot be required; it is a number {span}"
    for span in ("of at least 1", "of at least 0", "from 0 to 1")
)


@verb
def check(
    con: Any,
    source: Source = None,
    *,
    query: Query = None,
    quasi: Quasi = (),
    sensitive: Sensitive = (),
    id: Persons = (),
    coarsen: Coarsen = None,
    population: Annotated[
        object, PLACE, Field(description="A table of the population with the quasi columns: the journalist's risk.")
    ] = None,
    sampled: Annotated[
        float | None, SHARE, Field(description="The share of the population that the source is, e.g. 0.01.")
    ] = None,
    k: Annotated[
        int | None,
        Field(description="Rows in every class (k-anonymity, Samarati and Sweeney).", ge=1),
        Option(flag="-k", words=_FROM_1),
    ] = None,
    l: Annotated[
        int | None,
        Field(description="Different sensitive values in every class.", ge=1),
        Option(flag="-l", words=_FROM_1),
    ] = None,
    entropy_l: Annotated[
        float | None,
        Field(description="exp of the entropy of a class's values, at least.", ge=1),
        Option(words=_FROM_1),
    ] = None,
    recursive: Annotated[
        tuple[float, int] | None, PAIR, Field(description="c,l: r_1 < c (r_l + … + r_m) in every class.")
    ] = None,
    alpha: Annotated[
        float | None,
        SHARE,
        Field(description="Share of a class's most frequent value, at most.", ge=0, le=1),
        Option(words=_TO_1),
    ] = None,
    t: Annotated[
        float | None,
        Field(description="Distance of a class from the table, at most: by order for numbers.", ge=0, le=1),
        Option(flag="-t", words=_TO_1),
    ] = None,
    beta: Annotated[
        float | None, Field(description="(p - q) / q of any value of a class, at most.", ge=0), Option(words=_FROM_0)
    ] = None,
    delta: Annotated[
        float | None,
        Field(description="ln(p / q) of any value of a class, at most, up or down.", ge=0),
        Option(words=_FROM_0),
    ] = None,
    subsets: Annotated[
        int | None,
        Field(description="How many quasi columns are looked at together, to find who is unique (2).", ge=1),
        Option(words="{option} {value} looks at no columns; say 1 or more"),
    ] = None,
    failing: Annotated[
        FilePath | None,
        PATH,
        Field(description="Write the rows of failing classes to this Parquet file: microdata, for you."),
    ] = None,
    overwrite: Annotated[bool, replacing(f"the file at {option('failing')}")] = False,
) -> "Check":
    """Tell what a table risks: whom its quasi columns single out, what the sensitive values of its classes give away.

    con, source, query: as for `anatomy`; `check(frame)` and `check(path)` open a session of their own. Without roles: a
    line per column with a role that it may have; with a sensitive column or subsets alone, those that others usually
    know are the quasi columns. Rows
    with equal quasi values are a class; NULL is a value. From k to delta: what every class must reach.
    Returns the Check; its `holds` says whether all that is required is reached. Raises UsageError, DataError and
    TargetError.
    """
    from sqlanon.risks import assessment
    from sqlanon.risks.check import check_path
    from sqlanon.risks.question import CheckQuestion, Limits

    refuse_alone(overwrite, failing, "failing")
    opener, source = session_and_source(con, source, query)
    question = CheckQuestion(
        source=source, quasi=tuple(quasi), sensitive=tuple(sensitive),
        identifier=tuple(id), coarsen=cast(Any, coarsen or {}), population=population, sampled=sampled,
        subsets=subsets, limits=Limits(
            k=k, l=l, entropy_l=entropy_l, recursive=recursive, alpha=alpha, t=t, beta=beta, delta=delta
        ),
    )  # fmt: skip
    target = None
    if failing is not None:
        target = check_path(failing, overwrite, (*read_files(question.source), population))
        if not question.limits.asked:
            raise UsageError(
                f"{option('failing')} writes what misses a required value; require one, for example"
                f" {option('k', 5, flag='-k')}"
            )
    return assessment.check(question, opener.open(), target)


@verb
def compare(
    con: Any,
    source: Source = None,
    *,
    query: Query = None,
    quasi: Quasi,
    sensitive: Sensitive,
    id: Persons = (),
    coarsen: Coarsen = None,
    methods: Annotated[Names, WORDS, Field(description="Which methods, between commas.")] = (
        "anatomy",
        "robust",
        "splu",
        "mondrian",
    ),
    l: Annotated[
        int | Iterable[int] | None,
        WHOLE_NUMBERS,
        Field(
            description=f"Values of l of anatomy and mondrian (k = 10), r of robust: 5; with {option('resist')} 3,5,10."
        ),
        Option(alias="-l"),
    ] = None,
    gamma: Annotated[
        int | Iterable[int] | None,
        WHOLE_NUMBERS,
        Field(description=f"Values of gamma of splu: 5; with {option('resist')} 5,10."),
    ] = None,
    queries: Annotated[
        int | FilePath,
        COUNT_OR_FILE,
        Field(description="How many queries to draw, or a file with your own, a semicolon behind each."),
    ] = 100,
    workload: Annotated[
        Literal["analysts", "paper"],
        Field(description="What is drawn: analysts (ranges, single values) or paper (sets, as in Anatomy's)."),
    ] = "analysts",
    seed: Annotated[
        int,
        Field(description="Another number draws other queries.", ge=0),
        Option(words="{option} {value} is below 0"),
    ] = 1,
    target_error: Annotated[
        float | None,
        SHARE,
        Field(description="Tell the strongest promise whose median error stays below, e.g. 0.1.", gt=0, lt=1),
        Option(words="{option} is a relative error between 0 and 1, for example 0.1"),
    ] = None,
    resist: Annotated[
        float | None,
        SHARE,
        Field(
            description="Search the most accurate release of which no attack names more people's values, e.g. 0.25.",
            gt=0,
            le=1,
        ),
        Option(words="{option} is a share of people above 0 and at most 1, for example 0.25"),
    ] = None,
    quick: Annotated[bool, Field(description="Attack nothing, which takes longer than all else.")] = False,
    max_suppressed: Annotated[
        float,
        SHARE,
        Field(description="Share of the rows that robust may leave out.", ge=0, lt=1),
        Option(words="{option} is a share of the rows below 1, for example 0.03"),
    ] = 0.01,
    nulls: Annotated[Nulls, Field(description="NULL sensitive values: refuse, value or drop.")] = "refuse",
    unique_quasi: Annotated[
        UniqueQuasi, Field(description="A quasi column of unique values: refuse or keep.")
    ] = "refuse",
) -> "Comparison":
    """Tell what each method and parameter costs in accuracy on this data: relative errors of the same queries.

    con: an open DuckDB connection; what is published for the comparison is dropped again. source, query: as for
    `anatomy`. The adversary of robust knows how the sensitive values depend on the quasi column with the fewest values.
    Every candidate is attacked, unless quick. With resist, `command` is the most accurate release that resists.
    With coarsen each candidate is tried as it is and with all ways to make columns coarser; with resist, with as few as
    it takes.
    Returns the Comparison, whose `answers` hold every answer beside its truth. Raises UsageError, and DataError where
    this data allows no candidate.
    """
    from sqlanon.risks.candidates import CompareQuestion
    from sqlanon.risks.compare import compare as compare_methods

    opener, source = session_and_source(con, source, query)
    strengths: dict[str, Any] = {name: values for name, values in (("l", l), ("gamma", gamma)) if values is not None}
    question = CompareQuestion(
        source=source, quasi=tuple(quasi), sensitive=tuple(sensitive),
        identifier=tuple(id), methods=tuple(methods), strengths=strengths,
        queries=queries if isinstance(queries, int) else Path(queries), seed=seed, target_error=target_error,
        resist=resist, quick=quick, max_suppressed=max_suppressed, workload=workload,
        coarsen=cast(Any, coarsen or {}),
        options={"nulls": nulls, "unique_quasi": unique_quasi},
    )  # fmt: skip
    return compare_methods(question, opener.open())


@verb
def breach(
    con: Any,
    *,
    views: Views,
    secret: Secret,
    base: Annotated[
        object, PLACE, Field(description="The table behind the views: a file, a glob, or a table's name.")
    ] = None,
    query: Annotated[
        str | None, Field(description=f"In place of {option('base')}: SELECT columns FROM tables or files [WHERE …].")
    ] = None,
    model: Model = "unrestricted",
) -> "Breach":
    """Tell how likely each secret association is to an adversary who has the published views and their definitions.

    con: an open connection. base: as the source of `anatomy`; views and secret call it by its table's name, or `base`.
    Returns the Breach, whose associations are a relation that stays in the database as long as the session.
    Raises UsageError for what no data could meet.
    """
    from sqlanon.breaches.analysis import analyse
    from sqlanon.breaches.connectivity import BreachQuestion

    engine = engine_of(con)
    question = BreachQuestion.of(engine.dialect, base=base, query=query, views=tuple(views), secret=secret, model=model)
    return analyse(question, engine)


Others = Annotated[
    Iterable["Release"],
    RELEASES,
    Field(description="Another release of the same people; repeatable."),
    Option(flag="--with"),
]


@verb
def attack(
    release: NamedRelease,
    *,
    against: Annotated[object, PLACE, Field(description="The source: score guesses against it.")] = None,
    query: AgainstQuery = None,
    id: ScoredBy = (),
    vary: Vary = None,
    coarsen: Labels = None,
    others: Others = (),
    background: Background = (),
) -> "Attack":
    """Tell what an adversary gets out of a release, promised beside reached: order, learning, composition, presence.

    others: opened in the same session (`sqlanon.open(path, con=con)`). background: as for `Release.verify`. Of more
    than 200,000 rows in groups some are looked at, and the shares that are reached have an interval. Returns the
    Attack. Raises UsageError, and DataError for a source that is about others.
    """
    from sqlanon.attacks.attack_release import attack_release

    release, *beside = _unchanged(release, others)
    source = source_against(against, query, release.engine.dialect, coarsen, id, vary)
    return attack_release(release, source, tuple(id), tuple(beside), background)


def _unchanged(release: "Release | str | Path", others: Iterable["Release"]) -> "list[Release]":
    """Return a release and others, opened; raise ReleaseError where files have changed."""
    releases = [opened(each) for each in (release, *others)]
    for each in releases:
        each.require_unchanged()
    return releases


@verb
def report(
    release: NamedRelease,
    out: Annotated[FilePath | None, PATH, Field(description="The .html file to write.")] = None,
    *,
    overwrite: Annotated[bool, replacing(f"the file at {option('out')}")] = False,
    against: Annotated[
        object, PLACE, Field(description="The source: score attacks, show true values; makes it internal.")
    ] = None,
    query: AgainstQuery = None,
    id: ScoredBy = (),
    vary: Vary = None,
    coarsen: Labels = None,
    others: Others = (),
) -> "Page":
    """Tell about a release on one page of HTML: promise beside attacks, what was verified, what is lost, columns.

    others: as for `attack`. With the source the page holds figures of it and is internal, without it what anybody can
    compute who has the release. Returns the Page, whose `html` is the file's text.
    Raises UsageError, DataError for a source about others, and TargetError.
    """
    from sqlanon.attacks.page import ENDINGS, make_page

    refuse_alone(overwrite, out, "out")
    release, *beside = _unchanged(release, others)
    source = source_against(against, query, release.engine.dialect, coarsen, id, vary)
    if out is not None:
        directories = [each.directory for each in (release, *beside)]
        check_new_file(Path(out), ENDINGS, option("out"), overwrite, directories, read_files(source))
    page = make_page(release, source, tuple(id), tuple(beside))
    if out is not None:
        page.write(out, overwrite)
    return page
