"""Tables of pairs that are kept as text: what is asked, and indented below it what is said of it."""

from pathlib import Path

FOLDER = Path(__file__).with_name("fixtures")


def read_pairs(name: str) -> dict[str, str]:
    """Return a table by what is asked, with what is said, empty where nothing is; lines with # are for readers."""
    pairs: dict[str, str] = {}
    last = ""
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            pairs[last] = line.strip()
        elif line and not line.startswith("#"):
            last = line
            pairs[last] = ""
    assert pairs
    return pairs
