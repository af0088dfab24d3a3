"""Answer aggregate queries from a release, in one session that stays open.

Tables and manifest are those of the moment of opening, even if another release takes their place meanwhile.
"""

import logging
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from sqlanon.engines.base import Engine
from sqlanon.engines.time_limit import LONGEST, time_limit
from sqlanon.errors import AnswerWarning, DataError, QueryError, ReleaseError, ResourceError, SqlanonError
from sqlanon.estimation.session import Session
from sqlanon.estimators import ESTIMATOR_NAMES
from sqlanon.forms import form_of
from sqlanon.forms.form import Form
from sqlanon.models.fields import verb
from sqlanon.models.publication import Endless
from sqlanon.models.values import TEXTS, choice
from sqlanon.plans.coarsening import Coarsening
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import Sql
from sqlanon.releases.contents import changed_files, check_columns
from sqlanon.releases.opening import Place, directory_state, find_in_directory
from sqlanon.verification.checks import PublishedTables, equal_figures
from sqlanon.wording import spoken

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.estimation.answered import Answered

log = logging.getLogger("sqlanon")
T = TypeVar("T")
Queries = Annotated[Iterable[str], TEXTS]
Estimator = Annotated[str | None, choice(ESTIMATOR_NAMES)]
_TURNS, _PAUSE = 3, 0.2  # how often a reader begins, and seconds in between


