"""The application object and its verbs, each loaded when it is asked for."""

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from sqlanon.errors import UsageError
from sqlanon.loaded import Loaded
from sqlanon.removed import removed

PUBLISH, COMPILE = "publish", "compile"
# each verb with its sentence, as a publisher, then a recipient, needs them
VERBS = {
    "demo": "Publish an invented hospital table, verify the release, and ask it a question.",
    "check": "Tell what a table risks before it is published; exit 3 where a required value is missed.",
    "compare": "Tell what each method and parameter costs in accuracy on this data; nothing is published.",
    PUBLISH: "Publish a table with one of the methods.",
    "run": "Publish the release that a file describes; the manifest goes to standard output.",
    "ledger": "Tell what a ledger holds, in figures: releases, persons, groups, who waits; no values, no ids.",
    COMPILE: "Print a method's SQL for another engine.",
    "macros": "Store table macros in a DuckDB file, for any client of DuckDB, without Python.",
    "adopt": "Make a verified release of tables that a macro, a dbt hook or a compiled script wrote.",
    "verify": "Prove from the published files what can be proved; exit 3 where something fails or is not proved.",
    "estimate": "Answer an aggregate query from a release, with standard errors and 95 % intervals.",
    "complete": "Complete a release: tables of plausible microdata for any tool, learned from the release alone.",
    "attack": "Attack a release as an adversary would: what was promised beside what the best attack reaches.",
    "report": "Tell about a release on one page of HTML: promise and attacks, what was verified and lost, columns.",
    "breach": "Tell how likely each secret association is to whoever has the published views.",
    "page": "Open a local page: check, choose, publish, verify, attack, report and ask by looking and clicking.",
    "guide": "Show a guide: what a method promises, how a verb is used, with examples that run.",
}
# where a verb is, but for breach and guide, whose modules have their names
_MODULES = {
    **dict.fromkeys(("demo", "page"), "tour"),
    **dict.fromkeys(("check", "compare", "attack", "report"), "judgement"),
    **dict.fromkeys(("run", "ledger", "macros", "adopt"), "operations"),
    **dict.fromkeys(("verify", "estimate", "complete"), "recipient"),
}

# what people type that there is in another form
_INSTEAD = {
    "--where": "there is no --where; in the place of SOURCE say --query 'SELECT … FROM … WHERE …'",
    "--explain": "--explain belongs to breach: sqlanon breach … --explain Ada HIV",
    "--pseudonym": "say --coarsen COLUMN=pseudonym:FILE; FILE holds a key of its own: openssl rand -hex 32",
    "--keep-suppressed": "there is no --keep-suppressed; --missing '*' reads cells that are suppressed as no value",
}
_SENTENCES = ("--require", "--coarsen", "--query", "--vary", "--view", "--secret")  # their values hold blanks
_NO_RELEASE = "the release is missing; it stands before the query: sqlanon estimate RELEASE 'SELECT …'"
_ONE_SOURCE = (
    "and a source is one text: put a pattern into quotes, so that the shell leaves it as it is, for example '*.parquet'"
)
# how the library says what a value is not
_WORDS = {
    r"Option '(--explain)' requires 2 arguments": r"\1 takes an id and a property, with a blank between: \1 Ada HIV",
    r"Input should be a valid integer\b.*": "it is no whole number",
    r"Input should be a valid number\b.*": "it is no number",
    r"Value error, ": "",
}


@contextmanager
def _faults_in_one_line() -> Iterator[None]:
    """Raise UsageError in the place of what the library finds wrong with words: the fault, and what to type."""
    try:
        yield
    except Exception as error:
        # a verb without any word shows its help
        if not hasattr(error, "format_message") or type(error).__name__ == "NoArgsIsHelpError":
            raise
        raise UsageError(_explained(error, error.format_message(), sys.argv[1:])) from None


