"""What is chosen, without a browser: roles that are suggested, what is refused, and what becomes of a cancelled run."""

import hashlib
import json
import logging
import os
import sys
import time
import zipfile
from pathlib import Path

import duckdb
import pytest

import sqlanon
from sqlanon.errors import UsageError
from sqlanon.page import state as page_state
from sqlanon.page.packing import pack
from sqlanon.page.serve import serve
from sqlanon.page.state import State
from tests.page.conftest import make_people


@pytest.fixture
def state(tmp_path, monkeypatch):
    log = logging.getLogger("sqlanon")
    level, handlers = log.level, list(log.handlers)
    monkeypatch.chdir(tmp_path)
    make_people(tmp_path, 120)
    made = State("people.parquet")
    made.start("data")
    finish(made, "data")
    finish(made, "risks")
    yield made
    made.work.cancel_all(10)
    log.setLevel(level)
    log.handlers[:] = handlers


def finish(state, step):
    end = time.monotonic() + 60
    while step not in state.work.runs or state.work.runs[step].goes_on:
        assert time.monotonic() < end
        time.sleep(0.01)
    return state.work.runs[step]


def test_roles_and_numbers_are_the_check_s_suggestions(state):
    assert state.chosen == {"quasi": ["age", "sex", "zipcode"], "sensitive": ["disease"], "id": ["ssn"]}
    assert state.texts["l"] == "5"
    run = state.work.runs["risks"]
    check = sqlanon.check(duckdb.connect(), "people.parquet", **state.chosen)
    assert run.value.as_plain() == check.as_plain()
    assert not state.is_stale(run)
    state.roles["sex"] = "leave out"
    assert state.is_stale(run)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("l", "", "fill in l"),
        ("l", "many", "l takes a whole number, not 'many'"),
        ("l", "2.5", "l takes a whole number"),
        ("nulls", "never", "none of refuse, value, drop"),
        ("coarsen", "age", "is not COLUMN=RULE"),
    ],
)
def test_what_cannot_be_read_is_told_at_the_step(state, name, text, words):
    state.texts[name] = text
    state.start("publish")
    assert words in state.fault["publish"]
    assert "publish" not in state.work.runs


def test_without_roles_or_a_directory_nothing_begins(state):
    state.edit("out", " ")
    state.start("publish")
    assert "name the directory" in state.fault["publish"]
    state.set_role("disease", "leave out")
    state.start("publish")
    state.start("compare")
    assert "no column is sensitive" in state.fault["publish"]
    assert "step 2" in state.fault["compare"]
    assert "publish" not in state.work.runs


def test_a_release_that_had_appeared_is_no_cancelled_one(state, monkeypatch):
    """An interruption may come when the directory stands already: it is told as published, for so it is."""
    publish = sqlanon.publish

    def interrupted(*words, **options):
        publish(*words, **options)
        raise page_state.SqlanonError("interrupted")

    monkeypatch.setattr(sqlanon, "publish", interrupted)
    state.start("publish")
    run = finish(state, "publish")
    assert run.fault == ""
    assert run.value.published and "120 rows" in run.value.words
    state.start("publish")  # a second one fails, and the first one stands
    run = finish(state, "publish")
    assert "exists" in run.fault
    assert run.value is None


def test_a_candidate_takes_the_place_of_what_was_typed(state):
    state.method = "robust"
    state.texts |= {"r": "4", "nulls": "value"}
    state.use("robust", {"r": 3, "background_from": (("sex",),), "max_suppressed": 0.02, "coarsen": {"age": "10"}})
    assert state.given(*state.parameters) == {
        "r": 3.0, "background_from": (("sex",),), "max_suppressed": 0.02, "nulls": "value", "coarsen": {"age": "10"}
    }  # fmt: skip


def test_sets_of_columns_are_typed_and_published(state):
    state.use("robust", {"r": 2, "background_from": (("sex", "zipcode"), ("sex",))})
    assert state.texts["background_from"] == "sex,zipcode; sex"
    state.start("publish", preview=True)
    run = finish(state, "publish")
    assert run.fault == "" and "people.parquet" in state.calls("publish")[0].command
    assert not Path("release").exists()


def test_a_look_shows_ten_rows_as_they_would_be_published_and_writes_nothing(state):
    before = set(Path().iterdir())
    state.start("publish", preview=True)
    shown = finish(state, "publish").value
    assert not shown.published and set(Path().iterdir()) == before
    rows = [section.body for section in shown.sections() if section.heading == "qit, the first rows"]
    assert rows[0].count("<tr>") == 11 and "ssn" not in rows[0]


def test_another_table_has_other_columns_and_an_older_result_is_stale(state):
    assert state.result("data") is not None
    state.edit("source", "others.parquet")
    assert (state.columns, state.roles, state.result("data")) == ((), {}, None)


def test_the_zip_holds_exactly_what_the_manifest_names(state):
    state.start("publish")
    finish(state, "publish")
    Path("release/notes.txt").write_text("nobody named this")
    manifest = sqlanon.open("release").manifest
    packed = zipfile.ZipFile(pack(Path("release"), manifest))
    assert set(packed.namelist()) == {f"release/{name}" for name in ("release.json", *manifest["files"])}
    for name in packed.namelist():
        assert packed.read(name) == Path(name).read_bytes()
    Path("release/qit.parquet").write_bytes(Path("people.parquet").read_bytes())
    assert pack(Path("release"), manifest) is None
    assert pack(Path("nowhere"), manifest) is None
    assert pack(Path("release"), {**manifest, "rows": 1}) is None


def test_nothing_outside_of_a_release_is_packed(tmp_path):
    place = tmp_path / "release"
    place.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    digest = hashlib.sha256(b"secret").hexdigest()
    manifest = {"files": {"../secret.txt": {"sha256": digest}}}
    (place / "release.json").write_text(json.dumps(manifest))
    assert pack(place, manifest) is None


def test_a_missing_extra_is_one_line_that_says_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "nicegui", None)
    monkeypatch.setenv("NICEGUI_STORAGE_PATH", os.devnull)
    with pytest.raises(UsageError, match=r"type: pip install 'sqlanon\[page\]'$"):
        serve(State(), 0, print)
