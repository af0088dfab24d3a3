"""The seal of a ledger: without the key nobody can change a cell of it, or its history, without being noticed.

Each release's entry is sealed with HMAC-SHA256 under a key derived from the ledger's own: its number, figures and
manifest, the ledger's settings, both tables, and the seal of the release before, so that entries form a chain. The
database sums up each table: 120 bits of a keyed hash of every row are added. Without the key neither these hashes nor
their sums are known, because the entry has only an HMAC of the sum: a forged table has the right sum with probability
2^-120 at each attempt. Sums of the next table of persons are those of the one before, which every run looks over, with
the hashes of the rows that differ; that the rows written are these is shown by hashes that take no key. A sealed ledger
has another check value of its key (`check_value`) than an unsealed one: if the seals are removed, no key fits the
ledger.
"""

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix
from sqlanon.errors import SourceError, TargetError
from sqlanon.key import Key
from sqlanon.ledgers.contents import COLUMNS, UNSEALED, Contents
from sqlanon.plans.build import render_query
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.multisets import write_fingerprint_query

SEAL = "ledger/seal/"
TEXTS = {"person": "standing", "value": "sensitive"}  # the column of each table that may hold any text
PLAIN = {table: sorted(COLUMNS[table] - {text}) for table, text in TEXTS.items()}
ONCE, WEIGHT = Sql("1"), Sql("weight")  # how often a row counts
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


@dataclass(frozen=True)
class TableFacts:
    """What a table's seal is of: the types of its columns, how many rows it has, and the sums of their hashes."""

    types: Mapping[str, str]
    sums: Mapping[str, int]


def read_facts(
    engine: Engine, key: Key, relations: Mapping[str, Sql], tables: Sequence[str] = tuple(TEXTS)
) -> dict[str, TableFacts]:
    """Return what the seals of a ledger's tables are of; every row is hashed. tables: those that are read."""
    facts = {}
    for table in tables:
        relation, derived = relations[table], _derived(_derived(key, SEAL), table)
        sums = _sum_up(engine, derived, relation, PLAIN[table], TEXTS[table])
        facts[table] = TableFacts(_types(engine, table, relation), sums)
    return facts


def seal_tables(facts: Mapping[str, TableFacts], key: Key) -> dict[str, str]:
    """Return what seals each table of a ledger: columns with their types, and all rows."""
    derived = _derived(key, SEAL)
    return {
        table: _mac(derived, table, [sorted(table_facts.types.items()), dict(table_facts.sums)])
        for table, table_facts in facts.items()
    }


@dataclass(frozen=True)
class NextPersons:
    """The table of persons as it is to be written: the sums of its rows' hashes, and what its rows come to."""

    sums: Mapping[str, int]
    fingerprint: Mapping[str, int]

    def seen(self, engine: Engine, written: Sql) -> TableFacts:
        """Return what its seal is of, as it was written; raise TargetError where other rows stand there."""
        if _fingerprint(engine, written) != self.fingerprint:
            raise TargetError("the table of persons in the new ledger is not what it was to be; nothing is published")
        return TableFacts(_types(engine, "person", written), self.sums)


def add_difference(
    engine: Engine, key: Key, next_person: Sql, before: Sql | None, facts: TableFacts | None
) -> NextPersons:
    """Return what the next table of persons comes to: that of before, with the rows that differ.

    before, facts: the table of before, and what its seal is of; None where there is none.
    """
    columns = [*PLAIN["person"], TEXTS["person"]]
    if before is None:
        listed = ", ".join(map(ident, columns))
        difference = everything = Sql(f"(select {listed}, 1 as weight from {next_person})")
    else:
        relations = {"next_person": next_person, "known_person": before}
        difference = Sql(f"(\n{render_query('ledgers/seals/difference', {'columns': columns}, relations)}\n)")
        everything = Sql(f"(select {', '.join(map(ident, columns))}, 1 as weight from {before} union all {difference})")
    derived = _derived(_derived(key, SEAL), "person")
    sums = _sum_up(engine, derived, difference, PLAIN["person"], TEXTS["person"], WEIGHT)
    known = facts.sums if facts is not None else {}
    return NextPersons(
        {name: known.get(name, 0) + number for name, number in sums.items()},
        _fingerprint(engine, everything, WEIGHT),
    )


def _fingerprint(engine: Engine, persons: Sql, weight: Sql | None = None) -> dict[str, int]:
    whole = dict.fromkeys(COLUMNS["person"] - {TEXTS["person"], "person"})
    (row,) = engine.rows(write_fingerprint_query(persons, [[*PLAIN["person"], TEXTS["person"]]], whole, weight))
    return {name: int(number) for name, number in row.items()}


def seal_labels(engine: Engine, key: Key, labels: Mapping[str, Sql]) -> dict[str, str]:
    """Return what seals the labels that a column's values have, by column. labels: tables of `value` and `label`."""
    derived, seals = _derived(key, SEAL), {}
    for column, table in labels.items():
        relation = Sql(f"(select length(value) as value_length, value || label as pair from {table})")
        seals[column] = _mac(derived, "labels", _sum_up(engine, derived, relation, ["value_length"], "pair"))
    return seals


def _types(engine: Engine, table: str, relation: Sql) -> dict[str, str]:
    return engine.columns(f"select {', '.join(map(ident, [*PLAIN[table], TEXTS[table]]))} from {relation}")


def _sum_up(
    engine: Engine, key: Key, relation: Sql, names: Sequence[str], text: str, weight: Sql = ONCE
) -> dict[str, int]:
    """Return how many rows a relation has, and the sums of their hashes.

    text: the one column that holds any text. weight: how often a row counts.
    """
    secret = Sql(ident(f"{fresh_prefix()}seal"))
    try:
        engine.keep_key(secret, key)
        values = {"plain_columns": names, "text_column": text, "weight": weight}
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
    yield from _broken_tables(contents, read_facts(engine, key, contents.relations), key)


def _broken_words(contents: Contents, key: Key) -> Iterator[tuple[str, str]]:
    for reason in _broken_history(contents.releases, _derived(key, SEAL)):
        yield "history", reason
    if is_sealed(contents.last) and not _equal(contents.last.get("description"), digest(contents.description)):
        yield "description", "what it says of itself (method, columns, parameters) does not fit the seal"


def _broken_tables(contents: Contents, facts: Mapping[str, TableFacts], key: Key) -> Iterator[tuple[str, str]]:
    sealed = contents.last.get("tables")
    for table, seal in seal_tables(facts, key).items():
        if not (isinstance(sealed, dict) and _equal(sealed.get(table), seal)):
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


def refuse_broken_tables(named: str, contents: Contents, facts: Mapping[str, TableFacts], key: Key) -> None:
    """Raise SourceError where somebody without the key has changed the tables of a ledger, or they are damaged.

    facts: what `read_facts` says of the tables.
    """
    _refuse(named, _broken_tables(contents, facts, key))


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
