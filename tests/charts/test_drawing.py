"""Colours are told from paper in light and dark, by who sees little contrast."""

import re

import pytest

from sqlanon.charts.drawing import COLOURS, FAINT, RELEASE, SOURCE
from tests.conftest import ROOT

STYLE = (ROOT / "sqlanon" / "reports" / "style.css").read_text()
PAGE = (ROOT / "sqlanon" / "reports" / "page.html.j2").read_text()
LIGHT, DARK = (dict(re.findall(r"--(\w+): (#\w{6});", part)) for part in STYLE.split("@media")[:2])


def luminance(colour):
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_words_and_marks_stand_out(theme):
    assert all(contrast(theme[name], theme["paper"]) >= 4.5 for name in ("ink", "soft", "warn", "good"))
    assert contrast(theme["ink"], theme["shade"]) >= 4.5
    assert all(contrast(colour, theme["paper"]) >= 3 for colour in (RELEASE, SOURCE, FAINT, *COLOURS.values()))


def test_the_style_fetches_nothing():
    assert "url(" not in STYLE and "@import" not in STYLE and "</" not in STYLE
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"" in PAGE
