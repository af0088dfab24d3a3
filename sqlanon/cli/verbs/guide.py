"""The verb for the longer texts: guide."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sqlanon.cli.app import command
from sqlanon.errors import UsageError
from sqlanon.wording import find_near

PACKAGE = Path(__file__).resolve().parents[2]
# guides of earlier versions, and those that hold what these said
MOVED = {
    **{"compare": "check", "python": "publish", "keys": "verify", "security": "verify", "report": "attack"},
    **{"breach": "attack", "complete": "estimate", "memory": "engines", "compile": "engines", "dbt": "macros"},
    **{"exit-codes": "jobs", "formats": "jobs"},
}


def topics() -> dict[str, Path]:
    """Return the guides by topic, in alphabetical order: they lie beside the code that they describe."""
    return {path.stem: path for path in sorted(PACKAGE.rglob("*.md"), key=lambda path: path.stem)}


@command(epilog="Example: sqlanon guide anatomy")
def guide(
    topic: Annotated[str | None, typer.Argument(help="The guide to read; without one, all are listed.")] = None,
    schema: Annotated[
        str | None, typer.Option(help="Print a format as a JSON schema: release, ledger, job or log.")
    ] = None,
) -> None:
    """Show a guide: what a method promises, how a verb is used, with examples that run."""
    guides, topic = topics(), MOVED.get(topic or "", topic)
    if schema is not None:
        if topic not in (None, "jobs"):
            raise UsageError(f"the guide {topic!r} has no schemas; type: sqlanon guide jobs --schema {schema}")
        formats = schemas()
        if schema not in formats:
            raise UsageError(f"there is no format {schema!r}; the formats are {', '.join(formats)}")
        sys.stdout.write(json.dumps(formats[schema], indent=2, ensure_ascii=False) + "\n")
        return
    if topic is None:
        width = max(map(len, guides))
        sys.stdout.writelines(f"{name:{width}}  {subject(path)}\n" for name, path in guides.items())
        return
    if topic not in guides:
        names = list(guides)
        near = find_near(topic, names, most=1)
        nearest = f"; the nearest is {near[0]!r}" if near else ""
        raise UsageError(f"there is no guide {topic!r}{nearest}; the guides are {', '.join(names)}")
    from rich.console import Console

    text, console = guides[topic].read_text(encoding="utf-8"), Console()
    if console.is_terminal:
        from rich.markdown import Markdown

        console.print(Markdown(text))
    else:  # as it stands, into a pipe or a file
        sys.stdout.write(text)


def schemas() -> dict[str, dict[str, Any]]:
    """Return the formats that last as JSON schemas, by their names: what sqlanon writes for others, and reads."""
    from sqlanon.ledgers.contents import ledger_schema
    from sqlanon.publishing.job_file import job_schema, log_schema
    from sqlanon.releases.manifest_schema import release_schema

    return {"release": release_schema(), "ledger": ledger_schema(), "job": job_schema(), "log": log_schema()}


def subject(path: Path) -> str:
    """Return the first line of a guide after its heading: the question that it answers."""
    _, *lines = path.read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line)
