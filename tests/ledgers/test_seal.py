"""The seal of a ledger: whoever lacks the key changes nothing of it that is not noticed, and no older copy is taken."""

import json
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import duckdb
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import sqlanon
from sqlanon.engines.connect import open_duckdb
from sqlanon.errors import SourceError, SqlanonError, TargetError, UsageError
from sqlanon.key import Key
from sqlanon.ledgers import refusals, seal
from sqlanon.ledgers.store import attached
from sqlanon.plans.templates import Sql
from tests.conftest import ROOT
from tests.examples import examples

KEY, OTHER = "5e" * 32, "6f" * 32
ASKED = {"quasi": ["age"], "sensitive": "disease", "id": "ssn", "l": 3, "key": KEY, "unique_quasi": "keep"}
PEOPLE = "select i as ssn, i % 30 as age, 'd' || i % 6 as disease from range(60) as t(i)"
LEAVERS = "delete from people where ssn < 3 * {night}"


def release(con, folder, out, ledger="ward.ledger", **options):
    return sqlanon.anatomy(con, "people", **{**ASKED, **options}, ledger=folder / ledger, out=folder / out)


@pytest.fixture(scope="module")
def wards(tmp_path_factory):
    """Publish two wards three times under one key; return connection and folder, which stays as it is."""
    folder = tmp_path_factory.mktemp("wards")
    con = duckdb.connect(config={"threads": 1})
    con.execute(f"create table people as {PEOPLE}")
    for night in (1, 2, 3):
        for ward in ("ward", "other"):
            (folder / ward).mkdir(exist_ok=True)
            release(con, folder, f"{ward}/{night}", f"{ward}.ledger")
            shutil.copy(folder / f"{ward}.ledger", folder / f"{ward}.{night}")
        con.execute(LEAVERS.format(night=night))
    yield con, folder
    con.close()


@pytest.fixture
def copied(wards, tmp_path):
    """Copy what the wards published, so that it can be changed."""
    shutil.copytree(wards[1], tmp_path, dirs_exist_ok=True)
    return wards[0], tmp_path


@contextmanager
def opened(path):
    with duckdb.connect(str(path)) as con:
        yield con


def history(con):
    ((text,),) = con.execute("select description from description").fetchall()
    return json.loads(text)


def rewrite(con, change):
    """Change what a ledger says of itself and its releases, as somebody does who knows how it is written."""
    said = history(con)
    change(said)
    con.execute("update description set description = ?", [json.dumps(said)])


def entry_of(number, **changes):
    return lambda said: said["releases"][number - 1].update(changes)


def swap(said):
    first, second, *_ = said["releases"]
    said["releases"][:2] = [second, first]


def copied_from(*names):
    def change(said):
        with opened(swap.folder / "other.ledger") as con:
            said.update({name: history(con)[name] for name in names})

    return change