def _explained(error: Any, text: str, words: Sequence[str]) -> str:
    """Return what to say of a fault of the library's, whose text is not ours; words: what was typed."""
    context: Any = getattr(error, "ctx", None)
    command = getattr(context, "command", None)
    verb, group = getattr(command, "name", None) or "", getattr(getattr(context, "parent", None), "info_name", None)
    names = [*filter(None, (getattr(error, "option_name", None), *getattr(getattr(error, "param", None), "opts", ())))]
    value, method = re.search(r"'([^']*)' is not one of ", text), re.search(r"^No such command '([^']*)'", text)
    gone = [removed(name, value[1] if value else "") or removed(verb, name) for name in names]
    gone += [removed(verb, method[1])] if method else []
    unknown = [_INSTEAD.get(name, "") for name in names if type(error).__name__ == "NoSuchOption"]
    release = str(context.params.get("release", "") if context else "").lower()
    plain = text.rstrip(".").replace(". Did you", "; did you")
    for pattern, ours in _WORDS.items():
        plain = re.sub(pattern, ours, plain)
    return (
        next(filter(None, (*gone, *unknown)), "")
        or (group in (PUBLISH, COMPILE) and _of_another(verb, names, in_script=group == COMPILE))
        or ("unexpected extra argument" in text and _cut(words, command))
        or (release.startswith(("select ", "with ")) and _NO_RELEASE)
        or _without_value(words, command)
        or f"{plain[:1].lower()}{plain[1:]}; {_remedy(context)}"
    )


def _of_another(verb: str, names: Sequence[str], in_script: bool) -> str:
    """Say that only other methods have an option; raise UsageError for one that a script of this method has not."""
    from sqlanon.methods import METHODS

    if (method := METHODS.get(verb)) is None:  # breach and check have scripts, too
        return ""
    if in_script:
        method.refuse_in_scripts(names)
    asked = ", ".join(each.option for each in method.parameters.values() if each.required)
    for name in names:
        owners = [each for each, other in METHODS.items() if name in (one.option for one in other.parameters.values())]
        if owners and verb not in owners:
            return f"{name} is an option of {', '.join(owners)}; {verb} asks for {asked}"
    return ""


def _without_value(words: Sequence[str], command: Any) -> str:
    """Say that another option stands in the place of an option's value."""
    params = [each for each in getattr(command, "params", ()) if not getattr(each, "is_flag", True)]
    options = {name for each in params for name in each.opts}
    cut = [pair for pair in pairwise(words) if options.issuperset(pair)]
    return f"{cut[0][0]} has no value: {cut[0][1]} stands where it should be" if cut else ""


def _cut(words: Sequence[str], command: Any) -> str:
    """Say that a list was cut by a blank, or that the shell has made several files of a pattern."""
    lists = {name for option in command.params if getattr(option, "multiple", False) for name in option.opts}
    for place, word in enumerate(words):
        behind = takewhile(lambda each: not each.startswith("-") and not Path(each).is_file(), words[place + 1 :])
        several = [each.rstrip(",") for each in behind]
        # compare takes several numbers for what publish takes one for
        are_numbers = command.name == "compare" and all(each.replace(".", "").isdecimal() for each in several)
        if word in _SENTENCES and len(several) > 1:
            return f"{word} takes one text: put it into quotes, {word} {shlex.quote(' '.join(several))}"
        if len(several) > 1 and (word in lists or (word.startswith("-") and are_numbers)):
            return f"a blank ends a list: write {word} {','.join(several)}"
    files = [word for word in words if Path(word).is_file()]
    return f"{len(files)} files were given, {_ONE_SOURCE}" if len(files) > 1 else ""


def _remedy(context: Any) -> str:
    """Return what to type: the verb's example, or a group's commands."""
    command = context.command if context is not None else None
    if example := (getattr(command, "epilog", None) or "").removeprefix("Example: "):
        return f"for example: {example}"
    if command is None and sys.argv[1:2] and sys.argv[1] in VERBS:
        words = takewhile(lambda word: not word.startswith("-") and "." not in word, sys.argv[1:3])
        return f"sqlanon {' '.join(words)} --help says more"
    if command is None or not hasattr(command, "list_commands") or context.parent is None:
        return "sqlanon --help lists the verbs"
    methods = command.list_commands(context)
    return f"say which method ({', '.join(methods)}), as in: sqlanon {command.name} {methods[0]} …"


