"""The page about a release: what it says, for whom, and that nothing of a stranger's acts in it."""

import json
import re
import stat
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon.adversary.findings import Attack, Finding, Sure
from sqlanon.attacks.attack_release import NOBODY_SHOWN
from sqlanon.cli.app import app
from sqlanon.errors import DataError, TargetError
from sqlanon.releases.release import Release
from sqlanon.verification.checks import Check, Report
from sqlanon.wording import spoken
from tests.conftest import METHODS
from tests.databases import database, insert
from tests.pages import BREAKOUT, ELEMENTS, SCRIPT, Reader, read_safely

pytestmark = pytest.mark.xdist_group("page")  # a release and its pages serve several tests
KEY = "ab" * 32


hospital = database(
    "create table patients as select i as ssn, (20 + i * 7 % 60)::integer as age,"
    " case when i % 3 = 0 then 'F' else 'M' end as sex, 'd' || (hash(i) % 6) as disease from range(300) t(i)"
)


ROLES = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn", "key": KEY}


@pytest.fixture(scope="module")
def anatomized(hospital, tmp_path_factory):
    out = tmp_path_factory.mktemp("reported") / "ward"
    sqlanon.anatomy(hospital, "patients", **ROLES, l=3, out=out)
    return sqlanon.open(out, con=hospital)


@pytest.fixture(scope="module")
def pages(anatomized):
    """Return the public page and the internal one of the same release."""
    return sqlanon.report(anatomized), sqlanon.report(anatomized, against="patients", id="ssn")


def test_the_public_page_is_about_the_release_alone(pages):
    public, _ = pages
    page = read_safely(public.html)
    assert "Public: from the published files alone." in page.text
    assert "promised from these tables alone, nobody infers a person's disease" in page.text
    assert "expected from the release alone; what attacks reach is told by sqlanon attack" in page.text
    assert not any(denied in page.text for denied in ("Good", "most that an attack", "gets further", "in the source"))
    assert not public.facts.is_internal and public.holds
    assert public.facts.manifest["files"]["st.parquet"]["sha256"] in page.text
    assert len(public.html) < 200_000


def test_a_public_page_has_no_advice_for_the_publisher(con, tmp_path):
    con.execute("create table rows_alone as select i % 7 as q, i % 5 as s from range(200) t(i)")
    sqlanon.anatomy(con, "rows_alone", quasi="q", sensitive="s", l=3, out=tmp_path / "r")
    release = sqlanon.open(tmp_path / "r", con=con)
    told = read_safely(sqlanon.report(release).html).text.partition("published files alone.")[2]
    assert "whether a person has several was not looked at" in told and "No other release was named" in told
    assert not re.search(r"\s--[a-z]|\bsay\b", told)
    assert "--with RELEASE" in read_safely(sqlanon.report(release, against="rows_alone").html).text


def test_the_internal_page_scores_attacks_and_shows_true_values(pages, hospital):
    _, internal = pages
    page = read_safely(internal.html)
    assert "Internal: holds figures of the source." in page.text and "in the source" in page.text
    best = internal.facts.attack.best
    assert f"names disease rightly for {100 * best.reached:.0f} of 100 people" in page.text
    truths = dict(hospital.execute("select disease, count(*) from patients group by all").fetchall())
    by_value, by_sex = internal.facts.frequencies
    assert {line["name"]: line["truth"] for line in by_value.lines} == truths
    assert by_sex.columns == ("sex", "disease") and {line["name"][:1] for line in by_sex.lines} == {"F", "M"}
    assert all(line["low"] <= line["value"] <= line["high"] for line in by_sex.lines)


@pytest.mark.parametrize("method", ["anatomy", "robust", "splu"])
def test_what_is_lost_of_a_number_is_asked_by_a_column_with_inexact_answers(con, method):
    con.execute(
        "create table wages as select i as id, i % 2 as sex, i % 3 as race, i % 11 as area,"
        " ((hash(i) % 40 + 5 * (i % 3)) * 100)::integer as income from range(1200) t(i)"
    ).fetchall()
    options = {"robust": {"r": 3, "background_from": "sex"}, "anatomy": {"l": 3}, "splu": {"gamma": 3}}[method]
    roles = {"quasi": ["sex", "race", "area"], "sensitive": "income", "id": "id", "key": KEY}
    release = sqlanon.publish(method, con, "wages", **roles, **options)
    page = sqlanon.report(release, against="wages", id="id")
    split = "race" if method == "robust" else "sex"
    _, singles, quarter, mean = page.facts.frequencies
    assert singles.columns == (split, "income") and (quarter.columns, mean.columns) == ((split,), (split,))
    few = f"select {split}::varchar, count(*) from wages where income >= {quarter.least} group by all"
    means = f"select {split}::varchar, avg(income) from wages group by all"
    for asked, query in ((quarter, few), (mean, means)):
        assert {line["name"]: line["truth"] for line in asked.lines} == dict(con.execute(query).fetchall())
        assert all(line["low"] < line["value"] < line["high"] for line in asked.lines)
    told = read_safely(page.html).text
    assert f"How many people have {split} = " in told and f"and income of {quarter.least:,.0f} or more?" in told
    assert f"Average of income by {split}" in told and "income = " not in told


