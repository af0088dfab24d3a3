"""README and the guides as their reader meets them: text, blocks, commands and what these are shown to print."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlanon.cli.verbs.guide import topics
from tests.conftest import ROOT

README = ROOT / "README.md"
GUIDES = topics()
DOCUMENTS = {"README": README, **GUIDES}
CUT = "…"  # a line of its own in an output: lines that are left out

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n?", re.MULTILINE)


def text_of(name: str) -> str:
    """Return a document's text."""
    return DOCUMENTS[name].read_text(encoding="utf-8")


def prose(name: str) -> list[str]:
    """Return a document's lines outside its blocks of code and its tables."""
    lines = BLOCK.sub("", text_of(name)).splitlines()
    return [line for line in lines if not line.startswith("|")]


@dataclass(frozen=True)
class Block:
    """A block of code: its language, its text, and where the text begins in the document."""

    language: str
    text: str
    start: int


@dataclass(frozen=True)
class Command:
    """A command of a console block, as one line, and the output shown below it (from start to end)."""

    line: str
    shown: str
    start: int
    end: int


def blocks(name: str, language: str = "") -> list[Block]:
    """Return a document's blocks in order, those of one language if it is given."""
    found = [Block(match[1], match[2], match.start(2)) for match in BLOCK.finditer(text_of(name))]
    return [block for block in found if language in ("", block.language)]


def commands(block: Block) -> Iterator[Command]:
    """Yield the commands of a console block; each begins with `$` and may go on after a backslash."""
    found = list(COMMAND.finditer(block.text))
    ends = [match.start() for match in found[1:]] + [len(block.text)]
    for match, end in zip(found, ends, strict=True):
        line = re.sub(r"\\\n\s*", "", match[1])
        yield Command(line, block.text[match.end() : end], block.start + match.end(), block.start + end)


def shape(text: str) -> list[str]:
    """Return the lines of an output with numbers, hashes and padding made alike: draws differ from run to run."""
    text = re.sub(r"\b[0-9a-f]{8}…", "#", text)
    text = re.sub(r"\d[\d,]*(\.\d+)?(e-\d+)?", "#", text)
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def agrees(printed: str, shown: str) -> bool:
    """Return whether an output has the shape that is shown, save for the lines that are left out."""
    had, wanted = shape(printed), shape(shown)
    if CUT not in wanted:
        return had == wanted
    cut = wanted.index(CUT)
    after = len(wanted) - cut - 1
    return len(had) > cut + after and had[:cut] == wanted[:cut] and had[len(had) - after :] == wanted[cut + 1 :]


def anew(printed: str, shown: str) -> str:
    """Return a new output as it is to be shown: as many lines as before at each end of those left out."""
    lines, before = printed.strip("\n").splitlines(), shown.splitlines()
    if CUT in before:
        cut = before.index(CUT)
        after = len(before) - cut - 1
        lines = [*lines[:cut], CUT, *lines[len(lines) - after :]]
    return "".join(f"{line}\n" for line in lines)


def rewrite(name: str, outputs: dict[tuple[int, int], str]) -> None:
    """Put other outputs in the places of those shown."""
    text = text_of(name)
    for (start, end), output in sorted(outputs.items(), reverse=True):
        text = text[:start] + output + text[end:]
    DOCUMENTS[name].write_text(text, encoding="utf-8")
