"""A command's help: what everybody needs comes first, then the rest by what it is about."""

from typing import Any

from typer.core import TyperCommand

from sqlanon.errors import UsageError

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
