"""What attacks found: promised beside reached."""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlanon.charts import Bar, write_bars
from sqlanon.plain_values import plain
from sqlanon.prose import write, write_parts
from sqlanon.text_tables import write_paragraphs, write_table
from sqlanon.verdicts import Colour, Section, Verdict, write_card, write_summary

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["family", "attack", "promised", "reached", "by chance", "whom", "leak"]
_MARKS: dict[bool | None, str] = {True: "LEAK", False: "no", None: ""}
SURE_HEADS = ["certainty above", "people", "of", "claimed", "right"]
VITAL, FEW = 0.8, 0.01  # the confidence of an adversary that is told first, unless of a smaller share of the people
OF_PEOPLE = ("order", "learning", "composition", "presence")  # attacks that reach a share of the people
SAMPLED = "orders were matched and learning ran on a sample"  # begins a note
_COUNTED = re.compile(r"[\d,.]+ of [\d,.]+ people")
_SENTENCES = ("leak", "not_scored", "told", "reached", "not_all")
CLEAR = 0.005  # a share above the promise by less than this is not reported as a breach
WORST = "in the worst group"
DIGITS = 6  # of a number of people, who may count by shares: threads add these up in any order
NORMAL_QUANTILE = 1.959963984540054  # 97.5 % of the normal distribution
SIGMAS = 4.0  # standard errors beyond which a difference is not due to chance


@dataclass(frozen=True)
class Finding:
    """One attack: the share of people (or the confidence) that it reaches, beside what is promised.

    chance: what guessing reaches. whom: whom it concerns, in words. leak: whether the release gives away what its
    method should hide; None where that is not judged. headline: whether `reached` may stand against `promised`.
    believed: whether `reached` is the adversary's own confidence, which met no truth. counted: whether it is the share
    of people whose value is named rightly, counted with the truth at hand.
    """

    family: str
    attack: str
    reached: float | None
    promised: float | None = None
    chance: float | None = None
    whom: str = ""
    leak: bool | None = None
    headline: bool = False
    believed: bool = False
    counted: bool = False

    @property
    def is_beyond(self) -> bool:
        """Tell whether clearly more is reached than was promised."""
        return self.promised is not None and (self.reached or 0.0) > self.promised + CLEAR

    @property
    def figure(self) -> str:
        """Return what is reached as people where they were counted, else as a percentage."""
        return self.whom.partition(" people")[0] if _COUNTED.match(self.whom) else _percent(self.reached)


@dataclass(frozen=True)
class Sure:
    """How many people of how many an adversary names with a confidence above a limit.

    claimed: their mean confidence; right: the share of them whose value is right; None of nobody, or without the truth.
    about: the sensitive column, where there are several.
    """

    limit: float
    people: int
    of: int
    claimed: float | None = None
    right: float | None = None
    about: str = ""

    @property
    def share(self) -> float:
        """Return the share of people who are claimed."""
        return self.people / max(self.of, 1)


@dataclass(frozen=True)
class Told:
    """What tells the sensitive value: a column or two; without: what is reached without it, None where not tried."""

    name: str
    without: float | None = None
    about: str = ""


