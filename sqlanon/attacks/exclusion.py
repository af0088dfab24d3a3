"""Exclude values, and know who is there: what the groups alone give away."""

from sqlanon.attacks.findings import Finding
from sqlanon.attacks.view import View


def exclude_values(view: View, promised: float, l: int) -> list[Finding]:
    """Return the largest confidence of an adversary who can exclude j values of a group: top / (size - the j next)."""
    exclusions = [(excluded, f"excluding_{excluded}") for excluded in range(max(l - 1, 1))]
    found = view.row("excluded_figures", {"holding": view.holdings()}, exclusions=exclusions)
    return [_judge(float(found[name]), excluded, promised) for excluded, name in exclusions]


def _judge(reached: float, excluded: int, promised: float) -> Finding:
    if excluded:
        whom = "in the worst group, by who can exclude so many values"
        return Finding(
            "background knowledge",
            f"{excluded} value{'s' if excluded > 1 else ''} excluded",
            reached,
            promised,
            whom=whom,
        )
    named, leak = "a group's most frequent value is named", reached > promised + 1e-9
    return Finding("background knowledge", named, reached, promised, None, "in the worst group", leak, headline=True)


def find_presence(view: View) -> Finding:
    """Return the share of rows that nobody else's quasi values equal: who is known by these is surely in the table."""
    found = view.people_figures
    whom = f"{found['unique_people']:,} of {found['people']:,} rows are unique on the quasi columns"
    return Finding(
        "presence", "quasi values are published exactly", found["unique_people"] / found["people"], whom=whom
    )
