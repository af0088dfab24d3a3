"""Verbs of the publisher: publish, compile; a method adds its own options to those that all have."""

from sqlanon.cli import display
from sqlanon.cli.app import compile_app, publish_app
from sqlanon.cli.options import (
    Alpha,
    AlternativeOf,
    AlternativeOrder,
    Alternatives,
    AlternativesOption,
    BackgroundFrom,
    BackgroundOption,
    BlockOption,
    DatabaseOption,
    Epsilon,
    Gamma,
    Guarantee,
    GuaranteeOption,
    HierarchyOption,
    InfluenceOption,
    KOption,
    LabelOption,
    LOption,
    MaxAlternatives,
    MaxSuppressed,
    OrderAlternatives,
    RefineOption,
    RepairOption,
    ResidueOption,
    ROption,
    SaveBackground,
    SaveInfluence,
    TargetError,
    ThresholdOption,
    Undiverse,
    UndiverseOption,
    WeightsOption,
    chosen_block,
    chosen_gamma,
    chosen_hierarchies,
    chosen_influence,
    chosen_share,
    session,
)
from sqlanon.cli.publication import Compilation, Publication, with_options
from sqlanon.methods.grouping import GROUPS_PER_BLOCK
from sqlanon.methods.robust.plan import MOST_SUPPRESSED
from sqlanon.methods.splu.binomial import ALPHA, EPSILON, TARGET_ERROR
from sqlanon.methods.uncertain.columns import MOST_ALTERNATIVES
from sqlanon.plans.plan import Beside

DEFAULT_BLOCK = str(GROUPS_PER_BLOCK)
DEFAULT_SHARE = str(MOST_SUPPRESSED)


@publish_app.command(
    "anatomy",
    epilog="Example: sqlanon publish anatomy patients.parquet --quasi age,sex --sensitive disease -l 4 --out release",
)
@with_options(Publication)
def publish_anatomy(asked: Publication, *, l: LOption, block: BlockOption = DEFAULT_BLOCK) -> None:
    """Publish QIT and ST of an l-diverse partition (Anatomy)."""
    asked.publish("anatomy", l=l, block=chosen_block(block))


@compile_app.command(
    "anatomy",
    epilog="Example: sqlanon compile anatomy patients --quasi age --sensitive disease --id ssn -l 4 --dialect spark",
)
@with_options(Compilation)
def compile_anatomy(asked: Compilation, *, l: LOption, block: BlockOption = DEFAULT_BLOCK) -> None:
    """Print a script that publishes QIT and ST on another engine (no database is needed)."""
    asked.print("anatomy", l=l, block=chosen_block(block))


@publish_app.command(
    "splu",
    epilog="Example: sqlanon publish splu patients.parquet --quasi age --sensitive disease --gamma 10 --out release",
)
@with_options(Publication)
def publish_splu(
    asked: Publication,
    *,
    gamma: Gamma,
    residue: ResidueOption = None,
    epsilon: Epsilon = EPSILON,
    alpha: Alpha = ALPHA,
    target_error: TargetError = TARGET_ERROR,
    block: BlockOption = DEFAULT_BLOCK,
) -> None:
    """Publish rows whose sensitive values are drawn from decoy groups (SPLU-Gen)."""
    asked.publish(
        "splu",
        gamma=chosen_gamma(gamma),
        residue=None if residue is None else residue.value,
        epsilon=epsilon,
        alpha=alpha,
        target_error=target_error,
        block=chosen_block(block),
    )


@publish_app.command(
    "uncertain",
    epilog="Example: sqlanon publish uncertain survey.parquet --quasi age,sex --sensitive disease -k 5 -L 3"
    " --threshold 0.3 --influence learn --save-influence influence.csv --out release",
)
@with_options(Publication)
def publish_uncertain(
    asked: Publication,
    *,
    k: KOption,
    l: WeightsOption,
    threshold: ThresholdOption,
    influence: InfluenceOption,
    save_influence: SaveInfluence = None,
    hierarchy: HierarchyOption = [],  # noqa: B006
    undiverse: UndiverseOption = Undiverse.merge,
    refine: RefineOption = 0,
    alternatives: AlternativesOption = Alternatives.lists,
    alternative_of: AlternativeOf = None,
    max_alternatives: MaxAlternatives = MOST_ALTERNATIVES,
    label: LabelOption = None,
    order_alternatives: OrderAlternatives = AlternativeOrder.given,
) -> None:
    """Publish QIT and ST of groups of uncertain rows (UDAK-anonymity)."""
    release = asked.publish(
        "uncertain",
        k=k,
        l=l,
        threshold=threshold,
        influence=chosen_influence(influence, save_influence, asked.overwrite),
        hierarchy=chosen_hierarchies(hierarchy),
        undiverse=undiverse.value,
        refine=refine,
        alternatives=alternatives.value,
        alternative_of=alternative_of,
        max_alternatives=max_alternatives,
        label=label,
        order_alternatives=order_alternatives.value,
    )
    if release is not None and release.learned:
        display.show_learned(release.learned["influence"])


