"""Packages import one way, and what a verb does not need is not loaded."""

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import sqlanon

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "sqlanon"


def test_packages_import_one_way():
    """Of two packages at most one imports the other, over others as well; in functions and for annotations, too."""
    needs: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        own = path.relative_to(PACKAGE).with_suffix("").parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "sqlanon":
                inside = node.module.partition(".")[2]
                names = [inside.partition(".")[0]] if inside else [alias.name for alias in node.names]
                others = {
                    name if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file() else "__init__"
                    for name in names
                }
                needs.setdefault(own, set()).update(others - {own})
    graphlib.TopologicalSorter(needs).prepare()  # raises CycleError with the circle


def imported_by(*words: str) -> set[str]:
    """Return every module that Python imports in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-X", "importtime", *words], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {line.rpartition("|")[2].strip() for line in run.stderr.splitlines() if line.startswith("import time:")}


EXTRAS = {"pyspark", "psycopg", "nicegui", "fastapi", "uvicorn", "playwright"}
LARGE = {"pandas", "numpy", "scipy", "sqlglot"}


def test_importing_the_package_imports_no_extra_and_nothing_large():
    found = imported_by("-c", "import sqlanon; sqlanon.anatomy, sqlanon.open, sqlanon.Release")
    assert "sqlanon.methods.grouping" in found
    assert not found & (LARGE | EXTRAS | {"typer"})


def test_publishing_imports_nothing_large():
    found = imported_by("-c", "import sqlanon.publishing.publish, sqlanon.cli.display, sqlanon.engines.duckdb.engine")
    assert "sqlanon.engines.duckdb.engine" in found
    assert not found & LARGE


def test_a_count_is_answered_without_a_frame(con, tmp_path):
    con.execute("create table t as select i as ssn, i % 40 as age, 'd' || i % 5 as disease from range(200) r(i)")
    sqlanon.anatomy(con, "t", quasi="age", sensitive="disease", id="ssn", l=3, out=tmp_path / "ward")
    asked = ("SELECT COUNT(*) FROM release WHERE age > 9 AND disease = 'd1'", "--estimator", "uniform")
    found = imported_by("-m", "sqlanon", "estimate", str(tmp_path / "ward"), *asked)
    assert {"numpy", "sqlglot"} <= found
    assert not found & {"pandas", "scipy", "pyarrow"}
    assert "sqlanon.methods.qit_st" in found  # what made it reads this, and no other method is loaded
    assert not {f"sqlanon.methods.{name}" for name in ("robust", "splu", "mondrian", "uncertain")} & found
    attacked = imported_by("-m", "sqlanon", "attack", str(tmp_path / "ward"))
    # the model of completed tables, which attacks fit as well, reads frames
    assert "sqlanon.attacks.attack_release" in attacked and "scipy.stats" not in attacked


def test_the_version_is_said_without_a_verb_or_a_database():
    found = imported_by("-m", "sqlanon", "--version")
    assert "sqlanon.version" in found
    assert not found & (LARGE | {"duckdb", "_duckdb", "typer", "sqlanon.cli"})
    helped = imported_by("-m", "sqlanon", "--help")
    assert "sqlanon.cli" in helped and not helped & (LARGE | {"duckdb", "_duckdb"})
