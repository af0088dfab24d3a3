"""The result of a comparison: relative errors by band of selectivity, coverage, a summary, a command."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.adversary.findings import CLEAR
from sqlanon.charts import Bar, write_bars, write_figure
from sqlanon.errors import DataError
from sqlanon.methods import METHODS
from sqlanon.plain_values import plain, records
from sqlanon.plans.roles import Roles
from sqlanon.prose import write_parts
from sqlanon.risks.candidates import Candidate, CompareQuestion, Resistance, may_resist
from sqlanon.risks.suggestion import write_command
from sqlanon.risks.workload import BANDS, SMALL, AskedQuery
from sqlanon.text_tables import write_paragraphs, write_table
from sqlanon.verdicts import Section, Verdict, write_card, write_summary

if TYPE_CHECKING:
    import pandas as pd

HEADS = ("method", "parameter", "promise", "confidence", "estimator", "workload", "selectivity", "queries",
         "median_relative_error", "mean_relative_error", "coverage", "seconds")  # fmt: skip

NOT_POSSIBLE = "not possible"
SMALL_COUNTS, OTHERS = f"1 to {SMALL} rows", "sums, averages"
ORDER = (SMALL_COUNTS, *(name for _, name in BANDS), OTHERS)
CANDIDATE = (
    *("method", "parameter", "knowing", "reached", "sure", "family", "promised", "left_out", "error"),
    *("half_width", "coverage", "unanswered", "seconds"),
)
_WORDS = ["risks/words.txt"]
# what a line says of attacks, None where none was run, and what `Resistance` calls it
ATTACKED = {"reached": "named", "sure": "told", "danger": "reached", "family": "family", "left_out": "left_out",
            "at_least": "at_least"}  # fmt: skip
ANSWERS = ["query", "workload", "figure", "truth", "estimate", "low", "high", "is_count", "answered", "text"]
DIGITS = 12  # of an answer that counts
Line = Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class Comparison:
    """What methods cost in accuracy on one table.

    answers: a line per candidate and figure asked: query, truth, estimate, low, high, error. lines: a line per
    candidate, workload and band, as HEADS names them. overall: error and coverage by candidate. summary: two
    sentences. notes: what was left out and why. command: what publishes the strongest promise within target_error or,
    with resist, the most accurate release that resists; without either the most accurate one of which attacks reach no
    more than it promises, else the one of which they reach least; '' where none is.
    failed: method, parameter and reason of each candidate that this data does not allow.
    """

    answers: "pd.DataFrame"
    lines: tuple[Mapping[str, Any], ...]
    overall: tuple[Mapping[str, Any], ...]
    summary: str
    notes: tuple[str, ...] = ()
    target_error: float | None = None
    resist: float | None = None
    command: str = ""
    failed: tuple[tuple[str, str, str], ...] = ()

    @property
    def holds(self) -> bool:
        """Tell whether a candidate reaches the targets, if any was given."""
        return (self.target_error is None and self.resist is None) or bool(self.command)

    def df(self) -> "pd.DataFrame":
        """Return the lines as a frame."""
        import pandas as pd

        return pd.DataFrame(self.lines, columns=list(HEADS))

    def candidates(self) -> list[dict[str, Any]]:
        """Return a line per candidate: method, parameter, what attacks reach and the promise, error, share left out.

        sure: the share of the people whose value is told with more than 80 % confidence, `told` in what is shown.
        """
        renamed = {"method": "candidate", "promised": "confidence"}
        return [{name: line[renamed.get(name, name)] for name in CANDIDATE} for line in self.overall]

    def as_plain(self) -> dict[str, Any]:
        """Return it as JSON has it: the proposal's command ('' where none is), a line per candidate, and all lines."""
        return {
            "command": self.command,
            "holds": self.holds,
            "summary": self.summary,
            "candidates": plain(self.candidates()),
            "lines": records(self.df()),
            "not_possible": [dict(zip(("method", "parameter", "reason"), each, strict=True)) for each in self.failed],
            "notes": list(self.notes),
        }

    def shown(self) -> tuple[list[str], list[list[Any]]]:
        """Return a line per candidate for people: what it promises and costs, and what attacks reach, if any were run.

        The most accurate one comes first, of those that resist; what this data does not allow comes last, as notes say.
        """
        attacked = any(line["reached"] is not None for line in self.overall)
        shorter = any(line["unanswered"] > 0 for line in self.overall)
        lines: list[list[Any]] = []
        for line in self.overall:
            known = f" by {line['knowing']}" if line["knowing"] else ""
            first = [line["candidate"], f"{line['parameter']}{known}", _percent(line["confidence"])]
            at_least = "≥ " if line["at_least"] else ""
            reached = [at_least + _percent(line["reached"]), _percent(line["sure"], 2), _percent(line["left_out"], 2)]
            costs = [line["error"], line["coverage"], *([line["unanswered"]] if shorter else ())]
            lines.append([*first, *(reached if attacked else ()), *map(_percent, costs)])
        heads = ["method", "parameter", "promise", *(["best attack", "told", "left out"] if attacked else ())]
        heads += ["error", "coverage", *(["unanswered"] if shorter else ())]
        blank = [""] * (len(heads) - 3)
        return heads, lines + [[method, parameter, NOT_POSSIBLE, *blank] for method, parameter, _ in self.failed]

    @property
    def verdict(self) -> Verdict:
        """Return what it comes to: green where a candidate is proposed, red where none reaches the targets."""
        return Verdict(self.summary, "green" if self.command else "" if self.holds else "red")

    def sections(self) -> list[Section]:
        """Return what is shown below the verdict: attacks and errors as bars, the candidates, all else folded."""
        lines = ([line[head] for head in HEADS] for line in self.lines)
        return [
            Section("Risk and error of each candidate", self._draw(), folded=False),
            Section("The candidates, the most accurate one first", write_table(*self.shown()), folded=False),
            Section("Every figure", write_table([head.replace("_", " ") for head in HEADS], lines)),
            Section("What was left out, and why", write_paragraphs(self.notes)),
        ]

    def _draw(self) -> str:
        """Return a bar for each candidate that was attacked: what is reached beside the promise, and the error."""
        bars = [
            Bar(
                f"{line['candidate']}, {line['parameter']}", line["reached"],
                f"{_percent(line['reached'])}, error {_percent(line['error']) or 'not asked'}",
                line["confidence"], above=line["reached"] > line["confidence"] + CLEAR,
            )
            for line in self.overall if line["reached"] is not None
        ]  # fmt: skip
        caption = "The share of people whose value the best attack names, the promise, and the error of answers"
        return write_figure(write_bars(bars, ("within the promise", "beyond it"), end=1.0), caption) if bars else ""

    def __str__(self) -> str:
        """Say in a few lines what it comes to; `df()` has all lines."""
        return write_summary(self.verdict, *([f"suggested: {self.command}"] if self.command else []))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show it in a notebook; names and values are escaped."""
        return write_card(self.verdict, self.sections())


def _percent(share: float | None, digits: int = 1) -> str:
    return "" if share is None or math.isnan(share) else f"{share:.{digits}%}"


@dataclass(frozen=True)
class Found:
    """What one candidate answered: a line per figure, its time, and what an adversary may reach.

    answers: as `frame_answers` makes them, none of a candidate that was not asked. attacked: what attacks reach, None
    where none was run.
    """

    candidate: Candidate
    seconds: float
    confidence: float
    answers: "pd.DataFrame"
    attacked: Resistance | None = None


def write_lines(number: int, asked: AskedQuery, answer: "pd.DataFrame", answered: bool = True) -> list[dict[str, Any]]:
    """Return a line per figure of the answer to one query, beside its truth; answered: whether there is an answer.

    A row that the release's answer lacks is estimated as 0, with no interval.
    """
    keys, lines = asked.shape.keys, []
    answers = {_key(row, keys): row for row in _rows(answer)}
    for true_row in _rows(asked.truth):
        row = answers.get(_key(true_row, keys), {})
        for name in asked.shape.figures:
            estimated = {"estimate": _number(row.get(name), 0.0), **{
                end: _number(row.get(f"{name}_{end}")) for end in ("low", "high")
            }}  # fmt: skip
            lines.append({"query": number, "workload": asked.workload, "figure": name, **estimated,
                          "truth": _number(true_row[name]), "is_count": name in asked.shape.counts,
                          "answered": answered, "text": asked.text})  # fmt: skip
    return lines


def _rows(frame: "pd.DataFrame") -> list[dict[Any, Any]]:
    """Return the rows of a small frame, which pandas' own way takes ten times as long for."""
    values = zip(*(frame[name].tolist() for name in frame), strict=True)
    return [dict(zip(frame, row, strict=True)) for row in values]


