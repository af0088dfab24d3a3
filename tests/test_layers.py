"""Imports point one way, each library has one door, and a method has one name in four places."""

import ast
import functools
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import sqlanon
from sqlanon.forms import FORMS
from sqlanon.forms import MODULES as FORM_NAMES
from sqlanon.methods import METHODS
from sqlanon.plans.templates import template_names
from tests.benchmarks.house import BARE, bindings, walks
from tests.facts import each

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "sqlanon"

# a package imports from the packages above it, and a module inside a package from any of its own that makes no circle
LAYERS = (
    {"wording", "version"},
    {"errors"},
    {"bounded_files"},
    {"key", "atomic_files", "read_places", "interruption"},
    {"plain_values", "near_texts", "ordered_types"},
    {"plans", "estimators", "html_tables", "text_tables"},
    {"prose"},
    {"sql", "charts"},
    {"engines", "methods"},
    {"estimation", "breaches"},
    {"verification", "risks", "completion"},
    {"adversary"},
    {"forms"},
    {"releases"},
    {"ledgers"},
    {"attacks"},
    {"publishing"},  # a release may be attacked before it appears
    {"comparison"},
    {"reports"},
    {"api"},
    {"__init__"},
    {"page"},
    {"cli"},
    {"__main__"},
)
DOORS = {
    "duckdb": {"engines.duckdb"},
    "pyspark": {"engines.spark"},
    "psycopg": {"engines.postgres"},
    "jinja2": {"plans.templates", "prose"},
    "markupsafe": {"plans.templates", "prose"},
    "sqlglot": {"sql", "estimation.failures"},
    "typer": {"cli"},
    "altair": {"charts"},
    "vl_convert": {"charts"},
    "yaml": {"publishing.job_file"},
    "nicegui": {"page"},
    "fastapi": {"page"},
    "uvicorn": {"page"},
}
LARGEST_FOLDER = 20
MOST_POSITIONAL = 6  # arguments of a call
MOST_BARE = 0.02  # of the names that are bound
# words that meant several things each; their meanings have names of their own
PRIVATE_WORDS = frozenset({"carried", "told", "outlook", "met", "lot", "settle", "settles"})
TEMPLATES = frozenset(template_names())
OF_THE_WHOLE = {"test_build", "test_layers", "test_golden", "test_digests", "test_readme", "test_readme_schedulers"}
OF_THE_WHOLE |= {"test_cases", "test_docstrings", "test_site"}

MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


COMPUTED = "a module whose name is computed"


class Imports(ast.NodeVisitor):
    """Collect what a module imports, in functions and for annotations as well, and what it loads by its name."""

    def __init__(self, annotations: bool = True) -> None:
        self.names: set[str] = set()
        self.annotations = annotations

    def visit_If(self, node: ast.If) -> None:
        if self.annotations or not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self.names |= {alias.name for alias in node.names}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        assert node.level == 0, "imports name the whole path"
        self.names |= {f"{node.module}.{alias.name}" for alias in node.names}

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "import_module":
            (name,) = node.args
            self.names.add(name.value if isinstance(name, ast.Constant) else COMPUTED)