def test_groups_are_counted_by_size(pages):
    public, _ = pages
    assert sum(groups for _, groups in public.facts.sizes) == public.facts.manifest["groups"]


@pytest.mark.parametrize("method", ["robust", "splu", "mondrian"])
def test_every_method_has_a_page(hospital, method):
    release = sqlanon.publish(method, hospital, "patients", **ROLES, **METHODS[method])
    page = sqlanon.report(release, against="patients", id="ssn")
    assert page.holds and all(line["truth"] for line in page.facts.frequencies[0].lines)
    assert page.facts.attack.scored and not page.facts.attack.leaks
    if method == "mondrian":
        told = read_safely(page.html).text
        assert "a row of somebody's own box is picked" in told and "How many boxes there are" in told
    if method == "splu":
        low, high = ([line[end] for line in page.facts.frequencies[0].lines] for end in ("low", "high"))
        assert all(a < b for a, b in zip(low, high, strict=True))


def test_uncertain_rows_have_a_page(con):
    con.execute(
        "create table survey as select i as id, case when i % 5 = 0 then [20 + i % 9, 30] else [20 + i % 9] end as age,"
        " ['d' || (i % 4)] as disease from range(60) t(i)"
    ).fetchall()
    release = sqlanon.uncertain(
        con, "survey", quasi="age", sensitive="disease", id="id", k=4, l=2,
        threshold=0.5, influence="learn",
    )  # fmt: skip
    page = sqlanon.report(release, against="survey")
    assert "from certain to possible" in read_safely(page.html).text and page.facts.attack.scored
    lines = page.facts.frequencies[0].lines
    assert all(line["low"] <= line["value"] <= line["high"] for line in lines) and len(lines) == 4
    assert "reach from what is certain to what is possible" in page.html
    assert "alternatives" in release._repr_html_()  # a column of lists, most of them empty


def test_rows_that_are_all_hidden_have_a_page(con):
    con.execute(
        "create table survey as select i as id, 20 + i % 9 as age, 'd' || (i % 6) as disease from range(60) t(i)"
    ).fetchall()
    options = {"k": 3, "l": 6, "threshold": 0.1, "influence": "learn", "undiverse": "suppress"}
    release = sqlanon.uncertain(con, "survey", quasi="age", sensitive="disease", id="id", **options)
    for against in (None, "survey"):
        page = sqlanon.report(release, against=against)
        read_safely(page.html)
        assert page.holds and NOBODY_SHOWN in page.facts.attack.notes
        (hidden,) = (one for one in page.facts.attack.findings if "not shown" in one.attack)
        assert hidden.reached == pytest.approx(1 / 6)


def test_nothing_of_a_stranger_acts_in_a_page(con, tmp_path):
    quasi, sensitive = f"age {SCRIPT}", f"{BREAKOUT} illness"
    values = [SCRIPT, BREAKOUT, "</figure>", "a\u202eb", "\x1b[31m", "'\"&", "{{ 7 * 7 }}"]
    con.execute("create table people (id integer, q varchar, s varchar)")
    insert(con, "people", [(i, SCRIPT if i % 2 else BREAKOUT, values[i % 7]) for i in range(84)])  # fmt: skip
    con.execute(f'alter table people rename q to "{quasi}"').fetchall()
    con.execute("alter table people rename s to {}".format('"' + sensitive.replace('"', '""') + '"')).fetchall()
    out = tmp_path / "<img src=x onerror=alert(1)>"
    sqlanon.anatomy(con, "people", quasi=[quasi], sensitive=[sensitive], id="id", l=3, key=KEY, out=out)
    release, manifest = sqlanon.open(out, con=con), out / "release.json"
    sound = manifest.read_text()
    for member in ("created", "engine"):
        manifest.write_text(json.dumps(json.loads(sound) | {member: SCRIPT}))
        with pytest.raises(sqlanon.ReleaseError, match=f"records what no release has: {member}"):
            sqlanon.report(out, against="people")
    manifest.write_text(sound)
    page = sqlanon.report(release, against="people")
    read = read_safely(page.html)
    assert "<script>alert('1')</script>" in read.text  # as words
    assert "\u202e" not in page.html and "\x1b" not in page.html
    assert page.html.count("<title>") == page.html.count("</style>") == 1
    assert Reader(page._repr_html_()).elements == ["iframe"]
    for shown in (page.facts.attack, page.facts.verification):
        assert not set(Reader(shown._repr_html_()).elements) - ELEMENTS


