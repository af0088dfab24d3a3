"""Print words so that the terminal acts on none of them, and without letters that it cannot show."""

import codecs
import io
import json
import sys

from rich.console import Console

from sqlanon.plain_values import visible


def to_stderr() -> Console:
    """Return the console for messages."""
    return Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)


def to_stdout() -> Console:
    """Return the console for words between results."""
    return Console(soft_wrap=True, highlight=False, markup=False, emoji=False)


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
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
