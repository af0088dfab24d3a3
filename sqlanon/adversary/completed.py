"""Complete a release: several tables of plausible microdata, each as the release allows it, and what they say pooled.

Rubin, Multiple imputation for nonresponse in surveys, 1987, with m estimates q_i and their variances u_i = std_error²:

    q = Σ q_i / m,   w = Σ u_i / m,   b = Σ (q_i - q)² / (m - 1),   t = w + (1 + 1/m) b,
    r = (1 + 1/m) b / w,   ν = (m - 1) (1 + 1/r)²,   q ± t_ν(.975) √t.

With the degrees of freedom ν_0 that complete data would have, ν is that of Barnard and Rubin, Biometrika 1999:
1/ν + 1/((1 - γ) ν_0 (ν_0 + 1) / (ν_0 + 3)), γ = (1 + 1/m) b / t, turned over.
"""

import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlanon.atomic_files import DirectoryExchange
from sqlanon.bounded_files import file_sha256, parse_json, read_text
from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError, TargetError, UsageError
from sqlanon.models.fields import verb
from sqlanon.models.publication import LARGEST_SEED
from sqlanon.plans.engines import Mark
from sqlanon.plans.manifest import Manifest, follows, of_people, one_column
from sqlanon.plans.plan import Statement, relation_name
from sqlanon.plans.templates import Sql, ident
from sqlanon.read_places import refuse_in_release
from sqlanon.wording import option

if TYPE_CHECKING:
    import pandas as pd

    from sqlanon.adversary.model_rows import ModelRows

LIST = "completed.json"  # names the files of a run, with their sha256
README = "README.md"
LEVEL = 0.95  # of intervals
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
Dealt = list[tuple[str, Sql, Sql]]  # each sensitive column, its rows' values by number, the values


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
            # a later run replaces the files that are listed, and no other's that are called the same
            files = {path.name: file_sha256(path) for path in sorted(exchange.new.iterdir())}
            listed = json.dumps({"files": files}, indent=2) + "\n"
            (exchange.new / LIST).write_text(listed, encoding="utf-8", newline="\n")
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


class Chain(Protocol):
    """The rows of one release, and what draws plausible values for them."""

    space: "ModelRows"

    def complete(self, tables: int) -> Iterator[Dealt]:
        """Yield what was drawn for each completed table."""

    def close(self) -> None:
        """Drop what was made."""


Opening = Callable[[Engine, Mapping[str, Sql], Manifest, int], Chain]


def complete_release(
    engine: Engine,
    tables: Mapping[str, Sql],
    manifest: Manifest,
    count: int,
    seed: int | None = None,
    directory: Path | None = None,
    sensitive: str | None = None,
    *,
    opening: Opening | Mark,
    parts: bool,
) -> Completed:
    """Return `count` completed tables of a release; the same seed gives the same ones.

    tables: the published ones; directory: where they lie as files. sensitive: the one column that they shall have, of
    groups with several. opening: what opens releases of this form, or why they are not completed. parts: whether
    each of several sensitive columns has a table. Raises UsageError for what cannot be completed.
    """
    if sensitive is not None:
        tables, manifest = _of_column(tables, manifest, sensitive, parts)
    _check_columns(manifest, parts)
    if isinstance(opening, Mark):
        raise UsageError(f"releases of {manifest['method']} are not completed: {opening.why}")
    _check_request(engine, manifest)
    chain_seed = secrets.randbelow(LARGEST_SEED) if seed is None else seed
    chain = opening(engine, tables, manifest, chain_seed)
    space, relations, alike, before = chain.space, list[Sql](), list[float](), Dealt()
    try:
        for number, dealt in enumerate(chain.complete(count), start=1):
            columns = {"quasi": list(space.quasi.items()), "sensitive": dealt}
            sql = space.render("completion/rows/completed", {"numbered": space.numbered}, **columns)
            relations.append(relation_name(space.prefix, f"completed_{number}"))
            engine.create(Statement("completed", sql, "table", str(relations[-1])))
            for (_, earlier, _), (_, later, _) in zip(before, dealt, strict=False):
                sql = space.render("completion/rows/alike_rows", {"earlier": earlier, "later": later})
                (row,) = engine.rows(sql)
                alike.append(float(row["alike_rows"]) / max(int(row["row_count"]), 1))
            space.forget([str(rows) for _, rows, _ in before])
            before = dealt
    except BaseException:
        with suppress(SqlanonError):
            engine.drop([str(relation) for relation in relations])
        raise
    finally:
        with suppress(SqlanonError):
            chain.close()
    names = [*manifest["columns"]["quasi"], *manifest["columns"]["sensitive"]]
    return Completed(engine, relations, names, chain_seed, directory, sum(alike) / len(alike) if alike else None)


