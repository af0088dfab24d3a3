"""Draw estimates with their 95 % intervals, a line for each; true values beside them where they are known."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon.charts.drawing import LINE, RELEASE, SOURCE, WIDTH, data_of, label, labels

if TYPE_CHECKING:
    import altair as alt

ESTIMATED, TRUE = "as the release tells it", "in the source"


def draw_intervals(
    lines: Sequence[Mapping[str, Any]], title: str, width: int = WIDTH
) -> "alt.LayerChart | alt.FacetChart":
    """Return a chart of lines `name`, `value`, `low`, `high`, and perhaps `truth`, in their order.

    A line without an interval is a point.
    """
    import altair as alt

    title = label(title)
    names = labels([line["name"] for line in lines])
    drawn = [
        {**line, "name": name, "estimated": ESTIMATED, "true": TRUE} for line, name in zip(lines, names, strict=True)
    ]
    has_truth = any(line.get("truth") is not None for line in lines)
    labels_shown = [ESTIMATED, TRUE] if has_truth else [ESTIMATED]
    scale = alt.Scale(domain=labels_shown, range=[RELEASE, SOURCE][: len(labels_shown)])
    shape = alt.Scale(domain=labels_shown, range=["circle", "diamond"][: len(labels_shown)])
    above = 3.5 if has_truth else 0  # pixels by which neither hides the other
    legend = alt.Legend() if has_truth else None
    row = alt.Y("name:N", sort=names, title=None)
    base = alt.Chart(data_of(drawn)).encode(y=row).properties(width=width, height=LINE * max(len(drawn), 1))
    interval = base.mark_rule(strokeWidth=2, color=RELEASE, yOffset=-above).encode(
        x=alt.X("low:Q", title=title), x2="high:Q"
    )

    def mark(value: str, kind: str, offset: float) -> Any:
        return base.mark_point(filled=True, size=45, opacity=1, yOffset=offset).encode(
            x=alt.X(f"{value}:Q", title=title),
            color=alt.Color(f"{kind}:N", scale=scale, legend=legend, title=None),
            shape=alt.Shape(f"{kind}:N", scale=shape, legend=legend, title=None),
        )

    points = [mark("value", "estimated", -above), *([mark("truth", "true", above)] if has_truth else [])]
    return alt.layer(interval, *points)
