"""The command `sqlanon`, also run by `python -m sqlanon`."""

import atexit
import os
import sys
from contextlib import suppress

_SERVED = {"psycopg", "pyspark"}  # connections to another process are closed as Python ends


def run() -> None:
    """Run the command line; once all is closed and written, end the process.

    Python would look through all that was imported for cycles first, which takes as long as a query.
    """
    if sys.argv[1:] == ["--version"]:  # what asks no verb waits for none
        from sqlanon.version import say_version

        with suppress(OSError):  # what cannot be written is told by the command line below
            say_version()
            sys.stdout.flush()
            return
    from sqlanon.cli import main

    try:
        main()
    except SystemExit as left:
        code = 0 if left.code is None else left.code
        if _SERVED & set(sys.modules) or not isinstance(code, int):
            raise
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):  # what could not be written is told as Python tells it
            raise left from None
        os._exit(code)


if __name__ == "__main__":
    run()
