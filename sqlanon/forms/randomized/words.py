"""Randomized values in words: what a publisher is shown, and what recipients are warned of."""

from sqlanon.forms.form import Edition, Table
from sqlanon.forms.summary_lines import (
    Manifest,
    count_dropped,
    list_files,
    name_method,
    name_second,
    name_together,
    tell_agreement,
    tell_limits,
    tell_presence,
)
from sqlanon.forms.weights import READING, VIEW, weight_name, write_block
from sqlanon.plain_values import words
from sqlanon.plans.manifest import departed
from sqlanon.plans.templates import ident

_FIRST_RANDOMIZED = """\
## Do not count the values as they stand

A row keeps its own value with the probability that stands in `release.json` (1/gamma); otherwise it shows another.
Counts of a value among people who have something in common are therefore mixed with other people's values, and are
pulled towards the average of everybody. `sqlanon estimate` takes the mixing out, and says how far off it may be.
"""
_RANDOMIZED = """\
## Do not count the values as they stand

A row keeps its own value with the probability that stands in `release.json` (1/gamma); otherwise it shows another.
Counts of a value among people who have something in common are therefore mixed with other people's values, and are
pulled towards the average of everybody. This is wrong:

{wrong}

{reading}

{right}

where `{view}` has each row with each value, weighed so that the mixing is taken out: sums of weights are counts without
bias. (For an average of a column x divide `sum({weight} * x)` by `sum({weight})`.) Small sums may be far off, and below
0. `sqlanon estimate` weighs this against what is likely, is nearer to the truth, and says how far off it may be.
"""
_READ_RANDOMIZED_FIRST = "In this directory run `.read estimate.sql` in DuckDB's shell, and then"
_READ_RANDOMIZED = """\
In DuckDB's shell, in any directory, where PATH is this one, run

{reading}

and then"""
ADVICE = (
    "Do not count the values as they stand: a row keeps its own value with the probability that the"
    " manifest says (1/gamma), and shows another otherwise. `sqlanon estimate` takes the mixing out."
)


def summarize_randomized(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of randomized values is."""
    return {
        "published": f"{manifest['rows']:,} rows: {where}",
        "method": name_method(manifest, manifest["parameters"]),
        "dropped rows": count_dropped(manifest),
        "promised": f"{name_together(manifest)}counts of {words(manifest['columns']['sensitive'])}: small ones are far"
        f" off, large ones near, as below; a row keeps its own value with probability 1/gamma{_ever(manifest)}"
        f"{tell_limits(manifest)}",
        "not promised": f"{tell_presence(manifest)}, nor that a frequent value"
        f" stays secret, nor anything against who has {name_second(manifest)}",
        "verified": f"row order, promise{tell_agreement(manifest['verified'], 'retention')}",
        "files": list_files(manifest),
    }


def _ever(manifest: Manifest) -> str:
    """Say whom the promised counts are of, where decoy groups have lost members."""
    departures = departed(manifest)
    if not departures:
        return ""
    return (
        f"; counts are of the {manifest['rows'] + departures:,} persons whom releases of the ledger have shown, and"
        " small ones of those left are as far off; large ones of those left spread up to 1.42 times as much"
    )


def randomized_tables(manifest: Manifest) -> list[Table]:
    """Return what is promised of each sensitive column's counts: title, heads, rows, closing lines."""
    from sqlanon.methods.splu import binomial  # of one method

    return [binomial.table(column, promised) for column, promised in manifest["guarantee"].items()]


def warn(manifest: Manifest, edition: Edition) -> str:
    """Return the section of README.md on why the values are not to be counted as they stand."""
    if edition == "first":
        return _FIRST_RANDOMIZED
    reading = _READ_RANDOMIZED.format(reading=write_block(READING)) if edition == "newest" else _READ_RANDOMIZED_FIRST
    value, weight = ident(manifest["columns"]["sensitive"][0]), ident(weight_name(manifest))
    view = VIEW if len(manifest["columns"]["sensitive"]) == 1 else f"{VIEW}_1"
    wrong = f"SELECT {value}, count(*)\nFROM data\nWHERE …\nGROUP BY {value}"
    right = f"SELECT {value}, sum({weight})\nFROM {view}\nWHERE …\nGROUP BY {value}"
    return _RANDOMIZED.format(
        wrong=write_block(wrong), right=write_block(right), view=view, weight=weight_name(manifest), reading=reading
    )
