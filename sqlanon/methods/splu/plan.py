"""SPLU-Gen (Fu, Wang, Wong, Wang and Jiang, 2014): small sums private, large sums useful.

Rows form decoy groups of gamma rows with gamma different sensitive values; every row publishes a value drawn
uniformly from its group's, its own included. The partition is not published. A value's published count is an
unbiased estimate of its count, far off for small counts, near for large ones. Every sensitive attribute is
randomized on its own.
"""

from collections.abc import Mapping

from sqlanon.errors import UsageError
from sqlanon.methods import grouping, macro_steps
from sqlanon.methods.splu import binomial
from sqlanon.plans.plan import Plan, Request, Step, build, relation_name
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql
from sqlanon.sql.table_macro import Macro, write_message

NAME = "splu"
PAPER = "Fu, Wang, Wong, Wang and Jiang, SPLU-Gen: small sum privacy and large sum utility, 2014"
STEPS = (*grouping.STEPS[:-1], "lot", "residue", "left_out", "kept", "decoy_group", "randomized", "data")
TOO_SMALL = "gamma = {gamma} for {column} hides nothing; gamma is a whole number of at least 2"


def plan(
    request: Request,
    gamma: int | Mapping[str, int],
    residue: str | None = None,
    epsilon: float = binomial.EPSILON,
    alpha: int = binomial.ALPHA,
    target_error: float = binomial.TARGET_ERROR,
    block: int | None = grouping.GROUPS_PER_BLOCK,
    prefix: str = "sqlanon_",
    key: Sql | None = None,
) -> Plan:
    """Return the plan of a randomized release.

    gamma: rows of a decoy group, a whole number >= 2, for all sensitive attributes or for each by its name.
    residue: `drop` leaves N mod gamma rows out, `keep` makes some groups one row larger; None: drop where one
    gamma serves all. block: groups per block of mixed values; None: one block.
    Raises UsageError where gamma, residue or block cannot be right on any data.
    """
    if not 0 < epsilon < 1 or alpha < 1 or not 0 < target_error < 1:
        raise UsageError("--epsilon and --target-error lie between 0 and 1, --alpha is a whole number of at least 1")
    gammas = _gammas(request, gamma)
    dropping = _dropping(gammas, residue)
    if block is not None and block < 1:
        raise UsageError(f"--block {block} holds no group; give a whole number of at least 1, or all")
    attributes = _attributes(request, gammas, block or grouping.ONE_BLOCK)
    steps = [*grouping.opening(request)]
    for attribute in attributes:
        steps += grouping.checked(request, attribute)
    steps += [*grouping.persons(request), *grouping.identified(request)]
    for number in range(len(attributes)):
        steps += _randomized(request, attributes, number, dropping and number == 0)
    shown = [
        *zip(grouping.quasi_names(request), request.roles.quasi, strict=True),
        *((_published(number), column) for number, column in enumerate(request.roles.sensitive)),
    ]
    steps.append(Step("methods/splu/data", values={"shown": shown}))
    secret = key if key is not None else relation_name(prefix, "key")
    built = build(steps, {}, prefix, {"key": secret})
    return Plan(
        method=NAME,
        steps=built[:-1],
        outputs=built[-1:],  # type: ignore[arg-type]
        parameters={
            "gamma": gammas,
            "residue": "drop" if dropping else "keep",
            "epsilon": epsilon,
            "alpha": alpha,
            "target_error": target_error,
            "block": "all" if block is None else block,
            "draws": request.draws,
            "nulls": request.nulls,
        },
        columns={"quasi": list(request.roles.quasi), "sensitive": list(request.roles.sensitive)},
        key=secret,
    )


def _gammas(request: Request, gamma: int | Mapping[str, int]) -> dict[str, int]:
    """Return gamma by sensitive column, in the order of the columns."""
    columns = request.roles.sensitive
    if isinstance(gamma, Mapping):
        foreign = [name for name in gamma if name.lower() not in {column.lower() for column in columns}]
        if foreign:
            raise UsageError(
                f"gamma is given for {foreign[0]!r}, which is not sensitive; --sensitive names"
                f" {', '.join(map(repr, columns))}"
            )
        named = dict(zip(resolve_names(columns, gamma), gamma.values(), strict=True))
        missing = [column for column in columns if column not in named]
        if missing:
            raise UsageError(f"no gamma is given for {missing[0]!r}; say --gamma {missing[0]}=10, or one for all")
        if len(named) < len(gamma):
            raise UsageError("gamma is given twice for one attribute")
        gammas = {column: named[column] for column in columns}
    else:
        gammas = dict.fromkeys(columns, gamma)
    for column, size in gammas.items():
        if size < 2:
            raise UsageError(TOO_SMALL.format(gamma=size, column=repr(column)))
    return gammas


