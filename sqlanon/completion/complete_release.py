"""Complete a release: several tables of plausible microdata, each as the release allows it."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from sqlanon.completion.completed import Completed
from sqlanon.completion.model_rows import ModelRows
from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.plans.engines import Mark
from sqlanon.plans.manifest import Manifest, follows, of_people, one_column
from sqlanon.plans.plan import Statement, relation_name
from sqlanon.plans.templates import Sql
from sqlanon.wording import option

MOST_TABLES = 99
LARGEST_SEED = 2**63 - 1
Dealt = list[tuple[str, Sql, Sql]]  # each sensitive column, its rows' values by number, the values


class Chain(Protocol):
    """The rows of one release, and what draws plausible values for them."""

    space: ModelRows

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
    _check_request(engine, manifest, count, seed)
    chain_seed = secrets.randbelow(LARGEST_SEED) if seed is None else seed
    chain = opening(engine, tables, manifest, chain_seed)
    relations: list[Sql] = []
    alike: list[float] = []
    before: Dealt = []
    try:
        for dealt in chain.complete(count):
            relations.append(_keep(chain.space, len(relations) + 1, dealt))
            alike += [_count_alike(chain.space, *pair) for pair in zip(before, dealt, strict=False)]
            chain.space.forget([str(rows) for _, rows, _ in before])
            before = dealt
    except BaseException:
        with suppress(SqlanonError):
            engine.drop([str(relation) for relation in relations])
        raise
    finally:
        with suppress(SqlanonError):
            chain.close()
    columns = [*manifest["columns"]["quasi"], *manifest["columns"]["sensitive"]]
    return Completed(engine, relations, columns, chain_seed, directory, sum(alike) / len(alike) if alike else None)


def _keep(space: ModelRows, number: int, dealt: Dealt) -> Sql:
    """Keep a completed table in the session, under a name of its own."""
    columns = {"quasi": list(space.quasi.items()), "sensitive": dealt}
    sql = space.render_own("completion/rows/completed", {"numbered": space.numbered}, **columns)
    relation = relation_name(space.prefix, f"completed_{number}")
    space.engine.create(Statement("completed", sql, "table", str(relation)))
    return relation


def _count_alike(space: ModelRows, earlier: tuple[str, Sql, Sql], later: tuple[str, Sql, Sql]) -> float:
    """Return the share of rows that hold the same value in two completed tables."""
    (row,) = space.engine.rows(
        space.render_own("completion/rows/alike_rows", {"earlier": earlier[1], "later": later[1]})
    )
    return float(row["alike_rows"]) / max(int(row["row_count"]), 1)


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


def _check_request(engine: Engine, manifest: Manifest, count: int, seed: int | None) -> None:
    if follows(manifest):
        raise UsageError(
            "a release that follows others has groups whose members have left, and whole groups are completed: take the"
            " first release of its ledger"
        )
    if mark := engine.lacks.get("complete"):
        raise UsageError(mark.why)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_TABLES:
        raise UsageError(f"{option('tables')} is a number from 1 to {MOST_TABLES}, not {count!r}")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED):
        raise UsageError(f"{option('seed')} is a number from 0 to 2**63 - 1, not {seed!r}")
