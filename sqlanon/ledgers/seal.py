"""The seal of a ledger: without the key nobody can change a cell of it, or its history, without being noticed.

It is an HMAC-SHA256, under a key derived from the ledger's own, of all that the ledger says of itself and its releases,
the last one's number among that, and of what its tables come to: DuckDB adds up 120 bits of a keyed hash of every row.
Without the key neither these hashes nor their sums are known: a forged table has the right sum with probability 2^-120
at each attempt.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix
from sqlanon.errors import SourceError
from sqlanon.key import Key
from sqlanon.ledgers.contents import SEALED_BY_RELEASE, Contents
from sqlanon.plans.build import render_query
from sqlanon.plans.templates import Sql, ident

SEAL = "ledger/seal/"
TEXTS = {"person": "standing", "value": "sensitive"}  # the column of each table that may hold any text
REMEDY = "; put back the ledger as it was written with the last release, from a copy of yours"


def check_value(key: Key) -> str:
    """Return what tells a ledger's key from others, and not the key."""
    return _mac(_derived(key, SEAL), "check")


def digest(value: Any) -> str:
    """Return the sha256 of what JSON can say, however its text was laid out."""
    return hashlib.sha256(_canonical(value)).hexdigest()


def sums_of(engine: Engine, key: Key, relations: Mapping[str, Sql]) -> dict[str, list[Any]]:
    """Return what each table comes to: its columns with their types, its rows and the sums of their keyed hashes."""
    found: dict[str, list[Any]] = {}
    with engine.snapshot():  # times are text in UTC
        for table, relation in relations.items():
            types = engine.columns(f"select * from {relation}")
            plain = sorted({*types} - {TEXTS[table]})
            derived = _derived(_derived(key, SEAL), table)
            found[table] = [sorted(types.items()), _sum_up(engine, derived, relation, plain, TEXTS[table])]
    return found


def seal_labels(engine: Engine, key: Key, labels: Mapping[str, Sql]) -> dict[str, str]:
    """Return what seals the labels that a column's values have, by column. labels: tables of `value` and `label`."""
    derived, seals = _derived(key, SEAL), {}
    for column, table in labels.items():
        relation = Sql(f"(select length(value) as value_length, value || label as pair from {table})")
        seals[column] = _mac(derived, "labels", _sum_up(engine, derived, relation, ["value_length"], "pair"))
    return seals


def _sum_up(engine: Engine, key: Key, relation: Sql, plain: Sequence[str], text: str) -> dict[str, int]:
    """Return how many rows a relation has, and the sums of their hashes; text: the one column that holds any text."""
    secret = Sql(ident(f"{fresh_prefix()}seal"))
    try:
        engine.keep_key(secret, key)
        values = {"plain_columns": plain, "text_column": text}
        (row,) = engine.rows(render_query("followed/counted/sums", values, {"sealed_table": relation, "key": secret}))
    finally:
        engine.drop([str(secret)])
    return {name: int(number) for name, number in row.items()}


def seal_of(
    description: Mapping[str, Any], releases: Sequence[Mapping[str, Any]], sums: Mapping[str, list[Any]], key: Key
) -> str:
    """Return the seal of a ledger. sums: what `sums_of` says of its tables."""
    return _mac(_derived(key, SEAL), "ledger", description, list(releases), sums)


def fits(contents: Contents, engine: Engine, key: Key) -> bool:
    """Tell whether a ledger fits its seal; every row is hashed."""
    sums = sums_of(engine, key, contents.relations)
    if contents.description["format"] == SEALED_BY_RELEASE:
        return _fits_each(contents, sums, _derived(key, SEAL))
    return _equal(contents.seal, seal_of(contents.description, contents.releases, sums, key))


def _fits_each(contents: Contents, sums: Mapping[str, list[Any]], key: Key) -> bool:
    """Tell whether the seals of 0.2.0 fit: of each release, that of the release before, and what was to be said of it.

    The last one's are those of the ledger as it is.
    """
    before: Any = digest([])
    for number, release in enumerate(contents.releases, start=1):
        entry = {name: value for name, value in release.items() if name != "seal"}
        if (release["number"], release.get("previous")) != (number, before):
            return False
        before = release.get("seal")
        if not _equal(before, _mac(key, "release", entry)):
            return False
    tables = {table: _mac(key, table, found) for table, found in sums.items()}
    return (contents.last["description"], contents.last["tables"]) == (digest(contents.description), tables)


def refuse_broken(named: str, contents: Contents, engine: Engine, key: Key) -> None:
    """Raise SourceError where somebody without the key has changed a ledger, or it is damaged."""
    if not fits(contents, engine, key):
        raise SourceError(f"{named!r} is not as it was written: it does not fit its seal{REMEDY}")


def _derived(key: Key, purpose: str) -> Key:
    """Return a key for one purpose, from which the key itself cannot be found."""
    return Key(hmac.new(bytes.fromhex(key.text), purpose.encode(), hashlib.sha256).hexdigest())


def _mac(key: Key, *parts: Any) -> str:
    return hmac.new(bytes.fromhex(key.text), _canonical(parts), hashlib.sha256).hexdigest()


def _equal(value: Any, seal: str) -> bool:
    return isinstance(value, str) and hmac.compare_digest(value.encode("utf-8", "replace"), seal.encode())


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
