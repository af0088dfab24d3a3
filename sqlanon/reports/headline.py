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
        yield f"LEAK: the release gives away what its method should hide, by: {', '.join(leaks)}. Do not hand it on."
    best = attack.strongest
    if best is None or best.reached is None:
        yield "Nothing was promised that the attacks tried here could be held against."
    else:
        yield _compare(best, column, attack)
    if LEFT_OUT in attack.notes:
        yield (
            "What an adversary learns from the release as a whole was not tried here, for so many rows take minutes;"
            " it may go beyond this. `sqlanon attack` tries it, and this page takes what it finds."
        )
    elif not attack.scored:
        believed = best is not None and best.believed
        yield (
            "No guesses were scored, for that takes the source: "
            + (
                "the adversary's own confidence may be too high or too low."
                if believed
                else "an adversary who learns from the release as a whole may get further than this."
            )
        )


def _compare(best: Finding, column: str, attack: Attack) -> str:
    reached = _of_hundred(best.reached or 0.0)
    told = {
        "composition": f"other releases of the same people leave {reached} with one possible {column}",
        "background knowledge": f"in the worst group, the best guess at {column} is right for {reached}",
    }.get(best.family, f"the best attack names {column} rightly for {reached}")
    if best.believed:
        told = f"by its own confidence, the best attack names {column} rightly for {reached}"
    told = told[0].upper() + told[1:]
    if best.promised is None:
        return f"{told}; no confidence was promised. Weigh it before the release is handed on."
    promised = _of_hundred(best.promised)
    if (best.reached or 0.0) <= best.promised + CLEAR:
        further = "further" if (best.reached or 0.0) <= best.promised else "clearly further"
        told = f"{told}; promised was no more than {promised}."
        return told if best.believed else f"{told} {_deny(attack, further)}"
    return (
        f"{told}; the promise speaks of {promised}. What goes beyond it ({best.family}: {best.attack}) is not covered"
        " by the promise: weigh it before the release is handed on."
    )


def _deny(attack: Attack, further: str) -> str:
    """Say that attacks get no further than the promise, as far as the findings have it so."""
    beyond = [
        one for one in attack.findings
        if not one.headline and one.promised is not None and (one.reached or 0.0) > one.promised + CLEAR
    ]  # fmt: skip
    if not beyond:
        return f"No attack tried here gets {further} than the promise."
    named = ", ".join(dict.fromkeys(f"{one.attack} ({one.whom})" for one in beyond))
    return (
        f"From the release alone no attack tried here gets {further} than the promise over all people. Beyond it, for"
        f" some of them or with more knowledge: {named}."
    )


def _of_hundred(share: float) -> str:
    return f"{100 * share:.0f} of 100 people" if share >= 0.01 or share == 0 else f"{share:.2%} of the people"
