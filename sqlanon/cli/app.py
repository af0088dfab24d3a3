"""The application object and its groups of verbs; every other module here adds verbs to them."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from sqlanon.errors import UsageError
from sqlanon.removed import removed

# as a publisher, then a recipient, needs them
ORDER = (
    *("demo", "check", "compare", "publish", "run", "ledger", "compile", "macros", "adopt"),
    *("verify", "estimate", "complete", "attack", "report", "breach", "page", "guide"),
)


# how the library says what a value is not
_WORDS = {
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
        value = re.search(r"'([^']*)' is not one of ", error.format_message())
        names = [getattr(error, "option_name", None), *getattr(getattr(error, "param", None), "opts", ())]
        verb = getattr(getattr(getattr(error, "ctx", None), "command", None), "name", None) or ""
        for name in filter(None, names):
            if words := removed(name, value[1] if value else "") or removed(verb, name):
                raise UsageError(words) from None
        if "unexpected extra argument" in error.format_message() and any(word.endswith(",") for word in sys.argv[1:]):
            raise UsageError(
                "a blank behind a comma ends a list: write --quasi age,sex without it, or put the list in quotes"
            ) from None
        text = error.format_message().rstrip(".").replace(". Did you", "; did you")
        for pattern, words in _WORDS.items():
            text = re.sub(pattern, words, text)
        raise UsageError(f"{text[:1].lower()}{text[1:]}; {_remedy(getattr(error, 'ctx', None))}") from None


def _remedy(context: Any) -> str:
    """Return what to type: the verb's example, or a group's commands."""
    command = context.command if context is not None else None
    example = (getattr(command, "epilog", None) or "").removeprefix("Example: ")
    if example:
        return f"for example: {example}"
    if command is None or not hasattr(command, "list_commands") or context.parent is None:
        return "sqlanon --help lists the verbs"
    methods = command.list_commands(context)
    return f"say which method ({', '.join(methods)}), as in: sqlanon {command.name} {methods[0]} …"


class VerbGroup(TyperGroup):
    """The verbs; a method in the place of one is told where it stands."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the verbs in the order of the help page."""
        return sorted(super().list_commands(ctx), key=ORDER.index)

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


app = typer.Typer(
    name="sqlanon",
    cls=VerbGroup,
    help="Anonymize data where it lies: published privacy algorithms as SQL, run by DuckDB.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class MethodGroup(TyperGroup):
    """A verb with a command for every method; the methods are loaded when one is asked for."""

    def _load(self) -> None:
        # loading the methods costs more than all the rest of a start
        if not self.commands:
            from sqlanon.cli.methods import commands_of

            self.commands.update(commands_of(str(self.name)))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the methods."""
        self._load()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of one method."""
        self._load()
        return super().get_command(ctx, cmd_name)


for verb, sentence in (
    ("publish", "Publish a table with one of the methods."),
    ("compile", "Print a method's SQL for another engine."),
):
    app.add_typer(typer.Typer(help=sentence, no_args_is_help=True, rich_markup_mode=None), name=verb, cls=MethodGroup)
