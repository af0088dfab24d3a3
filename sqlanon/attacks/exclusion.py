"""Exclude values: what the groups alone give away."""

from sqlanon.attacks.findings import Finding
from sqlanon.attacks.view import View


def exclude_values(view: View) -> list[Finding]:
    """Return the largest confidence of an adversary who can exclude j values of a group: top / (size - the j next)."""
    promise = view.promise.excluding
    exclusions = [(excluded, f"excluding_{excluded}") for excluded in range(len(promise))]
    figures = view.row("excluded_figures", {"holding": view.promised_holdings()}, exclusions=exclusions)
    return [
        _judge(float(figures[name]), excluded, promise[excluded], view.even)
        for excluded, name in exclusions
        if figures[name] is not None  # the promise may speak of no group at all
    ]


def _judge(reached: float, excluded: int, promised: float | None, even: bool) -> Finding:
    beyond = promised is not None and reached > promised + 1e-9
    if excluded:
        whom = "in the worst group, by who can exclude so many values"
        attack = f"{excluded} value{'s' if excluded > 1 else ''} excluded"
        # what different values promise holds for who excludes some of them as well
        leak = beyond if promised is not None and not even else None
        return Finding("background knowledge", attack, reached, promised, None, whom, leak)
    attack = "a group's most frequent value is named"
    leak = None if promised is None else beyond
    return Finding("background knowledge", attack, reached, promised, None, "in the worst group", leak, headline=True)
