"""Find which candidates resist `attack`: each is attacked as it would be published, and guesses are checked."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from sqlanon.adversary.findings import VITAL
from sqlanon.attacks.attack_release import QUICK_ROWS, attack_release
from sqlanon.comparison.question import Candidate
from sqlanon.comparison.workload import Microdata, largest_share
from sqlanon.errors import UsageError
from sqlanon.releases.release import Release
from sqlanon.wording import option

MANY = 3  # times the rows from which is learned quickly; of fewer all are attacked at once
SAMPLING = 0.03  # of a share of the people in so many rows: beyond chance
MOST_SURE = 0.001  # share of the people whom a release may tell with more confidence than `VITAL`, and resist
MOST_SURE_SAMPLED = 0.01  # of the people in so many rows: more is beyond chance


@dataclass(frozen=True)
class Resistance:
    """What the best attack reaches: the share of the people whose value it names, None where no guess met the truth.

    family: its kind. left_out: the share of the rows. sure: the share of the people who are named with a confidence
    above `VITAL`. unscored: why no guess met the truth. at_least: whether it was learned from some rows: who learns
    from fewer names fewer.
    """

    named: float | None
    family: str
    left_out: float
    sure: float = 0.0
    unscored: str = ""
    at_least: bool = False

    @property
    def reached(self) -> float | None:
        """Return by what it resists: the share that is named or, of a release that tells some people, beyond `VITAL`.

        Of two releases that tell some people for sure, that is worse which tells more of them.
        """
        if self.named is None or self.sure <= (MOST_SURE_SAMPLED if self.at_least else MOST_SURE):
            return self.named
        return max(self.named, VITAL + (1 - VITAL) * self.sure)

    @property
    def told(self) -> float | None:
        """Return whom it tells for sure, None where no guess met the truth."""
        return None if self.named is None else self.sure

    @property
    def words(self) -> str:
        """Say what is reached: `27.0%`, or `27.0%, 0.27% told`."""
        told = f", {self.sure:.2%} told" if self.sure > MOST_SURE else ""
        return "" if self.named is None else f"{'at least ' if self.at_least else ''}{self.named:.1%}{told}"


def check_target(data: Microdata, target: float, drops: bool) -> None:
    """Raise UsageError for a target that no release can meet: below what naming the most frequent value reaches.

    drops: whether rows without a sensitive value are not published.
    """
    for column in data.sensitive:
        share = largest_share(data, column, drops)
        if target < share:
            raise UsageError(
                f"{option('resist')} {target:g} is below {share:.1%}, which naming the most frequent {column} reaches"
                " without any release"
            )


def attack_candidate(release: Release, source: object, identifier: tuple[str, ...], by_some: bool) -> Resistance:
    """Attack a release as `attack --against` does, and return the best of what was scored.

    by_some: learn from some of the rows, where they are many, and match no orders.
    """
    rows, left_out = release.manifest["rows"], release.manifest["dropped_rows"]
    some = QUICK_ROWS if by_some and rows > MANY * QUICK_ROWS else None
    attack = attack_release(release, source, identifier, telling=False, orders=some is None, quick_rows=some)
    best, share = attack.most_named(), left_out / max(rows + left_out, 1)
    if best is None:
        return Resistance(None, "", share, unscored="; ".join(attack.notes))
    return Resistance(best.reached, best.family, share, attack.surely(VITAL) or 0.0, at_least=some is not None)


def search(
    candidate: Candidate,
    columns: Sequence[str],
    change: Callable[[Candidate, str], Candidate | None],
    target: float,
    attack: Callable[[Candidate], Resistance | None],
) -> tuple[Candidate, list[str]]:
    """Change a candidate column by column, in their order, until nothing is known against it.

    change: for a column, None where it cannot be. attack: tries a candidate; None where the data does not allow it, or
    too many rows would be left out. A change by which no less is reached is taken back. Returns the candidate that was
    reached, and the way there in words.
    """
    outcome, way = attack(candidate), list[str]()
    for column in columns:
        if outcome is None or outcome.reached is None or may_resist(outcome, target):
            break
        trial = change(candidate, column)
        after = None if trial is None else attack(trial)
        if trial is None or after is None or after.reached is None or after.reached >= outcome.reached:
            continue
        candidate, outcome = trial, after
        way.append(f"{candidate.shown}: {after.words}")
    return candidate, way


def know(candidate: Candidate, quasi: Sequence[str], known: Collection[str]) -> Candidate:
    """Return the candidate whose adversary knows these columns, in the order of the quasi columns."""
    return replace(candidate, background=tuple(name for name in quasi if name in known))


def may_resist(trial: Resistance | None, target: float) -> bool:
    """Tell whether no more is reached than that, where some rows were attacked but for chance.

    What was not attacked does not resist.
    """
    if trial is None or trial.reached is None:
        return False
    return trial.reached <= target + (SAMPLING if trial.at_least else 0.0)