class AskedRelease:
    """Hold the published tables of one release and what its manifest says of them; answer questions from them.

    What depends on the release alone is loaded once for all questions.
    """

    def __init__(
        self,
        engine: Engine,
        tables: Mapping[str, Sql],
        manifest: Manifest,
        place: Place = Place(),  # noqa: B008 - it does not change
    ) -> None:
        """Take tables that stand in `engine`; `place` is where they lie."""
        self.engine, self.tables, self.manifest, self.place = engine, dict(tables), manifest, place
        self.sql = ""
        self.notes: list[str] = []
        self.learned: dict[str, Any] = {}
        self._session: Session | None = None

    @property
    def directory(self) -> Path | None:
        """Return where the files lie, None where the tables are no files."""
        return self.place.directory

    @property
    def form(self) -> Form:
        """Return what a release of this method offers."""
        return form_of(self.manifest)

    @property
    def published_tables(self) -> PublishedTables:
        """Return the tables and the manifest as verification reads them."""
        return PublishedTables(self.engine, self.tables, self.manifest)

    def _read_steadily(self, read: Callable[[], T]) -> T:
        """Return what `read` returns, all of it of one release; where another takes the directory's place, read again.

        Raises ReleaseError where it is replaced again and again, and whatever `read` raises of a release that stays.
        """
        directory = self.directory
        if directory is None:
            return read()
        for turn in range(_TURNS):
            failure: Exception | None = None
            try:
                if turn:  # an exchange in two renames leaves the place empty for a moment
                    time.sleep(_PAUSE * (turn - 1))
                    tables, self.manifest, self.place = find_in_directory(directory, self.engine)
                    self.tables, self._session = dict(tables), None
                result = read()
            except (SqlanonError, OSError) as error:
                failure = error
            if directory_state(directory) == self.place.opened:
                if failure is not None:
                    raise failure
                return result
        raise ReleaseError(f"{str(directory)!r} is replaced while it is read; try again when its publisher has ended")

    @verb
    def estimate(self, sql: str, estimator: Estimator = None, *, timeout: Endless = LONGEST) -> "pd.DataFrame":
        """Answer an aggregate query FROM release, with standard errors and 95 % intervals.

        sql: SELECT [columns,] COUNT(*) | SUM(e) | AVG(e) … FROM release [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …]
        [LIMIT n]; expressions over aggregates have errors of their own.
        estimator: for groups ridge (the default) or uniform; for randomized values shrinkage (the default),
        closed_form or iterative.
        timeout: seconds after which the engine is interrupted.
        Returns one row per answer; for each aggregate its value, `_std_error`, `_low`, `_high`; of a release of
        uncertain data for each COUNT(*) `certain`, `possible`, `expected` (`n_certain` … under the alias n; expected
        alone where there are no bounds). Warns (AnswerWarning) where a constant equals no published value, or an
        interval is only a bound; the texts are also in `attrs["messages"]`, with remarks on how the answer was found.
        Raises QueryError where the query is outside this grammar, ResourceError where it takes too long.
        """
        answer = self.ask(sql, estimator, timeout=timeout).df()
        for message in answer.attrs["warnings"]:
            warnings.warn(spoken(message), AnswerWarning, stacklevel=3)
        return answer

    @verb
    def ask(self, sql: str, estimator: Estimator = None, *, timeout: Endless = LONGEST) -> "Answered":
        """Return the answer that `estimate` gives as lists, without pandas, which is slow to load; warn of nothing.

        sql, estimator, timeout: as for `estimate`, with the same errors. What would be warned of stands in
        `warnings`.
        """
        log.info("answering the query")
        return self._read_session(lambda session: self._remark(session.ask(sql, estimator), sql), timeout)

    def estimate_many(
        self, queries: Queries, estimator: Estimator = None, *, timeout: Endless = LONGEST
    ) -> "list[pd.DataFrame]":
        """Answer many queries in one open session; each answer is the one that `estimate` gives alone.

        On DuckDB counts whose conditions each read one column are answered together (of many classes one by one): those
        that read the same columns share a pass over the rows.
        queries, estimator: as for `estimate`. timeout: seconds for each query. Returns a frame per query, in
        their order. Raises QueryError, naming the query by its number from 1, where one is outside the grammar.
        """
        answers = []
        for number, answer in enumerate(self.estimate_each(queries, estimator, timeout=timeout), start=1):
            if isinstance(answer, QueryError):
                raise QueryError(f"query {number}: {answer}") from None
            if isinstance(answer, SqlanonError):
                raise answer
            answers.append(answer)
            for message in answer.attrs["warnings"]:
                warnings.warn(spoken(message), AnswerWarning, stacklevel=2)
        return answers

    @verb
    def estimate_each(
        self, queries: Queries, estimator: Estimator = None, *, timeout: Endless = LONGEST
    ) -> "Iterator[pd.DataFrame | SqlanonError]":
        """Yield the answer of each of many queries, in their order, or why it has none (a QueryError or a DataError).

        queries, estimator, timeout: as for `estimate_many`. Raises what concerns them all (UsageError,
        ResourceError, ReleaseError).
        """
        batch = list(queries)
        together = self._answer_together(batch, estimator, timeout)
        for place, sql in enumerate(batch):
            try:
                if place in together:
                    yield together.pop(place).df()
                else:
                    log.info("answering query %d of %d", place + 1, len(batch))
                    yield self.ask(sql, estimator, timeout=timeout).df()
            except (QueryError, DataError) as error:
                yield error

    def _answer_together(self, queries: Sequence[str], estimator: str | None, timeout: float) -> "dict[int, Answered]":
        """Return the answers, by place, of the queries that a session answers together."""

        def answer(session: Session) -> "dict[int, Answered]":
            log.info("answering counts together")
            answers = session.answer_many(queries, estimator)
            return {place: self._remark(answered, queries[place]) for place, answered in answers.items()}

        return self._read_session(answer, timeout * max(len(queries), 1))

    def _read_session(self, read: Callable[[Session], T], timeout: float) -> T:
        """Read from a session within so many seconds; where the release is replaced meanwhile, from the new one's."""

        def read_once() -> T:
            session = self._open_session()
            try:
                with time_limit(self.engine, timeout):
                    return read(session)
            except ResourceError:
                session.close()  # what was being made is of no use
                raise

        return self._read_steadily(read_once)

    def _remark(self, answered: "Answered", sql: str) -> "Answered":
        """Add to an answer what the values of coarser columns stand for that a query names."""
        rules = self.manifest["parameters"].get("coarsen", {})
        named = [f"{name} is {Coarsening(rule).words}" for name, rule in rules.items() if name.lower() in sql.lower()]
        if not named:
            return answered
        return replace(answered, messages=[*answered.messages, f"published coarser: {'; '.join(named)}"])

    @verb
    def estimation_sql(self, sql: str, estimator: Estimator = None) -> str:
        """Return the statements behind an answer as a script for the engine's shell, which runs it as it is.

        sql, estimator: as for `estimate`, and its QueryError. The script ends in the answer where the release settles
        it, else in the sums that the estimate is made of; its first line says which.
        """
        return self._open_session().script(sql, estimator)

    def require_unchanged(self) -> None:
        """Raise ReleaseError where files, columns or the promise are not those that the manifest describes."""
        changed = self._read_steadily(lambda: changed_files(self.directory, self.manifest))
        if changed:
            names = ", ".join(f"{name} ({digest})" for name, digest in changed.items())
            raise ReleaseError(
                f"these files are not those of the release's manifest: {names} (sha256 mismatch);"
                " get a fresh copy from its publisher"
            )
        self.form.check_manifest(self.manifest, "the release")  # which may have been changed since it was opened
        if not check_columns(self.published_tables).holds:
            raise ReleaseError(
                "the tables of this release have other columns than its manifest says: it was changed or damaged; get a"
                " fresh copy from its publisher"
            )
        promised = self.form.guarantee(self.manifest, self.manifest["rows"])
        if not equal_figures(promised, self.manifest.get("guarantee")):
            raise ReleaseError(
                "the guarantee in release.json is not that of its own parameters: it was changed; get a fresh copy from"
                " its publisher, or see what sqlanon verify finds"
            )

    def _open_session(self) -> Session:
        if self._session is None:
            log.info("loading the release")
            self.require_unchanged()  # an answer from files that somebody changed would look like any other
            self._session = self.form.session(self.engine, self.tables, self.manifest)
        return self._session

    def close(self) -> None:
        """Forget what is kept in the database for answers; the published tables stay, and may be asked again."""
        if self._session is not None:
            self._session.close()
            self._session = None
