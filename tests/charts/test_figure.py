"""Charts are still pictures: words escaped, no network, and a name for who cannot see them."""

import re

import pytest

from sqlanon.charts.drawing import LONGEST, label, labels, write_svg
from sqlanon.charts.figure import draw_image, write_figure
from sqlanon.charts.intervals import draw_intervals
from sqlanon.charts.selectivity import draw_errors
from tests.pages import BREAKOUT, SCRIPT, read_safely

LINES = [
    {"name": name, "value": 5 + n, "low": 1, "high": 9 + n, "truth": 4} for n, name in enumerate((SCRIPT, BREAKOUT))
]
BANDS = ["up to 0.5 %", "above 5 %"]
ERRORS = [{"candidate": SCRIPT, "band": band, "error": 0.1} for band in BANDS]
CHARTS = {
    "intervals": lambda: draw_intervals(LINES, BREAKOUT),
    "errors": lambda: draw_errors(ERRORS, BANDS, SCRIPT),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_figure_holds_words_only(name):
    caption = f"about {BREAKOUT}"
    html = write_figure(draw_image(CHARTS[name], caption), caption, ["value"], [[SCRIPT]])
    page = read_safely(html)
    assert page.elements.count("svg") == page.elements.count("figcaption") == 1
    assert "#010203" not in html and "currentColor" in html  # words have the colour of the page
    assert not re.search(r"(?:href|src|@import|url\()", html.replace(BREAKOUT, "").replace("src=x", ""))


def test_intervals_without_true_values_name_none():
    lines = [{key: value for key, value in line.items() if key != "truth"} for line in LINES]
    assert "in the source" in write_svg(draw_intervals(LINES, "people"))
    assert "in the source" not in write_svg(draw_intervals(lines, "people"))


def test_labels_are_short_visible_and_told_apart():
    assert label(None) == "NULL" and label(" ") == "(blank)" and label("a\u202e\nb") == "a\\u202e b"
    long = "x" * 100
    assert labels([long, f"{long}y", "z"]) == [f"{'x' * (LONGEST - 1)}…", f"{'x' * (LONGEST - 1)}… (2)", "z"]


def test_without_a_picture_the_table_is_unfolded():
    page = read_safely(write_figure("", "errors", ["value"], [["0.4"]]))
    assert "0.4" in page.text and ("details", "open", None) in page.attributes
    assert write_figure("", "errors") == ""


def test_errors_name_every_candidate_in_a_chart_of_its_own():
    names = ["anatomy, l = 5", "robust, r = 10, age=10, born=year, zip=3 letters", SCRIPT]
    lines = [{"candidate": name, "band": BANDS[0], "error": 0.1} for name in names]
    charts = draw_errors(lines, BANDS, names[0]).to_dict()["concat"]
    titles = [chart["title"]["text"] for chart in charts]
    assert [" ".join(title) for title in titles[:2]] == names[:2]
    assert len(charts) == 3 and all(len(line) <= 20 for title in titles for line in title)
