"""One PostgreSQL server and one Spark session for a whole run of the tests, and what is said where they are missing."""

import importlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.cluster import Cluster, binaries

ASKED = {name for name in os.environ.get("SQLANON_TEST_ENGINES", "").split(",") if name}
# fixture -> the worker that all tests with it run in
THOROUGH = Path(__file__).with_name("thorough.txt")  # tests that take long, one a line
GROUPS = {"server": "postgres", "spark": "spark"}
SPARK = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    # compiled once and lightly: the virtual machine's better compiler costs more than these few rows give back
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dspark.testing=true",
    "spark.sql.shuffle.partitions": "2",
    # compiling expressions takes longer than 240 rows do; Spark leaves it to tests alone to do without, and does more
    # in tests than is needed here
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.planChangeValidation": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "Europe/Rome",
    "spark.sql.ansi.enabled": "false",
}


def missing(engine: str, needed: str) -> None:
    """Skip; fail where SQLANON_TEST_ENGINES asks for the engine: what is asked for must not be left out in silence."""
    if engine in ASKED:
        pytest.fail(f"SQLANON_TEST_ENGINES asks for {engine}, which needs {needed}")
    pytest.skip(f"needs {needed}")


def extra(engine: str, library: str) -> ModuleType:
    """Import what an engine is reached with."""
    try:
        return importlib.import_module(library)
    except ImportError:
        missing(engine, f"pip install 'sqlanon[{engine}]'")
        raise


@pytest.fixture(scope="session")
def server() -> Iterator[Cluster]:
    """Start a PostgreSQL server whose databases are made by whoever needs one."""
    extra("postgres", "psycopg")
    if binaries() is None:
        missing("postgres", "PostgreSQL's server programs, initdb and postgres")
    running = Cluster()
    try:
        yield running
    finally:
        running.close()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start a session as a caller might: settings of their own, several files for every table."""
    sql = extra("spark", "pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        missing("spark", "a Java runtime")
    folder: Path = tmp_path_factory.mktemp("warehouse")
    settings = SPARK | {"spark.sql.warehouse.dir": str(folder)}
    session = sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    yield session
    session.stop()


def grouped(items: list[pytest.Item]) -> None:
    """Mark the tests of engines and those that take long, and keep together what shares a server or fixtures."""
    slow = {*THOROUGH.read_text().splitlines()}
    for item in items:
        if item.nodeid.partition("[")[0] in slow:
            item.add_marker("thorough")
        names = set(getattr(item, "fixturenames", ()))
        chosen = getattr(item, "callspec", None) and item.callspec.params.get("engine")
        group = next((group for name, group in GROUPS.items() if name in names or group == chosen), None)
        if group:
            item.add_marker("engines")
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("property")
        item.add_marker(pytest.mark.xdist_group(group or item.path.name))
