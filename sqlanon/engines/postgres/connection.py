"""Open PostgreSQL connections of our own, under settings that keep the text of values the same everywhere."""

import logging
from typing import Any

import psycopg

from sqlanon.engines.postgres.errors import last_cause
from sqlanon.errors import SourceError, UsageError

# What the text of a value depends on, and with it a row's identity and the draws of a key.
# (Where functions are looked up stands beside them: `search_path`, in the engine, for every statement.)
# And no compiling of expressions: each of our statements runs once, and a million rows do not pay the compiler back.
SETTINGS = {"datestyle": "ISO, YMD", "timezone": "UTC", "extra_float_digits": "1", "jit": "off"}


def connect(dsn: str | None) -> psycopg.Connection[Any]:
    """Open a connection of our own; `dsn` is never shown, as it may hold a password."""
    logging.getLogger("psycopg").addHandler(logging.NullHandler())  # a lost session is told once, by us
    # set from the first statement on: what a date's text is must not depend on the server's configuration
    options = " ".join(f"-c {name}={value.replace(' ', '')}" for name, value in SETTINGS.items())
    try:
        parameters: dict[str, Any] = {"connect_timeout": 10, **psycopg.conninfo.conninfo_to_dict(dsn or "")}
        parameters["options"] = f"{parameters.get('options') or ''} {options}".strip()
        return psycopg.connect(**parameters, autocommit=True)
    except psycopg.ProgrammingError:
        raise UsageError("the --dsn cannot be read; write postgresql://user@host:port/database") from None
    except psycopg.OperationalError as error:
        raise SourceError(f"cannot open a session on the PostgreSQL server: {last_cause(error)}") from None
