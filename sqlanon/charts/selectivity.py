"""Draw the errors of a comparison by selectivity: one candidate before all the others."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon.charts.drawing import FAINT, RELEASE, WIDTH, data_of

if TYPE_CHECKING:
    import altair as alt


def draw_errors(lines: Sequence[Mapping[str, Any]], bands: Sequence[str], chosen: str = "") -> "alt.Chart":
    """Return median relative errors by band of selectivity: a line for each candidate.

    lines: `candidate`, `band`, `error`. chosen: the candidate that is drawn before the others.
    """
    import altair as alt

    drawn = [
        {**line, "told": chosen if line["candidate"] == chosen else "other candidates"}
        for line in lines if line["error"] > 0  # no place on a scale of logarithms
    ]  # fmt: skip
    kinds = [chosen, "other candidates"] if chosen else ["other candidates"]
    colours = alt.Scale(domain=kinds, range=[RELEASE, FAINT] if chosen else [RELEASE])
    widths = alt.Scale(domain=kinds, range=[3, 1] if chosen else [1.5])
    legend = alt.Legend() if chosen else None
    chart: alt.Chart = (
        alt.Chart(data_of(drawn))
        .mark_line(point=True)
        .encode(
            x=alt.X("band:O", sort=list(bands), title="rows that meet the query", axis=alt.Axis(labelAngle=-35)),
            y=alt.Y("error:Q", title="median relative error", scale=alt.Scale(type="log"), axis=alt.Axis(format="~%")),
            detail="candidate:N",
            color=alt.Color("told:N", scale=colours, legend=legend, title=None),
            strokeWidth=alt.StrokeWidth("told:N", scale=widths, legend=None),
        )
        .properties(width=WIDTH, height=200)
    )
    return chart


def describe_errors(workload: str) -> str:
    """Return in words what a chart of a workload's errors shows."""
    return f"Median relative error of {workload} queries by how many rows meet them, for each method compared"
