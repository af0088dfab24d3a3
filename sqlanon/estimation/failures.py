"""Refuse queries that have no answer, in the caller's words: an engine's message uses our names and may quote values.

SUM and AVG of columns without a finite sum (no numbers, NaN and infinity, numbers whose squares overflow) are refused
before anything is estimated; failures in the engine are explained. Of constants that no row of the release equals, or
lies beyond, it is warned: a misspelt word would count 0.

Whether what an answer needs in memory, beside the engine, will fit is told by its shape before it is computed: the
engine keeps to its own limit and spills; arrays grow with groups, values and questions, and do not spill.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Engine
from sqlanon.errors import (
    AnswerError,
    DataError,
    QueryError,
    ReleaseError,
    ResourceError,
    SqlanonError,
    TargetError,
    TemplateError,
    UsageError,
)
from sqlanon.estimation.release_tables import MOST_REMEMBERED_CONSTANTS, Workspace, cut, inline
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.aggregate_query import Comparison
from sqlanon.wording import find_near, option

if TYPE_CHECKING:
    from sqlanon.engines.base import Numbers

_NUMERIC = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|REAL|DECIMAL.*|BOOLEAN|BIGNUM|VARINT")
ENDLESS = "SUM and AVG were asked of an expression that is NaN or infinite {}; leave them out with WHERE"
_NO_FUNCTION = re.compile(
    r"No function matches the given name and argument types '(?P<name>[^'(]+)\((?P<types>[^']*)\)'"
)
_NO_ARGUMENTS = re.compile(r"(?:Macro|Function) (?P<name>\w+)\(\) does not support the supplied arguments")
_KIND_OF_ERROR = re.compile(r"^\w+ Error: ")
_CAUSES = {  # what an engine of ours says of a value, in its words
    "cannot be read as what its column holds": "a value cannot be converted",
    "larger than what its column": "a value is out of range",
    "cannot read a value": "a value is none that a function takes",
}
MOST_COMPARED = 2_000  # a misspelt text is compared with at most so many published ones
LOOKED_FOR = 200  # constants that are looked for by one query
MOST_SENTENCES = 5  # about constants of one query: of more, the number alone is said
MOST_NAMED = 6  # values of a column, up to which all are named
LONGEST = 60  # letters of a value that a message shows
_TEXTS = ("VARCHAR", "BOOLEAN", "ENUM")
ALWAYS = 256_000_000  # bytes that any answer may hold beside the engine, however little its limit leaves
NUMBER = 8  # bytes
UNIFORM_FITS = f"{option('estimator', 'uniform')} solves nothing and takes less"
LINE, ANSWER, SET = 6, 15, 8  # numbers of a line that is read, of an answer, of a value in one of several sets


def is_numeric(sql_type: str) -> bool:
    """Tell whether a type is a number's."""
    return _NUMERIC.fullmatch(sql_type) is not None


def require_numeric(sql_type: str) -> None:
    """Raise QueryError where the type of an expression is no number's."""
    if not is_numeric(sql_type):
        raise QueryError(f"SUM and AVG take numbers; one was asked of {sql_type} values")


def require_finite_weights(selected: "Mapping[str, Numbers]", count: int) -> None:
    """Raise AnswerError where one of `count` expressions over sensitive values is NaN or infinite for a value.

    selected: by selected value; endless_1 … tell where an expression is.
    """
    endless = max((int(selected[f"endless_{number}"].sum()) for number in range(1, count + 1)), default=0)
    if endless:
        raise AnswerError(ENDLESS.format(f"for {endless} of the values asked"))


def require_finite_measures(columns: "Mapping[str, Numbers]", name: str, count: int) -> None:
    """Raise AnswerError where one of `count` expressions over rows is NaN or infinite on a hit, or its squares are.

    columns: a moment query's rows; `name` counts such hits in the columns `name_1` …, once per case.
    """
    for number in range(1, count + 1):
        line = np.nan_to_num(columns[f"{name}_{number}"].astype(float))
        endless = round(np.bincount(columns["case_number"].astype(np.int64), line, 1).max())
        if endless:
            raise AnswerError(ENDLESS.format(f"on {endless} rows"))
    # a sum of finite numbers may be infinite itself; NaN stands for NULL
    if count and any(np.isinf(line.astype(float)).any() for line in columns.values()):
        raise AnswerError("SUM and AVG were asked of numbers whose squares are too large; divide them first")


def require_readable(engine: Engine, answer: str) -> None:
    """Refuse dates that a program would read as others: infinite ones, and those beyond the years 1 to 9999."""
    dates = [
        (name, sql_type.removesuffix("_NS"))  # whose nanoseconds begin in 1677
        for name, sql_type in engine.columns(answer).items()
        if sql_type.startswith(("DATE", "TIMESTAMP"))
    ]
    if not dates:
        return
    beyond = " or ".join(
        f"cast({ident(name)} as {sql_type}) {sign} cast('{day}' as {sql_type})"
        for name, sql_type in dates
        for sign, day in (("<", "0001-01-01"), (">", "9999-12-31"))
    )
    (row,) = engine.rows(f"select count(*) as beyond from {inline(answer)} as answered where {beyond}")
    if row["beyond"]:
        raise AnswerError(
            f"the answer holds dates that are infinite or beyond the years 1 to 9999 (in {row['beyond']} rows); cast"
            " them to text, or leave them out with WHERE"
        )


