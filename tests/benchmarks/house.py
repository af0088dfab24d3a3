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
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "sqlanon"
LONG_FUNCTION = 40
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
    starts(asked.runs)
