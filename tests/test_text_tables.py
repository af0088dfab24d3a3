"""Tables at every width: no figure breaks, no column of it is lost without a word."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.plain_values import cell
from sqlanon.risks.comparison import HEADS
from sqlanon.text_tables import lay_out

COMPARED = [head.replace("_", " ") for head in HEADS if head != "estimator"]
LINES = [
    ["anatomy", "l = 3", "confidence at most 1/3", 0.3333, "sets", "1 to 5 %", 9, 0.0055251, 12345.67, 0.95, 7.502],
    ["", "", "", "", "conjunctions", "1 to 10 rows", 1183, 0.3333, 0.3929, 1.0, ""],
]
ANSWER = ["sex", "n", "n_std_error", "n_low", "n_high"]


def figures(text):
    return [word for line in text.splitlines() for word in line.split() if word[0].isdigit()]


def test_a_narrow_terminal_has_a_block_for_each_row():
    assert "1 to 10 rows" in lay_out(COMPARED, LINES, 160, cut=True)
    first, second = lay_out(COMPARED, LINES, 40, cut=True).split("\n\n")
    assert "mean relative error    12,345.7" in first
    assert "confidence" not in second  # what is blank has no line


def test_a_long_text_is_cut_by_words_and_a_long_word_by_an_ellipsis():
    rows = [["a very long name of a value, longer than anything", 231.5, 45.7, 183.8, 362.9]]
    text = lay_out(ANSWER, rows, 60, cut=True)
    assert "a very long name of" in text and "231.5" in figures(text)
    rows = [["Q" * 50, 231.5, 45.7, 183.8, 362.9]]
    assert "Q…" in lay_out(ANSWER, rows, 70, cut=True) and "…" not in lay_out(ANSWER, rows, 70)
    assert lay_out(ANSWER, rows, 70).count("Q") == 50


@given(
    st.lists(st.tuples(st.text("ab 漢", max_size=40), st.floats(-1e9, 1e9), st.integers(0, 10**9)), max_size=4),
    st.integers(10, 100),
)
@settings(max_examples=40, deadline=None)
def test_every_figure_stands_whole_at_every_width(rows, width):
    text = lay_out(["name", "share of people", "rows"], rows, width, cut=True)
    for _, *numbers in rows:
        for number in numbers:
            assert cell(number) in text.split()


@pytest.mark.parametrize("width", [20, 80])
def test_a_list_of_keys_and_values_keeps_its_form(width):
    text = lay_out(["", ""], [["rows", 4000], ["method", "anatomy, l: 4"]], width, header=False)
    assert text.splitlines()[0].split() == ["rows", "4000"]
