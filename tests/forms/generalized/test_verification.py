"""A release of generalized rows proves k and l from its one table; what is damaged or made up is found."""

import json

import pytest

import sqlanon
from sqlanon.plans.manifest import manifest_text
from tests.conftest import PAPERS
from tests.generalized_release import OLD, SLIDES, YOUNG, write_release

NOTHING = {"wrong_bounds": 0, "wrong_nodes": 0, "wrong_sets": 0}
MICRODATA = str(PAPERS / "anatomy" / "microdata.csv")


def verified(folder, against=None, **changed):
    """Return the checks of a release by hand that does not hold, by name."""
    report = sqlanon.open(write_release(folder, **{**SLIDES, **changed})).verify(against=against)
    return {check.name: check.found for check in report.checks if check.holds is False}


def test_a_sound_release_holds_with_its_figures(tmp_path):
    report = sqlanon.open(write_release(tmp_path / "r", **SLIDES, k=4, l=2)).verify(against=MICRODATA)
    assert report.holds
    assert {name: report.figures[name] for name in ("rows", "groups", "largest_class", "largest_confidence")} == {
        "rows": 8,
        "groups": 2,
        "largest_class": 4,
        "largest_confidence": 0.5,
    }


@pytest.mark.parametrize(
    ("changed", "failing"),
    [
        ({"k": 5}, {"k": 4}),
        ({"l": 3}, {"l": 2}),
        ({"rows": SLIDES["rows"][::-1]}, {"row_order": {"misplaced rows of data": 4}}),
        ({"rows": [(60, 21, *YOUNG[2:], "flu")] * 2}, {"boxes": {**NOTHING, "wrong_bounds": 1}}),
        ({"rows": [(None, *YOUNG[1:], "flu")] * 2}, {"boxes": {**NOTHING, "wrong_bounds": 1}}),
        *(
            ({"rows": [(21, 60, text, 1, 2, "flu")] * 2}, {"boxes": {**NOTHING, "wrong_sets": 1}})
            for text in ("M", "[]", '["M","F"]', '["M", "M"]', '{"M": 1}', None)
        ),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_found(tmp_path, changed, failing):
    assert verified(tmp_path / "r", **changed) == failing


def test_nodes_outside_their_hierarchy_are_found(tmp_path):
    published = {"job": {"type": "VARCHAR", "nulls": False, "node": "job"}}
    tree = {"job": [["nurse", "any"], ["clerk", "any"]]}
    rows = [("any", "flu"), ("any", "flu"), ("boss", "flu"), ("boss", "flu")]
    found = verified(tmp_path / "r", published=published, rows=rows, hierarchies=tree)
    assert found == {"boxes": {**NOTHING, "wrong_nodes": 1}}


def test_boxes_that_have_no_room_for_the_source_are_found(tmp_path):
    """Ages 61 to 70 belong to four people, 21 to 60 to four others, and two of each sex are missing here."""
    rows = [(*((21, 30, *YOUNG[2:]) if n < 3 else YOUNG), row[5]) for n, row in enumerate(SLIDES["rows"][:4])]
    assert verified(tmp_path / "a", MICRODATA, rows=sorted(rows) + SLIDES["rows"][4:], k=2)["quasi_values"] == {
        "values of age": 1
    }
    mixed = [(*row[:2], '["F"]', *row[3:]) for row in SLIDES["rows"]]
    assert verified(tmp_path / "b", MICRODATA, rows=mixed)["quasi_values"] == {"values of sex": 2}
    other = [*SLIDES["rows"][:7], (*OLD, "plague")]
    found = verified(tmp_path / "c", MICRODATA, rows=other)
    assert found == {"sensitive_counts": {"added_rows": 1, "missing_rows": 1}}


def test_a_column_of_another_type_is_found(tmp_path):
    folder = write_release(tmp_path / "r", **SLIDES)
    manifest = json.loads((folder / "release.json").read_text())
    manifest["parameters"]["published"]["age"]["type"] = "BIGINT"
    (folder / "release.json").write_text(manifest_text(manifest))
    (check,) = (check for check in sqlanon.open(folder).verify().checks if check.holds is False)
    assert (check.name, check.found) == ("columns", "'age_low' of data is INTEGER, not BIGINT")
