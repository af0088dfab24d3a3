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


@dataclass(frozen=True)
class Resistance:
    """What the best attack reaches: the share of the people whose value it names, None where no guess met the truth.

    family: its kind. left_out: the share of the rows. sure: the share of the people who are named with a confidence
    above `VITAL`. telling: the quasi columns that give away, the most telling one first, where they were looked for.
    unscored: why no guess met the truth. at_least: whether some rows showed enough, and all were not attacked.
    """

    named: float | None
    family: str
    left_out: float
    sure: float = 0.0
    telling: tuple[str, ...] = ()
    unscored: str = ""
    at_least: bool = False

    @property
    def reached(self) -> float | None:
        """Return by what it resists: the share that is named or, of a release that tells some people, beyond `VITAL`.

        Of two releases that tell some people for sure, that is worse which tells more of them.
        """
        if self.named is None or self.sure <= MOST_SURE:
            return self.named
        return max(self.named, VITAL + (1 - VITAL) * self.sure)

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


def attack_candidate(
    release: Release, source: object, identifier: tuple[str, ...], limit: float = 1.0, telling: bool = False
) -> Resistance:
    """Attack a release as `attack --against` does, and return the best of what was scored.

    limit: a release of many rows is attacked by some of them first, and by all where these do not show that more is
    reached, for who learns from fewer names fewer; by all at once where there is no limit. telling: look for the quasi
    columns that give most away, in place of orders.
    """
    rows, left_out = release.manifest["rows"], release.manifest["dropped_rows"]
    for quick_rows in (QUICK_ROWS, None) if limit < 1 and rows > MANY * QUICK_ROWS else (None,):
        attack = attack_release(release, source, identifier, telling=telling, orders=not telling, quick_rows=quick_rows)
        best, share = attack.most_named(), left_out / max(rows + left_out, 1)
        if best is None:
            found = Resistance(None, "", share, unscored="; ".join(attack.notes))
        else:
            sure = attack.surely(VITAL) or 0.0
            found = Resistance(best.reached, best.family, share, sure, attack.telling, at_least=bool(quick_rows))
        if found.named is not None and found.named > limit + SAMPLING:
            break
    return found


def search(
    candidate: Candidate,
    columns: Sequence[str],
    change: Callable[[Candidate, str], Candidate | None],
    target: float,
    attack: Callable[[Candidate], Resistance | None],
) -> tuple[Candidate, list[str]]:
    """Change a candidate column by column, the most telling one first, until it resists.

    change: for a column, None where it cannot be. attack: tries a candidate; None where the data does not allow it, or
    too many rows would be left out. A change by which no less is reached is taken back. Returns the candidate that was
    reached, and the way there in words.
    """
    outcome, way, tried = attack(candidate), list[str](), set[str]()
    while outcome is not None and outcome.reached is not None and outcome.reached > target:
        left = [name for name in dict.fromkeys((*outcome.telling, *columns)) if name in columns and name not in tried]
        if not left:
            break
        tried.add(left[0])
        trial = change(candidate, left[0])
        after = None if trial is None else attack(trial)
        if trial is None or after is None or after.reached is None or after.reached >= outcome.reached:
            continue
        candidate, outcome = trial, after
        way.append(f"{candidate.shown}: {after.words}")
    return candidate, way


def know(candidate: Candidate, quasi: Sequence[str], known: Collection[str]) -> Candidate:
    """Return the candidate whose adversary knows these columns, in the order of the quasi columns."""
    return replace(candidate, background=tuple(name for name in quasi if name in known))


def resists(trial: Resistance | None, target: float) -> bool:
    """Tell whether no more is reached than that; what was not attacked does not resist."""
    return trial is not None and trial.reached is not None and trial.reached <= target
