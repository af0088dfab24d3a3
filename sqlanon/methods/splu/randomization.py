"""Randomize sensitive attributes one after the other: decoy groups, a value drawn from each, the residue.

An attribute's decoy groups have gamma rows with gamma different values, and each row publishes the value of a uniformly
drawn row of its group: P(v published | v) = 1/gamma.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from sqlanon.errors import UsageError
from sqlanon.methods import grouping, packing
from sqlanon.methods.base import Steps
from sqlanon.methods.grouping import ONE_BLOCK, Attribute, Grouping
from sqlanon.methods.packing import identity_names, payload_quasi, sensitive_names
from sqlanon.methods.uniqueness import check_quasi, check_sensitive
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Request, Row
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql
from sqlanon.wording import option

TOO_SMALL = "gamma = {gamma} for {column} hides nothing; gamma is a whole number of at least 2"


@dataclass(frozen=True, kw_only=True)
class Randomization(Grouping):
    """A design that randomizes attributes in turn; `attribute` is the first. drops: whether a residue is left out.

    departed: how many persons earlier releases of the ledger have shown and this one does not. lists: whether the
    values of each attribute are published beside the rows, alone.
    """

    attributes: tuple[Attribute, ...]
    drops: bool
    lists: bool = False
    departed: int = 0

    @property
    def columns(self) -> Mapping[str, Any]:
        """Return the roles of the published columns."""
        return {"quasi": list(self.request.roles.quasi), "sensitive": list(self.request.roles.sensitive)}

    @property
    def recorded(self) -> Mapping[str, Mapping[str, object]]:
        """Return gamma by column, and what became of the residue."""
        gammas = {attribute.column: attribute.size for attribute in self.attributes}
        residue: dict[str, object] = {"residue": "drop" if self.drops else "keep"}
        release = self.request.following
        if release is not None and not release.is_first:
            residue["departed"] = self.departed
        values: dict[str, object] = {"values": "list"} if self.lists else {}
        return {"gamma": {"gamma": gammas}, "residue": residue, "values": values}

    def fitted(self, reports: Mapping[str, Row]) -> Self:
        """Return the design with what a release that follows others counted."""
        release = self.request.following
        return self if release is None else replace(self, departed=int(reports["outcome"]["departed"]))

    def of(self, number: int) -> "Randomization":
        """Return the same design with another attribute as the one that is grouped."""
        return replace(self, attribute=self.attributes[number])


def design(
    request: Request,
    gamma: int | Mapping[str, int],
    residue: str | None,
    epsilon: float,
    alpha: int,
    target_error: float,
    values: str,
    block: int | None,
) -> Randomization:
    """Decide on the attributes' decoy groups; epsilon, alpha and target_error are for the guarantee alone."""
    gammas = _gammas(request.roles.sensitive, gamma)
    layout = packing.layout_of(request)
    attributes = _attributes(request, gammas, block or ONE_BLOCK, payload_quasi(request, layout))
    drops = _drops_residue(gammas, residue)
    return Randomization(
        request=request, attribute=attributes[0], attributes=attributes, drops=drops, layout=layout,
        lists=values == "list",
    )  # fmt: skip


def check_values(design: Randomization) -> Steps:
    """Return the chapters that count every attribute's values and refuse what cannot be grouped.

    They tell where gamma is so large that counts are noise, and what answers on all columns together tell.
    """
    largest: dict[str, tuple[int, int]] = {}

    def note(attribute: Attribute) -> Callable[[Row], str]:
        def told(row: Row) -> str:
            from sqlanon.methods.splu.channel_noise import note_pairs, warning  # numpy comes with it

            largest[attribute.column] = row["largest_count"], attribute.size
            alone = warning(attribute.column, attribute.size, row["row_count"], row["largest_count"])
            together = len(largest) > 1 and attribute is design.attributes[-1]
            return "; ".join(filter(None, (alone, note_pairs(row["row_count"], largest) if together else "")))

        return told

    return tuple(
        chapter
        for one in map(design.of, range(len(design.attributes)))
        for chapter in (
            grouping.tally((), one.attribute.internal),
            grouping.refuse_missing(one),
            grouping.refuse_frequent(one, note(one.attribute)),
        )
    )


