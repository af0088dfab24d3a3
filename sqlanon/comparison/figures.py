"""The figures of a comparison: relative errors by band of selectivity, coverage, the summary, the command."""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.adversary.findings import CLEAR
from sqlanon.comparison.comparison import BANDS, ORDER, OTHERS, SMALL, SMALL_COUNTS, Comparison
from sqlanon.comparison.question import Candidate, CompareQuestion
from sqlanon.comparison.resistance import Resistance, may_resist
from sqlanon.comparison.workload import AskedQuery, pair_figures
from sqlanon.errors import DataError
from sqlanon.methods import METHODS
from sqlanon.plans.roles import Roles
from sqlanon.prose import write_parts
from sqlanon.sql.source import source_words

if TYPE_CHECKING:
    import pandas as pd

_WORDS = ["comparison/words.txt"]
# what a line says of attacks, None where none was run, and what `Resistance` calls it
ATTACKED = {"reached": "named", "sure": "told", "danger": "reached", "family": "family", "left_out": "left_out",
            "at_least": "at_least"}  # fmt: skip
ANSWERS = ["query", "workload", "figure", "truth", "estimate", "low", "high", "is_count", "answered", "text"]
DIGITS = 12  # of an answer that counts


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
    """Return a line per figure of the answer to one query, beside its truth; answered: whether there is an answer."""
    return [
        {"query": number, "workload": asked.workload, "figure": figure, "truth": truth, "estimate": estimate,
         "low": low, "high": high, "is_count": figure in asked.shape.counts, "answered": answered, "text": asked.text}
        for figure, truth, estimate, low, high in pair_figures(asked, answer)
    ]  # fmt: skip


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


Line = Mapping[str, Any]


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
    declared, roles_named = METHODS[candidate.method].arguments, candidate.published(roles.quasi)
    words = ["sqlanon", "publish", candidate.method, *source_words(question.source)]
    for flag, names in (("--quasi", roles_named), ("--sensitive", roles.sensitive), ("--id", roles.identifier)):
        # a name with a comma in it is read as one column where it stands alone
        joined = [",".join(names)] if names and not any("," in name for name in names) else names
        words += [word for name in joined for word in (flag, name)]
    for name, value in {**question.options, **_arguments(candidate), "out": "release"}.items():
        words += declared[name].words(value) if value != declared[name].default else []
    return shlex.join(words)