def _key(row: Mapping[Any, Any], keys: Sequence[str]) -> tuple[Any, ...]:
    return tuple(str(row[name]) for name in keys)


def _number(value: Any, missing: float = math.nan) -> float:
    return missing if value is None else float(value)


def summarize(question: CompareQuestion, roles: Roles, found: Sequence[Found], notes: Sequence[str]) -> Comparison:
    """Turn every candidate's answers into lines, a summary, and the command that the target asks for.

    A figure whose truth is 0 has no relative error: it is left out and counted. Raises DataError where none is left.
    """
    import pandas as pd

    answers = pd.concat([outcome.answers for outcome in found if len(outcome.answers)], ignore_index=True)
    empty = _have_no_error(answers)
    if empty.all():
        raise DataError("every true answer is 0 or NULL; there is no relative error to compare")
    left_out = answers.loc[empty, ["query", "figure"]].drop_duplicates()
    remarks = [*notes]
    if len(left_out):
        remarks.append(f"{len(left_out)} figures whose truth is 0 or NULL are left out")
    for candidate, attacked in ((outcome.candidate, outcome.attacked) for outcome in found):
        if attacked is not None and attacked.unscored:
            remarks.append(f"{candidate.method}, {candidate.parameter}: no attack was scored: {attacked.unscored}")
    overall = [overall_line(outcome) for outcome in found]
    chosen, remark = choose(question, overall)
    remarks += [remark] if remark else []
    asked = [line for line in overall if not math.isnan(line["error"])]
    strongest = max(asked, key=_strength)
    overall.sort(
        key=lambda line: (not _resists(question, line), math.isnan(line["error"]), line["error"], line["danger"] or 0.0)
    )
    return Comparison(
        answers=answers,
        lines=tuple(line for outcome in found for line in _lines(outcome)),
        overall=tuple({**line, "candidate": line["candidate"].method, "parameter": line["candidate"].parameter,
                       "arguments": _arguments(line["candidate"]), "without": line["candidate"].without}
                      for line in overall),
        summary=_summary(question, asked, strongest, chosen),
        notes=tuple(dict.fromkeys(remarks)),
        target_error=question.target_error,
        resist=question.resist,
        command=_command(question, roles, chosen["candidate"]) if chosen else "",
    )  # fmt: skip


