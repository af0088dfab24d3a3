"""The application object and its groups of verbs; every other module here adds verbs to them."""

from typing import Any

import typer
from typer.core import TyperGroup

from sqlanon.errors import UsageError


class VerbGroup(TyperGroup):
    """The verbs; a method in the place of one is told where it stands."""

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
