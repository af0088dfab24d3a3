"""The formats that last, each as a JSON schema: what sqlanon writes for others to read, and what it reads of them."""

from collections.abc import Callable
from typing import Any

from sqlanon.ledgers.contents import ledger_schema
from sqlanon.publishing.job_file import job_schema
from sqlanon.publishing.run_job import log_schema
from sqlanon.releases.manifest_schema import release_schema

SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "release": release_schema,
    "ledger": ledger_schema,
    "job": job_schema,
    "log": log_schema,
}
