"""Make the site: README and the guides beside the code, the worked cases, and a reference read off the declarations.

    python .ci/site/build.py FOLDER

Nothing is copied by hand: the pages are what `sqlanon guide` shows, verbs and options come from the command line's own
objects, functions from the package. A link that leads nowhere fails the build; no page fetches anything.
"""

import inspect
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))  # the package beside these guides, whatever is installed: they link to its files

import sqlanon  # noqa: E402
from sqlanon.cli import app  # noqa: E402
from sqlanon.cli.verbs.guide import MOVED, topics  # noqa: E402
from sqlanon.methods import METHODS  # noqa: E402

# a guide that stands nowhere here is a how-to
BEGIN = ("cases/first_release", "guides/changelog", "contributing")
WHY = (*(f"guides/{method}" for method in METHODS), "figures")
REFERENCE = ("reference/verbs", "reference/functions")
# what somebody does first stands first, as in README's table
FIRST = ("check", "publish", "attack", "verify", "estimate")

FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
NAMED_GUIDE = re.compile(r"(?<!\[)`sqlanon guide ([a-z-]+)`")


def pages() -> dict[Path, str]:
    """Return every text that becomes a page, with the page's name."""
    texts = {
        ROOT / "README.md": "index",
        ROOT / ".github" / "CONTRIBUTING.md": "contributing",
        ROOT / ".github" / "SECURITY.md": "reporting",
        ROOT / "tests" / "benchmarks" / "README.md": "figures",
    }
    cases = sorted((ROOT / "fixtures" / "cases").glob("*.ipynb"))
    return (
        texts
        | {path: f"guides/{topic}" for topic, path in topics().items()}
        | {path: f"cases/{path.stem}" for path in cases}
    )


def put_pages(folder: Path) -> None:
    """Write what Sphinx reads into an empty folder."""
    named = pages()
    for path, page in named.items():
        target = folder / f"{page}{path.suffix}"
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".ipynb":
            shutil.copy(path, target)
        else:
            target.write_text(linked(path, page, named, folder), encoding="utf-8")
    reference = folder / "reference"
    reference.mkdir()
    (reference / "verbs.md").write_text("\n".join(verbs()), encoding="utf-8")
    (reference / "functions.rst").write_text("\n".join(functions()), encoding="utf-8")
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.write("\n".join(navigation(list(named.values()))))


def linked(path: Path, page: str, named: dict[Path, str], folder: Path) -> str:
    """Return a text whose links lead to pages; what has no page stays as words, and pictures come along."""
    up = "../" * page.count("/")

    def lead(match: re.Match[str]) -> str:
        picture, words, target, anchor = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        place = (path.parent / target).resolve()
        if picture:
            shutil.copy(place, folder / Path(page).parent / place.name)
            return f"![{words}]({place.name})"
        if place in named:
            return f"[{words}]({up}{named[place]}.md{anchor or ''})"
        if not place.exists():
            raise SystemExit(f"{path}: no file {target}")
        return words

    def name(match: re.Match[str]) -> str:
        known = topics().get(MOVED.get(match[1], match[1]))
        return f"[{match[0]}]({up}{named[known]}.md)" if known else match[0]

    parts = FENCE.split(path.read_text(encoding="utf-8"))
    parts[::2] = [NAMED_GUIDE.sub(name, LINK.sub(lead, part)) for part in parts[::2]]
    return "".join(parts)


def navigation(names: list[str]) -> Iterator[str]:
    """Yield the four parts of the site, as trees of contents below the first page."""
    placed = {*BEGIN, *WHY, *REFERENCE, "index", "reporting"}
    how = [f"guides/{topic}" for topic in FIRST]
    how += sorted(name for name in names if name not in {*placed, *how})
    known = {*names, "reference/verbs", "reference/functions"}
    for caption, listed in (
        ("Begin", ("index", *BEGIN)),
        ("How to", how),
        ("Why it holds", (*WHY, "reporting")),
        ("Reference", REFERENCE),
    ):
        yield "\n```{toctree}\n:hidden:\n:caption: " + caption + "\n"
        yield from ("self" if name == "index" else name for name in listed if name in known)
        yield "```\n"


def verbs() -> Iterator[str]:
    """Yield the page of all verbs and their options, from the objects that the command line runs."""
    yield "# Verbs\n\nWhat `sqlanon VERB --help` prints, in one place.\n"
    yield from commands(typer.main.get_command(app), "sqlanon", None, 2)


def commands(group: Any, name: str, parent: Any, level: int) -> Iterator[str]:
    """Yield a section for every command below a group."""
    context = typer.Context(group, parent=parent, info_name=name)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        if command is None or command.hidden:
            continue
        yield f"{'#' * level} {name} {word}\n\n{command.help}\n"
        if hasattr(command, "list_commands"):
            yield from commands(command, f"{name} {word}", context, level + 1)
            continue
        own = typer.Context(command, parent=context, info_name=word)
        yield f"```text\n{command.get_usage(own).removeprefix('Usage: ')}\n```\n"
        records = [parameter.get_help_record(own) for parameter in command.get_params(own)]
        yield "| option | what it says |\n|---|---|"
        yield from (f"| `{cell(left)}` | {cell(escaped(right))} |" for left, right in filter(None, records))
        yield f"\n{command.epilog}\n" if command.epilog else ""


def cell(words: str) -> str:
    """Return words for a table's cell."""
    return " ".join(words.replace("|", "\\|").split())


def escaped(words: str) -> str:
    """Return words in which nothing is taken for Markdown."""
    return re.sub(r"([*_<>`\[\]])", r"\\\1", words)


def functions() -> Iterator[str]:
    """Yield the page of all public names, for autodoc."""
    yield "Functions and classes\n=====================\n\n.. currentmodule:: sqlanon\n"
    for heading, kind, options in (
        ("Functions", "autofunction", ""),
        ("Classes", "autoclass", "   :members:\n"),
        ("Errors and warnings", "autoexception", ""),
    ):
        yield f"{heading}\n{'-' * len(heading)}\n"
        yield from (f".. {kind}:: sqlanon.{name}\n{options}" for name in sqlanon.__all__ if kind_of(name) == kind)


def kind_of(name: str) -> str:
    """Return the directive that documents a public name; empty for what is neither function nor class."""
    value = getattr(sqlanon, name)
    if inspect.isfunction(value):
        return "autofunction"
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, Exception) else "autoclass"
    return ""


def build(target: Path) -> int:
    """Make the site in a folder; return Sphinx's exit code, which is not 0 where anything is warned of."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.mkdir()
        put_pages(source)
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", HERE]
        command += ["-d", Path(folder) / "trees", source, target]
        return subprocess.run(command, check=False, cwd=ROOT).returncode


if __name__ == "__main__":
    raise SystemExit(build(Path(sys.argv[1]).resolve()))