def randomize(design: Randomization) -> Steps:
    """Return the chapters that end in rows with published values: the attributes are randomized one after the other."""
    request, last = design.request, len(design.attributes) - 1
    chapters: list[Chapter] = [
        grouping.population(request),
        *check_values(design),
        *check_quasi(design),
        *check_sensitive(design),
        *grouping.bind(design),
        *grouping.identify(design),
    ]
    for number, attribute in enumerate(design.attributes):
        one = design.of(number)
        # a residue is left out once: with one gamma for all, N mod gamma is the same for every attribute
        if design.drops and number == 0:
            chapters += [
                grouping.shuffle(one),
                Chapter("splu/residue", {"size": attribute.size, "drops": True}),
                grouping.tally(),
            ]
        else:
            chapters += [grouping.tally(), grouping.shuffle(one)]
        after = {} if number == last else {design.attributes[number + 1].internal: "sensitive"}
        values = {
            "number": number + 1,
            "again": number < last,
            "kept": [(name, after.get(name, name)) for name in attribute.payload if name not in attribute.draws],
            "published": _published(number),
        }
        chapters += [
            grouping.count_values(one),
            grouping.group(one, slots=True),
            Chapter("splu/randomized", values),
        ]
    return tuple(chapters)


def publish_data(design: Randomization) -> Steps:
    """Return the chapter of the one published table: exact quasi values, drawn sensitive values."""
    request = design.request
    values = {
        "packed": design.layout is not None,
        "quasi": [(name, Sql(request.types.get(name, ""))) for name in request.roles.quasi],
        "published": [(_published(number), column) for number, column in enumerate(request.roles.sensitive)],
        "rows": "population" if request.following is None else "shown_person",
    }
    listed = list(enumerate(request.roles.sensitive, start=1)) if design.lists else []
    return (Chapter("splu/data", {**values, "listed": listed}),)


def link_rows(design: Randomization) -> Steps:
    """Return the chapter of the rows with their own values, as each attribute's decoy groups have them."""
    values = {
        "numbers": [number for number, _ in enumerate(design.attributes, start=1)],
        "carried": payload_quasi(design.request, design.layout),
        "drops": design.drops,
    }
    return (Chapter("splu/linked", values),)


def _gammas(columns: tuple[str, ...], gamma: int | Mapping[str, int]) -> dict[str, int]:
    """Return gamma by sensitive column, in the order of the columns."""
    given = gamma if isinstance(gamma, Mapping) else dict.fromkeys(columns, gamma)
    foreign = [name for name in given if name.lower() not in {column.lower() for column in columns}]
    if foreign:
        raise UsageError(
            f"gamma is given for {foreign[0]!r}, which is not sensitive; {option('sensitive')} names"
            f" {', '.join(map(repr, columns))}"
        )
    gammas = dict(zip(resolve_names(columns, given), given.values(), strict=True))
    missing = [column for column in columns if column not in gammas]
    if missing:
        advice = option("gamma", f"{missing[0]}=10")
        raise UsageError(f"no gamma is given for {missing[0]!r}; say {advice}, or one for all")
    if len(gammas) < len(given):
        raise UsageError("gamma is given twice for one attribute")
    for column in columns:
        if gammas[column] < 2:
            raise UsageError(TOO_SMALL.format(gamma=gammas[column], column=repr(column)))
    return {column: gammas[column] for column in columns}


def _drops_residue(gammas: Mapping[str, int], residue: str | None) -> bool:
    alike = len(set(gammas.values())) == 1
    if residue == "drop" and not alike:
        raise UsageError(
            f"{option('residue', 'drop')} needs one gamma for all attributes; with several say"
            f" {option('residue', 'keep')}"
        )
    return alike if residue is None else residue == "drop"


def _attributes(
    request: Request, gammas: Mapping[str, int], groups_per_block: int, quasi: tuple[str, ...]
) -> tuple[Attribute, ...]:
    """Return the attributes; each carries what the ones after it need."""
    internal = sensitive_names(request)
    last = len(internal) - 1
    return tuple(
        Attribute(
            column=column,
            size=gammas[column],
            parameter="gamma",
            purpose=f"splu/{column}",
            groups_per_block=groups_per_block,
            payload=(
                *quasi,
                *(_published(before) for before in range(number)),
                *internal[number + 1 :],
                # only an attribute that is not the last has to tell rows apart for the next one's draws
                *(identity_names(request) if number < last else ()),
                "slot_draw",
            ),
            internal=internal[number],
            draws=("draw", "slot_draw"),
            suffix=f"_{number + 1}" if last else "",
        )
        for number, column in enumerate(request.roles.sensitive)
    )


def _published(number: int) -> str:
    return f"published_{number + 1}"