def _dropping(gammas: Mapping[str, int], residue: str | None) -> bool:
    if residue not in (None, "drop", "keep"):
        raise UsageError(f"residue = {residue!r} is neither 'drop' nor 'keep'")
    alike = len(set(gammas.values())) == 1
    if residue == "drop" and not alike:
        raise UsageError("--residue drop needs one gamma for all attributes; with several say --residue keep")
    return alike if residue is None else residue == "drop"


def _attributes(request: Request, gammas: Mapping[str, int], groups_per_block: int) -> list[grouping.Attribute]:
    """Return the attributes; each carries what the ones after it need."""
    internal = grouping.sensitive_names(request)
    last = len(internal) - 1
    return [
        grouping.Attribute(
            column=column,
            size=gammas[column],
            parameter="gamma",
            purpose=f"{NAME}/{column}",
            groups_per_block=groups_per_block,
            carried=(
                *grouping.quasi_names(request),
                *(_published(before) for before in range(number)),
                *internal[number + 1 :],
                *(grouping.identity_names(request) if number < last else ()),
                "slot_draw",
            ),
            internal=internal[number],
            draws=("draw", "slot_draw"),
            suffix=f"_{number + 1}" if last else "",
        )
        for number, column in enumerate(request.roles.sensitive)
    ]


def _published(number: int) -> str:
    return f"published_{number + 1}"


def _randomized(request: Request, attributes: list[grouping.Attribute], number: int, dropping: bool) -> list[Step]:
    """Return the steps that randomize one attribute; the next one's value takes the name `sensitive`."""
    attribute = attributes[number]
    suffix = attribute.suffix
    after = {attributes[number + 1].internal: "sensitive"} if number + 1 < len(attributes) else {}
    rows = "kept" if dropping else "drawn"
    steps = [*grouping.drawn(request, attribute)]
    if dropping:
        steps += _residue_dropped(request, attribute)
    counted = f"{suffix}_randomized"
    kept = [(name, after.get(name, name)) for name in attribute.carried if name != "slot_draw"]
    return [
        *steps,
        Step(
            "methods/grouping/tally",
            suffix=counted,
            reads={"population": rows},
            values={"sensitive_column": "sensitive"},
        ),
        *grouping.numbered(request, attribute, rows, f"tally{counted}"),
        Step("methods/splu/decoy_group", suffix=suffix, values={"carried": attribute.carried}),
        Step(
            "methods/splu/randomized",
            suffix=suffix,
            values={"kept_columns": kept, "published_column": _published(number)},
        ),
        *_renamed(request, number, after),
    ]


def _residue_dropped(request: Request, attribute: grouping.Attribute) -> list[Step]:
    passing = (name for name in attribute.carried if name not in attribute.draws)
    columns = (*passing, "sensitive", *grouping.ties(request), *attribute.draws)
    return [
        Step("methods/splu/lot", values={"group_size": attribute.size}),
        Step("methods/splu/residue"),
        Step("methods/splu/left_out", "query", refuse=lambda row: None),
        Step("methods/splu/kept", "view", values={"kept_rows_columns": columns}),
    ]


def _renamed(request: Request, number: int, after: Mapping[str, str]) -> list[Step]:
    """Let the next attribute read what this one made as its population."""
    if not after:
        return []
    name = "identified" if grouping.identity_names(request) == ("identity",) else "population"
    return [Step("methods/splu/next_population", "view", yields=name, suffix=f"_{number + 2}")]


_SMALL = (
    Sql("coalesce(gamma < 2 or gamma <> floor(gamma), true)"),
    write_message(
        TOO_SMALL,
        {"gamma": "coalesce(cast(gamma as varchar), 'NULL')", "column": macro_steps.column_fields()["column"]},
    ),
)

MACROS = (
    Macro(
        "splu_release",
        (
            macro_steps.TABLE,
            macro_steps.SENSITIVE,
            "gamma",
            macro_steps.IDENTIFIER,
            macro_steps.NULLS,
            macro_steps.BLOCK,
            macro_steps.DRAWS,
        ),
        "every row, the columns in id left out, the sensitive value drawn from its decoy group",
        "select age, sex, disease from splu_release('patients', 'disease', 5, id := ['ssn'])",
        (
            *macro_steps.GROUPING[:-1],
            Step("methods/splu/decoy_group"),
            Step("methods/macro_steps/randomized"),
        ),
        macro_steps.grouping_values(NAME, "gamma", True, [_SMALL])
        | {
            "draws": ["draw", "slot_draw"],
            "carried": ["quasi_1", "slot_draw"],
            "identifier_names": Sql("cast(id as varchar[])"),
        },
    ),
)
