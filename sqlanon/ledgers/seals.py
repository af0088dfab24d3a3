"""The seal of a ledger: without the key nobody can change a cell of it, or its history, without being noticed.

Each release's entry is sealed with HMAC-SHA256 under a key derived from the ledger's own: its number, figures and
manifest, the ledger's settings, both tables, and the seal of the release before, so that entries form a chain. The
database sums up each table: 120 bits of a keyed hash of every row are added. Without the key neither these hashes nor
their sums are known, because the entry has only an HMAC of the sum: a forged table has the right sum with probability
2^-120 at each attempt. A sealed ledger has another check value of its key (`check_value`) than an unsealed one: if the
seals are removed, no key fits the ledger.
"""

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix
from sqlanon.errors import SourceError
from sqlanon.key import Key
from sqlanon.ledgers.contents import COLUMNS, UNSEALED, Contents
from sqlanon.plans.build import render_query
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import Sql, ident

SEAL = "ledger/seal/"
TEXTS = {"person": "standing", "value": "sensitive"}  # the column of each table that may hold any text
PARTS = {
    "history": "what it says of each release is as sealed, and follows the release before",
    "description": "what it says of itself is as sealed",
    "person": "the table of persons is as sealed",
    "value": "the table of values is as sealed",
}
REMEDY = "; put back the ledger as it was written with the last release, from a copy of yours"


def check_value(key: Key, version: int) -> str:
    """Return what tells a ledger's key from others, and not the key. version: the format of the ledger."""
    if version == UNSEALED:
        return hashlib.sha256(f"{key.text}ledger/check/".encode()).hexdigest()
    return _mac(_derived(key, SEAL), "check")


def is_sealed(release: Mapping[str, Any]) -> bool:
    """Tell whether a release's entry has a seal: those of earlier versions have none."""
    return "seal" in release


def digest(value: Any) -> str:
    """Return the sha256 of what JSON can say, however its text was laid out."""
    return hashlib.sha256(_canonical(value)).hexdigest()


def seal_tables(engine: Engine, key: Key, relations: Mapping[str, Sql]) -> dict[str, str]:
    """Return what seals each table of a ledger: columns with their types, and all rows."""
    derived = _derived(key, SEAL)
    return {table: _mac(derived, table, _look_over(engine, derived, table, relations[table])) for table in COLUMNS}


def seal_labels(engine: Engine, key: Key, labels: Mapping[str, Sql]) -> dict[str, str]:
    """Return what seals the labels that a column's values have, by column. labels: tables of `value` and `label`."""
    derived, seals = _derived(key, SEAL), {}
    for column, table in labels.items():
        relation = Sql(f"(select length(value) as value_length, value || label as pair from {table})")
        seals[column] = _mac(derived, "labels", _sum_up(engine, derived, relation, ["value_length"], "pair"))
    return seals


def _look_over(engine: Engine, key: Key, table: str, relation: Sql) -> list[Any]:
    """Return the columns of a table with their types, how many rows it has, and the sums of their hashes."""
    names = sorted(COLUMNS[table] - {TEXTS[table]})
    types = engine.columns(f"select {', '.join(map(ident, [*names, TEXTS[table]]))} from {relation}")
    return [sorted(types.items()), _sum_up(engine, _derived(key, table), relation, names, TEXTS[table])]


def _sum_up(engine: Engine, key: Key, relation: Sql, names: Sequence[str], text: str) -> dict[str, int]:
    """Return how many rows a relation has, and the sums of their hashes. text: the one column that holds any text."""
    secret = Sql(ident(f"{fresh_prefix()}seal"))
    try:
        engine.keep_key(secret, key)
        values = {"plain_columns": names, "text_column": text}
        (row,) = engine.rows(render_query("ledgers/seals/sums", values, {"sealed_table": relation, "key": secret}))
    finally:
        engine.drop([str(secret)])
    return {name: int(number) for name, number in row.items()}


