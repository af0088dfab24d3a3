"""The application object and its groups of verbs; every other module here adds verbs to them."""

import typer

app = typer.Typer(
    name="sqlanon",
    help="Anonymize data where it lies: published privacy algorithms as SQL, run by DuckDB.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
publish_app = typer.Typer(help="Publish a table with one of the methods.", no_args_is_help=True, rich_markup_mode=None)
compile_app = typer.Typer(help="Print a method's SQL for another engine.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(publish_app, name="publish")
app.add_typer(compile_app, name="compile")
