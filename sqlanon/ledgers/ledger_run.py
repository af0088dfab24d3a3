"""A release under a ledger: read the ledger, refuse what contradicts it, and write what the next release needs."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import UsageError
from sqlanon.key import Key
from sqlanon.ledgers import newest, refusals, seals
from sqlanon.ledgers.contents import COLUMNS, UNSEALED, Contents, Store, unknown_words
from sqlanon.ledgers.database_file import DatabaseFile
from sqlanon.ledgers.parquet_directory import ParquetDirectory
from sqlanon.ledgers.request import Destination, LedgerRequest
from sqlanon.ledgers.server_tables import ServerTables, split_name
from sqlanon.plans.following import Following
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Plan, Source
from sqlanon.plans.roles import resolve_names, split_columns
from sqlanon.plans.templates import Sql, ident
from sqlanon.releases.stored_release import manifest_in_directory, manifest_in_schema
from sqlanon.releases.targets import MANIFEST
from sqlanon.wording import option


# Which store a ledger has: DuckDB keeps a file, Spark a directory of files, PostgreSQL tables of the server.
def open_store(named: str, engine: Engine, place: Destination) -> Store:
    """Hold the ledger of a release that goes to `place`; raise UsageError where the two do not go together."""
    if place.named is None:
        places = f"a directory, {option('out', 'DIR')}, or a schema, {option('into', 'SCHEMA')}"
        raise UsageError(f"a ledger is written in step with a release that lasts: {places}")
    if engine.keeps_ledger == "tables":
        schema, _ = split_name(named)
        if schema == place.into or "manifest" in (engine.tables(schema) or ()):
            raise _published(named)
        return ServerTables(engine, named)
    path = Path(named).absolute()
    if place.out is not None:
        out = Path(place.out).absolute()
        if path == out or out in path.parents:
            raise _published(named)
    if (path.parent / MANIFEST).is_file():
        raise _published(named)
    return ParquetDirectory(engine, path) if engine.keeps_ledger == "directory" else DatabaseFile(engine, path)


def _published(ledger_name: str) -> UsageError:
    return UsageError(
        f"{ledger_name!r} lies in a release, which is handed on; a ledger is as secret as the source: keep it elsewhere"
    )


# what the releases' history says of each, by the report that counts it
FIGURES = {
    "turnover": ("left_source", "stayed", "returned", "arrived", "changed"),
    "outcome": ("row_count", "shown", "waiting", "withheld"),
}
UNSEALED_NOTE = (
    "{named!r} was made by a sqlanon that sealed no ledgers: nobody can tell whether it was changed until now; from"
    " this release on it is sealed under its key"
)


@dataclass
class LedgerRun:
    """A ledger that one run holds; before: what it holds so far, None before its first release.

    chain: what its releases are called. description: what it will say of its releases. figures: what the run has
    counted, for its history. facts: what the seals of the tables of before are of. tables: what seals its tables after
    this release. note: what will be said beside it of this release. notes: what to tell the publisher.
    """

    asked: LedgerRequest
    store: Store
    engine: Engine
    key: Key
    before: Contents | None = None
    chain: str = ""
    description: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, int] = field(default_factory=dict)
    facts: dict[str, seals.TableFacts] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    note: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def following(self) -> Following:
        """Return what the plan has to know."""
        request, before = self.asked, self.before
        if before is None:
            return Following(1, request.changed, chain=self.chain)
        relations = {f"known_{name}": before.relations[name] for name in ("person", "value")}
        description = before.description
        return Following(
            number=before.last["number"] + 1, changed=request.changed, relations=relations,
            losses=request.expect_departures, quasi=tuple(description["quasi"]),
            put_off=bool(before.last["figures"].get("put_off")), chain=self.chain,
        )  # fmt: skip

    def check(
        self, plan: Plan, identifier: Sequence[str], against: tuple[Source, Mapping[str, str]], place: Destination
    ) -> None:
        """Refuse a plan that does not follow what was published before.

        identifier: as it was asked for. against: the source, its columns' types. place: a release there is to be
        replaced.
        """
        source, types = against
        names = resolve_names(list(types), split_columns(identifier, list(types)))
        ledger_name, now = self.store.named, refusals.describe(plan.method, plan.publication, names, types, self.key)
        if source.labels:
            now["labels"] = seals.seal_labels(self.engine, self.key, source.labels)
        if self.before is not None:
            refusals.refuse_other_request(ledger_name, self.before, now)
            new = refusals.refuse_new_quasi(self.before, now, self.asked.new_quasi)
            # what one release has shown stays known, though the next one leaves it out
            ever = self.before.description["ever_quasi"]
            now["ever_quasi"] = [*ever, *new]
            if new:
                self.notes.append(
                    f"no release before had {', '.join(new)}: who keeps them learns it of the same persons now"
                )
            other = refusals.refuse_other_labels(self.before, now, self.asked.new_quasi)
            if other:
                self.notes.append(
                    f"releases before had other labels of {', '.join(other)}: who keeps them learns more of a value"
                    " that has two"
                )
        releases = newest.releases_beside(place, self.engine)
        if place.named is not None and (published := self._read_published(place)) is not None:
            releases[place.named] = published
            newest.refuse_fork(ledger_name, self.before, place.named, published, False)
        if (since := self.asked.since) is not None:
            earlier = self._earlier(since, place)
            newest.refuse_fork(ledger_name, self.before, since, earlier, True)
            releases |= {} if earlier is None else {since: earlier}
        newest.refuse_outdated(
            ledger_name, self.before, newest.Evidence(self.store.note_name, self.store.read_note(), releases)
        )
        if self.before is None:
            self._note_others(releases, now["sensitive"])
        unknown = unknown_words(self.before.description) if self.before is not None else {}
        if unknown:
            self.notes.append(
                f"{ledger_name!r} says more than this sqlanon knows ({', '.join(sorted(unknown))[:200]}): that is kept"
                " as it stands; a newer sqlanon wrote it, publish with that one"
            )
        self.description = {**unknown, **now, "chain": self.chain}

    def _note_others(self, releases: Mapping[str, Manifest], sensitive: str) -> None:
        """Tell of releases of another ledger where the first one of this goes: they may be of the same people."""
        others = {name: release for name, release in releases.items() if release["columns"]["sensitive"] == [sensitive]}
        if others:
            name, release = max(others.items(), key=lambda item: item[1]["parameters"]["release"])
            self.notes.append(
                f"release {release['parameters']['release']} of another ledger lies beside this one ({name}): if it is"
                " of the same people, the two intersect; publish with its ledger"
            )

    def _read_published(self, place: Destination) -> Manifest | None:
        if place.into is not None:
            return manifest_in_schema(place.into, self.engine)
        return None if place.out is None else manifest_in_directory(place.out)

    def _earlier(self, since: str, place: Destination) -> Manifest | None:
        """Return the manifest of the release before, where releases like this one lie or else in the other place."""
        both = (manifest_in_directory(since), manifest_in_schema(since, self.engine))
        return next(filter(None, both if place.into is None else both[::-1]), None)

    def check_tables(self) -> None:
        """Refuse persons and values that do not fit their seals, as the plan will read them: in its snapshot."""
        if self.before is None:
            return
        self.facts = seals.read_facts(self.engine, self.key, self.before.relations)
        if self.before.description["format"] != UNSEALED:
            seals.refuse_broken_tables(self.store.named, self.before, self.facts, self.key)

    def count(self, reports: Mapping[str, Mapping[str, Any]]) -> None:
        """Take the figures of a plan's reports for the ledger's history."""
        self.figures = {name: int(reports[report][name]) for report, names in FIGURES.items() for name in names}
        self.figures["put_off"] = int(reports["gathering"]["put_off"]) if "gathering" in reports else 0

    def write_rows(self, made: Mapping[str, Sql]) -> None:
        """Write the persons and values that the ledger will hold, and look what seals them as they are written."""
        before = self.before.relations["person"] if self.before is not None else None
        # before anything is written: a server's tables take the place of those of before
        persons = seals.add_difference(self.engine, self.key, made["person"], before, self.facts.get("person"))
        kept = {table: self._kept(table, relation) for table, relation in made.items()}
        with self.store.writing(kept) as written:
            facts = {
                "person": persons.seen(self.engine, written["person"]),
                **seals.read_facts(self.engine, self.key, written, ["value"]),
            }
            self.tables = seals.seal_tables(facts, self.key)

    def _kept(self, table: str, made: Sql) -> Sql:
        """Return the columns of a relation of this run's that the ledger keeps."""
        columns = [name for name in self.engine.columns(f"select * from {made}") if name in COLUMNS[table]]
        return Sql(f"(select {', '.join(map(ident, columns))} from {made}) as kept")

    def write_history(self, manifest: Manifest) -> None:
        """Write what the ledger will say of its releases after this one."""
        earlier = self.before.releases if self.before else ()
        release = {
            "number": self.following.number,
            "created": manifest["created"],
            "fingerprint": newest.fingerprint(manifest),
            "figures": self.figures,
        }
        sealed = seals.seal_release(release, self.description, self.tables, manifest, earlier, self.key)
        self.note = newest.note_text(sealed)
        self.store.write_history(self.description, [*earlier, sealed])


