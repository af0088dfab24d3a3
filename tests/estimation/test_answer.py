"""An answer draws itself: its intervals, in a file or a notebook."""

import pandas as pd
import pytest

import sqlanon
from sqlanon.errors import TargetError, UsageError
from sqlanon.estimation.answer import MOST_DRAWN, Answer, as_answer
from sqlanon.estimation.answered import Answered
from tests.pages import Reader


@pytest.fixture
def release(patients):
    return sqlanon.anatomy(
        patients, "patients", quasi=["age", "sex"], sensitive="disease", id="ssn", l=3, key="ab" * 32
    )


def drawn(answer):
    """Return the lines of every chart of an answer."""
    return list(answer.plot().chart.to_dict()["datasets"].values())


def test_an_answer_is_a_frame_with_a_chart(release):
    answer = release.estimate("SELECT sex, COUNT(*) AS n, AVG(age) FROM release WHERE disease = 'd1' GROUP BY sex")
    assert isinstance(answer, Answer) and "messages" in answer.attrs
    assert type(answer[["sex"]]) is type(answer.head(1)) is pd.DataFrame  # whose plot is pandas' own
    charts = drawn(answer)
    for lines, name in zip(charts, ("n", "avg"), strict=True):
        assert [line["name"] for line in lines] == list(answer["sex"])
        for side, column in (("value", name), ("low", f"{name}_low"), ("high", f"{name}_high")):
            assert [line[side] for line in lines] == list(answer[column])
    assert len(answer.plot().chart.to_dict()["vconcat"]) == 2


def test_intervals_of_uncertain_counts_reach_from_certain_to_possible():
    frame = pd.DataFrame({"v": ["a"], "n_certain": [1.0], "n_possible": [4.0], "n_expected": [2.0]})
    ((line,),) = drawn(as_answer(Answered(frame, [], [])))
    assert (line["low"], line["value"], line["high"], line["name"]) == (1.0, 2.0, 4.0, "a")


def test_missing_and_unbounded_figures_are_left_open():
    frame = pd.DataFrame({"n": [None, 2.0], "n_std_error": 0, "n_low": [None, 1.0], "n_high": [None, float("inf")]})
    (lines,) = drawn(as_answer(Answered(frame.astype(float), [], [])))
    assert [(one["name"], one["value"], one["high"]) for one in lines] == [("n", None, None), ("n (2)", 2.0, None)]


@pytest.mark.parametrize("rows", [0, MOST_DRAWN + 1])
def test_what_is_no_chart_is_refused(rows):
    frame = pd.DataFrame({name: [1.0] * rows for name in ("n", "n_std_error", "n_low", "n_high")})
    with pytest.raises(UsageError, match="is no chart"):
        as_answer(Answered(frame, [], [])).plot()
    with pytest.raises(UsageError, match="0 figures"):
        as_answer(Answered(pd.DataFrame({"a": [1]}), [], [])).plot()


def test_files_are_images_and_no_file_is_lost(release, tmp_path):
    answer = release.estimate("SELECT disease, COUNT(*) AS n FROM release GROUP BY disease")
    answer.plot().save(tmp_path / "n.png")
    answer.plot().save(tmp_path / "n.svg")
    assert (tmp_path / "n.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "n.svg").read_text().startswith("<svg")
    assert Reader(answer.plot()._repr_html_()).elements[:2] == ["div", "svg"]
    with pytest.raises(TargetError, match="exists"):
        answer.plot().save(tmp_path / "n.png")
    with pytest.raises(TargetError, match=r"does not end in \.png or \.svg"):
        answer.plot().save(tmp_path / "n.pdf")


def test_the_command_line_draws_beside_the_answer(shell, release):
    release.write(shell.folder / "ward")
    asked = ["estimate", "ward", "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease", "--plot"]
    done = shell(*asked, "n.svg")
    assert done.returncode == 0 and done.stdout.startswith("disease") and done.stderr == ""
    assert ">d1</text>" in (shell.folder / "n.svg").read_text()