@functools.cache
def parse(path: Path) -> ast.Module:
    """Return a module's tree, which several tests walk."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imported(module: str, annotations: bool = True) -> set[str]:
    visitor = Imports(annotations)
    visitor.visit(parse(MODULES[module]))
    return visitor.names


@functools.cache
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
    assert places, f"sqlanon/{top} has no place in LAYERS: say which packages it may import"
    return places[0]


@each(MODULES)
def test_imports_point_one_way(module):
    for other in own_modules(module):
        inside = module.partition(".")[0] == other.partition(".")[0]
        assert inside or layer(other) < layer(module), f"{module} imports {other}"


# the same words for other things: a method's name, a line of a summary, a query
HOMONYMS = {
    ("methods", "uncertain"),
    ("methods.splu.plan", "randomized"),
    ("releases.companions.registry", "uncertain"),
}


def names_of_forms(tree: ast.AST) -> set[str]:
    """Return the forms that a module compares with, or chooses by; `form` where it looks up by what a method names."""
    texts: list[ast.AST] = []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            texts += [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            texts += [key for key in node.keys if key]
        elif isinstance(node, ast.MatchValue):
            texts.append(node.value)
        elif isinstance(node, ast.Subscript):
            texts.append(node.slice)
            found |= {"form"} if isinstance(node.slice, ast.Attribute) and node.slice.attr == "form" else set()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
            texts += node.args[:1]
    lists = [item.elts for item in texts if isinstance(item, ast.Tuple | ast.List | ast.Set)]
    constants = [item for item in [*texts, *(one for some in lists for one in some)] if isinstance(item, ast.Constant)]
    return found | {text for item in constants for text in FORM_NAMES if item.value in (text, f"several_{text}")}


@each(module for module in MODULES if not f"{module}.".startswith("forms."))
def test_nothing_outside_its_folder_asks_what_a_form_is_called(module):
    named = names_of_forms(parse(MODULES[module]))
    assert {name for name in named if (module, name) not in HOMONYMS} == set(), "ask the form's object instead"


def test_a_form_is_one_folder():
    folders = {path.name for path in (PACKAGE / "forms").iterdir() if (path / "__init__.py").is_file()}
    assert folders == set(FORM_NAMES) == {form.name for form in FORMS.values()}
    code = "x = {'qit_st': 1}\nif form == 'randomized' or form in ('uncertain',): y = TABLE[method.form]"
    assert names_of_forms(ast.parse(code)) == {"qit_st", "randomized", "uncertain", "form"}


def test_only_a_package_loads_modules_by_computed_names():
    # a package's own, which it lists: elsewhere such a call would hide an arrow
    loading = {module for module in MODULES if COMPUTED in imported(module)}
    assert loading == {"__init__", "methods", "estimators", "forms"}


def test_names_say_what_they_hold():
    names = [name for path in MODULES.values() for name in bindings(parse(path))]
    bare = Counter(name for name in names if name in BARE)
    assert bare.total() <= MOST_BARE * len(names), f"participles and pronouns in the place of nouns: {bare}"


def words_of(name: str) -> set[str]:
    """Return the words of a name, in lower case."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def test_private_words_stay_gone():
    trees = [parse(path) for path in MODULES.values()]
    defined = [
        node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    names = {*defined, *(name for tree in trees for name in bindings(tree)), *TEMPLATES}
    private = {name for name in names if words_of(name) & PRIVATE_WORDS}
    assert not private, f"{private}: say it in the field's English; sqlanon/plans/__init__.py lists the project's words"


def crowded_calls(tree: ast.AST) -> list[str]:
    """Return the calls that hand over more than MOST_POSITIONAL arguments without names."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in calls if len(call.args) > MOST_POSITIONAL]


@each(MODULES)
def test_arguments_have_names(module):
    assert crowded_calls(parse(MODULES[module])) == [], "name what is handed over"


def test_crowded_calls_are_seen():
    code = "f(1, 2, 3, 4, 5, 6)\nx = [g(1, 2, 3, 4, 5, *six, 7)]"
    assert crowded_calls(ast.parse(code)) == ["g(1, 2, 3, 4, 5, *six, 7)"]


def test_no_circle():
    waiting = {module: own_modules(module) - {module} for module in MODULES}
    while waiting:
        ready = {module for module, needs in waiting.items() if not needs & set(waiting)}
        assert ready, f"a circle among {sorted(waiting)}"
        waiting = {module: needs for module, needs in waiting.items() if module not in ready}


@each(MODULES)
def test_each_library_has_one_door(module):
    libraries = {name.partition(".")[0] for name in imported(module, annotations=False)}
    for library in libraries & set(DOORS):
        inside = any(f"{module}.".startswith(f"{door}.") for door in DOORS[library])
        assert inside, f"{module} imports {library}"


def test_no_folder_is_crowded():
    folders = {path.parent for path in MODULES.values()}
    assert max(len(list(folder.glob("*.py"))) for folder in folders) <= LARGEST_FOLDER


def test_layers_name_only_what_is_there():
    assert set().union(*LAYERS) == {module.partition(".")[0] for module in MODULES}


def imported_by(*words: str) -> set[str]:
    """Return every module that Python imports in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-X", "importtime", *words], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {line.rpartition("|")[2].strip() for line in run.stderr.splitlines() if line.startswith("import time:")}


EXTRAS = {"pyspark", "psycopg", "altair", "vl_convert", "chdb", "nicegui", "fastapi", "uvicorn", "playwright"}
LARGE = {"pandas", "numpy", "scipy", "sqlglot"}


def test_importing_the_package_imports_no_extra():
    found = imported_by("-c", "import sqlanon")
    assert "sqlanon" in found
    assert not found & (EXTRAS | {"typer", "scipy.stats"})


def test_importing_the_package_imports_nothing_large():
    found = imported_by("-c", "import sqlanon; sqlanon.anatomy, sqlanon.open, sqlanon.Release")
    assert "sqlanon.methods.anatomy" in found
    assert not found & LARGE


def test_publishing_imports_nothing_large():
    found = imported_by("-c", "import sqlanon.publishing.publish, sqlanon.cli.display, sqlanon.engines.duckdb.engine")
    assert "sqlanon.engines.duckdb.engine" in found
    assert not found & LARGE


def test_a_count_is_answered_without_a_frame(con, tmp_path):
    con.execute("create table t as select i as ssn, i % 40 as age, 'd' || i % 5 as disease from range(200) r(i)")
    sqlanon.anatomy(con, "t", quasi="age", sensitive="disease", id="ssn", l=3, out=tmp_path / "ward")
    asked = ("SELECT COUNT(*) FROM release WHERE age > 9 AND disease = 'd1'", "--estimator", "shrinkage")
    found = imported_by("-m", "sqlanon", "estimate", str(tmp_path / "ward"), *asked)
    assert {"numpy", "sqlglot"} <= found
    assert not found & {"pandas", "scipy", "pyarrow", "altair"}
    assert "sqlanon.methods.qit_st" in found  # what made it reads this, and no other method is loaded
    assert not {f"sqlanon.methods.{name}" for name in ("robust", "splu", "mondrian", "uncertain")} & found
    attacked = imported_by("-m", "sqlanon", "attack", str(tmp_path / "ward"))
    # the model of completed tables, which attacks fit as well, reads frames
    assert "sqlanon.attacks.attack_release" in attacked and not attacked & {"scipy.stats", "altair"}


def test_the_version_is_said_without_a_verb_or_a_database():
    found = imported_by("-m", "sqlanon", "--version")
    assert "sqlanon.version" in found
    assert not found & (LARGE | {"duckdb", "_duckdb", "typer", "sqlanon.cli"})
    helped = imported_by("-m", "sqlanon", "--help")
    assert "sqlanon.cli" in helped and not helped & (LARGE | {"duckdb", "_duckdb"})


TESTS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py"))


def on_top(path: Path) -> set[str]:
    """Return what a file imports as soon as it is imported: whatever stands outside functions."""
    visitor = Imports(annotations=False)
    waiting: list[ast.AST] = [parse(path)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            visitor.visit(node)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return visitor.names


def optional() -> set[str]:
    """Return the libraries that `pip install '.[test]'` leaves out, as pyproject.toml names them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    first = re.compile(r"[A-Za-z0-9_.-]+")
    named = {extra: {first.match(line)[0].replace("-", "_") for line in lines} for extra, lines in extras.items()}
    own = [line for line in extras["test"] if line.startswith("sqlanon[")]  # an extra may take in others
    there = named["test"].union(*(named[extra] for line in own for extra in line[8:-1].split(",")))
    there |= {first.match(line)[0] for line in project["dependencies"]}
    return (EXTRAS | set().union(*named.values())) - there - {"sqlanon"}


@each([name for name in TESTS if not name.startswith("tests/benchmarks/")])
def test_tests_are_collected_without_extras(test):
    left_out, doors = optional(), doors_of_extras()
    for name in on_top(ROOT / test):
        parts = name.split(".")
        prefixes = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
        assert not prefixes & (left_out | doors), f"{test} imports {name} at its top: import it in a fixture or a test"


@functools.cache
def doors_of_extras() -> set[str]:
    return {f"sqlanon.{module}" for module, path in MODULES.items() if module_needs(path, optional())}


def module_needs(path: Path, libraries: set[str]) -> bool:
    return any(name.partition(".")[0] in libraries for name in on_top(path))


def test_extras_are_told_from_what_tests_need():
    assert {"pyspark", "psycopg"} <= optional()
    assert not {"pytest", "hypothesis", "pyarrow", "duckdb", "pandas", "altair"} & optional()
    assert module_needs(MODULES["engines.postgres.connection"], optional())


@each([name for name in TESTS if Path(name).name.startswith("test_")])
def test_a_test_has_the_name_of_what_it_tests(test):
    """`test_<module>.py` or `test_<module>_<aspect>.py` in the module's folder; a method's tests, a package's."""
    path = Path(test).relative_to("tests")
    if path.parts[0] == "oracles" or (len(path.parts) == 1 and path.stem in OF_THE_WHOLE):
        return
    module = ".".join([*path.parts[:-1], path.stem.removeprefix("test_")])
    assert any(module == name or module.startswith(f"{name}_") for name in MODULES), f"no module {module}"


def owner(template: str) -> str:
    """Return the module or package whose path the template's folder is."""
    return template.rpartition("/")[0].replace("/", ".")


@functools.cache
def named_templates(module: str) -> set[str]:
    texts = {node.value for node in ast.walk(parse(MODULES[module])) if isinstance(node, ast.Constant)}
    return texts & TEMPLATES


OF_TESTS = {"shared/uncertain_workload"}


@each(name for name in TEMPLATES if name not in OF_TESTS)
def test_a_template_is_named_whole_where_it_is_read(template):
    assert any(template in named_templates(module) for module in MODULES), "grep finds no reader of it"


@each(name for name in TEMPLATES if not name.startswith("shared/"))
def test_a_template_lies_in_the_folder_of_what_renders_it(template):
    assert owner(template) in MODULES, "a folder of templates is the path of a module or a package"


@each(MODULES)
def test_templates_of_others_are_rendered_by_whoever_imports_the_owner(module):
    top = module.partition(".")[0]
    near = [other for other in own_modules(module) if other.partition(".")[0] == top]  # whose classes it may inherit
    known = own_modules(module).union(*map(own_modules, near))
    for template in named_templates(module):
        place = owner(template)
        own = place.partition(".")[0] in ("shared", top)
        assert own or any(other == place or other.startswith(f"{place}.") for other in known), template


def test_one_name_in_three_places():
    tests = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "methods").glob("test_*.py")}
    golden = {path.name for path in (ROOT / "tests" / "golden").iterdir() if path.is_dir()}
    assert (
        set(METHODS)
        == tests - {"base", "grouping", "packing", "uniqueness", "republication", "several_columns"}
        == golden
    )


def test_contributing_lists_files_that_are_there():
    listed = {name: [*read, *touched] for name, read, touched in walks()}
    assert {"a method with its own form", "an engine", "a statistic"} <= set(listed)
    assert all((ROOT / path).is_file() for paths in listed.values() for path in paths)


def test_the_build_runs_what_the_readme_says():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (pip install .*)$", readme, re.MULTILINE)
    assert len(commands) == 2
    build = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    lines = [line for line in build if line.startswith("in_new_environment ") and line.endswith('"')][:2]
    assert [line.split(maxsplit=2)[2] for line in lines] == [f'"{command}"' for command in commands]
