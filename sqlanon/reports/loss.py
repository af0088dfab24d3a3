"""The charts of a page: what a release has lost, and how large its groups are."""

from collections.abc import Iterator
from functools import partial

from sqlanon.charts.drawing import is_installed
from sqlanon.charts.figure import draw_image, write_figure
from sqlanon.charts.intervals import ESTIMATED, TRUE
from sqlanon.charts.lines import Bar, write_bars, write_intervals
from sqlanon.charts.selectivity import describe_errors, draw_errors
from sqlanon.comparison.comparison import ORDER
from sqlanon.html_tables import write_paragraphs
from sqlanon.methods import METHODS
from sqlanon.reports.compared_lines import by_workload, candidate_of
from sqlanon.reports.facts import Facts
from sqlanon.reports.frequencies import Frequencies
from sqlanon.reports.sizes import Sizes

# the forms whose intervals are no matter of chance
_BARS = {
    "uncertain": "reach from what is certain to what is possible",
    "generalized": "are bounds that hold the true count for sure",
}
_INTERVALS = {"uncertain": " from certain to possible", "generalized": " with bounds that hold for sure"}


def write_loss(facts: Facts) -> str:
    """Return the section on information loss."""
    figures = [
        *_draw_errors(facts),
        *(_draw_frequencies(one, METHODS[facts.manifest["method"]].form) for one in facts.frequencies),
        _draw_sizes(facts.sizes),
    ]
    bars = _BARS.get(METHODS[facts.manifest["method"]].form, "are 95 % intervals")
    told = [f"How near answers from the release come to the truth; bars {bars}."]
    if not facts.is_internal:
        told.append("This view holds no figure of the source; whoever owns it can set true values beside these.")
    if facts.compared and not is_installed():
        told.append("Errors by selectivity are told without charts: what draws them was not installed.")
    return write_paragraphs(told) + f'<div class="figures">{"".join(figures)}</div>'


def _draw_errors(facts: Facts) -> Iterator[str]:
    chosen = candidate_of(facts.manifest)
    for workload, lines in by_workload(facts.compared).items():
        own = chosen if any(line["candidate"] == chosen for line in lines) else ""
        bands = [name for name in ORDER if any(line["band"] == name for line in lines)]
        told = [[line["candidate"], line["band"], f"{line['error']:.1%}"] for line in lines]
        caption = describe_errors(workload)
        drawn = draw_image(partial(draw_errors, lines, bands, own), caption)
        yield write_figure(drawn, caption, ["candidate", "rows", "median error"], told)


def _draw_frequencies(found: Frequencies, form: str) -> str:
    what = " and ".join(found.columns)
    has_truth = any(line["truth"] is not None for line in found.lines)
    caption = f"People by {what}: {'the most frequent, ' if found.is_cut else ''}as the release tells them"
    caption += _INTERVALS.get(form, " with 95 % intervals")
    caption += ", beside the source" if has_truth else ""
    heads = [what, "estimated", "low", "high", *(["in the source"] if has_truth else [])]
    lines = [[line[key] for key in ("name", "value", "low", "high", *(["truth"] if has_truth else []))]
             for line in found.lines]  # fmt: skip
    return write_figure(write_intervals(found.lines, ESTIMATED, TRUE), caption, heads, lines)


def _draw_sizes(sizes: Sizes) -> str:
    caption = f"How many {sizes.what} there are, by the number of rows in them"
    bars = [Bar(line["size"], line["groups"], f"{line['groups']:,}") for line in sizes.lines]
    lines = [[line["size"], line["groups"]] for line in sizes.lines]
    return write_figure(write_bars(bars), caption, ["rows", sizes.what], lines)
