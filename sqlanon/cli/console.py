"""Print words so that the terminal acts on none of them, and without letters that it cannot show."""

import codecs
import io
import sys
from typing import TYPE_CHECKING, Literal

from sqlanon.plain_values import visible
from sqlanon.wording import spoken

if TYPE_CHECKING:
    from rich.console import Console

Format = Literal["table", "json", "csv"]  # how results are printed


def console(stderr: bool = False) -> "Console":
    """Return the console for messages, or for words between results."""
    from rich.console import Console  # slow to import

    return Console(stderr=stderr, soft_wrap=True, highlight=False, markup=False, emoji=False)


def say(message: str) -> None:
    """Print a message to standard error."""
    console(stderr=True).print(visible(spoken(message)))


def write_out(text: str) -> None:
    """Write SQL, CSV or JSON as it is; on a terminal without what it would act on."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)


def replace_unwritable() -> None:
    """Let standard output and error replace letters that their encoding lacks, where Python would fail."""
    codecs.register_error("sqlanon", _replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="sqlanon")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """Write letters as JSON writes them in ASCII: two values stay two, and JSON stays JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    import json  # help needs none

    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
