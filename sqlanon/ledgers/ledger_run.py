"""A release under a ledger: read the ledger, refuse what contradicts it, and write what the next release needs."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix
from sqlanon.errors import SourceError, SqlanonError, TargetError, UsageError, undone_by
from sqlanon.key import Key
from sqlanon.ledgers import newest, refusals, seal
from sqlanon.ledgers.contents import Contents, LedgerRequest, history_text, unknown_words
from sqlanon.ledgers.place import LedgerFile, Note, note_path, read_note
from sqlanon.ledgers.store import attached, keeper_of, write_description, write_tables, writing
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import PERSON, Following, Plan, Source
from sqlanon.plans.roles import resolve_names, split_columns
from sqlanon.plans.templates import Sql, ident
from sqlanon.read_places import MANIFEST
from sqlanon.releases.opening import Place, manifest_at
from sqlanon.removed import removed
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.engines.duckdb.engine import DuckDBEngine


def _place_of(named: str, engine: Engine, place: Place) -> Path:
    """Return the path of the ledger of a release that goes to `place`; raise UsageError where it cannot lie there."""
    if place == Place():
        places = f"a directory, {option('out', 'DIR')}, or a schema, {option('into', 'SCHEMA')}"
        raise UsageError(f"a ledger is written in step with a release that lasts: {places}")
    path = Path(named).absolute()
    out = None if place.directory is None else place.directory.absolute()
    if (path.parent / MANIFEST).is_file() or (out is not None and (path == out or out in path.parents)):
        raise UsageError(
            f"{named!r} lies in a release, which is handed on; a ledger is as secret as the source: keep it elsewhere"
        )
    if not path.exists():
        refuse_server_tables(named, engine)
    return path


def refuse_server_tables(named: str, engine: Engine) -> None:
    """Raise SourceError where tables of the server are a ledger of 0.2.0, which kept it there: its people are known."""
    schema, _, table = named.rpartition(".")
    if schema and "schema" not in engine.lacks:
        kept = {table, f"{table}_person", f"{table}_value"}
        if kept <= {*(engine.tables(schema) or ())}:
            raise SourceError(f"{named!r} is a ledger of 0.2.0: {removed('ledger', 'SCHEMA.TABLE')}")


# what the releases' history says of each, by the report that counts it
FIGURES = {
    "turnover": ("left_source", "stayed", "returned", "arrived", "changed"),
    "outcome": ("row_count", "shown", "waiting", "withheld"),
}


@dataclass
class LedgerRun:
    """A ledger that one run holds; before: what it holds so far, None before its first release.

    keeper: the session that reads and writes the file. chain: what its releases are called. description: what it will
    say of its releases. figures: what the run has counted, for its history. sums: what the tables of the next ledger
    come to. notes: what to tell the publisher. source: what is published from, once it is known.
    """

    asked: LedgerRequest
    file: LedgerFile
    engine: Engine
    keeper: "DuckDBEngine"
    key: Key
    before: Contents | None = None
    chain: str = ""
    known: Mapping[str, Sql] = field(default_factory=dict)
    description: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, int] = field(default_factory=dict)
    sums: Mapping[str, list[Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    value: Sql = field(default_factory=Sql)

    @property
    def name(self) -> str:
        """Return the ledger as messages name it."""
        return str(self.file.path)

    @property
    def following(self) -> Following:
        """Return what the plan has to know."""
        request, before = self.asked, self.before
        if before is None:
            return Following(1, request.changed, chain=self.chain)
        return Following(
            number=before.last["number"] + 1, changed=request.changed, relations=self.known,
            losses=request.expect_departures, quasi=tuple(before.description["quasi"]),
            put_off=bool(before.last["figures"].get("put_off")), chain=self.chain,
        )  # fmt: skip

    def check(
        self, plan: Plan, identifier: Sequence[str], against: tuple[Source, Mapping[str, str]], place: Place
    ) -> None:
        """Refuse a plan that does not follow what was published before.

        identifier: as it was asked for. against: the source, its columns' types. place: a release there is to be
        replaced.
        """
        source, types = against
        names = resolve_names(types, split_columns(identifier, types))
        ledger_name, now = self.name, refusals.describe(plan.method, plan.publication, names, types, self.key)
        if source.labels:
            now["labels"] = seal.seal_labels(self.engine, self.key, source.labels)
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
        if place.directory is not None:
            releases = newest.releases_within(place.directory.absolute().parent)
        else:
            releases = newest.releases_in_schemas(self.engine)
        if (published := manifest_at(place, self.engine)) is not None:
            standing = str(place.directory or place.schema)
            releases[standing] = published
            newest.refuse_fork(ledger_name, self.before, standing, published, False)
        if (since := self.asked.since) is not None:
            both = (manifest_at(Place(Path(since))), manifest_at(Place(schema=since), self.engine))
            # where releases like this one lie, or else in the other place
            earlier = next(filter(None, both if place.schema is None else both[::-1]), None)
            newest.refuse_fork(ledger_name, self.before, since, earlier, True)
            releases |= {} if earlier is None else {since: earlier}
        note = newest.Evidence(str(note_path(self.file.path)), read_note(self.file.path), releases)
        newest.refuse_outdated(ledger_name, self.before, note)
        if self.before is None:
            sensitive = now["sensitive"]
            others = {
                name: release for name, release in releases.items() if release["columns"]["sensitive"] == [sensitive]
            }
            if others:
                name, release = max(others.items(), key=lambda item: item[1]["parameters"]["release"])
                self.notes.append(
                    f"release {release['parameters']['release']} of another ledger lies beside this one ({name}): if"
                    " it is of the same people, the two intersect; publish with its ledger"
                )
        unknown = unknown_words(self.before.description) if self.before is not None else {}
        if unknown:
            self.notes.append(
                f"{ledger_name!r} says more than this sqlanon knows ({', '.join(sorted(unknown))[:200]}): that is kept"
                " as it stands; a newer sqlanon wrote it, publish with that one"
            )
        self.description = {**unknown, **now, "chain": self.chain}
        (sensitive,) = plan.publication.columns["sensitive"]
        self.value = Sql(f"(select {source.expression(sensitive)} as sensitive from {source.relation})")

    def take_rows(self) -> None:
        """Let the engine read the persons and values of before, where the plan looks for them: in its snapshot."""
        if self.before is None:
            return
        # the types that the engine has for them today: a text of a server's may be of one or the other
        likes = {
            "known_person": ", ".join(f"cast(null as {kind}) as {name}" for name, kind in PERSON.items()),
            "known_value": f"cast(null as bigint) as code, sensitive from {self.value}",
        }
        for name, like in likes.items():
            rows = self.before.relations[name.removeprefix("known_")]
            self.engine.take_rows(self.known[name], f"select {like} where false", self.keeper, rows, self.file.folder)

    def count(self, reports: Mapping[str, Mapping[str, Any]]) -> None:
        """Take the figures of a plan's reports for the ledger's history."""
        self.figures = {name: int(reports[report][name]) for report, names in FIGURES.items() for name in names}
        self.figures["put_off"] = int(reports["gathering"]["put_off"]) if "gathering" in reports else 0

    def write_rows(self, made: Mapping[str, Sql]) -> None:
        """Write the persons and values that the ledger will hold, and look what they come to as they are written."""
        with writing(self.keeper, self.file.new) as schema:
            written = write_tables(self.engine, self.keeper, schema, made, self.file.folder)
            self._require_followed(written["person"])
            self.sums = seal.sums_of(self.keeper, self.key, written)

    def _require_followed(self, written: Sql) -> None:
        """Raise TargetError unless everybody whom releases have shown stands in the ledger as before, as is written."""
        if self.before is None:
            return
        same = " and ".join(f"now.{name} is not distinct from known.{name}" for name in ("group_id", "code", "entered"))
        sql = (
            f"select count(*) as moved from {self.before.relations['person']} as known"
            f" left join {written} as now on now.person = known.person and {same} where now.person is null"
        )
        ((moved,),) = [row.values() for row in self.keeper.rows(sql)]
        if moved:
            raise TargetError(
                f"the ledger of this run is not what it was to be: {moved} persons have another group or value than"
                " in the releases before; nothing was published"
            )

    def appear(self, manifest: Manifest, note: Note) -> None:
        """Write what the ledger says of its releases after this one, and let it take the place of the one before.

        note: what tells whether the release has appeared, which is next.
        """
        release = {
            "number": self.following.number,
            "created": manifest["created"],
            "fingerprint": newest.fingerprint(manifest),
            "figures": self.figures,
            "manifest": seal.digest(manifest),
        }
        releases = [*(self.before.releases if self.before else ()), release]
        sealed = seal.seal_of(self.description, releases, self.sums, self.key)
        write_description(self.file.new, history_text(self.description, releases, sealed))
        self.file.appear(note, newest.note_text(release))


@contextmanager
def open_ledger(
    asked: LedgerRequest, engine: Engine, key: Key | None, request: Mapping[str, Any], place: Place
) -> Iterator[LedgerRun]:
    """Hold a ledger for the block; what a dead run left of it is mended first.

    When the block ends, so has the transaction in which a release appears, and ledger and release are in step.
    request: what else was asked for: identifier, draws, unit. Raises UsageError and TargetError.
    """
    if key is None or not key.given:
        raise UsageError(
            f"a ledger needs a key that stays: make one with openssl rand -hex 32, and hand it over as"
            f" {option('key')}, {option('key_file', 'FILE')} or SQLANON_KEY, or in a job with key_env"
        )
    if not request["identifier"] or request["unit"] == "row":
        raise UsageError(
            f"a ledger needs {option('id', 'COLUMN')}, one row each: without it nobody is known again the next time",
            about=["id"],
        )
    if request["draws"] != "keyed":
        raise UsageError(f"a ledger needs keyed draws; leave {option('draws', 'random')} out")
    path, keeper = _place_of(asked.path, engine, place), keeper_of(engine)
    prefix = fresh_prefix()
    known = {name: Sql(ident(f"{prefix}{name}")) for name in ("known_person", "known_value")}
    with closing(LedgerFile(path, engine)) as file:
        with attached(keeper, file.path) if file.present else nullcontext() as before:
            run = LedgerRun(asked, file, engine, keeper, key, before, secrets.token_hex(8), known)
            if before is not None:
                # under another key everybody would be taken for new
                refusals.refuse_other_key(run.name, before, key)
                refusals.refuse_moves(run.name, before)
                seal.refuse_broken(run.name, before, keeper, key)
                run.chain = before.description["chain"]
            try:
                with undone_by(file.settle):
                    yield run
            finally:
                with suppress(SqlanonError):  # of a session that is lost
                    engine.drop([str(relation) for relation in known.values()])
        if not file.place_note():
            run.notes.append(f"release and ledger stand, and {str(note_path(file.path))!r} could not be written")
