"""The door to altair and vl-convert: one look for all charts, written as SVG that works without network, or as PNG.

A drawing has no background, and its words take the colour of the text around them, so that one drawing fits light and
dark pages, notebooks and paper.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from sqlanon.errors import UsageError
from sqlanon.plain_values import visible

if TYPE_CHECKING:
    import altair as alt

WIDTH = 330  # pixels, labels included: a phone shows it unscaled
RELEASE, SOURCE, FAINT = "#2f7fc1", "#c2571a", "#8a8a8a"  # all at 3:1 or more on white and on near-black
# by method: all at 3:1 or more on white and on near-black, and told apart without red and green
COLOURS = {"anatomy": "#2f7fc1", "robust": "#c2571a", "splu": "#8a63c9", "mondrian": "#5f8a1f"}
LONGEST = 22  # letters of a label
FORMATS = (".png", ".svg")
INSTALL = "pip install altair vl-convert-python"
INK = "#010203"  # stands for the colour of the text around a drawing
# as wide everywhere as where it is measured, or nearly so
_FONT = "Arial, Liberation Sans, Helvetica, Arimo, DejaVu Sans Condensed, sans-serif"
_PADDING = {"left": 24, "right": 18, "top": 4, "bottom": 4}
_HEADING = 46  # letters of a line above a chart
LINE = 16  # pixels of a line of a chart


def is_installed() -> bool:
    """Tell whether charts can be drawn here: what is there and cannot be loaded is as good as absent."""
    if find_spec("altair") is None or find_spec("vl_convert") is None:
        return False
    try:
        import_module("altair")
        import_module("vl_convert")
    except (ImportError, OSError, ValueError):  # files that cannot be read, or versions that do not go together
        return False
    return True


def require() -> None:
    """Raise UsageError where what draws charts is not installed."""
    if not is_installed():
        raise UsageError(
            "this chart needs altair and vl-convert, which are not installed here, or cannot be loaded; type:"
            f" {INSTALL}"
        )


def label(value: object, longest: int = LONGEST) -> str:
    """Write a value as a chart's label: what is there to see of it, and not too much."""
    text = " ".join(visible("NULL" if value is None else str(value)).split()) or "(blank)"
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def labels(values: list[object], longest: int = LONGEST) -> list[str]:
    """Write values as labels of one chart; two that would read alike are numbered."""
    counts: dict[str, int] = {}
    written = []
    for text in (label(value, longest) for value in values):
        # two values that read alike would share a line of the chart
        counts[text] = counts.get(text, 0) + 1
        written.append(text if counts[text] == 1 else f"{text} ({counts[text]})")
    return written


def data_of(lines: list[dict[str, Any]]) -> "alt.InlineData":
    """Return lines as data that travels with the chart."""
    import altair as alt

    return alt.InlineData(values=lines)


def dress(chart: Any, background: str = "transparent") -> Any:
    """Give a chart the look of all of them."""
    # the figure around a chart names it for who cannot see it: aria of its own would name it twice
    axis = {"labelColor": INK, "titleColor": INK, "gridColor": FAINT, "gridOpacity": 0.25, "domainColor": FAINT}
    # charts beside or below one another cannot be fitted together: each has its own width
    several = any(name in chart.to_dict() for name in ("concat", "vconcat"))
    autosize = {"type": "pad" if several else "fit-x"}
    return (
        chart.configure(aria=False, background=background, font=_FONT, autosize=autosize, padding=_PADDING)
        .configure_axis(**axis, tickColor=FAINT, labelFontSize=11, titleFontSize=11, titleFontWeight="normal")
        .configure_axisX(labelFlush=False, tickCount=6)
        .configure_axisY(labelLimit=150)
        .configure_view(stroke=None)
        .configure_legend(
            labelColor=INK, titleColor=INK, labelFontSize=11, orient="top", title=None, columns=1, labelLimit=300
        )
        .configure_header(labelColor=INK, titleColor=INK, labelFontSize=11)
    )


def write_svg(chart: Any) -> str:
    """Return a chart as SVG for a page: no script, no link, and the colour of the text around it."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(dress(chart).to_dict())
    return drawn.replace(f'"{INK}"', '"currentColor"')


def paint(named: Mapping[str, Any]) -> Any:
    """Return charts below one another on white, for whoever shows or keeps them elsewhere; several are named."""
    import altair as alt

    def name(what: str, chart: Any) -> Any:
        return chart.properties(title=alt.TitleParams(wrap(what, _HEADING), fontSize=12, anchor="start", color=INK))

    if len(named) == 1:
        return dress(next(iter(named.values())), background="white")
    whole = alt.vconcat(*(name(*pair) for pair in named.items()), spacing=30).resolve_scale(color="independent")
    return dress(whole, background="white")


def save(chart: Any, path: Path, ending: str) -> None:
    """Write a painted chart into a file, as PNG or SVG by its ending."""
    import vl_convert

    spec = chart.to_dict()
    if ending == ".png":
        path.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))
    else:
        path.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