def _have_no_error(answers: "pd.DataFrame") -> "pd.Series[bool]":
    return answers["truth"].isna() | (answers["truth"] == 0)


def frame_answers(candidate: Candidate, lines: Sequence[Mapping[str, Any]], rows: int) -> "pd.DataFrame":
    """Return what a candidate answered beside the truths, with errors and bands; rows: of the source."""
    import pandas as pd

    frame = pd.DataFrame(lines, columns=ANSWERS)
    # threads add numbers up in any order: the same seed gives the same digits
    numbers = ["truth", "estimate", "low", "high"]
    frame[numbers] = frame[numbers].astype(float).map(lambda number: float(f"{number:.{DIGITS}g}"))
    frame.insert(0, "knowing", ", ".join(candidate.background))
    frame.insert(0, "parameter", candidate.parameter)
    frame.insert(0, "method", candidate.method)
    frame["error"] = (frame["estimate"] - frame["truth"]).abs() / frame["truth"].abs()
    inside = (frame["low"] - 1e-9 <= frame["truth"]) & (frame["truth"] <= frame["high"] + 1e-9)
    frame["inside"] = inside.astype(float).where(frame["low"].notna() & frame["high"].notna())
    frame["selectivity"] = [_band(*pair, rows) for pair in zip(frame["truth"], frame["is_count"], strict=True)]
    return frame


def _band(truth: float, is_count: bool, rows: int) -> str:
    if not is_count:
        return OTHERS
    return SMALL_COUNTS if truth <= SMALL else next(name for most, name in BANDS if not truth / rows > most)


def _lines(outcome: Found) -> list[dict[str, Any]]:
    """Return a line per workload and band of one candidate."""
    candidate, seconds = outcome.candidate, outcome.seconds
    answers, lines = outcome.answers[~_have_no_error(outcome.answers)], []
    for workload in answers["workload"].unique():
        for band in ORDER:
            part = answers[(answers["workload"] == workload) & (answers["selectivity"] == band)]
            if len(part):
                lines.append({
                    "method": candidate.method, "parameter": candidate.parameter, "promise": candidate.promise,
                    "confidence": outcome.confidence, "estimator": candidate.estimator,
                    "workload": workload, "selectivity": band,
                    "queries": int(part["query"].nunique()),
                    "median_relative_error": float(part["error"].median()),
                    "mean_relative_error": float(part["error"].mean()),
                    "coverage": float(part["inside"].mean()), "seconds": seconds,
                })  # fmt: skip
    return lines


def _arguments(candidate: Candidate) -> dict[str, Any]:
    """Return the method's parameters."""
    return candidate.arguments | ({"coarsen": dict(candidate.coarsen)} if candidate.coarsen else {})


