"""What publish and compile do with what was typed, whatever the method."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqlanon.adversary.given_away import find_rule
from sqlanon.cli.app import Command
from sqlanon.cli.console import say, write_out
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.options import DUCKDB, DatabaseOption, KeyFile, Session, chosen_key
from sqlanon.engines.connect import open_duckdb
from sqlanon.errors import UsageError
from sqlanon.methods import METHODS
from sqlanon.methods.base import Method
from sqlanon.models.fields import Parameter, model_of
from sqlanon.models.publication import Dialect, Query, ScriptTable, Source
from sqlanon.plans.manifest import of_people
from sqlanon.sql.source import CoarserSource, QueriedSource, source_words
from sqlanon.wording import option

if TYPE_CHECKING:
    from sqlanon.releases.release import Release


@dataclass(kw_only=True)
class PublicationOptions(Session):
    """What publish takes on the command line alone, beside what methods declare."""

    key_file: KeyFile = None
    show_steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            help="Print every relation that the method makes, with its first rows: microdata. Publish nothing.",
        ),
    ] = None
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print all that release.json says in words, in place of five lines.")
    ] = False


@dataclass(kw_only=True)
class CompilationOptions:
    """What compile takes on the command line alone where a script depends on the source's columns: where they are."""

    database: DatabaseOption = None


def publish_release(method: Method[Any], values: Values, session: PublicationOptions) -> None:
    """Publish, and print what was published; with --sql print the statements alone."""
    from sqlanon.cli import display
    from sqlanon.publishing.publish import publish
    from sqlanon.publishing.release_request import request_of
    from sqlanon.sql.source import NO_SOURCE, choose_source

    source, query = values.pop("source", None), values.pop("query", None)
    arguments = method.options.read(values)
    out, into = arguments["out"], arguments["into"]
    if session.show_steps is not None:
        _refuse_beside_steps(method, session, arguments)
    else:
        refuse_place(out, into)
        if into is not None and session.database is None and session.engine is DUCKDB:
            raise UsageError("--into names a schema of a database; say which with --database FILE")
    # SQLANON_KEY and --key-file are the command line's own ways to hand a key over
    arguments["key"] = chosen_key(arguments["key"], session.key_file)
    source = choose_source(source, query, session.engine, NO_SOURCE)
    files = tuple(str(file) for file in (session.database, session.key_file) if file is not None)
    request = request_of(arguments, method.name, source, files)
    engine = session.open(write=into is not None)
    if session.show_steps is not None:
        from sqlanon.publishing.plan_text import show_steps

        say("what follows is microdata, for your own eyes: rows of the source, step by step; nothing is published")
        show_steps(request, engine, session.show_steps, display.show_step)
        return
    if session.sql:
        _print_statements(request, engine)
        return
    with display.progress():
        release = publish(request, engine, expect=True)
    single = () if arguments["unit"] == "row" else arguments["id"]
    show_publication(release, session, words_against(session, request.original, single), out, into, session.verbose)
    if "influence" in release.learned:
        display.show_learned(release.learned["influence"])


def refuse_place(out: str | Path | None, into: str | None) -> None:
    """Refuse none or two places for a release to go to."""
    from sqlanon.releases.opening import Place

    if Place.of(out, into) == Place():
        raise UsageError("say where the release goes: --out DIR, or --database FILE --into SCHEMA")


def show_publication(
    release: "Release", session: Session, against: Sequence[str], out: object, into: str | None, verbose: bool = False
) -> None:
    """Print what was published: for people in five lines, with `verbose` in all, the manifest for programs.

    against: the words that hold the release against its source. The command that comes next runs as it is printed.
    """
    from sqlanon.cli import display
    from sqlanon.publishing.publish import NOT_PUBLISHED, look_at_attacks

    if session.how != "table":
        display.show_mapping(release.manifest, session.how)
        for note in release.notes:
            say(note)
        return
    with display.progress("attacking the release"):
        look_at_attacks(release)
    notes = release.notes
    where = str(out) if into is None else f"schema {into} of {session.database or 'the database'}"
    lines = release.form.summary(release.manifest, where)
    if release.manifest["dropped_rows"]:
        lines["published"] += f"; left out: {lines['dropped rows']}"
    lines["published"] += "".join(f"; {note}" for note in notes if note.startswith(NOT_PUBLISHED))
    told = lines if verbose else {name: lines[name] for name in ("published", "promised")}
    warnings = [note for note in notes if not note.startswith(NOT_PUBLISHED)]
    name = str(out) if into is None else into
    attack = shlex.join(["sqlanon", "attack", name, *against])
    display.show_publication(
        {
            **told,
            "attacks reach": release.expected or "not looked at on this engine",
            "warnings": "\n".join(warnings) or "none",
        },
        attack,
        release.form.tables(release.manifest) if verbose else (),
    )
    if session.dsn:
        say(f"next{session.dsn_reminder}")