def test_other_releases_are_intersected(anatomized, hospital):
    other = sqlanon.anatomy(hospital, "patients", **{**ROLES, "key": "cd" * 32}, l=3)
    told = read_safely(sqlanon.report(anatomized, others=[other]).html).text
    assert "2 releases intersected: " in told and "people are fixed to one value" in told


def test_files_are_whole_and_private_where_they_tell_of_the_source(pages, tmp_path):
    public, internal = pages
    public.write(tmp_path / "public.html")
    internal.write(tmp_path / "internal.html")
    modes = [stat.S_IMODE((tmp_path / f"{name}.html").stat().st_mode) for name in ("public", "internal")]
    assert modes == [0o644, 0o600]
    with pytest.raises(TargetError, match="exists"):
        public.write(tmp_path / "public.html")
    public.write(tmp_path / "public.html", overwrite=True)
    assert {one.name for one in tmp_path.iterdir()} == {"public.html", "internal.html"}


def test_what_cannot_be_written_is_refused_before_anything_is_read(anatomized, tmp_path):
    with pytest.raises(TargetError, match="lies in the release"):
        sqlanon.report(anatomized, anatomized.directory / "report.html")
    with pytest.raises(TargetError, match=r"does not end in \.html or \.htm"):
        sqlanon.report(anatomized, tmp_path / "report.pdf")
    with pytest.raises(TargetError, match="no directory"):
        sqlanon.report(anatomized, tmp_path / "no" / "report.html")
    source = tmp_path / "people.html"
    source.write_text("id\n1\n")
    with pytest.raises(TargetError, match="is what this run reads"):
        sqlanon.report(anatomized, source, against=str(source), overwrite=True)
    with pytest.raises(DataError, match="about others"):
        sqlanon.report(anatomized, against=_strangers(anatomized.engine.connection))


def _strangers(con):
    con.execute("create or replace table strangers as select ssn, 900 as age, sex, disease from patients").fetchall()
    return "strangers"


def test_every_bar_of_an_attack_is_a_share_of_people(pages):
    for page in pages:
        attack = page.facts.attack
        drawn = Reader(attack.sections()[0].body).text
        for one in attack.findings:
            # bars of one name are counted
            name = rf"{re.escape(f'{one.attack} ({one.family})')}( \(\d\))?"
            is_drawn = re.search(rf"{name} {re.escape(one.figure)}", drawn)
            assert bool(is_drawn) == (one.family != "background knowledge" and one.reached is not None)
        for each in attack.sure:
            assert f"told with more than {each.limit:.1%} certainty {each.people:,} of {each.of:,}" in drawn


def test_a_few_people_are_no_long_bar_however_sure_the_adversary_is_of_them():
    few = Attack((), scored=True, sure=(Sure(0.8, 4, 4000, 0.979, 1.0),))
    assert 'width="0.10%"' in few.sections()[0].body and "4 of 4,000" in few.sections()[0].body
    assert few.verdict.colour == "amber" and "4 of 4,000 people are told with 98% certainty" in few.verdict.words


def found(family, reached, leak=None, scored=True, promised=0.25):
    return Attack((Finding(family, "one attack", reached, promised, leak=leak, headline=True),), scored=scored)


@pytest.mark.parametrize(
    ("attack", "colour"),
    [
        (found("learning", 0.2), "green"),
        (found("learning", 0.2, scored=False), ""),
        (Attack((Finding("learning", "one", 0.43, 0.25, headline=True),)), "amber"),
        (Attack((Finding("learning", "one", 0.43, None, headline=True),)), "amber"),
        (Attack(()), "amber"),
        (Attack((Finding("order", "one", 0.2, 0.25, leak=True, headline=True),)), "red"),
        (Attack((Finding("composition", "two releases", 0.01, 0.25, headline=True),)), "red"),
        (Attack((Finding("learning", "one", 0.2, 0.25, headline=True),), sure=(Sure(0.8, 40, 4000, 0.9),)), "red"),
        (Attack((Finding("learning", "one", 0.2, 0.25, headline=True),), sure=(Sure(0.5, 40, 4000, 0.6),)), ""),
    ],
)
def test_a_verdict_has_a_colour_and_its_reason(attack, colour):
    assert attack.verdict.colour == colour and attack.verdict.words
    assert f'class="verdict {colour}"' in attack._repr_html_()
    assert len(str(attack).splitlines()) <= 10 and str(attack) == repr(attack)


