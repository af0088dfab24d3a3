"""Plot the errors of a comparison by selectivity: a small chart for each candidate, the others in grey behind it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon.charts.drawing import COLOURS, FAINT, INK, SOURCE, data_of, label

if TYPE_CHECKING:
    import altair as alt

ACROSS, WIDTH, HEIGHT = 2, 108, 90  # charts in a row, and pixels of each: a phone shows both unscaled
LETTERS = 20  # of a line of a candidate's name


def draw_errors(lines: Sequence[Mapping[str, Any]], bands: Sequence[str], chosen: str = "") -> "alt.ConcatChart":
    """Return median relative errors by band of selectivity: a chart for each candidate, the others as faint lines.

    lines: `candidate`, which begins with its method, `band`, `error`; an error of 0 lies at the lower end of the scale,
    which is logarithmic. chosen: the candidate whose line is thicker than others'.
    """
    import altair as alt

    names = list(dict.fromkeys(line["candidate"] for line in lines))
    errors = [line["error"] for line in lines if line["error"] > 0] or [0.01]
    least = min(errors) / 1.3
    drawn = [{**line, "error": max(line["error"], least)} for line in lines]
    scale = alt.Scale(type="log", domain=[least, max(errors) * 1.3], nice=False)
    x = alt.X(
        "band:O", sort=list(bands), scale=alt.Scale(domain=list(bands)), title=None, axis=alt.Axis(labelAngle=-50)
    )
    charts = []
    for place, name in enumerate(names):
        title = "median relative error" if place % ACROSS == 0 else None
        y = alt.Y("error:Q", title=title, scale=scale, axis=alt.Axis(format="~%", tickCount=3))
        others = alt.Chart(data_of([line for line in drawn if line["candidate"] != name]))
        own = alt.Chart(data_of([line for line in drawn if line["candidate"] == name]))
        colour, width = COLOURS.get(name.split(",")[0], SOURCE), 3 if name == chosen else 2
        heading = alt.TitleParams(_broken(name), fontSize=10, anchor="start", color=INK)
        charts.append(
            alt.layer(
                others.mark_line(color=FAINT, opacity=0.35, strokeWidth=1).encode(x=x, y=y, detail="candidate:N"),
                own.mark_line(point={"color": colour, "size": 25}, color=colour, strokeWidth=width).encode(x=x, y=y),
            ).properties(width=WIDTH, height=HEIGHT, title=heading)
        )
    return alt.concat(*charts, columns=ACROSS, spacing=10)


def _broken(name: str) -> list[str]:
    """Return a candidate's name in lines that are no wider than its chart; what is endless is cut."""
    lines = [""]
    for word in label(name, 6 * LETTERS).split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) > LETTERS and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return [line[place : place + LETTERS] for line in lines for place in range(0, max(len(line), 1), LETTERS)]


def describe_errors(workload: str) -> str:
    """Return in words what the charts of a workload's errors show."""
    return f"Median relative error of {workload} queries by how many rows meet them, for each method compared"
