"""Match rows and values by their order: what a publisher's database leaves behind where nobody sorts it."""

from collections.abc import Mapping

from sqlanon.attacks.findings import Finding, is_beyond_chance
from sqlanon.attacks.view import View
from sqlanon.plans.templates import Sql

VALUE_ORDERS = {"as they lie": "line_number", "by value": "value_number", "by frequency": "total"}


def match_orders(view: View, links: Sql, promised: float) -> list[Finding]:
    """Take the value at a person's place in the group, people and values in several orders, forward and backward.

    The order in which rows lie leaks where it tells more than the same rows sorted by what they show, and a group's
    number where places shifted by it are right more often than by chance. The order of a quasi column tells what the
    column tells, which is no leak of the order, and an attack all the same.
    """
    chance, people = float(view.value_figures["by_chance"]), int(view.people_figures["people"])
    lying = _align(view, links, ["person_number"], VALUE_ORDERS)
    shown = _align(view, links, view.codes, VALUE_ORDERS)
    gained = {how: (right, max(shown[how] / people, chance)) for how, right in lying.items() if "shifted" not in how}
    gained |= {how: (right, chance) for how, right in lying.items() if "shifted" in how}
    how, (right, usual) = max(gained.items(), key=lambda one: one[1][0] / people - one[1][1])
    leak = is_beyond_chance(right / people, usual, people)
    findings = [
        Finding(
            "order",
            f"people as they lie, values {how}",
            right / people,
            promised,
            usual,
            _of(right, people),
            leak,
            leak,
        )
    ]
    return [*findings, _best_column(view, links, promised, people, chance)]


def _align(view: View, links: Sql, columns: list[str], values: Mapping[str, str]) -> dict[str, float]:
    """Return how many people each alignment is right of."""
    given = {"coded_person": view.coded_people()}
    placed = view.replace("placed_person", "placed_person", given, order_columns=columns)
    right: dict[str, float] = {}
    for name, column in values.items():
        slots = view.keep(f"slot_{column}", "slot", {"holding": view.holdings()}, order_column=column)
        found = view.row("aligned_figures", {"placed_person": placed, "slot": slots, "link": links})
        right |= {f"{name}, {how}": float(count) for how, count in found.items()}
    return right


def _best_column(view: View, links: Sql, promised: float, people: int, chance: float) -> Finding:
    by_value = {"by value": "value_number"}
    right = {
        f"people by {name}, values {how}": count
        for name, code in zip(view.quasi, view.codes, strict=True)
        for how, count in _align(view, links, [code], by_value).items()
        if "shifted" not in how
    }
    best = max(right, key=lambda name: right[name])
    reached = right[best] / people
    return Finding("order", best, reached, promised, chance, _of(right[best], people), headline=True)


def _of(right: float, people: int) -> str:
    return f"{round(right):,} of {people:,} people"
