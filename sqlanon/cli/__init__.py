"""The command line: one verb per task, no logic of its own."""

import logging
import os
import sys
import warnings
from typing import Annotated

import typer

from sqlanon.cli import breach, guide, jobs, macros, recipient, tour  # noqa: F401 - each adds its verbs
from sqlanon.cli.app import app
from sqlanon.cli.options import say
from sqlanon.errors import SqlanonError, UsageError
from sqlanon.key import PrivacyWarning
from sqlanon.wording import speak


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Anonymize data where it lies: published privacy algorithms as SQL, run by DuckDB."""
    if version:
        from sqlanon.version import VERSION

        sys.stdout.write(f"sqlanon {VERSION}\n")
        raise typer.Exit


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    if issubclass(category, PrivacyWarning):
        say(f"warning: {message}")


def _refuse_broken_text(words: list[str]) -> None:
    """Refuse what is not text: no database takes a name, path or query with half a character in it."""
    for word in words:
        if any("\ud800" <= letter <= "\udfff" for letter in word):
            raise UsageError(f"{word!a} is not UTF-8 text; name files, columns and queries in UTF-8")


def main() -> None:
    """Run the command line; leave with 0, 2 (cannot be right), 3 (this data does not allow it) or 1 (a bug)."""
    logging.getLogger("sqlanon").addHandler(logging.NullHandler())
    warnings.showwarning = _show_warning
    speak("command line")
    code = 0
    try:
        _refuse_broken_text(sys.argv[1:])
        app()
        sys.stdout.flush()
    except SqlanonError as error:
        say(f"error: {error}")
        code = error.exit_code
    except BrokenPipeError:  # whoever read our output has left; that is no fault
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        say(f"error: cannot write the answer: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = UsageError.exit_code
    except Exception as error:
        if os.environ.get("SQLANON_DEBUG"):
            raise
        say(
            f"error: a fault of sqlanon ({type(error).__name__}); nothing was published."
            " SQLANON_DEBUG=1 shows where (the traceback may show data)"
        )
        code = 1
    sys.exit(code)