SEAL = "does not fit its seal"
# each an edit by SQL of somebody who knows how ledgers are written, and what is said of it
EDITS = {
    "a person goes": ("delete from person where group_id = 3", SEAL),
    "a person comes": ("insert into person by name select * replace (uuid() as person) from person limit 1", SEAL),
    "a person comes twice": ("insert into person select * from person limit 1", SEAL),
    "a mark is missing": ("update person set mark = null where group_id = 2", SEAL),
    "a column is of another type": ("alter table person alter group_id type varchar", SEAL),
    "a value is another": ("update value set sensitive = 'd9' where code = 2", SEAL),
    "two releases change places": (swap, SEAL),
    "the last release goes": (lambda said: said["releases"].pop(), SEAL),
    "a seal is no digest": (lambda said: said.update(seal="é"), "says what no ledger does: seal"),
    "a seal of another ledger": (copied_from("seal"), SEAL),
    "the releases and the seal of another ledger": (copied_from("releases", "seal"), SEAL),
    "the seal is taken away": (lambda said: said.pop("seal"), SEAL),
    "another format": (lambda said: said.update(format=3), "is a database, and no ledger"),
    "a reserve": (lambda said: said.update(reserve=2), 'was begun with changed="move"'),
    "another key's check": (lambda said: said.update(check="0" * 64), "was made with another key"),
    "no figures": (entry_of(1, figures=7), "says what no ledger does: releases 0 figures"),
    "no releases": (lambda said: said.update(releases=[]), "is no ledger"),
    "a table goes": ("drop table value", "no ledger"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_noticed(copied, name):
    con, folder = copied
    swap.folder = folder
    edit, words = EDITS[name]
    with opened(folder / "ward.ledger") as ledger:
        ledger.execute(edit) if isinstance(edit, str) else rewrite(ledger, edit)
    before = (folder / "ward.ledger").read_bytes()
    with pytest.raises((SourceError, UsageError), match=words):
        release(con, folder, "ward/4")
    assert (folder / "ward.ledger").read_bytes() == before and not (folder / "ward" / "4").exists()
    # who only looks at it meets no fault of ours
    try:
        looked_at = sqlanon.ledger(folder / "ward.ledger")
        assert looked_at.check(KEY, folder / "ward").holds is False
    except SqlanonError as error:
        assert error.exit_code == 2


def test_a_ledger_that_nobody_touched_is_followed(copied):
    con, folder = copied
    report = sqlanon.ledger(folder / "ward.ledger").check(KEY, folder / "ward")
    assert report.holds and [check.name for check in report.checks] == ["seal", "newest", "manifests"]
    assert report.checks[-1].found == {"compared": 3, "changed": []}
    # rows and columns in another order are the same ledger, and so is another layout of the text
    with opened(folder / "ward.ledger") as ledger:
        ledger.execute("create or replace table value as select sensitive, code from value order by code desc")
        ledger.execute("create or replace table person as select * from person order by mark")
        ledger.execute(
            "update description set description = ?", [json.dumps(history(ledger), indent=3, sort_keys=True)]
        )
    assert sqlanon.ledger(folder / "ward.ledger").check(KEY, folder / "ward").holds
    assert release(con, folder, "ward/4").manifest["parameters"]["release"] == 4
    with pytest.raises(UsageError, match="was made with another key"):
        sqlanon.ledger(folder / "ward.ledger").check(OTHER)


TYPES = {"code": "bigint", "group_id": "bigint", "sensitive": "varchar", "standing": "varchar", "person": "uuid"}


@examples(25, HealthCheck.function_scoped_fixture)
@given(
    table=st.sampled_from(["person", "value"]),
    place=st.integers(0, 59),
    column=st.integers(0, 8),
    number=st.integers(-(2**62), 2**62),
    word=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
    missing=st.booleans(),
)
def test_any_edit_of_any_cell_is_noticed(wards, table, place, column, number, word, missing):
    """Compare with an oracle: a ledger does not fit its seal where multisets of rows differ."""
    engine = open_duckdb()
    con, key = engine.connection, Key.of(KEY)
    con.execute(f"attach '{wards[1]}/ward.ledger' as sealed (read_only)")
    for name in ("person", "value"):
        con.execute(f"create table {name} as from sealed.{name}")
    columns = [line[0] for line in con.execute(f"describe {table}").fetchall()]
    name = columns[column % len(columns)]
    kind = TYPES.get(name, "bigint")
    value = {"bigint": number, "varchar": word, "uuid": f"{abs(number):032x}"}[kind]
    count = con.execute(f"select count(*) from {table}").fetchone()[0]
    con.execute(
        f"update {table} set {name} = cast(? as {kind}) where rowid = ?", [None if missing else value, place % count]
    )
    with attached(engine, wards[1] / "ward.ledger") as contents:
        edited = {one: Sql(f"memory.main.{one}") for one in ("person", "value")}
        fits = seal.fits(replace(contents, relations=edited), engine, key)
        same = all(
            sorted(con.execute(f"from {one}").fetchall(), key=repr)
            == sorted(con.execute(f"from sealed.{one}").fetchall(), key=repr)
            for one in ("person", "value")
        )
    con.close()
    assert fits == same


@examples(25)
@given(data=st.data())
def test_any_edit_of_what_a_ledger_says_is_noticed(wards, data):
    engine = open_duckdb()
    with attached(engine, wards[1] / "ward.ledger") as contents:
        said = json.loads(json.dumps([contents.description, list(contents.releases)]))
        place, key = said, None
        while isinstance(place, dict | list) and place:
            holder, key = (
                place,
                data.draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place)))),
            )
            place = holder[key]
        holder[key] = data.draw(st.one_of(st.integers(), st.text(max_size=3), st.none(), st.just([])))
        changed = said != [contents.description, list(contents.releases)]
        edited = replace(contents, description=said[0], releases=tuple(said[1]))
        try:
            refusals.refuse_other_key("ward", edited, Key.of(KEY))
            noticed = not seal.fits(edited, engine, Key.of(KEY))
        except UsageError:
            noticed = True
    engine.connection.close()
    assert noticed == changed


