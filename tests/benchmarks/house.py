"""Print how large the house is and how fast its door opens: code, tokens, SQL, tests, and start times as ratios.

    python -m tests.benchmarks.house [--runs 7]

A line of code has a token that is no comment, docstring or import. Start times are processor time, user and system, of
a process and its children, as ratios of what cannot be avoided: medians of several runs taken in turn, so that a busy
machine slows both sides of a ratio.
"""

import argparse
import ast
import re
import resource
import statistics
import subprocess
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
STARTS = (
    ("sqlanon --version", ("-m", "sqlanon", "--version"), ("-c", "import typer, rich.console")),
    ("sqlanon --help", ("-m", "sqlanon", "--help"), ("-c", "import typer, rich.console")),
    ("import sqlanon", ("-c", "import sqlanon"), ("-c", "import duckdb")),
)


def is_left_out(node: ast.AST) -> bool:
    """Tell whether a node is an import, or text that stands alone, as docstrings do."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return is_text or isinstance(node, ast.Import | ast.ImportFrom)


def weigh(path: Path) -> tuple[int, int]:
    """Return a module's lines of code and its tokens."""
    nodes = filter(is_left_out, ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    left_out = {line for node in nodes for line in range(node.lineno, node.end_lineno + 1)}
    with path.open("rb") as file:
        tokens = [
            token
            for token in tokenize.tokenize(file.readline)
            if token.type not in LAYOUT and token.start[0] not in left_out and token.start[0] > 0
        ]
    return len({line for token in tokens for line in range(token.start[0], token.end[0] + 1)}), len(tokens)


def code_of_sql(path: Path) -> int:
    """Return a template's lines, without comments."""
    text = re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return sum(bool(line.strip()) and not line.lstrip().startswith("--") for line in text.splitlines())


def sizes() -> None:
    """Print what the house is made of."""
    modules = [weigh(path) for path in (ROOT / "sqlanon").rglob("*.py")]
    tests = [weigh(path) for path in (ROOT / "tests").rglob("*.py")]
    templates = [code_of_sql(path) for path in (ROOT / "sql_templates").rglob("*.j2")]
    golden = [path.read_text(encoding="utf-8").count("\n") for path in (ROOT / "tests" / "golden").rglob("*.sql")]
    lines, tokens = zip(*modules, strict=True)
    print(f"Python          {sum(lines)} lines of code, {sum(tokens)} tokens")
    print(f"modules         {len(modules)}, median {statistics.median(lines):.0f} lines, largest {max(lines)}")
    print(f"SQL templates   {len(templates)}, {sum(templates)} lines")
    test_lines, test_tokens = map(sum, zip(*tests, strict=True))
    print(f"tests           {test_lines} lines of code, {test_tokens} tokens")
    print(f"golden SQL      {sum(golden)} lines in {len(golden)} files")


def seconds(words: tuple[str, ...]) -> float:
    """Return the processor time of one run of Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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
