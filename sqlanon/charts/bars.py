"""Draw bars: what attacks reach beside the promise, and how large groups are."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon.charts.drawing import INK, RELEASE, SOURCE, WIDTH, data_of, heights, labels

if TYPE_CHECKING:
    import altair as alt


def draw_attacks(
    lines: Sequence[Mapping[str, Any]], promised: float | None, clear: float = 0.0
) -> "alt.LayerChart | alt.FacetChart":
    """Return a bar for each attack (`name`, `reached`: a share), and a line at the promise.

    clear: how far above the promise a bar may reach that counts as within it.
    """
    import altair as alt

    named = labels([line["name"] for line in lines])
    above, within = "above the promise", "within the promise"
    drawn = [
        {"name": name, "reached": line["reached"],
         "told": above if promised is not None and line["reached"] > promised + clear else within}
        for name, line in zip(named, lines, strict=True)
    ]  # fmt: skip
    scale = alt.Scale(domain=[within, above], range=[RELEASE, SOURCE])
    share = alt.X("reached:Q", title="share of people told rightly, or confidence", axis=alt.Axis(format="%"),
                  scale=alt.Scale(domainMin=0))  # fmt: skip
    legend = alt.Legend() if promised is not None else None
    bars = (
        alt.Chart(data_of(drawn))
        .mark_bar(height=9)
        .encode(x=share, y=alt.Y("name:N", sort=named, title=None),
                color=alt.Color("told:N", scale=scale, legend=legend, title=None))
        .properties(width=WIDTH, height=heights(len(drawn)))
    )  # fmt: skip
    if promised is None:
        return alt.layer(bars)
    line = alt.Chart(data_of([{"promised": promised}])).mark_rule(strokeWidth=2, strokeDash=[4, 3], color=INK)
    return alt.layer(bars, line.encode(x="promised:Q"))


def draw_sizes(lines: Sequence[Mapping[str, Any]], what: str) -> "alt.Chart":
    """Return a bar for each size (`size`: text, `groups`: how many), in their order; what: what is counted."""
    import altair as alt

    order = [line["size"] for line in lines]
    chart: alt.Chart = (
        alt.Chart(data_of([dict(line) for line in lines]))
        .mark_bar(height=9, color=RELEASE)
        .encode(x=alt.X("groups:Q", title=what, axis=alt.Axis(format="~s")),
                y=alt.Y("size:N", sort=order, title=None))
        .properties(width=WIDTH, height=heights(len(order)))
    )  # fmt: skip
    return chart
