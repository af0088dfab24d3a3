"""What a publisher keeps beside a release, for nobody else: tables and reports that a plan names."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlanon.atomic_files import write_atomically
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb.connection import connect
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import SqlanonError, TargetError, UsageError, raised_as
from sqlanon.methods import METHODS
from sqlanon.plans.plan import KeptFile, Plan, Row, Statement
from sqlanon.plans.templates import Sql, ident, literal
from sqlanon.publishing.release_request import ReleaseRequest
from sqlanon.read_places import check_new_file, real_path

_ORDER = "order by all asc nulls last"
FORMATS = {".parquet": "format parquet, compression zstd", ".csv": "format csv, header true"}


@dataclass(frozen=True)
class Kept:
    """What is kept, and where: all tables and reports that the plan offers, or none of them."""

    tables: tuple[tuple[Statement, Path], ...] = ()
    reports: tuple[tuple[KeptFile, Path], ...] = ()

    def write_report(self, name: str, row: Row) -> None:
        """Write the file of a report as soon as its row is there, whatever comes of the release."""
        for file, path in self.reports:
            if file.report == name:
                _write_lines(path, [file.heads, *file.lines(row)])

    @contextmanager
    def saved_tables(self, engine: Engine) -> Iterator[None]:
        """Write each table beside its path, for its owner alone; they appear when the block ends well."""
        with ExitStack() as stack:
            for table, path in self.tables:
                place = stack.enter_context(write_atomically(path, f"the release is there, but not {str(path)!r}"))
                _write_table(engine, table, place, FORMATS[path.suffix.lower()])
            yield


def chosen(asked: ReleaseRequest, plan: Plan) -> Kept:
    """Match the files that were asked for with what the plan offers; refuse those that would be lost or handed on."""
    method = METHODS[asked.method]
    paths: Sequence[Path] = asked.parameters.get(method.saved) or ()
    if not paths:
        return Kept()
    offered = (*plan.kept_tables, *plan.kept_files)
    if not offered and method.nothing_saved:
        raise UsageError(method.nothing_saved)
    if len(paths) != len(offered):
        raise UsageError(
            f"{len(offered)} tables are learned from the data, and {len(paths)} files are to keep them;"
            " name one file for each table"
        )
    if plan.kept_files and any(path.suffix.lower() != ".csv" for path in paths):
        raise TargetError(f"a report is saved as CSV; name {str(paths[0])!r} .csv")
    sources = (asked.source, *asked.files, *plan.read)
    mark = method.parameters[method.saved].mark
    for path in paths:
        check_new_file(path, [*FORMATS], mark, asked.overwrite, [asked.place.directory], sources)
    if len(set(map(real_path, paths))) < len(paths):
        raise TargetError("two files of one name were asked for")
    tables = tuple(zip(plan.kept_tables, paths, strict=False))
    return Kept(tables, tuple(zip(plan.kept_files, paths[len(tables) :], strict=True)))


def _write_lines(path: Path, lines: Iterable[Sequence[object]]) -> None:
    """Write lines as CSV, readable by their owner alone."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_MINIMAL, lineterminator="\n").writerows(lines)
    words = f"cannot write {str(path)!r}"
    with raised_as(TargetError, words), write_atomically(path, words) as place:
        place.write_text(text.getvalue(), encoding="utf-8", newline="")


def _write_table(engine: Engine, table: Statement, place: Path, how: str) -> None:
    """Write one table into a file that is its owner's before anything is in it."""
    if isinstance(engine, DuckDBEngine):
        _copy_table(engine, f"(\n{table.sql}\n)", place, how)  # as it is: a frame takes NaN for no value
        return
    with closing(connect()) as connection:
        writer = DuckDBEngine(connection)
        writer.keep_frame(Sql("kept"), engine.frame(table.sql))
        _copy_table(writer, "kept", place, how)


def _copy_table(writer: DuckDBEngine, table: str, place: Path, how: str) -> None:
    try:
        if place.suffix.lower() == ".csv":
            _refuse_empty_texts(writer, table, place)
        writer.execute(f"copy (select * from {table} {_ORDER}) to {literal(str(place))} ({how}, use_tmp_file false)")
        # the engine's writer may have replaced the file that was made private
        place.chmod(0o600)
    except (OSError, SqlanonError) as error:
        raise TargetError(f"cannot write {place.name}: {error}") from None


def _refuse_empty_texts(writer: DuckDBEngine, table: str, place: Path) -> None:
    """Refuse CSV for what it would read back as no value."""
    texts = [name for name, sql_type in writer.columns(f"select * from {table}").items() if sql_type == "VARCHAR"]
    empty = " or ".join(f"{ident(name)} = ''" for name in texts) or "false"
    if writer.rows(f"select count(*) as empty_texts from (from {table}) where {empty}")[0]["empty_texts"]:
        raise TargetError(f"CSV takes an empty text for no value: save {place.stem}.parquet instead")
