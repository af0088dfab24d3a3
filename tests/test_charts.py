"""Bars and intervals of HTML: whole names, marks at their places, colours that stand out, nothing that acts."""

import re
from html.parser import HTMLParser

import pytest

from sqlanon.charts import FAINT, RELEASE, SOURCE, Bar, labels, write_bars, write_figure, write_intervals
from tests.conftest import ROOT
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


def test_names_are_short_visible_and_told_apart():
    assert labels([None, " ", "a\u202e\nb"]) == ["NULL", "(blank)", "a\\u202e b"]
    long = "x" * 100
    assert labels([long, f"{long}y", "z"]) == [f"{'x' * 79}…", f"{'x' * 79}… (2)", "z"]


def test_a_figure_holds_words_only_and_without_a_picture_its_table_is_unfolded():
    page = read_safely(write_figure(write_bars(BARS), f"about {BREAKOUT}", ["value"], [[SCRIPT]]))
    assert page.elements.count("figcaption") == 1 and ("details", "open", None) not in page.attributes
    page = read_safely(write_figure("", "errors", ["value"], [["0.4"]]))
    assert "0.4" in page.text and ("details", "open", None) in page.attributes
    assert write_figure("", "errors") == ""


STYLE = (ROOT / "sqlanon" / "attacks" / "style.css").read_text()
PAGE = (ROOT / "sqlanon" / "attacks" / "page.html.j2").read_text()
LIGHT, DARK = (dict(re.findall(r"--(\w+): (#\w{6});", part)) for part in STYLE.split("@media")[:2])


def luminance(colour):
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_words_and_marks_stand_out_and_the_style_fetches_nothing(theme):
    assert all(contrast(theme[name], theme["paper"]) >= 4.5 for name in ("ink", "soft", "warn", "good"))
    assert contrast(theme["ink"], theme["shade"]) >= 4.5
    assert all(contrast(colour, theme["paper"]) >= 3 for colour in (RELEASE, SOURCE, FAINT))
    assert "url(" not in STYLE and "@import" not in STYLE and "</" not in STYLE
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"" in PAGE
