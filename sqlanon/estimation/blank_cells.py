"""Explain the NULLs of an answer: SUM and AVG over no row are NULL, and some estimates have no error bar."""

from sqlanon.estimation.answered import Answered

OVER_NO_ROW = "{columns}: {count} of {answers} answers are empty, for SUM, AVG and quantiles over no row are NULL"
NO_ERROR_BAR = "{columns}: {estimator} gives no error bars, for its error is a bias that the release does not tell"
ENDS = ("std_error", "low", "high")
BIASED = ("uniform", "iterative")  # estimators that know no error of theirs


def tell_blank_cells(answer: Answered, estimator: str) -> None:
    """Add to the answer's messages why values and error bars are missing.

    answer: for each aggregate x it has x_std_error, x_low, x_high as well.
    """
    names = list(answer.columns.keys())
    measured = [name for name in names if {f"{name}_{end}" for end in ENDS} <= set(names)]
    empty, bare = dict[int, list[str]](), list[str]()
    for name in measured:
        missing = answer.tell_missing(name)
        answers = len(missing)
        empty.setdefault(int(missing.sum()), []).append(name)
        if estimator in BIASED and (answer.tell_missing(f"{name}_std_error") & ~missing).any():
            bare.append(name)
    messages = [
        OVER_NO_ROW.format(columns=", ".join(names), count=count, answers=answers)
        for count, names in empty.items()
        if count
    ]
    messages += [NO_ERROR_BAR.format(columns=", ".join(bare), estimator=estimator)] if bare else []
    answer.messages = [*answer.messages, *messages]