def believing(confidence):
    known = Finding("background knowledge", "a group's most frequent value is named", 0.25, 0.25, headline=True)
    learned = Finding("learning", "naive Bayes", confidence, 0.25, whom="own confidence, over 9 people", believed=True)
    return Attack((known, learned))


def with_exclusion():
    known = Finding("background knowledge", "a group's most frequent value is named", 0.25, 0.25, headline=True)
    excluded = Finding("background knowledge", "1 value excluded", 1 / 3, 0.25, whom="in the worst group")
    return Attack((known, excluded), scored=True)


def test_an_adversarys_own_confidence_is_told_and_never_denied():
    """An attack that met no truth stands in headline and sentence, and in no denial, unless guesses are scored."""
    sure = believing(0.926)
    assert sure.headline == (
        "promised 25.0%, best guess 92.6%: naive Bayes (learning), own confidence, over 9 people; expected"
        " from the release alone; what attacks reach is told by sqlanon attack with the source"
    )
    for attack in (sure, believing(0.2), believing(0.25)):
        told = " ".join(attack.sentences("disease"))
        assert "gets further" not in told or attack.strongest.reached <= 0.25
    assert "No attack" not in " ".join(sure.sentences("disease"))
    scored = replace(sure, scored=True)
    assert scored.strongest == scored.best == sure.findings[0]


@pytest.mark.parametrize(
    ("attack", "wanted"),
    [
        (
            found("learning", 0.43),
            "The best attack names disease rightly for 43 of 100 people; the promise speaks of 25",
        ),
        (found("learning", 0.2), "No attack tried here gets further than the promise."),
        (found("composition", 0.5), "leave 50 of 100 people with one possible disease"),
        (found("order", 1.0, leak=True), "gives away what its method should hide, by: one attack (order)"),
        (
            found("learning", 0.2, scored=False),
            "The best guess by the release alone names disease rightly for 20 of 100",
        ),
        (Attack(()), "Nothing was promised that the attacks tried here could be held against."),
        (found("learning", 0.4, promised=None), "for 40 of 100 people; no confidence was promised."),
        (
            believing(0.926),
            "By its own confidence, who learns from the release names disease rightly for 93 of 100 people; the",
        ),
        (believing(0.926), "What follows is expected from the release alone; what attacks reach is told by sqlanon"),
        (
            with_exclusion(),
            "Beyond it, for some of them or with more knowledge: 1 value excluded",
        ),
    ],
)
def test_a_sentence_says_what_it_comes_to(attack, wanted):
    assert wanted in "  ".join(attack.sentences("disease"))


def test_large_releases_of_groups_are_attacked_on_a_sample(anatomized, monkeypatch):
    monkeypatch.setattr("sqlanon.attacks.attack_release.MOST_ROWS", 50)
    page = sqlanon.report(anatomized, against="patients")
    assert {"order", "learning"} <= {one.family for one in page.facts.attack.findings}
    assert "of a sample (95 %" in page.facts.attack._repr_html_()
    assert "on a sample" in read_safely(page.html).text and "rows, drawn" in read_safely(page.html).text


def test_the_command_line_writes_a_page_and_says_what_it_comes_to(anatomized, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ["report", str(anatomized.directory), "--out", "r.html"]
    done = CliRunner().invoke(app, [*asked, "--format", "json"])
    assert done.exit_code == 0 and done.stderr == ""
    told = json.loads(done.stdout)
    assert (told["view"], told["holds"], told["report"]) == ("public", True, "r.html")
    assert "of 100 people" in told["in short"]
    read_safely((tmp_path / "r.html").read_text())
    for words, message in (
        ([], "exists"),
        (["--sql"], "report has no --sql"),
        (["--id", "a"], "say which with --against SOURCE"),
    ):
        assert message in spoken(CliRunner().invoke(app, [*asked, *words]).exception.args[0], "command line")


def test_a_release_that_does_not_hold_has_a_page_that_says_so(anatomized, tmp_path, monkeypatch):
    broken = Report((Check("diversity", ">= 3", 1, False),))
    monkeypatch.setattr(Release, "verify", lambda *_: broken)
    done = CliRunner().invoke(app, ["report", str(anatomized.directory), "--out", str(tmp_path / "r.html")])
    assert done.exit_code == 3
    told = read_safely((tmp_path / "r.html").read_text()).text
    assert "This release does not hold what it promises: diversity: required >= 3, found 1. Do not hand it on." in told