def overall_line(outcome: Found) -> dict[str, Any]:
    """Return a candidate's figures over all but small counts, which are meant to be far off, where there are others.

    Those of answers are NaN where nothing was asked.
    """
    candidate, attacked = outcome.candidate, outcome.attacked
    answers = outcome.answers[~_have_no_error(outcome.answers)]
    if (answers["selectivity"] != SMALL_COUNTS).any():
        answers = answers[answers["selectivity"] != SMALL_COUNTS]
    unanswered = float(1 - answers["answered"].mean()) if len(answers) else math.nan
    given = answers.loc[answers["answered"], "error"]
    return {
        "candidate": candidate,
        # a median alone hides what less than half of the figures cost: one without an answer is off by 100 %
        "error": unanswered + (1 - unanswered) * (float(given.median()) if len(given) else 0.0),
        "half_width": float(((answers["high"] - answers["low"]) / 2 / answers["truth"].abs()).median()),
        "coverage": float(answers["inside"].mean()),
        "unanswered": unanswered,
        "confidence": outcome.confidence,
        "knowing": ", ".join(candidate.background),
        "seconds": outcome.seconds,
        "attacked": attacked,
        **{name: getattr(attacked, attribute, None) for name, attribute in ATTACKED.items()},
    }


def _resists(question: CompareQuestion, line: Mapping[str, Any]) -> bool:
    """Tell whether no attack reaches more than the question allows; what was not attacked does not resist."""
    if question.resist is None:
        return True
    # what a release promises is no protection where it promises less than is asked for
    promised = line["confidence"] <= question.resist + CLEAR
    return promised and not math.isnan(line["error"]) and may_resist(line["attacked"], question.resist)


def choose(question: CompareQuestion, published: Sequence[dict[str, Any]]) -> tuple[dict[str, Any] | None, str]:
    """Return the candidate to publish, if one meets all targets, and what to say where none does.

    Where attacks were run it is the most accurate of those that resist, else the strongest promise.
    """
    if question.target_error is None and question.resist is None:
        counted = [line for line in published if line["danger"] is not None]
        keeping = [line for line in counted if may_resist(line["attacked"], line["confidence"] + CLEAR)]
        return min(keeping, key=lambda line: line["error"]) if keeping else _least_attacked(published), ""
    resisting = [line for line in published if _resists(question, line)]
    values = {
        "resist": question.resist,
        "target": question.target_error,
        "clear": CLEAR,
        "least_attacked": _least_attacked(published),
        "nearest": min(resisting, key=lambda line: line["error"], default=None),
    }
    if not resisting:
        return None, write_parts(_WORDS, ["none_resists"], values)["none_resists"]
    reached = [line for line in resisting if line["error"] <= (question.target_error or math.inf)]
    if not reached:
        return None, write_parts(_WORDS, ["none_is_near"], values)["none_is_near"]
    if question.resist is None:
        return max(reached, key=_strength), ""
    return min(reached, key=lambda line: (line["error"], line["danger"])), ""


def _least_attacked(published: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    counted = [line for line in published if line["danger"] is not None]
    return min(counted, key=lambda line: line["danger"], default=None)


def _strength(line: Mapping[str, Any]) -> tuple[int, int, float]:
    """Order promises: by their number; at the same one, robust resists more than anatomy, and splu promises another."""
    candidate = line["candidate"]
    return candidate.value, candidate.strength.rank, -line["error"]


def _summary(question: CompareQuestion, overall: Sequence[Line], strongest: Line, chosen: Line | None) -> str:
    """Say in sentences what accuracy costs, and what the proposed release is."""
    if math.isnan(strongest["coverage"]):
        strongest = {**strongest, "coverage": None}
    values = {
        "least": min(overall, key=lambda line: line["error"]),
        "most": max(overall, key=lambda line: line["error"]),
        "strongest": strongest,
        "chosen": chosen,
        "aimless": question.target_error is None and question.resist is None,
        "resist": question.resist,
        "clear": CLEAR,
    }
    return " ".join(write_parts(_WORDS, ["accuracy", "resistance", "beginning", "lacking"], values).values())


def _command(question: CompareQuestion, roles: Roles, candidate: Candidate) -> str:
    """Return the command that publishes a candidate; a source that is no text is called SOURCE."""
    declared = METHODS[candidate.method].arguments
    named = {"quasi": candidate.published(roles.quasi), "sensitive": roles.sensitive, "id": roles.identifier}
    arguments = {**question.options, **_arguments(candidate), "out": "release"}.items()
    more = [
        word for name, value in arguments if value != declared[name].default for word in declared[name].words_of(value)
    ]
    return write_command(["publish", candidate.method], question.source, named, *more)