_NEEDED = ("--id", "--against", "--out", "--database")  # beside what has to be given
_OTHERS = "promise and method"  # the heading of what stands in no other section
_SECTIONS = {
    _OTHERS: (),
    "rows and columns": (
        *("--query", "--nulls", "--unit", "--vary", "--unique-quasi", "--unique-sensitive", "--coarsen", "--hierarchy"),
        *("--types", "--missing", "--label", "--alternative-of", "--order-alternatives", "--alternatives"),
    ),
    "result": ("--into", "--overwrite", "--require", "--show-values", "--format", "--sql", "--show-steps"),
    "randomness": ("--draws", "--block", "--key", "--key-file", "--seed"),
    "releases that follow each other": ("--ledger", "--changed", "--since", "--expect-departures", "--new-quasi"),
    "engine": ("--engine", "--master", "--dsn", "--threads", "--memory-limit", "--temp-directory", "--timeout"),
}


class Command(TyperCommand):
    """A command whose options stand in sections."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; raise UsageError for an option that is said twice, of which the last would count."""
        *_, order = self.make_parser(ctx).parse_args(list(args))
        for each in order:
            counts = not (getattr(each, "multiple", True) or getattr(each, "is_flag", False))
            if counts and order.count(each) > 1:
                raise UsageError(f"{max(each.opts, key=len)} is given twice; say it once")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and what is needed most, then each section that has options."""
        headings = {name: heading for heading, names in _SECTIONS.items() for name in names}
        sections: dict[str, list[Any]] = {"arguments": [], "needed first": [], **{heading: [] for heading in _SECTIONS}}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                heading = "arguments"
            elif parameter.required or not {*_NEEDED}.isdisjoint(parameter.opts):
                heading = "needed first"
            else:
                heading = next((headings[name] for name in parameter.opts if name in headings), _OTHERS)
            sections[heading].append(record)
        of_method = ctx.parent is not None and ctx.parent.info_name in ("publish", "compile")
        for heading, records in sections.items():
            if records:
                with formatter.section("More" if heading == _OTHERS and not of_method else heading.capitalize()):
                    formatter.write_dl(records)


class VerbGroup(TyperGroup):
    """The verbs; a method in the place of one is told where it stands."""

    def __init__(self, **attributes: Any) -> None:
        """Take what typer says of the application."""
        super().__init__(**attributes)
        self.commands = cast(Any, Loaded(VERBS, cache(_verb)))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the verbs in the order of the help page."""
        return [*self.commands]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs with what each is for; none is loaded."""
        with formatter.section("Commands"):
            formatter.write_dl([*VERBS.items()])

    def make_context(self, *words: Any, **extra: Any) -> Any:
        """Read the words before the verb."""
        with _faults_in_one_line():
            return super().make_context(*words, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Read a verb's words, and run it."""
        with _faults_in_one_line():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of a verb; raise UsageError for a method."""
        if args and args[0] not in self.commands:
            from sqlanon.methods import METHODS

            if args[0] in METHODS:
                raise UsageError(f"{args[0]!r} is a method, not a verb; type: sqlanon publish {args[0]} …")
        return super().resolve_command(ctx, args)


class MethodGroup(TyperGroup):
    """A verb with a command for every method."""

    def __init__(self, **attributes: Any) -> None:
        """Take what typer says of the verb."""
        from sqlanon.methods import METHODS

        super().__init__(**attributes)
        names = [*METHODS, *(("breach",) if self.name == COMPILE else ())]
        self.commands = cast(Any, Loaded(names, cache(self._command)))

    def _command(self, name: str) -> Any:
        from sqlanon.cli.publication import command_of_method

        return command_of_method(str(self.name), name)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the methods."""
        return [*self.commands]


_QUIET: dict[str, Any] = {"rich_markup_mode": None, "no_args_is_help": True}
app = typer.Typer(
    name="sqlanon",
    cls=VerbGroup,
    help="Anonymize data where it lies: published privacy algorithms as SQL, run by DuckDB.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    **_QUIET,
)
_verbs = typer.Typer(rich_markup_mode=None)
command = partial(_verbs.command, cls=Command)  # what a module adds a verb with


def _verb(name: str) -> Any:
    """Return the command of a verb, whose module is loaded."""
    if name in (PUBLISH, COMPILE):
        return typer.main.get_group(typer.Typer(name=name, cls=MethodGroup, help=VERBS[name], **_QUIET))
    import_module(f"sqlanon.cli.verbs.{_MODULES.get(name, name)}")
    return typer.main.get_group(_verbs).commands[name]
