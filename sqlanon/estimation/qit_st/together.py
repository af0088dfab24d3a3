"""Answer many plain counts of a release of groups together: each is a cell, and each asks a set of values."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import AnswerError
from sqlanon.estimation.coded_rows import CellSums
from sqlanon.estimation.missing_values import MissingValues
from sqlanon.estimation.plain_counts import PlainCount, answer_in_chunks, choose_values
from sqlanon.estimation.temporary_tables import cut, inline
from sqlanon.estimators.evidence import Array
from sqlanon.plans.templates import Sql

if TYPE_CHECKING:
    from sqlanon.estimation.answered import Answered
    from sqlanon.estimation.qit_st.tables import GroupTables
    from sqlanon.estimation.query_run import Estimator

TOGETHER = 4_000  # values of all classes: of more, queries are answered one by one
CHUNK = 64  # queries whose answers are laid out at once
LOOKED_FOR = 512  # queries whose constants are looked for at once


def answer_together(
    loaded: "GroupTables", counts: Iterable[tuple[int, PlainCount]], name: str, estimate: "Estimator"
) -> "dict[int, Answered]":
    """Answer plain counts (`read_plain_count`) of a release that does not have many classes, by their places.

    Each is answered as it would be alone; the hits of all that read the same columns are counted in one pass.
    """
    if loaded.people:
        return {}
    values = len(loaded.totals)
    try:
        rows, by_class = loaded.rows, name != "uniform" and loaded.systems is not None
    except AnswerError:  # each is asked alone, and says what does not fit
        return {}
    width = values * (len(loaded.place_of_class) if by_class else 1)
    if width > TOGETHER:
        return {}
    plain = list(counts)
    domains = {**rows.domains, "sensitive": loaded.relations["value"]}
    for some in cut(plain, LOOKED_FOR):  # what is found is remembered for each
        MissingValues(loaded, domains.__getitem__).tell([one for _, plain in some for one in plain.query.comparisons])

    def read(celled: Sql) -> CellSums:
        hit = inline(loaded.render("estimate/coded_rows/cell_count", {"celled": celled}, apart=["group_id"]))
        moments = loaded.render(
            "evidence/moments", {**loaded.relations, "hit": hit}, measures=[], by_class=by_class, flags=[]
        )
        lines = loaded.engine.arrays(moments)
        code = lines["code"].astype(np.int64)
        if by_class:  # classes are numbered from -1
            code += (lines["class"].astype(np.int64) + 1) * values
        return CellSums(
            lines["cell"].astype(np.int64), code, {each: lines[each].astype(float) for each in ("shared", "uniform")}
        )

    def answer(counted: "Sequence[tuple[PlainCount, dict[str, Array]]]") -> "list[Answered]":
        answers = list["Answered"]()
        chosen = choose_values(loaded, values, [one for one, _ in counted])
        for (one, sums), selection in zip(counted, chosen.T, strict=True):
            place = np.flatnonzero(sums["uniform"])
            number, code = np.divmod(place, values)
            once = np.zeros_like(place)
            lines = {"cell": once, "case_number": once, "class": number - by_class, "code": code}
            run = loaded.start(one.query, name)
            run.load()
            run.counted = np.flatnonzero(selection), lines | {each: line[place] for each, line in sums.items()}
            answers.append(run.answer(estimate))
            answers[-1].tell_blank_cells(name)
        return answers

    found: dict[int, Answered] = {}
    for places, sums in rows.sum_each([one.quasi for _, one in plain], read, width):
        counted = [
            (plain[place][0], (plain[place][1], {each: line[number] for each, line in sums.items()}))
            for number, place in enumerate(places)
        ]
        found |= answer_in_chunks(counted, answer, CHUNK)
    return found
