"""Print how large the house is and how fast its door opens: sizes of modules, comments, start times as ratios.

    python tests/benchmarks/house.py [--runs 7]

Start times are processor time, user and system, of a process and its children, as ratios of what cannot be avoided:
medians of several runs taken in turn, so that a busy machine slows both sides of a ratio.
"""

import argparse
import ast
import io
import math
import re
import resource
import statistics
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "sqlanon"
LONG_FUNCTION = 40
LISTED = 5  # modules of one folder that another imports as a list of what there is
# as they were when the house was measured first, at 4ce5c04: what is counted beside it now
BEFORE = {
    "modules": 444,
    "lines of code": 26388,
    "templates": 660,
    "golden lines": 50816,
    "imported once": 149,
    "bare participles": "11.4%",
}
# names that say nothing of what they hold
BARE = frozenset(
    {
        "one",
        "found",
        "asked",
        "given",
        "told",
        "held",
        "known",
        "met",
        "said",
        "own",
        "kept",
        "left",
        "taken",
        "made",
        "seen",
        "read",
        "shown",
        "named",
        "meant",
        "wanted",
        "needed",
        "gone",
        "stood",
        "put",
        "lot",
        "chosen",
        "counted",
    }
)
TOOLS = re.compile(r"#\s*(noqa|type:|fmt:|pragma:)")
STARTS = (
    ("sqlanon --version", ("-m", "sqlanon", "--version"), ("-c", "import typer, rich.console")),
    ("sqlanon --help", ("-m", "sqlanon", "--help"), ("-c", "import typer, rich.console")),
    ("import sqlanon", ("-c", "import sqlanon"), ("-c", "import duckdb")),
)


def functions(tree: ast.AST) -> list[tuple[int, str]]:
    """Return the lines of each function, decorators left out, and its name."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [
        ((node.end_lineno or node.lineno) - node.lineno + 1, node.name)
        for node in ast.walk(tree)
        if isinstance(node, kinds)
    ]


def comments(text: str) -> int:
    """Count the lines that bear a comment for a reader, not for a tool."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT and not TOOLS.match(token.string) for token in tokens)


def percentile(values: list[int], share: float) -> int:
    """Return the smallest value that at least `share` of the values do not exceed."""
    return sorted(values)[math.ceil(len(values) * share) - 1]


def seconds(words: tuple[str, ...]) -> float:
    """Return the processor time of one run of Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sizes() -> None:
    """Print what the files of the package hold."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    folders = Counter(path.parent for path in texts)
    folder, most = folders.most_common(1)[0]
    print(f"modules             {len(texts)} in {len(folders)} folders, {most} in the largest, {name_of(folder)}")
    lines = {path: len(text.splitlines()) for path, text in texts.items()}
    largest = max(lines, key=lines.__getitem__)
    p90 = percentile(list(lines.values()), 0.9)
    print(f"lines of a module   p90 {p90}, largest {lines[largest]}, {name_of(largest)}")
    found = [
        (size, f"{name_of(path)} {name}") for path, text in texts.items() for size, name in functions(ast.parse(text))
    ]
    size, name = max(found)
    above = sum(size > LONG_FUNCTION for size, _ in found)
    print(f"lines of a function largest {size}, {name}; {above} of {len(found)} above {LONG_FUNCTION}")
    written = sum(bool(line.strip()) for text in texts.values() for line in text.splitlines())
    said = sum(comments(text) for text in texts.values())
    print(f"comments            {said} on {written} lines that are not blank: {100 * said / written:.1f} per 100")
    print(f"lines of sqlanon/   {sum(lines.values())}")


def code_lines(text: str) -> int:
    """Count the lines that are neither blank, nor comment, docstring or import."""
    tree = ast.parse(text)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif documented and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            left_out |= set(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(
        number not in left_out and bool(line.strip()) and not line.lstrip().startswith("#") for number, line in lines
    )


def bindings(tree: ast.AST) -> Iterator[str]:
    """Yield every name that a module gives to a value: arguments, variables, what loops and comprehensions count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def importers(texts: Mapping[Path, str]) -> Counter[str]:
    """Count the modules that import each module."""
    counts: Counter[str] = Counter()
    for text in texts.values():
        names: set[str] = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        counts.update(names)
    return counts


def listed(texts: Mapping[Path, str], modules: set[str]) -> set[str]:
    """Return the modules that stand in a list: one module imports at least LISTED of their folder, each as a whole."""
    in_lists: set[str] = set()
    for text in texts.values():
        names = {
            f"{node.module}.{alias.name}"
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        folders = Counter(name.rpartition(".")[0] for name in names & modules)
        in_lists |= {name for name in names & modules if folders[name.rpartition(".")[0]] >= LISTED}
    return in_lists


def rooms() -> None:
    """Print how easily the house is held: what is read, what is imported once, what names say."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    print(f"lines of code       {sum(map(code_lines, texts.values()))} without docstrings and imports")
    print(f"templates           {len(list((ROOT / 'sql_templates').rglob('*.j2')))}")
    golden = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "golden").rglob("*.sql")]
    print(f"golden lines        {sum(text.count(chr(10)) for text in golden)} in {len(golden)} files")
    counts = importers(texts)
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in texts if path.name != "__init__.py"]
    once = {module for module in modules if counts[module] == 1}
    of_lists = len(once & listed(texts, set(modules)))
    print(f"imported once       {len(once)} of {len(modules)} modules, {of_lists} of them in a list of their kind")
    names = Counter(name for text in texts.values() for name in bindings(ast.parse(text)))
    bare = {name: names[name] for name in BARE if names[name]}
    share = sum(bare.values()) / names.total()
    most = ", ".join(f"{name} {count}" for name, count in Counter(bare).most_common(6))
    print(f"bare participles    {share:.1%} of {names.total()} bindings: {most}")
    now = {
        "modules": len(texts),
        "lines of code": sum(map(code_lines, texts.values())),
        "templates": len(list((ROOT / "sql_templates").rglob("*.j2"))),
        "golden lines": sum(text.count(chr(10)) for text in golden),
        "imported once": len(once),
        "bare participles": f"{share:.1%}",
    }
    print(f"{'':19} {'before':>8} {'now':>8}")
    for name, value in now.items():
        print(f"{name:19} {BEFORE[name]:>8} {value:>8}")
    for name, read, touched in walks():
        print(f"{name}: {len(read)} files to read, {len(touched)} to touch")


def walks() -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield what may be added, with the files to read and to touch for it, as CONTRIBUTING lists them."""
    for line in (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines():
        cells = line.strip("| ").split(" | ")
        if len(cells) == 3 and "`" in cells[1]:
            yield cells[0], *(re.findall(r"`([^`]+)`", cell) for cell in cells[1:])


def name_of(path: Path) -> str:
    """Return a path as it is known in the project."""
    return path.relative_to(ROOT).as_posix()


def starts(runs: int) -> None:
    """Print what a start costs, as a ratio of what it cannot do without."""
    for words in {words for _, *pair in STARTS for words in pair}:
        seconds(words)  # the first run compiles
    for name, ours, bare in STARTS:
        pairs = [(seconds(ours), seconds(bare)) for _ in range(runs)]
        ratio = statistics.median(one / other for one, other in pairs)
        here, there = (statistics.median(values) for values in zip(*pairs, strict=True))
        print(f"{name:19} {ratio:.2f} times {bare[1]!r} ({here:.2f} s against {there:.2f} s of processor time)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    asked = parser.parse_args()
    sizes()
    rooms()
    starts(asked.runs)
