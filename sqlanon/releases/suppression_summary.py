"""What a release gives away of the persons whom it leaves out: a line's end in its publisher's summary."""

from sqlanon.plain_values import words
from sqlanon.releases.summaries import Manifest, Summary
from sqlanon.wording import option

# 20,000 census rows, r = 3 and 5, four backgrounds: see tests/benchmarks/decisions
GIVEN_AWAY = (
    "; not so {number} who {are} left out: whoever knows that they were in the table guesses their value, right for 60"
    " to 100 % of them where it was measured (" + option("max_suppressed", "0") + " leaves out nobody, or refuses)"
)


def tell_left_out(summary: Summary) -> Summary:
    """Return a summary whose promise says what leaving rows out gives away, and of how many persons."""

    def told(manifest: Manifest, where: str) -> dict[str, str]:
        lines = summary(manifest, where)
        if manifest["dropped_rows"]:
            lines["promised"] += _count(GIVEN_AWAY, manifest)
        return lines

    return told


# the rows left out share frequent values: see the guide of anatomy
CLASHING = (
    "; not so {number} who {are} left out: whoever knows that they were in the table knows that their values are among"
    " the frequent ones that go together (" + option("max_suppressed", "0") + " leaves out nobody, or refuses)"
)


def tell_apart(summary: Summary) -> Summary:
    """Return a summary of several sensitive columns: each by itself is promised, and nothing of them together."""

    def told(manifest: Manifest, where: str) -> dict[str, str]:
        lines = summary(manifest, where)
        columns = words(manifest["columns"]["sensitive"])
        lines["promised"] = lines["promised"].replace("infers a person's", "infers any one of a person's", 1)
        lines["promised"] = lines["promised"].replace("different values of ", "different values of each of ", 1)
        lines["not promised"] = lines["not promised"].replace("one value of ", "one value of one of ", 1)
        lines["not promised"] += f"; which values of {columns} belong to one person is published nowhere, and may be"
        lines["not promised"] += " guessed where they go together in everybody"
        return lines

    return told


def tell_clashes(summary: Summary) -> Summary:
    """Return a summary of groups with several columns whose promise says whom it leaves out."""

    def told(manifest: Manifest, where: str) -> dict[str, str]:
        lines = summary(manifest, where)
        if manifest["dropped_rows"]:
            lines["promised"] += _count(CLASHING, manifest)
        return lines

    return told


def _count(text: str, manifest: Manifest) -> str:
    """Say a sentence of so many persons as were left out."""
    dropped = manifest["dropped_rows"]
    # rows without a value were left out as well, and only their sum is published
    least = "up to " if manifest["parameters"]["nulls"] == "drop" else "the "
    number = f"{least}{dropped:,} person{'s' if dropped > 1 else ''}"
    return text.format(number=number, are="are" if dropped > 1 else "is")