def test_older_copies_are_noticed_by_what_lies_beside(copied):
    con, folder = copied
    newest, note = (folder / "ward.3").read_bytes(), (folder / "ward.ledger.last").read_text()
    shutil.copy(folder / "ward.2", folder / "ward.ledger")
    report = sqlanon.ledger(folder / "ward.ledger").check(KEY)
    assert [check.name for check in report.checks if check.holds is False] == ["newest"]
    with pytest.raises(UsageError, match=r"says that release 3 was the last one, and .* knows 2"):
        release(con, folder, "elsewhere")
    # without the note, the releases beside the new one tell, or nothing does, and then it is refused as well
    (folder / "ward.ledger.last").unlink()
    with pytest.raises(UsageError, match=r"3' is release 3 of a ledger, and .* knows 2"):
        release(con, folder, "ward/4")
    assert sqlanon.ledger(folder / "ward.ledger").check(KEY, folder / "ward").holds is False
    with pytest.raises(UsageError, match="is not there, so that an older copy of the ledger would not be noticed"):
        release(con, folder, "elsewhere")
    # a note of another ledger, of an older release, and of none at all
    shutil.copy(folder / "other.ledger.last", folder / "ward.ledger.last")
    for text, words in (
        (None, "and not of .*, whose release 3 is another one"),
        ("x", "does not say which release"),
        ("[]", "does not say"),
    ):
        (folder / "ward.ledger.last").write_text(text or (folder / "other.ledger.last").read_text())
        (folder / "ward.ledger").write_bytes(newest)
        with pytest.raises(UsageError, match=words):
            release(con, folder, "ward/4")
    # what was lost is put right by naming the last release
    (folder / "ward.ledger.last").unlink()
    assert sqlanon.ledger(folder / "ward.ledger").check(KEY).holds is False
    assert release(con, folder, "elsewhere", since=folder / "ward" / "3").manifest["parameters"]["release"] == 4
    assert json.loads((folder / "ward.ledger.last").read_text())["release"] == 4 != json.loads(note)["release"]
    assert (folder / "ward.ledger.last").stat().st_mode & 0o777 == 0o600


def test_a_ledger_that_is_gone_is_noticed(copied):
    con, folder = copied
    (folder / "ward.ledger").unlink()
    with pytest.raises(UsageError, match=r"says that release 3 was published under .*, which is not there"):
        release(con, folder, "ward/4")
    (folder / "ward.ledger.last").unlink()
    told = " ".join(release(con, folder, "ward/4").notes)
    assert "release 3 of another ledger lies beside this one" in told


def test_a_manifest_that_was_changed_since_is_named(copied):
    _, folder = copied
    path = folder / "ward" / "2" / "release.json"
    path.write_text(path.read_text().replace('"dropped_rows": 0', '"dropped_rows": 9'))
    report = sqlanon.ledger(folder / "ward.ledger").check(KEY, folder / "ward")
    assert report.holds is False
    assert report.checks[-1].found == {"compared": 3, "changed": [str(folder / "ward" / "2")]}


@pytest.mark.parametrize(
    "edit",
    [
        "update person set moves = 1 where group_id = 2",
        "update value set sensitive = 'd99' where code = 2",
        lambda said: said["parameters"].update(l=2),
        entry_of(1, created="never"),
        lambda said: said["releases"].pop(),
        lambda said: said["releases"][-1].update(previous="0" * 64),
    ],
)
def test_an_edit_of_a_ledger_of_0_2_0_is_noticed(edit, tmp_path):
    with zipfile.ZipFile(ROOT / "fixtures" / "releases" / "0.2.0" / "nights.ledger.zip") as archive:
        archive.extractall(tmp_path)
    looked_at = sqlanon.ledger(tmp_path / "nights.ledger")
    assert looked_at.check("ab" * 32).holds
    with opened(tmp_path / "nights.ledger") as ledger:
        ledger.execute(edit) if isinstance(edit, str) else rewrite(ledger, edit)
    assert looked_at.check("ab" * 32).holds is False


def test_the_guarantee_that_a_ledger_of_0_2_0_says_is_the_one_of_today():
    request = dict.fromkeys(refusals.WORDS, "as before")
    before = SimpleNamespace(description=request | {"parameters": {"r": 3, "guarantee": "exact"}})
    refusals.refuse_other_request("ward.ledger", before, request | {"parameters": {"r": 3}})
    with pytest.raises(UsageError, match="have the r 3, this request 4"):
        refusals.refuse_other_request("ward.ledger", before, request | {"parameters": {"r": 4}})


def test_of_runs_at_once_each_follows_the_last_or_is_refused(copied):
    _, folder = copied

    def run(number):
        with duckdb.connect(config={"threads": 1}) as con:
            con.execute(f"create table people as {PEOPLE}")
            try:
                return release(con, folder, f"ward/at once {number}").manifest["parameters"]["release"]
            except TargetError as error:
                assert "another run publishes under" in str(error)
                return None

    with ThreadPoolExecutor(4) as pool:
        numbers = sorted(filter(None, pool.map(run, range(6))))
    assert numbers and numbers == list(range(4, 4 + len(numbers)))
    report = sqlanon.ledger(folder / "ward.ledger").check(KEY, folder / "ward")
    assert report.holds and report.checks[-1].found == {"compared": 3 + len(numbers), "changed": []}
