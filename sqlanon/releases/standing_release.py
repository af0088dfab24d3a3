"""The tables and the manifest of one release, read as they stand, though another may take their place meanwhile."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from sqlanon.engines.base import Engine
from sqlanon.estimation.open_session import Session
from sqlanon.forms import form_of
from sqlanon.forms.form import Form
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import Sql
from sqlanon.releases.steady_reading import read_steadily
from sqlanon.releases.stored_release import find_in_directory
from sqlanon.releases.targets import Place, State
from sqlanon.verification.checks import PublishedTables

T = TypeVar("T")


class StandingRelease:
    """Hold the published tables of one release and what its manifest says of them."""

    def __init__(
        self,
        engine: Engine,
        tables: Mapping[str, Sql],
        manifest: Manifest,
        place: Place = Place(),  # noqa: B008 - it does not change
        sql: str = "",
    ) -> None:
        """Take tables that stand in `engine`; `place` is where they lie."""
        self.engine, self.tables, self.manifest, self.place = engine, dict(tables), manifest, place
        self.sql = sql
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
        """Read from one release, though another may take its place meanwhile."""
        return read_steadily(self.directory, self.place.opened, read, self._open_again)

    def _open_again(self) -> State | None:
        """Take over what lies in the directory now."""
        assert self.directory is not None, "only directories are replaced"
        tables, self.manifest, self.place = find_in_directory(self.directory, self.engine)
        self.tables, self._session = dict(tables), None
        return self.place.opened