def seal_release(
    release: Mapping[str, Any],
    description: Mapping[str, Any],
    tables: Mapping[str, str],
    manifest: Manifest,
    before: Sequence[Mapping[str, Any]],
    key: Key,
) -> dict[str, Any]:
    """Return a release's entry with its seal. tables: what `seal_tables` says of those after it. before: entries."""
    entry = {
        **release,
        "manifest": digest(manifest),
        "description": digest(description),
        "tables": dict(tables),
        "previous": _previous(before),
    }
    return {**entry, "seal": _mac(_derived(key, SEAL), "release", entry)}


def _previous(before: Sequence[Mapping[str, Any]]) -> str:
    """Return what binds an entry to those before it: the last seal, or a digest of all where none has one."""
    return str(before[-1]["seal"]) if before and is_sealed(before[-1]) else digest(list(before))


def broken_parts(contents: Contents, engine: Engine, key: Key) -> Iterator[tuple[str, str]]:
    """Say which parts of a sealed ledger do not fit their seals, and why: PARTS, in their order."""
    yield from _broken_words(contents, key)
    yield from _broken_tables(contents, engine, key)


def _broken_words(contents: Contents, key: Key) -> Iterator[tuple[str, str]]:
    for reason in _broken_history(contents.releases, _derived(key, SEAL)):
        yield "history", reason
    if is_sealed(contents.last) and not _equal(contents.last.get("description"), digest(contents.description)):
        yield "description", "what it says of itself (method, columns, parameters) does not fit the seal"


def _broken_tables(contents: Contents, engine: Engine, key: Key) -> Iterator[tuple[str, str]]:
    sealed = contents.last.get("tables")
    for table, sum_of_rows in seal_tables(engine, key, contents.relations).items():
        if not (isinstance(sealed, dict) and _equal(sealed.get(table), sum_of_rows)):
            yield table, f"its table {table} does not fit the seal of release {contents.last.get('number')}"


def _broken_history(releases: Sequence[Mapping[str, Any]], key: Key) -> Iterator[str]:
    """Say which releases' entries do not fit: a ledger of an earlier version begins with some that have no seal."""
    first = next((place for place, release in enumerate(releases) if is_sealed(release)), len(releases))
    for place, release in enumerate(releases):
        number = place + 1
        entry = {name: value for name, value in release.items() if name != "seal"}
        if release.get("number") != number:
            yield f"release {release.get('number')} stands in the place of release {number}"
        elif place >= first and not _equal(release.get("seal"), _mac(key, "release", entry)):
            yield f"what it says of release {number} does not fit the seal"
        elif place >= first and not _equal(entry.get("previous"), _previous(releases[:place])):
            yield f"release {number} does not follow the release before it"
    if first == len(releases):
        yield "no release has a seal"


def refuse_broken_words(named: str, contents: Contents, key: Key) -> None:
    """Raise SourceError where somebody without the key has changed what a ledger says of itself or its releases."""
    _refuse(named, _broken_words(contents, key))


def refuse_broken_tables(named: str, contents: Contents, engine: Engine, key: Key) -> None:
    """Raise SourceError where somebody without the key has changed the tables of a ledger, or they are damaged."""
    _refuse(named, _broken_tables(contents, engine, key))


def _refuse(ledger_name: str, parts: Iterator[tuple[str, str]]) -> None:
    reasons = [reason for _, reason in parts]
    if reasons:
        raise SourceError(f"{ledger_name!r} is not as it was written: {'; '.join(reasons)}{REMEDY}")


def _derived(key: Key, purpose: str) -> Key:
    """Return a key for one purpose, from which the key itself cannot be found."""
    return Key(hmac.new(bytes.fromhex(key.text), purpose.encode(), hashlib.sha256).hexdigest())


def _mac(key: Key, *parts: Any) -> str:
    return hmac.new(bytes.fromhex(key.text), _canonical(parts), hashlib.sha256).hexdigest()


def _equal(value: Any, seal: str) -> bool:
    return isinstance(value, str) and hmac.compare_digest(value.encode("utf-8", "replace"), seal.encode())


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
