"""What the summaries of several forms say of a release, in words, read off the manifest alone."""

from collections.abc import Mapping
from typing import Any

from sqlanon.plain_values import plain, words
from sqlanon.wording import advice, option

Manifest = Mapping[str, Any]
NOTABLE_LOSS = 0.05  # of the rows: from which share on the promise has to say what it is not about
UNCHECKED = "; this is per row, for whether a person has several was not looked at" + advice(
    f" (say {option('id')}, and it is)"
)


def name_tables(manifest: Manifest) -> str:
    """Say what a promise is about: these tables, or all releases of their ledger."""
    number = manifest["parameters"].get("release")
    return "these tables alone" if number is None else f"this release ({number}) and all others of its ledger together"


def tell_presence(manifest: Manifest) -> str:
    """Say that who is in the table is not hidden, and why."""
    coarser = words(list(manifest["parameters"].get("coarsen", {})))
    return f"that nobody learns who is in the table (quasi values are exact{coarser and f', but {coarser}, coarser'})"


def name_together(manifest: Manifest) -> str:
    """Begin a promise that is about all releases of a ledger."""
    return f"from {name_tables(manifest)}, " if "release" in manifest["parameters"] else ""


def name_second(manifest: Manifest) -> str:
    """Say what further release may tell more."""
    if "release" not in manifest["parameters"]:
        return "a second release of these people"
    words = "a release of these people that is not of its ledger, or knows that values decide who leaves"
    return words + WAITED.get(manifest["parameters"].get("waiting", "alone"), "")


# what is not promised to those who came new and were not shown at once
WAITED = {
    "alone": ", or knows who waited to be shown, for who did most likely has a value frequent among those who came",
    "together": ", or knows how values are distributed among those who wait (how many came decides who waits)",
}


def tell_agreement(verified: Mapping[str, Any], check: str) -> str:
    """Say whether a check with the source was run."""
    return ", agreement with the source" if check in verified else ""


def name_method(manifest: Manifest, parameters: Mapping[str, Any]) -> str:
    """Say how it was made."""
    # how many rows a person has stands in the promise, which is about rows
    plain_parameters = {name: value for name, value in parameters.items() if name != "rows_per_person"}
    return f"{manifest['method']}, {words(plain(plain_parameters))}"


def count_dropped(manifest: Manifest) -> str:
    """Say how many rows were left out, and which share of the source's that is."""
    dropped = manifest["dropped_rows"]
    return f"{dropped:,} ({share_lost(manifest):.2%})" if dropped else "0"


def share_lost(manifest: Manifest) -> float:
    """Return the share of the source's rows that were left out."""
    rows, dropped = int(manifest["rows"]), int(manifest["dropped_rows"])
    return dropped / max(1, rows + dropped)


def tell_limits(manifest: Manifest) -> str:
    """Say what a promise leaves open: whose rows they are, and the people whose rows are not there."""
    persons = manifest["parameters"].get("rows_per_person")
    loss = share_lost(manifest)
    missing = f"; {loss:.1%} of the rows are left out, and who knows who was in the table sees whose"
    return (
        (UNCHECKED if persons == "unchecked" else "")
        + ("; this is per row, and some persons have several" if persons == "many" else "")
        + (missing if loss > NOTABLE_LOSS else "")
    )


def count_published(manifest: Manifest, where: str) -> str:
    """Say how many rows and groups there are."""
    verified = manifest["verified"]
    sizes = " to ".join(map(str, sorted({verified["smallest_group"], verified["largest_group"]})))
    return f"{manifest['rows']:,} rows in {manifest['groups']:,} groups of {sizes}: {where}"


def list_files(manifest: Manifest) -> str:
    """List the files with their rows."""
    files = manifest["files"].items()
    return ", ".join(f"{name} ({entry['rows']:,} rows)" if "rows" in entry else name for name, entry in files)


# 20,000 census rows, r = 3 and 5, four backgrounds: see tests/benchmarks/decisions
GIVEN_AWAY = (
    "; not so {number} who {are} left out: whoever knows that they were in the table guesses their value, right for 60"
    " to 100 % of them where it was measured (" + option("max_suppressed", "0") + " leaves out nobody, or refuses)"
)


def tell_left_out(manifest: Manifest) -> str:
    """Say what leaving rows out gives away, and of how many persons: a promise's end."""
    return _count(GIVEN_AWAY, manifest) if manifest["dropped_rows"] else ""


# the rows left out share frequent values: see the guide of anatomy
CLASHING = (
    "; not so {number} who {are} left out: whoever knows that they were in the table knows that their values are among"
    " the frequent ones that go together (" + option("max_suppressed", "0") + " leaves out nobody, or refuses)"
)


def tell_apart(lines: dict[str, str], manifest: Manifest) -> dict[str, str]:
    """Return the summary of several sensitive columns: each by itself is promised, and nothing of them together."""
    columns = words(manifest["columns"]["sensitive"])
    promised = lines["promised"].replace("infers a person's", "infers any one of a person's", 1)
    promised = promised.replace("different values of ", "different values of each of ", 1)
    open_ways = lines["not promised"].replace("one value of ", "one value of one of ", 1)
    open_ways += f"; which values of {columns} belong to one person is published nowhere, and may be"
    open_ways += " guessed where they go together in everybody"
    return lines | {"promised": promised, "not promised": open_ways}


def tell_clashes(manifest: Manifest) -> str:
    """Say whom groups with several columns leave out: a promise's end."""
    return _count(CLASHING, manifest) if manifest["dropped_rows"] else ""


def _count(text: str, manifest: Manifest) -> str:
    """Say a sentence of so many persons as were left out."""
    dropped = manifest["dropped_rows"]
    # rows without a value were left out as well, and only their sum is published
    least = "up to " if manifest["parameters"]["nulls"] == "drop" else "the "
    number = f"{least}{dropped:,} person{'s' if dropped > 1 else ''}"
    return text.format(number=number, are="are" if dropped > 1 else "is")