@contextmanager
def overlooked() -> Iterator[None]:
    """Go on behind the block where something in it fails on this data; what concerns all queries is raised."""
    try:
        yield
    except (ResourceError, TargetError, TemplateError):
        raise
    except SqlanonError:
        pass


def load_readable(load: Callable[[], None], contents: str) -> None:
    """Load what queries read of a release; raise ReleaseError where its tables cannot be read as `contents`."""
    try:
        load()
    except (ReleaseError, ResourceError, TargetError):
        raise
    except SqlanonError as error:
        # Another error's text may quote a value of the release.
        cause = str(error) if isinstance(error, UsageError | DataError) else type(error).__name__
        raise ReleaseError(
            f"the release's tables cannot be read as {contents} ({cause}); sqlanon verify says more"
        ) from None


def refuse_unsound(row: Mapping[str, Any]) -> None:
    """Raise ReleaseError for the row of such a query where QIT and ST do not fit each other."""
    if not row["line_count"] or row["unequal_groups"] or row["faulty_lines"]:
        raise ReleaseError(
            f"the release is damaged: {int(row['unequal_groups'])} groups are not as large in QIT as in ST,"
            f" {int(row['faulty_lines'])} lines have no group or no whole count"
            f"{'' if row['line_count'] else ', there are no rows'}; sqlanon verify says more"
        )


@contextmanager
def explained(values: "MissingValues", comparisons: Sequence["Comparison"]) -> Iterator[None]:
    """Say in the block why a query fails in the engine, in words of ours; what is worded for users passes as it is.

    comparisons: those of the query, whose values may not fit.
    """
    try:
        yield
    except (QueryError, TargetError, AnswerError, ResourceError):
        raise
    except SqlanonError as error:
        # What an engine says is in our names and may quote a value.
        if not isinstance(error, UsageError | DataError) and type(error) is not SqlanonError:
            raise  # a fault of ours
        raise _explain(error, values, comparisons) from None


def _explain(error: SqlanonError, values: "MissingValues", comparisons: Sequence["Comparison"]) -> SqlanonError:
    text = _publish_names(str(error), values.space.names)
    if isinstance(error, UsageError):
        return QueryError(f"the query cannot be evaluated: {_say_plainly(text)}")
    if found := values.tell_unfit(comparisons):
        return DataError(f"the query cannot be evaluated: {found}")
    # an engine's own text may quote a value
    cause = next(
        (f" ({words})" for message, words in _CAUSES.items() if isinstance(error, DataError) and message in text), ""
    )
    return DataError(
        f"the query cannot be evaluated on every row{cause}; cast to a wider type, or filter, and write constants as"
        " their columns have them: 7, 'flu', '2024-01-31'"
    )


def _say_plainly(text: str) -> str:
    """Return an engine's complaint without the names of its own parts; of types that do not fit in words of ours."""
    match = _NO_FUNCTION.search(text)
    if match is not None:
        types = match["types"].replace("INTEGER_LITERAL", "INTEGER").replace("STRING_LITERAL", "VARCHAR")
        return f"{match['name']} does not take ({types}); cast what it is given"
    match = _NO_ARGUMENTS.search(text)
    if match is not None:
        return f"{match['name']} does not take what it is given"
    return _KIND_OF_ERROR.sub("", text)


def _publish_names(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\b(quasi_\d+|sensitive(_\d+)?)\b", lambda match: names.get(match[0], match[0]), text)


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
        for some in (part for same_side in by_side.values() for part in cut(same_side, LOOKED_FOR)):
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
        for comparison in comparisons[:LOOKED_FOR]:
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


def require_memory(engine: Engine, fixed: float, cells: int = 1, each: float = 0.0, remedy: str = "") -> None:
    """Raise AnswerError where an answer would hold more numbers at once than the engine's memory limit leaves.

    fixed: numbers whatever is grouped by. cells: groups of the answer. each: numbers of one of them. remedy: what to do
    where no number of groups fits.
    """
    needed = NUMBER * (fixed + cells * each)
    if needed <= ALWAYS or (free := engine.free_memory()) is None:
        return
    free = max(free, ALWAYS)
    if needed <= free:
        return
    fitting = int((free / NUMBER - fixed) // each) if each else 0
    if cells > 1 and fitting > 0:
        remedy = f"{fitting:,} of its {cells:,} groups would fit: group by fewer columns, or narrow WHERE"
    raise AnswerError(
        f"the answer would hold about {_write_size(needed)} beside the engine, and {option('memory_limit')} leaves"
        f" {_write_size(free)}; {remedy or 'ask for less at once'}, or raise the limit by {_write_size(needed - free)}"
    )


def _write_size(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
