"""Imports point one way, each library has one door, and a method has one name in four places."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from sqlanon.methods import METHODS
from sqlanon.templates import template_root

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "sqlanon"

# a module imports from lines above its own, or from its own line where that makes no circle
LAYERS = (
    {"errors", "version", "spellings", "grammar", "moments", "strata", "views", "restricted", "posterior"},
    {"exposure", "robustness", "guarantees", "rivals"},
    {"roles", "statement", "secret", "staging", "marked"},
    {"templates"},
    {"dialects"},
    {"expressions"},
    {"query", "projection", "components"},
    {"plan", "connectivity"},
    {"grouping", "enumeration", "shapes", "script", "manifest", "macro", "stored", "layout", "background"},
    {"clustering", "dimensions", "refinement"},
    {"constants"},
    {"hierarchy", "influence"},
    {"reading"},
    {"cells", "shown"},
    {"alternatives"},
    {"class_grouping", "bucketization", "repair"},
    {"methods", "estimators", "inference", "pooled", "by_class", "tallies", "recovery", "company", "described"},
    {"engines"},
    {"driver", "sessions", "never", "asides"},
    {"checks", "targets", "loaded", "classes", "macros", "workspace", "randomized"},
    {"candidates", "originals", "laid_out"},
    {"agreement"},
    {"adversary", "partition", "presence", "decoys", "uncertainty"},
    {"class_partition"},
    {
        *("estimation", "reconstruction", "asking", "uniform_asking", "pooled_asking", "class_asking", "possibility"),
        "true_counts",
    },
    {"forms"},
    {"inspection"},
    {"release"},
    {"publish", "display", "disclosure", "breaching", "explanation", "breach_display", "thresholds", "jobfile"},
    {"api", "demo", "jobs"},
    {"__init__"},
    {"cli"},
    {"__main__"},
)
DOORS = {
    "duckdb": {"engines.duckdb"},
    "pyspark": {"engines.spark"},
    "psycopg": {"engines.postgres"},
    "jinja2": {"templates"},
    "markupsafe": {"templates"},
    "sqlglot": {"dialects", "expressions", "query", "projection", "never"},
    "typer": {"cli"},
    "yaml": {"marked"},
}
SIBLINGS = {
    "methods": set(),
    "estimators": {"evidence", "channel"},
    "engines": {"base"},
}  # what each sibling may import
NOT_METHODS = {
    "_macros",
    "grouping",
    "clustering",
    "refinement",
    "verify",
    "estimate",
    "workload",
    "views",
    "check",
    "stored",
    "demo",
    "background",
}

MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


class Imports(ast.NodeVisitor):
    """Collect what a module imports when it runs, in functions as well; types alone do not count."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self.names |= {alias.name for alias in node.names}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        assert node.level == 0, "imports name the whole path"
        self.names |= {f"{node.module}.{alias.name}" for alias in node.names}


def imported(module: str) -> set[str]:
    visitor = Imports()
    visitor.visit(ast.parse(MODULES[module].read_text(encoding="utf-8")))
    return visitor.names


def own_modules(module: str) -> set[str]:
    """Return the modules of this package that `module` imports, as dotted paths inside it."""
    found = set()
    for name in imported(module):
        package, _, inside = name.partition(".")
        if package == "sqlanon":
            parts = inside.split(".") if inside else []
            candidates = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
            found.add(next((candidate for candidate in candidates if candidate in MODULES), "__init__"))
    return found


def layer(module: str) -> int:
    top = module.partition(".")[0]
    places = [number for number, names in enumerate(LAYERS) if top in names]
    assert places, f"sqlanon/{top} has no place in LAYERS: say which modules it may import"
    return places[0]


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module):
    for other in own_modules(module):
        assert layer(other) <= layer(module), f"{module} imports {other}"


def test_no_circle():
    waiting = {module: own_modules(module) - {module} for module in MODULES}
    while waiting:
        ready = {module for module, needs in waiting.items() if not needs & set(waiting)}
        assert ready, f"a circle among {sorted(waiting)}"
        waiting = {module: needs for module, needs in waiting.items() if module not in ready}


@pytest.mark.parametrize("module", MODULES)
def test_each_library_has_one_door(module):
    libraries = {name.partition(".")[0] for name in imported(module)}
    for library in libraries & set(DOORS):
        doors = DOORS[library]
        assert module in doors or module.partition(".")[0] in doors, f"{module} imports {library}"


@pytest.mark.parametrize("module", [module for module in MODULES if module.partition(".")[0] in SIBLINGS])
def test_siblings_do_not_import_each_other(module):
    family, _, own = module.partition(".")
    for other in own_modules(module):
        other_family, _, sibling = other.partition(".")
        if own and other_family == family and sibling:
            assert sibling in SIBLINGS[family], f"{module} imports {other}"


def test_layers_name_only_what_is_there():
    assert set().union(*LAYERS) == {module.partition(".")[0] for module in MODULES}


def test_importing_the_package_imports_no_extra():
    code = (
        "import sys, sqlanon;print(sorted({'pyspark', 'psycopg', 'altair', 'vl_convert', 'typer'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_one_name_in_four_places():
    folders = {path.name for path in template_root().iterdir() if path.is_dir()} - NOT_METHODS
    tests = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "methods").glob("test_*.py")}
    golden = {path.name for path in (ROOT / "tests" / "golden").iterdir() if path.is_dir()}
    assert set(METHODS) == folders == tests == golden
    for name, method in METHODS.items():
        assert method.__name__ == f"sqlanon.methods.{name}"
        assert name == method.NAME and method.PAPER and method.STEPS


@pytest.mark.parametrize("name", METHODS)
def test_the_steps_of_a_method_are_templates_or_stand_for_some(name):
    own = {path.name.removesuffix(".sql.j2") for path in (template_root() / name).glob("*.sql.j2")}
    assert own <= set(METHODS[name].STEPS), "a template that no step names"