@contextmanager
def open_ledger(
    asked: LedgerRequest, engine: Engine, key: Key | None, request: Mapping[str, Any], place: Destination
) -> Iterator[LedgerRun]:
    """Hold a ledger for the block; what a dead run left of it is mended first.

    request: what else was asked for: identifier, draws, many_rows_per_person. Raises UsageError and TargetError.
    """
    key = _required_key(key, request)
    with closing(open_store(asked.path, engine, place)) as store, store.reading() as before:
        run = LedgerRun(asked, store, engine, key, before)
        if before is not None:
            # under another key everybody would be taken for new
            refusals.refuse_other_key(store.named, before, key)
            refusals.refuse_moves(store.named, before)
            if before.description["format"] == UNSEALED:
                run.notes.append(UNSEALED_NOTE.format(named=store.named))
            else:
                seals.refuse_broken_words(store.named, before, key)
        run.chain = (before.description.get("chain") if before is not None else None) or secrets.token_hex(8)
        yield run


def _required_key(key: Key | None, request: Mapping[str, Any]) -> Key:
    if key is None or not key.given:
        raise UsageError(
            f"a ledger needs a key that stays: make one with openssl rand -hex 32, and hand it over as"
            f" {option('key')}, {option('key_file', 'FILE')} or SQLANON_KEY, or in a job with key_env"
        )
    if not request["identifier"] or request["many_rows_per_person"]:
        raise UsageError(
            f"a ledger needs {option('id', 'COLUMN')}, one row each: without it nobody is known again the next time",
            about=["id"],
        )
    if request["draws"] != "keyed":
        raise UsageError(f"a ledger needs keyed draws; leave {option('draws', 'random')} out")
    return key
