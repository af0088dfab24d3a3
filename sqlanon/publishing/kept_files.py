"""What a publisher keeps beside a release, for nobody else: tables that a plan names as asides."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlanon.atomic_files import write_atomically
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine, connect
from sqlanon.errors import SqlanonError, TargetError
from sqlanon.plans.statement import Statement
from sqlanon.plans.templates import Sql, ident, literal

FORMATS = {".parquet": "format parquet, compression zstd", ".csv": "format csv, header true"}


def check(paths: Sequence[Path], overwrite: bool, out: str | Path | None, read: Iterable[object]) -> None:
    """Refuse paths that cannot be written, or where the file would be lost, or handed on.

    out: the release's directory. read: what the run reads from, as it was named: texts that are paths of files.
    """
    places = [path.resolve() for path in paths]
    taken = {Path(text).resolve() for text in read if isinstance(text, str) and Path(text).exists()}
    for path, place in zip(paths, places, strict=True):
        if path.suffix.lower() not in FORMATS:
            raise TargetError(f"{str(path)!r} is neither .parquet nor .csv")
        if not place.parent.is_dir():
            raise TargetError(f"no folder {str(path.parent)!r} to write {path.name!r} in")
        if out is not None and Path(out).resolve() in (place, *place.parents):
            raise TargetError(f"{str(path)!r} lies in the release, which is handed on; keep it elsewhere")
        if place in taken:
            raise TargetError(f"{str(path)!r} is what this run reads; name another file")
        if os.path.lexists(path) and not (overwrite and path.is_file()):
            raise TargetError(f"{str(path)!r} stands already; say --overwrite to replace a file")
    if len(set(places)) < len(places):
        raise TargetError("two files of one name were asked for")


@contextmanager
def saved(engine: Engine, asides: Sequence[Statement], paths: Sequence[Path]) -> Iterator[None]:
    """Write each aside beside its path, for its owner alone; they appear when the block ends well."""
    with ExitStack() as stack:
        for aside, path in zip(asides, paths, strict=True):
            place = stack.enter_context(write_atomically(path, f"the release is there, but not {str(path)!r}"))
            _write(engine, aside, place, FORMATS[path.suffix.lower()])
        yield


def _write(engine: Engine, aside: Statement, place: Path, how: str) -> None:
    """Write one table into a file that is its owner's before anything is in it."""
    writer = engine if isinstance(engine, DuckDBEngine) else DuckDBEngine(connect())
    try:
        if writer is engine:
            table = f"(\n{aside.sql}\n)"  # as it is: a frame takes NaN for no value
        else:
            table = "aside"
            writer.keep_frame(Sql(table), engine.frame(aside.sql))
        if place.suffix.lower() == ".csv":
            _refuse_empty_texts(writer, table, place)
        writer.execute(
            f"copy (select * from {table} order by all) to {literal(str(place))} ({how}, use_tmp_file false)"
        )
        place.chmod(0o600)
    except (OSError, SqlanonError) as error:
        raise TargetError(f"cannot write {place.name}: {error}") from None
    finally:
        if writer is not engine:
            writer.connection.close()


def _refuse_empty_texts(writer: DuckDBEngine, table: str, place: Path) -> None:
    """Refuse CSV for what it would read back as no value."""
    texts = [name for name, kind in writer.columns(f"select * from {table}").items() if kind == "VARCHAR"]
    empty = " or ".join(f"{ident(name)} = ''" for name in texts) or "false"
    if writer.rows(f"select count(*) as found from {table} where {empty}")[0]["found"]:
        raise TargetError(f"CSV takes an empty text for no value: save {place.stem}.parquet instead")