@dataclass(frozen=True, repr=False)
class Attack:
    """All findings of one release.

    notes: what was not attacked, and why; scored: whether guesses met the truth. sure: how many people are named with
    which confidence. told: what tells the sensitive value, what tells most first.
    """

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    scored: bool = False
    sure: tuple[Sure, ...] = ()
    told: tuple[Told, ...] = ()

    @property
    def best(self) -> Finding | None:
        """Return the attack that reaches most of those that stand against the promise."""
        return _find_most(finding for finding in self.findings if finding.headline)

    def most_named(self, family: str = "") -> Finding | None:
        """Return the attack (of a family) that names most values rightly; None where no guess met the truth."""
        return _find_most(each for each in self.findings if each.counted and family in ("", each.family))

    @property
    def telling(self) -> tuple[str, ...]:
        """Return the quasi columns without which fewer values are named, the most telling one first."""
        named = {
            about: max(
                (f.reached or 0.0 for f in self.findings if f.counted and f.family == "learning"
                 and (not about or f.attack.startswith(f"{about}: "))), default=1.0,
            )
            for about in {each.about for each in self.told}
        }  # fmt: skip
        lost = [(each.without - named[each.about], each.name) for each in self.told if each.without is not None]
        return tuple(dict.fromkeys(name for less, name in sorted(lost) if less < -CLEAR))

    def surely(self, limit: float) -> float | None:
        """Return the share of people who are named with more confidence than a limit, None where nothing was learned.

        limit: one of those that were looked at. Of several sensitive columns the largest share.
        """
        shares = [each.share for each in self.sure if each.limit == limit]
        return max(shares, default=None)

    @property
    def strongest(self) -> Finding | None:
        """Return the best attack, or an adversary's own confidence where that is larger and no guess was scored."""
        return _find_most(each for each in self.findings if each.headline or (each.believed and not self.scored))

    @property
    def leaks(self) -> list[Finding]:
        """Return what the method should have hidden."""
        return [finding for finding in self.findings if finding.leak]

    @property
    def certain(self) -> list[Finding]:
        """Return what tells values of people with certainty, whatever share of them: no promise stands against that."""
        return [finding for finding in self.findings if finding.family == "composition" and finding.reached]

    @property
    def beyond(self) -> Finding | None:
        """Return the largest confidence of who knows more that is beyond its promise, if any is."""
        further = [each for each in self._above if each.family == "background knowledge"]
        return max(further, key=lambda finding: (finding.reached or 0.0, -(finding.promised or 0.0)), default=None)

    @property
    def _above(self) -> list[Finding]:
        """Return what goes beyond the promise for some people only, or for who knows more."""
        return [finding for finding in self.findings if not finding.headline and finding.is_beyond]

    @property
    def headline(self) -> str:
        """Say the worst of each kind: what leaks, whose values are certain, what is reached beside what is promised."""
        best = replace(self, findings=tuple(f for f in self.findings if f not in self.certain)).strongest
        further = self.beyond if self.beyond not in self.leaks else None
        return write("adversary/headline.txt", {"attack": self, "best": best, "further": further})

    def expectation(self, sampled: bool, anyway: float) -> str:
        """Return what is reached in the mean, in a sentence for whoever has just published.

        sampled: whether it was learned from few of the rows. anyway: what is reached by any value of a group; 0 where
        groups promise no such share.
        """
        named = [
            f for f in self.findings
            if (f.believed or f.counted or f.headline) and (f.whom != WORST or (f.reached or 0.0) <= anyway + CLEAR)
        ]  # fmt: skip
        best = max(named, key=lambda f: (f.reached or 0.0) - CLEAR * (f.whom == WORST), default=None)
        return write("adversary/expected.txt", {"attack": self, "best": best, "sampled": sampled})

    @property
    def vital(self) -> Sure | None:
        """Return whom the adversary is sure of: above `VITAL`, or above one half, where these are few."""
        beyond = [each for each in self.sure if each.people and each.limit <= VITAL]
        return max(beyond, key=lambda each: (each.share >= FEW, each.limit, each.share), default=None)

    @property
    def tables(self) -> list[tuple[str, list[str], list[list[Any]]]]:
        """Return what is shown for people, each table with its title and heads; the findings come first."""
        several = ["about"] if any(each.about for each in self.sure) else []
        findings = [[*line[:2], *map(_percent, line[2:5]), *line[5:]] for line in self.lines()]
        shown = [("", COLUMNS, findings)]
        if self.sure:
            lines = [
                [*([each.about] if several else []), _percent(each.limit), each.people, each.of, _percent(each.claimed),
                 _percent(each.right)]
                for each in self.sure
            ]  # fmt: skip
            shown.append(("how sure", [*several, *SURE_HEADS], lines))
        if self.told:
            lines = [[*([each.about] if several else []), each.name, _percent(each.without)] for each in self.told]
            shown.append(("what tells, columns and pairs at most", [*several, "column", "named without it"], lines))
        return shown

    def lines(self) -> list[list[Any]]:
        """Return the findings as lines of a table."""
        return [[f.family, f.attack, f.promised, f.reached, f.chance, f.whom, _MARKS[f.leak]] for f in self.findings]

    def df(self) -> "pd.DataFrame":
        """Return the findings as a frame."""
        import pandas as pd

        return pd.DataFrame(self.lines(), columns=COLUMNS)

    def as_plain(self) -> dict[str, Any]:
        """Return everything as JSON has it; no value of the data is in it."""
        return {
            "headline": self.headline,
            "scored": self.scored,
            "findings": [
                dict(zip(COLUMNS, map(plain, line), strict=True))
                | {"headline": finding.headline, "own_confidence": finding.believed, "counted": finding.counted}
                for line, finding in zip(self.lines(), self.findings, strict=True)
            ],
            "sure": [asdict(each) for each in self.sure],
            "told": [asdict(each) for each in self.told],
            "notes": list(self.notes),
        }

    def sentences(self, column: str = "the sensitive value") -> list[str]:
        """Return how far attacks get, promised beside reached, in sentences; column: the sensitive one in words."""
        further = {*self.certain, *self._above}
        values = {
            "attack": self,
            "best": self.strongest,
            "column": column,
            "clear": CLEAR,
            "sampled": next((note for note in self.notes if note.startswith(SAMPLED)), ""),
            "further": [f"{each.attack} ({each.whom})" for each in dict.fromkeys(self.findings) if each in further],
        }
        return list(write_parts(["adversary/words.txt"], _SENTENCES, values).values())

    @property
    def verdict(self) -> Verdict:
        """Return red where people are told for sure, amber where attacks get beyond the promise, and why.

        For sure: what leaks, what other releases settle, and a confidence above `VITAL` in a share of `FEW` or more.
        Who knows members of a group gets beyond any promise, which is told and has no colour. Nothing is called good
        where no guess met the truth.
        """
        sure = any(each.limit >= VITAL and each.share >= FEW for each in self.sure)
        best = self.strongest
        if self.leaks or self.certain or sure:
            colour: Colour = "red"
        elif best is None or best.promised is None or best.is_beyond or self.surely(VITAL):
            colour = "amber"
        else:
            colour = "green" if self.scored else ""
        return Verdict(" ".join(self.sentences()), colour)

    def sections(self) -> list[Section]:
        """Return what is shown below the verdict: people in bars first, tables and notes folded."""
        promised = None if self.strongest is None else self.strongest.promised
        bars = [
            Bar(
                f"told with more than {_percent(each.limit)} certainty{f' of {each.about}' if each.about else ''}",
                each.share, f"{each.people:,} of {each.of:,}", above=promised is not None and each.limit > promised,
            )
            for each in self.sure
        ]  # fmt: skip
        bars += [
            Bar(f"{each.attack} ({each.family})", each.reached, each.figure, each.promised, each.is_beyond)
            for each in self.findings
            if each.reached is not None and each.family in OF_PEOPLE
        ]
        legend = ("within the promise", "above the promise") if any(bar.limit is not None for bar in bars) else None
        (_, heads, lines), *others = self.tables
        return [
            Section("How many people are found out", write_bars(bars, legend, end=1.0) if bars else "", folded=False),
            *(Section(title[:1].upper() + title[1:], write_table(names, rows)) for title, names, rows in others),
            Section("Every attack, what was promised beside what it reached", write_table(heads, lines)),
            Section("What was not attacked, and why", write_paragraphs(self.notes)),
        ]

    def __str__(self) -> str:
        """Say in a few lines what it comes to; `df()` has all findings."""
        return write_summary(self.verdict, f"{len(self.findings)} findings: .findings, .df(); how sure of whom: .sure")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return write_card(self.verdict, self.sections())


def _find_most(findings: Iterable[Finding]) -> Finding | None:
    """Return what reaches most; of as much, what may stand against the promise."""
    reaching = [finding for finding in findings if finding.reached is not None]
    return max(reaching, key=lambda finding: (finding.reached or 0.0, finding.headline), default=None)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def is_beyond_chance(reached: float, chance: float, people: int) -> bool:
    """Tell whether a share of people is more than chance makes it."""
    spread = max(chance * (1 - chance) / max(people, 1), 1e-12) ** 0.5
    return bool(reached > chance + SIGMAS * spread + 1e-9)


def bound_share(right: float, people: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of which a sample of people holds so many (Wilson, 1927)."""
    share, spread = right / people, NORMAL_QUANTILE**2 / people
    middle = (share + spread / 2) / (1 + spread)
    half = NORMAL_QUANTILE * (share * (1 - share) / people + spread / (4 * people)) ** 0.5 / (1 + spread)
    return max(middle - half, 0.0), min(middle + half, 1.0)
