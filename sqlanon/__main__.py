"""The command `sqlanon`, which is also `python -m sqlanon`: run what was typed, and leave without a long farewell."""

import atexit
import os
import sys
from contextlib import suppress

from sqlanon.cli import main

_SERVED = {"psycopg", "pyspark"}  # what is connected to another process says good-bye as Python ends


def run() -> None:
    """Run the command line; once all is closed and written, end the process.

    Python would look through all that was imported for cycles first, which takes as long as a query.
    """
    try:
        main()
    except SystemExit as left:
        if _SERVED & set(sys.modules):
            raise
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # whoever read it has left
                stream.flush()
        os._exit(left.code if isinstance(left.code, int) else 0)


if __name__ == "__main__":
    run()
