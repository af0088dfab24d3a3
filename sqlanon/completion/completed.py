"""Completed tables: relations of a session, frames, Parquet files."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.atomic_files import DirectoryExchange
from sqlanon.bounded_files import file_sha256, parse_json, read_text
from sqlanon.engines.base import Engine
from sqlanon.errors import TargetError, UsageError
from sqlanon.models.fields import verb
from sqlanon.plans.templates import Sql, ident
from sqlanon.read_places import refuse_in_release
from sqlanon.wording import option

if TYPE_CHECKING:
    import pandas as pd

LIST = "completed.json"  # names the files of a run, with their sha256
README = "README.md"
_README = """\
# Completed tables

{count} of plausible microdata, `{first}` …, made by sqlanon (`sqlanon complete`, seed {seed}) from an anonymized
release alone. Each has the release's columns and one sensitive value in every row; what the release says
of its columns and its promise is true of these tables too.

* **They hold true values of persons.** No row is known to be true, but {share}. Treat these tables as you treat
  the release: whoever has it can make them.
* **Do not take one table for the data.** Run the same analysis on each table and pool the estimates and their standard
  errors (`sqlanon.pool`, or `mice::pool` in R). One table alone, or all of them stacked, pretends to know what nobody
  knows: its intervals are too narrow.

`sqlanon guide complete` tells how they are made and shows the pooling.
"""


class Completed:
    """Several tables of plausible microdata; iterate over them to get frames."""

    def __init__(
        self,
        engine: Engine,
        relations: Sequence[Sql],
        columns: Sequence[str],
        seed: int,
        release: Path | None = None,
        own_value_share: float | None = None,
    ) -> None:
        """Take temporary tables of the engine's session, which stay as long as it does, and their columns.

        release: the directory of what was completed, where nothing is written. own_value_share: about how many of a
        table's rows hold their person's own value. As far as the model is right, truth is a table like the others, so
        that this is how many rows two tables have alike; None of one table.
        """
        self.engine, self.columns, self.seed, self._release = engine, list(columns), seed, release
        self._relations, self.own_value_share = list(relations), own_value_share
        self.files: list[Path] = []  # as they were written last

    def __len__(self) -> int:
        """Return how many tables there are."""
        return len(self._relations)

    def __iter__(self) -> "Iterator[pd.DataFrame]":
        """Yield the tables as frames, one after the other."""
        return (self.engine.frame(self._select(number)) for number in range(1, len(self) + 1))

    @verb
    def table(self, number: int) -> Any:
        """Return one table as the engine's lazy object (DuckDB: a relation).

        number: counted from 1. Raises UsageError where there is no such table.
        """
        if not 1 <= number <= len(self):
            raise UsageError(f"no table {number}; these are numbered from 1 to {len(self)}")
        return self.engine.relation(self._select(number))

    def _select(self, number: int) -> str:
        order = ", ".join(f"{ident(name)} asc nulls last" for name in self.columns)
        return f"select * from {self._relations[number - 1]} order by {order}"

    @verb
    def write(self, directory: str | os.PathLike[str], overwrite: bool = False) -> list[Path]:
        """Write the tables to a directory, `completed_01.parquet` …, whole or not at all.

        Returns the files. Raises TargetError for what is there already, unless it is older completed tables and
        `overwrite` is said.
        """
        target = check_directory(directory, overwrite, self._release)
        exchange = DirectoryExchange(target)
        names = [f"completed_{number:02}.parquet" for number in range(1, len(self) + 1)]
        try:
            old = frozenset(path.name for path in target.iterdir()) if target.is_dir() else frozenset()
            for number, name in enumerate(names, start=1):
                self.engine.write_parquet(self._select(number), exchange.new / name)
            (exchange.new / README).write_text(self._describe(names[0]), encoding="utf-8", newline="\n")
            _write_list(exchange.new)
            exchange.commit(old)
        except OSError as error:
            raise TargetError(f"cannot write {str(target)!r}: {error.strerror}") from None
        finally:
            exchange.close()
        self.files = [target / name for name in names]
        return self.files

    def _describe(self, first: str) -> str:
        share = "many are"
        if self.own_value_share is not None:
            share = f"up to about {self.own_value_share:.0%} of a table's rows hold their person's own value"
        count = "One table" if len(self) == 1 else f"{len(self)} tables"
        return _README.format(count=count, first=first, seed=self.seed, share=share)

    def close(self) -> None:
        """Drop the tables from the session."""
        self.engine.drop([str(relation) for relation in self._relations])
        self._relations = []

    def __repr__(self) -> str:
        """Say in one line what this is."""
        return f"<Completed: {len(self)} tables of {', '.join(self.columns)}, seed {self.seed}>"


def check_directory(path: str | os.PathLike[str], overwrite: bool, release: Path | None) -> Path:
    """Return where completed tables go; raise TargetError for what is there already and is none of them.

    release: the directory of the release that is completed, which is handed on.
    """
    target = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link at the target
    if not target.parent.is_dir():
        raise TargetError(f"no folder {str(target.parent)!r} to write {target.name!r} in; make it with mkdir -p")
    if os.path.lexists(target):
        ours = target.is_dir() and not target.is_symlink()
        if not (overwrite and ours and _is_of_an_earlier_run(target)):
            raise TargetError(
                f"{str(target)!r} exists; choose another {option('out')} or say {option('overwrite', True)}, which"
                f" replaces what an earlier run has written there and listed in {LIST}, and nothing else"
            )
    refuse_in_release(target, [release])
    return target


def _write_list(directory: Path) -> None:
    """List the files of a run: a later one replaces these, and no other's that are called the same."""
    files = {path.name: file_sha256(path) for path in sorted(directory.iterdir())}
    (directory / LIST).write_text(json.dumps({"files": files}, indent=2) + "\n", encoding="utf-8", newline="\n")


def _is_of_an_earlier_run(target: Path) -> bool:
    """Tell whether a folder holds what a run has written, as it was written, and nothing else."""
    present = {path for path in target.iterdir() if path.name != LIST}
    if not present and not (target / LIST).exists():
        return True
    try:
        files = parse_json(read_text(target / LIST))["files"]
        regular = all(path.is_file() and not path.is_symlink() for path in present)
        return regular and files == {path.name: file_sha256(path) for path in present}
    except (OSError, ValueError, LookupError, TypeError):
        return False
