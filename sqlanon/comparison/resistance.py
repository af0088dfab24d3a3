"""Find which candidates resist `attack`: each is attacked as it would be published, and guesses are checked."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlanon.adversary.findings import CLEAR
from sqlanon.attacks.attack_release import attack_release
from sqlanon.attacks.sample import Sample
from sqlanon.comparison.question import Candidate
from sqlanon.comparison.rivals import largest_share
from sqlanon.comparison.workload import Microdata
from sqlanon.errors import UsageError
from sqlanon.releases.release import Release
from sqlanon.wording import option

NO_ROW = 1e-3  # share of the rows: whatever leaves out fewer counts as if it left out so many


@dataclass(frozen=True)
class Resistance:
    """What the best attack reaches: the share of the people whose value it names, None where no guess met the truth.

    family: its kind. left_out: the share of the rows. telling: the quasi column that gives most away, '' where that was
    not looked for, or attacks cannot say it. unscored: why no guess met the truth.
    """

    reached: float | None
    family: str
    left_out: float
    telling: str = ""
    unscored: str = ""


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
    release: Release,
    source: object,
    identifier: tuple[str, ...],
    telling: bool = False,
    sample: Sample | None = None,
) -> Resistance:
    """Attack a release as `attack --against` does, and return the best of what was scored.

    telling: look for the quasi column that gives most away. sample: of groups, on how many rows.
    """
    attack = attack_release(release, source, identifier, telling=telling, sample=sample)
    best, column = attack.most_named(), attack.most_telling
    rows, left_out = release.manifest["rows"], release.manifest["dropped_rows"]
    share = left_out / max(rows + left_out, 1)
    if best is None:
        return Resistance(None, "", share, unscored="; ".join(attack.notes))
    return Resistance(best.reached, best.family, share, column)


def grow_background(
    candidate: Candidate, quasi: Sequence[str], target: float, attack: Callable[[Candidate], Resistance | None]
) -> tuple[Candidate, list[str]]:
    """Add quasi columns to what robust's adversary knows, until the best attack reaches no more than the target.

    First comes the column that lowers the attack most for the rows it leaves out. attack: tries a candidate; None where
    the data does not allow it, or too many rows would be left out. Returns the candidate that was reached, as it was
    where no column serves, and the way there in words.
    """
    grown, reached, left_out, way = candidate, 1.0, 0.0, []
    known: tuple[str, ...] = ()
    while reached > target:
        trials = {name: attack(know(candidate, quasi, {*known, name})) for name in quasi if name not in known}
        steps = {
            name: (trial.reached, trial.left_out)
            for name, trial in trials.items()
            if trial is not None and trial.reached is not None and trial.reached < reached
        }
        if not steps:
            break
        # of those that resist, the one that leaves out least; else the best exchange of rows for resistance
        name = min(steps, key=lambda name: _price(*steps[name], reached, left_out, target))
        known, (reached, left_out) = (*known, name), steps[name]
        grown = know(candidate, quasi, set(known))
        way.append(f"{', '.join(known)}: {reached:.1%}, {left_out:.2%} left out")
    return grown, way


def know(candidate: Candidate, quasi: Sequence[str], known: Collection[str]) -> Candidate:
    """Return the candidate whose adversary knows these columns, in the order of the quasi columns."""
    return replace(candidate, background=tuple(name for name in quasi if name in known))


def refine_background(
    candidate: Candidate,
    quasi: Sequence[str],
    target: float,
    attack: Callable[[Candidate], Resistance | None],
    ask: Callable[[Candidate], float | None],
) -> tuple[Candidate, list[str]]:
    """Add or leave out columns of what robust's adversary knows, one by one, while answers get nearer and it resists.

    More classes may tell more of the questions, and leave out more rows: errors do not follow from the columns' number.
    attack: as for `grow_background`. ask: the median error of a candidate, None where the data does not allow it.
    Returns the candidate that was reached, as it was where it does not resist, and the way there in words.
    """
    way: list[str] = []
    error = ask(candidate) if _resists(attack(candidate), target) else None
    while error is not None:
        known = set(candidate.background)
        changed = [know(candidate, quasi, known ^ {name}) for name in quasi if known != {name}]
        errors = {trial: smaller for trial in changed if (smaller := ask(trial)) is not None and smaller < error}
        nearer = sorted(errors, key=lambda trial: errors[trial])
        resisting = next((trial for trial in nearer if _resists(attack(trial), target)), None)
        if resisting is None:
            break
        candidate, error = resisting, errors[resisting]
        way.append(f"{', '.join(candidate.background)}: error {error:.1%}")
    return candidate, way


def _resists(trial: Resistance | None, target: float) -> bool:
    return trial is not None and trial.reached is not None and trial.reached <= target


def draw_from_whole(
    candidate: Candidate, target: float, attack: Callable[[Candidate], Resistance | None]
) -> tuple[Candidate, list[str]]:
    """Let anatomy draw its groups from the whole table where they withstand more than those of blocks do.

    attack: as for `grow_background`. Returns the candidate, as it was where it resists already, and the way in words.
    """
    whole = replace(candidate, whole=True)
    before = attack(candidate)
    if before is None or before.reached is None or before.reached <= target:
        return candidate, []
    after = attack(whole)
    if after is None or after.reached is None:
        return candidate, []
    return (whole if after.reached < before.reached else candidate), [
        f"in blocks: {before.reached:.1%}", f"block = all: {after.reached:.1%}"
    ]  # fmt: skip


def find_between(
    failing: int, resisting: Candidate, target: float, attack: Callable[[Candidate], Resistance | None]
) -> tuple[Candidate, list[str]]:
    """Find the least strength that resists between one that does not and one that does, by halves.

    attack: as for `grow_background`. Returns the candidate with it, and the way in words.
    """
    low, best, way = failing, resisting, []
    while best.value - low > 1:
        middle = replace(best, value=(low + best.value) // 2)
        trial = attack(middle)
        resists = _resists(trial, target)
        said = "not attacked" if trial is None or trial.reached is None else f"{trial.reached:.1%}"
        way.append(f"{middle.parameter}: {said}")
        low, best = (low, middle) if resists else (middle.value, best)
    return best, way


def coarsen_candidate(
    candidate: Candidate,
    rules: Mapping[str, str],
    target: float,
    attack: Callable[[Candidate], Resistance | None],
) -> tuple[Candidate, list[str]]:
    """Make columns coarser, the one first that lowers the best attack most, until the target is reached.

    rules: by column. attack: as for `grow_background`. Returns the candidate that resists, or as it was where it does
    already or no columns serve, and the way in words.
    """
    trial, coarser = attack(candidate), candidate
    way: list[str] = []
    reached = 1.0 if trial is None or trial.reached is None else trial.reached
    while reached > target:
        free = [(name, rule) for name, rule in rules.items() if (name, rule) not in coarser.coarsen]
        trials = {
            trial_candidate: trial.reached
            for trial_candidate in (replace(coarser, coarsen=(*coarser.coarsen, rule)) for rule in free)
            if (trial := attack(trial_candidate)) is not None and trial.reached is not None and trial.reached < reached
        }
        if not trials:
            return candidate, way
        coarser = min(trials, key=lambda trial_candidate: trials[trial_candidate])
        reached = trials[coarser]
        way.append(f"{', '.join(coarser.rules)}: {reached:.1%}")
    return coarser, way


def leave_columns_out(
    candidate: Candidate,
    quasi: Sequence[str],
    target: float,
    attack: Callable[[Candidate, bool], Resistance | None],
) -> tuple[Candidate | None, list[str]]:
    """Leave quasi columns out, of those that are left the most telling one, until the target is reached.

    attack: as for `grow_background`, and whether to look for the most telling column. Where attacks cannot say which
    that is, the column comes first that lowers the best attack most. Returns the candidate that resists, else the one
    that comes nearest (a column more has to lower the attack by half a percent), None where no columns serve; and the
    way in words.
    """
    best, way = attack(candidate, True), []
    nearest, least = None, 1.0 if best is None or best.reached is None else best.reached
    while best is not None and best.reached is not None and best.reached > target:
        left = candidate.published(quasi)
        named = [best.telling] if best.telling in left else left
        shorter = [trial for name in named if len(left) > 1 and (trial := candidate.leave_out(name)) is not None]
        trials = {
            trial: outcome
            for trial in shorter
            if (outcome := attack(trial, True)) is not None and outcome.reached is not None
        }
        if not trials:
            break
        candidate = min(trials, key=lambda trial: trials[trial].reached or 0.0)
        best = trials[candidate]
        way.append(f"without {' and '.join(candidate.without)}: {best.reached:.1%}")
        reached = best.reached or 0.0
        nearest, least = (candidate, reached) if reached < least - CLEAR else (nearest, least)
    return nearest, way


def _price(reached: float, left_out: float, before: float, left_out_before: float, target: float) -> tuple[bool, float]:
    if reached <= target:
        return False, left_out
    return True, max(left_out - left_out_before, NO_ROW) / (before - reached)
