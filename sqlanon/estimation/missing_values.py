"""Warn of constants in a query that no row of the release equals, or lies beyond: a misspelt word would count 0."""

from collections.abc import Callable, Collection, Sequence

from sqlanon.estimation.failures import overlooked
from sqlanon.estimation.temporary_tables import MOST_REMEMBERED_CONSTANTS, Workspace, cut
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Comparison
from sqlanon.wording import find_near

MOST_COMPARED = 2_000  # a misspelt text is compared with at most so many published ones
CHUNK = 200  # constants that are looked for by one query
MOST_SENTENCES = 5  # about constants of one query: of more, the number alone is said
MOST_NAMED = 6  # values of a column, up to which all are named
LONGEST = 60  # letters of a value that a message shows
_TEXTS = ("VARCHAR", "BOOLEAN", "ENUM")


class MissingValues:
    """Look for the constants of queries among a release's published values; what was told once is remembered."""

    def __init__(self, space: Workspace, domain: Callable[[str], Sql]) -> None:
        """Take the release's relations; nothing runs yet. domain: column (ours) → the relation of its values."""
        self.space, self.domain = space, domain

    def tell(self, comparisons: Sequence[Comparison], explained_constants: Collection[Sql] = ()) -> list[str]:
        """Return a sentence for each constant that no row equals, or lies on the asked side of.

        explained_constants: constants that are told otherwise.
        """
        memory = self.space.missing_constants
        if len(memory) > MOST_REMEMBERED_CONSTANTS:
            memory.clear()
        by_side: dict[tuple[str, Sql], list[Comparison]] = {}
        for comparison in comparisons:
            if comparison.constant in explained_constants:
                memory[comparison] = ""
            elif comparison not in memory:
                by_side.setdefault((comparison.column, comparison.side), []).append(comparison)
        for some in (part for same_side in by_side.values() for part in cut(same_side, CHUNK)):
            memory |= dict.fromkeys(some, "")
            with overlooked():  # the query was answered: what fails outside its CASE or OR tells nothing
                memory |= self._look(some)
        sentences = [memory[comparison] for comparison in comparisons if memory[comparison]]
        if (more := len(sentences) - MOST_SENTENCES) > 0:
            sentences[MOST_SENTENCES:] = [f"no such values in the release: {more:,} more constants"]
        return sentences

    def _look(self, comparisons: Sequence[Comparison]) -> dict[Comparison, str]:
        """Return what is to be told of those constants of one expression that no row is as they ask."""
        (occurrence,) = self.space.engine.rows(self._render_occurrence(comparisons))
        found = [occurrence[f"found_{number}"] == 1 for number in range(1, len(comparisons) + 1)]
        missing = [comparison for comparison, is_found in zip(comparisons, found, strict=True) if not is_found]
        sentences = {}
        for number, comparison in enumerate(missing):
            equation = f"{comparison.named} {comparison.operator} {_cut(_write(comparison.constant))}"
            suggestion = self._suggest(comparison) if number < MOST_SENTENCES else ""
            sentences[comparison] = f"no such value in the release: {equation}{suggestion}"
        return sentences

    def tell_unfit(self, comparisons: Sequence[Comparison]) -> str:
        """Return which constant cannot be compared with its column, with the column's type and values; or nothing."""
        for comparison in comparisons[:CHUNK]:
            with overlooked():
                self.space.engine.rows(self._render_occurrence([comparison]))
                continue
            with overlooked():
                sql_type, written = self._read_type(comparison), _cut(_write(comparison.constant))
                is_text = sql_type.startswith(_TEXTS)
                advice = "; a text stands in single quotes" if is_text else self._suggest(comparison)
                return f"{comparison.named} has the type {sql_type}, and {written} does not fit{advice}"
            return ""  # the expression fails by itself, whatever it is compared with
        return ""

    def _read_type(self, comparison: Comparison) -> str:
        return self.space.read_type(comparison.side, self.domain(comparison.column))

    def _suggest(self, comparison: Comparison) -> str:
        """Return what might be meant, of published values only."""
        if not self._read_type(comparison).startswith(_TEXTS):
            (row,) = self.space.engine.rows(self._render("estimate/missing_values/published_range", comparison))
            return f"; its values lie between {row['least']} and {row['largest']}" if row["least"] is not None else ""
        constant = _unquote(comparison.constant)
        lengths = {"length": len(constant), "most": MOST_COMPARED}
        text = self._render("estimate/missing_values/published_text", comparison, **lengths)
        published = [str(row["text"]) for row in self.space.engine.rows(text)]
        near = find_near(constant, published)
        if near:
            return f"; did you mean {' or '.join(_cut(repr(text)) for text in near)}?"
        values = ", ".join(_cut(repr(text)) for text in sorted(published))
        return f"; its values are {values}" if 0 < len(published) <= MOST_NAMED else ""

    def _render_occurrence(self, comparisons: Sequence[Comparison]) -> str:
        constants = [(comparison.operator, comparison.constant) for comparison in comparisons]
        return self._render("estimate/missing_values/occurrence", comparisons[0], constants=constants)

    def _render(self, template: str, comparison: Comparison, **values: object) -> str:
        given = {"compared": self.domain(comparison.column)}
        return self.space.render(template, given, side=comparison.side, **values)


def _write(constant: Sql) -> str:
    """Return a constant without the brackets that were put around it."""
    return constant.removeprefix("(").removesuffix(")")


def _unquote(constant: Sql) -> str:
    return _write(constant).strip("'").replace("''", "'")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