@compile_app.command(
    "uncertain",
    epilog="Example: sqlanon compile uncertain patients --database hospital.duckdb --quasi age,sex --sensitive disease"
    " --id ssn -k 5 -L 3 --threshold 0.3 --influence learn",
)
@with_options(Compilation)
def compile_uncertain(
    asked: Compilation,
    *,
    k: KOption,
    l: WeightsOption,
    threshold: ThresholdOption,
    influence: InfluenceOption,
    hierarchy: HierarchyOption = [],  # noqa: B006
    undiverse: UndiverseOption = Undiverse.merge,
    refine: RefineOption = 0,
    alternatives: AlternativesOption = Alternatives.lists,
    alternative_of: AlternativeOf = None,
    max_alternatives: MaxAlternatives = MOST_ALTERNATIVES,
    label: LabelOption = None,
    order_alternatives: OrderAlternatives = AlternativeOrder.given,
    database: DatabaseOption = None,
) -> None:
    """Print a script that publishes QIT and ST of uncertain rows in DuckDB's shell (the source's columns are read)."""
    asked.print(
        "uncertain",
        session(database, write=False),
        k=k,
        l=l,
        threshold=threshold,
        influence=chosen_influence(influence, None, False),
        hierarchy=chosen_hierarchies(hierarchy),
        undiverse=undiverse.value,
        refine=refine,
        alternatives=alternatives.value,
        alternative_of=alternative_of,
        max_alternatives=max_alternatives,
        label=label,
        order_alternatives=order_alternatives.value,
    )


@compile_app.command(
    "splu",
    epilog="Example: sqlanon compile splu patients --quasi age --sensitive disease --id ssn --gamma 5 --dialect spark",
)
@with_options(Compilation)
def compile_splu(
    asked: Compilation, *, gamma: Gamma, residue: ResidueOption = None, block: BlockOption = DEFAULT_BLOCK
) -> None:
    """Print a script that publishes randomized rows on another engine (no database is needed)."""
    asked.print(
        "splu",
        gamma=chosen_gamma(gamma),
        residue=None if residue is None else residue.value,
        block=chosen_block(block),
    )


@publish_app.command(
    "robust",
    epilog="Example: sqlanon publish robust patients.parquet --quasi age,sex --sensitive disease -r 3"
    " --background-from sex --out release",
)
@with_options(Publication)
def publish_robust(
    asked: Publication,
    *,
    r: ROption,
    background: BackgroundOption = [],  # noqa: B006
    background_from: BackgroundFrom = [],  # noqa: B006
    save_background: SaveBackground = [],  # noqa: B006
    max_suppressed: MaxSuppressed = DEFAULT_SHARE,
    guarantee: GuaranteeOption = Guarantee.exact,
    repair: RepairOption = 0,
    block: BlockOption = DEFAULT_BLOCK,
) -> None:
    """Publish QIT and ST against who knows how the sensitive values are distributed (r-robustness)."""
    asked.publish(
        "robust",
        save=save_background,
        r=r,
        background=tuple(map(Beside, background)),
        background_from=tuple((columns,) for columns in background_from),
        max_suppressed=chosen_share("--max-suppressed", max_suppressed),
        guarantee=guarantee.value,
        repair=repair,
        block=chosen_block(block),
    )


@compile_app.command(
    "robust",
    epilog="Example: sqlanon compile robust patients --quasi age,sex --sensitive disease --id ssn -r 3"
    " --background-from sex --dialect spark",
)
@with_options(Compilation)
def compile_robust(
    asked: Compilation,
    *,
    r: ROption,
    background: BackgroundOption = [],  # noqa: B006
    background_from: BackgroundFrom = [],  # noqa: B006
    max_suppressed: MaxSuppressed = DEFAULT_SHARE,
    block: BlockOption = DEFAULT_BLOCK,
) -> None:
    """Print a script that publishes QIT and ST on another engine; groups depend on the backgrounds' columns alone."""
    asked.print(
        "robust",
        r=r,
        background=tuple(map(Beside, background)),
        background_from=tuple((columns,) for columns in background_from),
        max_suppressed=chosen_share("--max-suppressed", max_suppressed),
        block=chosen_block(block),
    )
