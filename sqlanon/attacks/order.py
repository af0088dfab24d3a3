"""Match rows and values by their order: what a publisher's database leaves behind where nobody sorts it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sqlanon.adversary.findings import DIGITS, Finding, is_beyond_chance
from sqlanon.adversary.view import View
from sqlanon.plans.templates import Sql

AS_THEY_LIE, BY_VALUE = {"as they lie": "line_number"}, {"by value": "value_number"}
VALUE_ORDERS = {**AS_THEY_LIE, **BY_VALUE, "by frequency": "total"}


@dataclass(frozen=True)
class Match:
    """One alignment of people and values: how many people it is right of, and how many without any order."""

    how: str
    right: float
    usual: float

    @property
    def gain(self) -> float:
        """Return how many people more are right than without."""
        return self.right - self.usual


def match_orders(view: View, links: Sql, promised: float | None, aligned: Collection[str] = ()) -> list[Finding]:
    """Take the value at a person's place in the group, people and values in several orders, forward and backward.

    The order in which rows lie leaks where it tells more than the same rows sorted by what they show, and a group's
    number where places shifted by it are right more often than by chance. The order of a quasi column tells what the
    column tells, which is no leak of the order, and an attack all the same.

    aligned: the published names of columns whose order tells more than drawn groups would let it: these leak.
    """
    people = int(view.people_figures["people"])
    best = max(_lying(view, links) if view.numbered else _lying_in_boxes(view, links), key=lambda match: match.gain)
    leak = is_beyond_chance(best.right / people, best.usual / people, people)
    whom, usual = view.words_of(best.right, people), best.usual / people
    finding = Finding(
        "order", best.how, reached=best.right / people, promised=promised, chance=usual, whom=whom, leak=leak,
        headline=leak,
    )  # fmt: skip
    columns = {name: ours for name, ours in view.quasi.items() if name in aligned}
    leaks = [_best_column(view, links, promised, {name: ours}, VALUE_ORDERS, True) for name, ours in columns.items()]
    return [finding, *(leaks or [_best_column(view, links, promised, view.quasi, BY_VALUE)])]


def _lying(view: View, links: Sql) -> Iterator[Match]:
    """Take people as they lie in QIT, beside people sorted by what they show."""
    lying, chance = _align(view, links, ["person_number"], VALUE_ORDERS)
    sorted_counts, _ = _align(view, links, view.names, VALUE_ORDERS)
    for how, right in lying.items():
        usual = chance if "shifted" in how else max(sorted_counts[how], chance)
        yield Match(f"people as they lie, values {how}", right, usual)


def _lying_in_boxes(view: View, links: Sql) -> Iterator[Match]:
    """Take values as they lie beside people as the source has them, and by each column, beside sorted values."""
    orders = {
        "as the source has them": ["person_number"],
        **{f"by {name}": [column] for name, column in view.quasi.items()},
    }
    for people, columns in orders.items():
        lying, chance = _align(view, links, columns, AS_THEY_LIE)
        sorted_counts, _ = _align(view, links, columns, BY_VALUE)
        for how in ("forward", "backward"):
            usual = max(sorted_counts[f"by value, {how}"], chance)
            yield Match(f"people {people}, values as they lie, {how}", lying[f"as they lie, {how}"], usual)


def _align(view: View, links: Sql, columns: list[str], values: Mapping[str, str]) -> tuple[dict[str, float], float]:
    """Return how many people each alignment is right of, and how many chance is."""
    relations = {"seated_person": view.seated_people()}
    placed = view.replace("placed_person", "adversary/view/placed_person", relations, order_columns=columns)
    right: dict[str, float] = {}
    chance = 0.0
    for name, column in values.items():
        figures = view.row(
            "adversary/view/aligned_figures", {"placed_person": placed, "slot": view.slots(column), "link": links}
        )
        chance = round(float(figures.pop("by_chance")), DIGITS)
        right |= {f"{name}, {how}": round(float(count), DIGITS) for how, count in figures.items()}
    return right, chance


def _best_column(
    view: View,
    links: Sql,
    promised: float | None,
    columns: Mapping[str, str],
    values: Mapping[str, str],
    leak: bool | None = None,
) -> Finding:
    """Return the best of the orders of these columns; places shifted by a group's number are a leak alone."""
    people, matches = int(view.people_figures["people"]), []
    for name, ours in columns.items():
        right, chance = _align(view, links, [ours], values)
        counts = ((how, count) for how, count in right.items() if leak or "shifted" not in how)
        matches += [Match(f"people by {name}, values {how}", count, chance) for how, count in counts]
    best = max(matches, key=lambda match: match.right)
    whom, usual = view.words_of(best.right, people), best.usual / people
    return Finding(
        "order", best.how, reached=best.right / people, promised=promised, chance=usual, whom=whom, leak=leak,
        headline=True, counted=True,
    )  # fmt: skip
