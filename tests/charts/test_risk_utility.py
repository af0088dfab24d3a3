"""The map of candidates: a label for each, none cut or covered, and those that none beats."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sqlanon.charts import risk_utility
from sqlanon.charts.risk_utility import draw_risk_utility

pytest.importorskip("altair")
SHARES = st.floats(0.01, 1)
LINES = st.lists(
    st.tuples(st.sampled_from(["anatomy", "robust", "splu", "dbr"]), SHARES, SHARES, st.floats(0, 2)), max_size=12
)


def drawn_layers(lines, target=None):
    """Return the points of a drawn chart, and what each kind of mark is drawn of."""
    chart = draw_risk_utility(lines, target).to_dict()
    layers = {}
    for layer in chart["layer"]:
        data = layer.get("data", chart.get("data"))
        layers[layer["mark"]["type"]] = data["values"] if "values" in data else chart["datasets"][data["name"]]
    return layers["point"], layers


def points(lines, target=None):
    names = ("method", "reached", "promised", "error")
    named = [{**dict(zip(names, line, strict=True)), "parameter": f"l = {n}, age=10"} for n, line in enumerate(lines)]
    return drawn_layers(named, target)


@given(LINES)
@example([("anatomy", 1.0, 1.0, 0.0), ("anatomy", 1.0, 1.0, 6.103515625e-05)])
@example([("anatomy", 0.5, 1.0, 0.0), ("robust", 0.4, 1.0, 6.103515625e-05)])
def test_those_are_joined_that_no_other_beats(lines):
    drawn, layers = points(lines)
    assert len(drawn) == len(lines)
    # by the errors themselves: those below .01 % are drawn in one row, and yet one of them may beat another
    measured = [(reached, error) for _, reached, _, error in lines]
    for point, here in zip(drawn, measured, strict=True):
        assert point["beaten"] == any(a <= here[0] and b <= here[1] for a, b in measured if (a, b) != here)
        assert point["error"] == max(here[1], 1e-4)
    assert [point for point in drawn if not point["beaten"]] == layers["line"]


def test_labels_are_whole_and_cover_nothing():
    lines = [("anatomy", 0.6, 0.33, 0.03), ("robust", 0.55, 0.33, 0.028), ("anatomy", 0.44, 0.2, 0.057),
             ("robust", 0.439, 0.2, 0.039), ("splu", 0.28, 0.2, 0.133), ("mondrian", 0.328, 0.89, 0.157)]  # fmt: skip
    drawn, layers = points(lines, 0.3)
    assert [point["label"] for point in drawn] == [f"l = {n}, age=10" for n in range(6)]
    (band,) = layers["rect"]
    assert (band["from"], band["to"]) == (0, 0.3)
    rows = sorted((round(point["label_y"], 6), point["label_x"], point["to_right"]) for point in drawn)
    assert len({(y, x) for y, x, _ in rows}) == 6
    assert all(0 <= point["label_x"] <= risk_utility._ends(drawn, 0.3)[0] for point in drawn)


def test_what_was_not_attacked_or_has_no_error_is_no_point():
    line = {"method": "anatomy", "parameter": "l = 3", "promised": 0.33}
    drawn, _ = drawn_layers([
        {**line, "reached": None, "error": 0.1}, {**line, "reached": 0.4, "error": float("inf")},
        {**line, "reached": 0.4, "error": 0.1},
    ])  # fmt: skip
    assert len(drawn) == 1