def words_against(session: Session, source: object, identifier: Sequence[str]) -> list[str]:
    """Return the words that hold a release against its source; source: None where it is not at hand."""
    if source is None:
        return session.place
    rules = source.words if isinstance(source, CoarserSource) else []
    origin = source.source if isinstance(source, CoarserSource) else source
    source_text = source_words(origin)
    against = source_text if isinstance(origin, QueriedSource) else ["--against", *source_text]
    return [*against, *rules, *(word for column in identifier for word in ("--id", column)), *session.source_place]


def coarser_command(release: "Release", telling: str, source: object, identifier: Sequence[str]) -> list[str]:
    """Return the command that compares releases whose most telling quasi column is coarser; none where it cannot be."""
    columns, rules = release.manifest["columns"], dict(release.manifest["parameters"].get("coarsen", {}))
    table = next(iter(release.tables))
    sql_type = release.published_tables.columns(table).get(telling, "")
    # compare takes one row of a person
    if not sql_type or telling in rules or "compare" in release.engine.lacks or of_people(release.manifest):
        return []
    rule = find_rule(release.engine, release.tables[table], telling, sql_type)
    if not rule:
        return []
    # a manifest names no table of labels: the source does
    labels, origin = (source.rules, source.source) if isinstance(source, CoarserSource) else ({}, source)
    coarser = CoarserSource(origin, {**rules, **labels, telling: rule}).words
    roles = (("--quasi", columns["quasi"]), ("--sensitive", columns["sensitive"]), ("--id", identifier))
    words = [word for flag, names in roles for name in names for word in (flag, name)]
    return ["sqlanon", "compare", *source_words(origin), *words, *coarser]


def report_command(release: str, against: Sequence[str]) -> list[str]:
    """Return the command that writes one page about a release beside it."""
    page = Path(f"{release.rstrip('/')}.html")
    return ["sqlanon", "report", release, *against, "--out", str(page), *(["--overwrite"] if page.exists() else [])]


def _refuse_beside_steps(method: Method[Any], session: PublicationOptions, arguments: Mapping[str, Any]) -> None:
    """Refuse what would write, or judge, a release beside the rows that lead to it: they are microdata."""
    writing = ("out", "into", "overwrite", "require", "ledger", *([method.saved] if method.saved else []))
    names = [option(name) for name in writing if arguments.get(name)]
    names += [option("sql")] if session.sql else []
    names += ["--format"] if session.how != "table" else []
    if names:
        raise UsageError(
            f"--show-steps prints microdata for your own eyes and publishes nothing: leave out {', '.join(names)}"
        )


def _print_statements(request: Any, engine: Any) -> None:
    from sqlanon.publishing import kept_files
    from sqlanon.publishing.plan_text import PREFIX, statements_text
    from sqlanon.publishing.release_request import prepared

    with prepared(request, engine, PREFIX) as (plan, *_):
        kept_files.chosen(request, plan)
        write_out(statements_text(plan, engine, request.place))


def print_script(method: Method[Any], values: Values, place: CompilationOptions | None = None) -> None:
    """Print the method's script for another engine; place: where the source's columns are, where it depends on them."""
    from sqlanon.api.publishing import compile as compile_script

    con = None if place is None else open_duckdb(place.database)
    write_out(compile_script(method.name, con=con, **values))


# of the script beside those of the methods
_BREACH = (
    "Print a script that tells how likely each secret association is (no database is needed).",
    "patients --view 'SELECT name, age FROM patients' --view 'SELECT age, problem FROM patients'"
    " --secret 'SELECT name, problem FROM patients' --dialect postgres",
)


def command_of_method(verb: str, name: str) -> Any:
    """Return the command of `publish` or `compile` for one method; breach has a script, too."""
    if name == "breach":
        command, (sentence, example) = _compile_breach(), _BREACH
    elif verb == "publish":
        command, sentence, example = _publish(METHODS[name]), METHODS[name].sentence, METHODS[name].example
    else:
        method = METHODS[name]
        command, sentence, example = _compile(method), method.compile_sentence, method.compile_example
    app = typer.Typer(rich_markup_mode=None)
    app.command(name, cls=Command, help=sentence, epilog=f"Example: sqlanon {verb} {name} {example}")(command)
    return typer.main.get_group(app).commands[name]


def _compile_breach() -> Callable[..., None]:
    from sqlanon.api.publishing import breach_script  # it loads every method

    @command_of(breach_script)
    def command(values: Values) -> None:
        write_out(breach_script(**values))

    return command


def _publish(method: Method[Any]) -> Callable[..., None]:
    @command_of({**_declared(source=Source, query=Query), **method.arguments})
    def command(values: Values, session: PublicationOptions) -> None:
        publish_release(method, values, session)

    return command


def _compile(method: Method[Any]) -> Callable[..., None]:
    compiled = {name: argument for name, argument in method.arguments.items() if argument.on.compiled}
    objects: dict[str, Any] = {"place": CompilationOptions} if method.reads_source else {}

    @command_of({**_declared(source=ScriptTable, dialect=Dialect), **compiled}, **objects)
    def command(values: Values, **beside: Any) -> None:
        print_script(method, values, **beside)

    return command


def _declared(**annotations: Any) -> dict[str, Parameter]:
    return dict(model_of("declared", annotations).declared)
