"""Bars and intervals of HTML: whole names, marks at their places, nothing of a stranger's that acts."""

from html.parser import HTMLParser

from sqlanon.charts.drawing import RELEASE, SOURCE
from sqlanon.charts.lines import Bar, write_bars, write_intervals
from tests.pages import BREAKOUT, SCRIPT, read_safely


class Marks(HTMLParser):
    """Collect the attributes of every mark."""

    def __init__(self, html):
        super().__init__()
        self.found = {}
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.setdefault(tag, []).append(dict(attrs))


BARS = [
    Bar("background knowledge: 1 value excluded", 0.5, "50.0%", 0.25, above=True),
    Bar(SCRIPT, 0.2, "20.0%"),
    Bar(BREAKOUT, 0, "0.0%"),
]


def test_a_bar_is_as_long_as_its_figure_says():
    html = write_bars(BARS)
    assert "background knowledge: 1 value excluded" in read_safely(html).text  # whole
    marks = Marks(html).found
    assert [(one["width"], one["fill"]) for one in marks["rect"]] == [
        ("100.00%", SOURCE), ("40.00%", RELEASE), ("0.00%", RELEASE)
    ]  # fmt: skip
    assert [one["x1"] for one in marks["line"] if "stroke-dasharray" in one] == ["50.00%"]


def test_a_legend_names_colours_and_dashes():
    assert "within above promised" in read_safely(write_bars(BARS, ("within", "above"))).text
    assert "promised" not in write_bars(BARS)


LINES = [
    {"name": SCRIPT, "value": 5.0, "low": 1.0, "high": 10.0, "truth": 4},
    {"name": None, "value": -1.0, "low": -2.0, "high": 0.0, "truth": None},
    {"name": "not answered", "value": None, "low": None, "high": None, "truth": None},
]


def test_a_true_value_stands_below_the_estimate_and_hides_nothing():
    html = write_intervals(LINES, "told", "true")
    assert "told true" in read_safely(html).text and "NULL" in html
    marks = Marks(html).found
    dots = [(one["cx"], int(one["cy"]) + int(one["r"])) for one in marks["circle"][1:]]
    diamonds = [(one["x"], int(one["y"]) - 4.5) for one in marks["svg"] if "x" in one][1:]
    assert dots == [("50.00%", 9), ("0.00%", 9)] and diamonds == [("40.00%", 9.5)]
    assert [(one["x1"], one["x2"]) for one in marks["line"] if one["stroke"] == RELEASE] == [
        ("10.00%", "100.00%"), ("0.00%", "0.00%")
    ]  # fmt: skip


def test_without_true_values_there_is_no_legend_and_nothing_at_all_is_drawn_of_nothing():
    assert "told" not in write_intervals([{**line, "truth": None} for line in LINES], "told", "true")
    assert "NaN" not in write_intervals([LINES[2]], "told", "true") and "<rect" not in write_bars([])
