"""The command line: one verb per task, no logic of its own."""

import logging
import os
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

import typer

from sqlanon import interruption
from sqlanon.cli.app import app
from sqlanon.cli.console import replace_unwritable, say
from sqlanon.errors import FormatWarning, PrivacyWarning, SqlanonError, UsageError
from sqlanon.plain_values import refuse_broken_text
from sqlanon.wording import speak


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Anonymize data where it lies: published privacy algorithms as SQL, run by DuckDB."""
    if version:
        from sqlanon.version import say_version

        say_version()
        raise typer.Exit


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    if issubclass(category, PrivacyWarning | FormatWarning):
        say(f"warning: {message}")


def main() -> None:
    """Run the command line; leave with 0, 2 (cannot be right), 3 (this data does not allow it) or 1 (a bug).

    Ctrl-C ends a command with 130, SIGTERM with 143, SIGHUP with 129, and nothing is left behind.
    """
    logging.getLogger("sqlanon").addHandler(logging.NullHandler())
    warnings.showwarning = _show_warning
    replace_unwritable()
    speak("command line")
    code = _run()
    ended = interruption.ended_by()
    if ended is not None:
        code, words = ended
        say(words)
    sys.exit(code)


def _run() -> int:
    """Run what was typed; return the exit code."""
    try:
        # without its locks signals are heard in another way, too: the module that needs them says what to do
        if find_spec("fcntl") is None:
            import_module("sqlanon.atomic_files")
        interruption.handle_signals()
        refuse_broken_text(sys.argv[1:])
        app()
        sys.stdout.flush()
    except SystemExit as left:
        has_left = isinstance(left.__context__, BrokenPipeError)  # whoever read our output, which is no fault
        return left.code if isinstance(left.code, int) and not has_left else 0
    except BaseException as error:
        # what a signal has interrupted fails in its own way, which is no fault
        if interruption.ended_by() is not None:
            return 0
        if os.environ.get("SQLANON_DEBUG") and not isinstance(error, SqlanonError | OSError):
            raise
        return _tell(error)
    return 0


def _tell(error: BaseException) -> int:
    """Say in one line what went wrong; return the exit code: 0 for what fails behind a release that has appeared."""
    if interruption.has_appeared() and (isinstance(error, SqlanonError) or not isinstance(error, OSError)):
        words = str(error) if isinstance(error, SqlanonError) else f"a fault of sqlanon ({type(error).__name__})"
        said = words.replace("; nothing was published", "")
        say(f"note: the release has been published and stands; what is told of it is not whole: {said}")
        return 0
    if isinstance(error, SqlanonError):
        say(f"error: {error}")
        return error.exit_code
    # without words of the system's it is no failure of a file: a template that is missing is an OSError, too
    if isinstance(error, BrokenPipeError) or (isinstance(error, OSError) and error.strerror):
        if not isinstance(error, BrokenPipeError):  # whoever read our output has left; that is no fault
            where = "write the answer" if error.filename is None else f"read or write {str(error.filename)!r}"
            say(f"error: cannot {where}: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0 if isinstance(error, BrokenPipeError) else UsageError.exit_code
    say(
        f"error: a fault of sqlanon ({type(error).__name__}); nothing was published."
        " SQLANON_DEBUG=1 shows where (the traceback may show data)"
    )
    return 1
