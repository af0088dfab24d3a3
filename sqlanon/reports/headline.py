"""What a release comes to, in sentences for whoever decides."""

from collections.abc import Iterator

from sqlanon.attacks.attack_release import LEFT_OUT
from sqlanon.attacks.findings import CLEAR, Attack, Finding
from sqlanon.plain_values import words
from sqlanon.plans.manifest import Manifest


def tell_attack(manifest: Manifest, attack: Attack) -> Iterator[str]:
    """Say how far attacks get, promised beside reached."""
    column = " or ".join(words(name) for name in manifest["columns"]["sensitive"])
    leaks = [f"{one.attack} ({one.family})" for one in attack.leaks]
    if leaks:
        yield f"The release gives away what its method should hide, by: {', '.join(leaks)}. Do not hand it on."
    best = attack.best
    if best is None or best.reached is None:
        yield "Nothing was promised that the attacks tried here could be held against."
    else:
        yield _compare(best, column)
    if LEFT_OUT in attack.notes:
        yield (
            "What an adversary learns from the release as a whole was not tried here, for so many rows take minutes;"
            " it may go beyond this. `sqlanon attack` tries it, and this page takes what it finds."
        )
    elif not attack.scored:
        yield (
            "No guesses were scored, for that takes the source: an adversary who learns from the release as a whole may"
            " get further than this."
        )


def _compare(best: Finding, column: str) -> str:
    reached = _of_hundred(best.reached or 0.0)
    told = {
        "composition": f"other releases of the same people leave {reached} with one possible {column}",
        "background knowledge": f"in the worst group, the best guess at {column} is right for {reached}",
    }.get(best.family, f"the best attack names {column} rightly for {reached}")
    told = told[0].upper() + told[1:]
    if best.promised is None:
        return f"{told}; no confidence was promised. Weigh it before the release is handed on."
    promised = _of_hundred(best.promised)
    if (best.reached or 0.0) <= best.promised + CLEAR:
        further = "further" if (best.reached or 0.0) <= best.promised else "clearly further"
        return f"{told}; promised was no more than {promised}. No attack tried here gets {further} than the promise."
    return (
        f"{told}; the promise speaks of {promised}. What goes beyond it ({best.family}: {best.attack}) is not covered"
        " by the promise: weigh it before the release is handed on."
    )


def _of_hundred(share: float) -> str:
    return f"{100 * share:.0f} of 100 people" if share >= 0.01 or share == 0 else f"{share:.2%} of the people"
