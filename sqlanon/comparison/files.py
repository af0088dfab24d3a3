"""Keep a comparison in a folder: the table, and every answer beside its truth."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from sqlanon.atomic_files import DirectoryExchange
from sqlanon.charts.drawing import is_installed
from sqlanon.comparison.comparison import Comparison
from sqlanon.engines.connect import open_engine
from sqlanon.errors import TargetError
from sqlanon.plans.plan import relation_name
from sqlanon.read_places import refuse_read_directory
from sqlanon.wording import option

CHARTS = ("errors.svg", "errors.png")  # where what draws them is installed
TABLES = ("comparison", "answers", "candidates")  # each as CSV and as Parquet
FILES = ("comparison.json", *(f"{name}.{ending}" for name in TABLES for ending in ("csv", "parquet")), *CHARTS)


def check_folder(path: str | os.PathLike[str], overwrite: bool, read: Iterable[object]) -> Path:
    """Return where a comparison goes; raise TargetError for what is there already and is no comparison.

    read: what the comparison reads, as it was named: it would read its own answers the next time.
    """
    target = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link at the target
    if not target.parent.is_dir():
        raise TargetError(f"no folder {str(target.parent)!r} to write {target.name!r} in; make it with mkdir -p")
    if os.path.lexists(target):
        ours = target.is_dir() and not target.is_symlink() and {entry.name for entry in target.iterdir()} <= set(FILES)
        if not (overwrite and ours):
            raise TargetError(
                f"{str(target)!r} exists; choose another {option('out')} or say {option('overwrite', True)}, which"
                " replaces an older comparison and nothing else"
            )
    refuse_read_directory(target, FILES, read)
    return target


def write_comparison(found: Comparison, target: Path) -> None:
    """Write table, answers and charts, whole or not at all; true answers are the source's: for its owner alone."""
    import pandas as pd

    exchange = DirectoryExchange(target)
    try:
        frames = (
            found.df(),
            found.answers.drop(columns=["is_count"]),
            pd.DataFrame(found.candidates()).assign(target=found.resist),
        )
        for name, frame in zip(TABLES, frames, strict=True):
            frame.to_csv(exchange.new / f"{name}.csv", index=False)
            engine, table = open_engine("duckdb"), relation_name("", "kept")
            engine.keep_frame(table, frame)
            engine.write_parquet(f"select * from {table}", (exchange.new / f"{name}.parquet"))
        (exchange.new / "comparison.json").write_text(json.dumps(found.as_plain(), indent=1), encoding="utf-8")
        for name in CHARTS if is_installed() else ():
            found.plot().save(exchange.new / name)
        exchange.new.chmod(0o700)
        exchange.commit(frozenset(FILES))
    except OSError as error:
        raise TargetError(f"cannot write {str(target)!r}: {error.strerror}") from None
    finally:
        exchange.close()