def _of_column(
    tables: Mapping[str, Sql], manifest: Manifest, column: str, parts: bool
) -> tuple[Mapping[str, Sql], Manifest]:
    """Return what a release is for whoever looks at one of its sensitive columns."""
    columns = manifest["columns"]["sensitive"]
    name = next((candidate for candidate in columns if candidate.lower() == column.lower()), None)
    if name is None:
        raise UsageError(f"{column!r} is no sensitive column of the release; it has {', '.join(map(repr, columns))}")
    if parts:
        return one_column(tables, manifest, name)
    if len(columns) > 1:
        raise UsageError(f"randomized values are completed in all columns: leave {option('sensitive')} out")
    return tables, manifest


def _check_columns(manifest: Manifest, parts: bool) -> None:
    if of_people(manifest):
        raise UsageError(
            "complete deals one value to each person, and people of this release have several: which of them belong to"
            " one person is published nowhere"
        )
    if parts and len(manifest["columns"]["sensitive"]) > 1 and "group" in manifest["columns"]:
        raise UsageError(
            "a release of groups with several sensitive columns is completed one column at a time, named with"
            f" {option('sensitive')}: which of their values belong to one person is published nowhere, and rows with"
            " both would show some"
        )


def _check_request(engine: Engine, manifest: Manifest) -> None:
    if follows(manifest):
        raise UsageError(
            "a release that follows others has groups whose members have left, and whole groups are completed: take the"
            " first release of its ledger"
        )
    if mark := engine.lacks.get("complete"):
        raise UsageError(mark.why)


def pool_estimates(estimates: Any, std_errors: Any, complete_df: float | None = None) -> "pd.DataFrame":
    """Return the pooled figures, a row per parameter.

    estimates, std_errors: a row per completed table and a column per parameter (frames, arrays, lists of rows), or one
    number per table. complete_df: degrees of freedom of complete data. Columns: estimate, std_error, low and high
    (95 %), df, missing_information: (1 + 1/m) b / t. Raises UsageError for fewer than two tables, and for other shapes.
    """
    import numpy as np
    import pandas as pd
    from scipy import stats

    figures, errors = _read(estimates, "estimates"), _read(std_errors, "std_errors")
    frames = {"estimates are": figures, "std_errors": errors}
    if figures.shape != errors.shape:
        shapes = " and ".join(f"{name} {len(frame)} x {frame.shape[1]}" for name, frame in frames.items())
        raise UsageError(f"{shapes}: pool takes one of each per table and parameter")
    tables = len(figures)
    if tables < 2:
        raise UsageError(f"pool takes what at least 2 completed tables say; there is {tables}")
    if (errors.to_numpy() < 0).any():
        raise UsageError("a standard error is negative")
    within = (errors.to_numpy() ** 2).mean(axis=0)
    between = (1 + 1 / tables) * figures.to_numpy().var(axis=0, ddof=1)
    total = within + between
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (tables - 1) * (total / between) ** 2  # 1 + 1/r = t / ((1 + 1/m) b)
        missing = np.where(total > 0, between / total, 0.0)
        freedom = np.where(between > 0, freedom, np.inf)
        if complete_df is not None:
            freedom = 1 / (1 / freedom + 1 / ((complete_df + 1) / (complete_df + 3) * complete_df * (1 - missing)))
    centre, error = figures.to_numpy().mean(axis=0), np.sqrt(total)
    half = stats.t.ppf((1 + LEVEL) / 2, freedom) * error
    columns = {"estimate": centre, "std_error": error, "low": centre - half, "high": centre + half}
    return pd.DataFrame(columns | {"df": freedom, "missing_information": missing}, index=figures.columns)


def _read(values: Any, name: str) -> "pd.DataFrame":
    import pandas as pd

    try:
        return (values if isinstance(values, pd.DataFrame) else pd.DataFrame(list(values))).astype(float)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: one row of numbers per completed table") from None
