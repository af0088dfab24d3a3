"""Plot the error of candidates against what attacks reach, with a line through those that no other beats."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from sqlanon.charts.drawing import COLOURS, FAINT, INK, WIDTH, data_of, label

if TYPE_CHECKING:
    import altair as alt

HEIGHT = 260
WHAT = "What each candidate costs, beside the share of people whose value the best attack names"
_LETTER, _LINE = 5.6, 12.0  # pixels of a label's letter and of its line
_ROOM = 74  # pixels beside the points: the axis of errors
_PLACES = ((8, 0), (8, -11), (8, 11), (-8, 0), (-8, -11), (-8, 11), (8, -22), (8, 22), (-8, -22), (-8, 22))


def draw_risk_utility(
    lines: Sequence[Mapping[str, Any]], target: float | None = None
) -> "alt.LayerChart | alt.FacetChart":
    """Return a chart of lines `method`, `parameter`, `reached`, `promised`, `error`: shares, the error on a log scale.

    `knowing`, where a line has it: the columns that robust's adversary knows the distribution by. reached: what the
    best attack names; promised: the confidence that is promised, as a tick. target: the share up to which a release is
    said to resist, as a band.
    """
    import altair as alt

    points = _place([line for line in lines if line["reached"] is not None and math.isfinite(line["error"])])
    right, low, high = _ends(points, target)
    x_scale, y_scale = alt.Scale(domain=[0, right], nice=False), alt.Scale(type="log", domain=[low, high], nice=False)
    x = alt.X("reached:Q", scale=x_scale, title="best attack", axis=alt.Axis(format="~%", tickCount=5))
    y = alt.Y("error:Q", scale=y_scale, title="relative error", axis=alt.Axis(format="~%", tickCount=4))
    methods = list(dict.fromkeys(point["method"] for point in points))
    colours = alt.Scale(domain=methods, range=[COLOURS.get(method, FAINT) for method in methods])
    colour = alt.Color("method:N", scale=colours, legend=alt.Legend(columns=4), title=None)
    base = alt.Chart(data_of(points)).properties(width=WIDTH, height=HEIGHT)
    layers = []
    if target is not None:
        band = alt.Chart(data_of([{"from": 0, "to": target, "low": low, "high": high}]))
        layers.append(
            band.mark_rect(color=FAINT, opacity=0.18).encode(
                x=alt.X("from:Q", scale=x_scale), x2="to:Q", y=alt.Y("low:Q", scale=y_scale), y2="high:Q"
            )
        )
    unbeaten = alt.Chart(data_of([point for point in points if not point["beaten"]]))
    layers += [
        unbeaten.mark_line(color=FAINT, strokeDash=[4, 3], strokeWidth=1.5).encode(x=x, y=y, order="reached:Q"),
        base.mark_tick(orient="vertical", size=14, thickness=2, opacity=0.8).encode(
            x=alt.X("promised:Q", scale=x_scale), y=y, color=colour
        ),
        base.mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=colour),
    ]
    sides: tuple[tuple[bool, Literal["left", "right"]], ...] = ((True, "left"), (False, "right"))
    for to_right, align in sides:
        words = alt.Chart(data_of([point for point in points if point["to_right"] is to_right]))
        layers.append(
            words.mark_text(align=align, baseline="middle", fontSize=10, color=INK).encode(
                x=alt.X("label_x:Q", scale=x_scale), y=alt.Y("label_y:Q", scale=y_scale), text="label:N"
            )
        )
    return alt.layer(*layers)


def _place(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the points with a label each, and whether another is at least as good in both and better in one.

    That is decided by the errors as they were measured; for a log scale, those below .01 % are then drawn there.
    """

    def known(line: Mapping[str, Any]) -> str:
        return f" by {line['knowing']}" if line.get("knowing") else ""

    return [
        {
            **line,
            "error": max(line["error"], 1e-4),
            "label": label(line["parameter"] + known(line) if line["parameter"] else line["method"], 40),
            "beaten": any(
                (other["reached"], other["error"]) != (line["reached"], line["error"])
                and other["reached"] <= line["reached"]
                and other["error"] <= line["error"]
                for other in lines
            ),
        }
        for line in lines
    ]


def _ends(points: list[dict[str, Any]], target: float | None) -> tuple[float, float, float]:
    """Return the ends of both scales; put a label beside each point where it covers no other."""
    shares = [share for point in points for share in (point["reached"], point["promised"] or 0.0)]
    right = min(1.05, 1.25 * max([*shares, target or 0.0, 0.1]))
    errors = [point["error"] for point in points] or [0.01]
    low, high = min(errors) / 1.6, max(errors) * 1.6
    width, tall = WIDTH - _ROOM, HEIGHT - 60
    scale = tall / math.log(high / low)
    pixels = [(point["reached"] / right * width, math.log(point["error"] / low) * scale) for point in points]
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in pixels]
    for point, (x, y) in zip(points, pixels, strict=True):
        long = _LETTER * len(point["label"])
        boxes = [(x + dx - (0 if dx > 0 else long), y + dy - _LINE / 2) for dx, dy in _PLACES]
        covered = [_covered((left, top, left + long, top + _LINE), taken, width, tall) for left, top in boxes]
        chosen = covered.index(min(covered))
        (dx, dy), (left, top) = _PLACES[chosen], boxes[chosen]
        taken.append((left, top, left + long, top + _LINE))
        point |= {
            "to_right": dx > 0,
            "label_x": (x + dx) / width * right,
            "label_y": low * math.exp((y + dy) / scale),
        }
    return right, low, high


def _covered(
    box: tuple[float, float, float, float], taken: list[tuple[float, float, float, float]], width: float, tall: float
) -> float:
    """Return how many square pixels of a box cover others, or lie outside of the chart."""
    left, low, right, high = box
    outside = max(-left, 0) + max(right - width, 0) + max(-low, 0) + max(high - tall, 0)
    inner = sum(
        max(min(right, other[2]) - max(left, other[0]), 0) * max(min(high, other[3]) - max(low, other[1]), 0)
        for other in taken
    )
    return inner + 20 * outside
