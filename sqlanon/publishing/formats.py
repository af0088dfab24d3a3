"""The formats that last, each as a JSON schema: what sqlanon writes for others to read."""

from collections.abc import Callable
from typing import Any

from sqlanon.ledgers.contents import ledger_schema
from sqlanon.releases.manifest_schema import release_schema

SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {"release": release_schema, "ledger": ledger_schema}
