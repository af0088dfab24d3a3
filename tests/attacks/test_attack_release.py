"""Attacks: each finds a leak that was planted, and stays at the promise on a clean release."""

import json
from dataclasses import replace

import pytest

import sqlanon
from sqlanon.adversary.findings import Attack, Finding
from sqlanon.errors import DataError, UsageError
from sqlanon.plans.templates import ident
from sqlanon.releases.release import Release
from tests.conftest import NASTY_NAMES
from tests.databases import connect

KEY = "ab" * 32


def people(con, count=1200):
    """Fill a table whose values depend on nothing that is published."""
    con.execute(
        "create table people as select i as id, (i * 7919 % 101)::integer as age, (i * 104729 % 13)::integer as area,"
        f" 'v' || (hash(i) % 6) as value from range({count}) t(i)"
    ).fetchall()


def grouped(con, l=3, key=KEY, quasi=("age", "area")):
    roles = {"quasi": list(quasi), "sensitive": "value", "id": "id", "unique_quasi": "keep"}
    return sqlanon.anatomy(con, "people", **roles, l=l, key=key)


def planted(release, qit="select * from {qit}", st="select * from {st}"):
    """Return the release with other tables in the place of its own, which `qit` and `st` stand for in the queries."""
    con = release.engine.connection
    for name, text in (("qit", qit), ("st", st)):
        con.execute(f"create or replace table planted_{name} as {text.format(**release.tables)}").fetchall()
    return Release(release.engine, {"qit": ident("planted_qit"), "st": ident("planted_st")}, release.manifest)


def finding(result, family, word=""):
    return next(one for one in result.findings if one.family == family and word in one.attack)


def test_a_clean_release_stays_at_its_promise(con):
    people(con)
    result = sqlanon.attack(grouped(con), against="people", id="id")
    assert not result.leaks and result.scored
    order = finding(result, "order", "as they lie")
    assert order.reached == pytest.approx(1 / 3, abs=0.05)
    # learning tells next to nothing where values depend on nothing
    assert finding(result, "learning", "likeliest").reached == pytest.approx(1 / 3, abs=0.06)
    assert con.execute(
        "select count(*) from duckdb_tables() where temporary and table_name like '%person%'"
    ).fetchone() == (0,)


def test_an_attack_finds_the_same_whenever_it_runs(con):
    # everybody is many: their shares are thirds and sevenths, which threads add up in any order
    con.execute(
        "create table people as select i as id, i % 3 as age, i % 7 % 2 as area, 'v' || i % 5 as value"
        " from range(400) t(i)"
    ).fetchall()
    release = sqlanon.robust(
        con, "people", quasi=["age", "area"], sensitive="value", id="id", r=2, background_from="area", key=KEY
    )
    attacks = [sqlanon.attack(release, against="people", id="id") for _ in range(4)]
    assert attacks[1:] == attacks[:-1]


def known_people(con):
    """Let everybody be known by an age of their own."""
    people(con)
    con.execute("create or replace table people as select id, id::integer as age, area, value from people").fetchall()


def test_rows_in_the_order_of_their_values_are_found(con):
    known_people(con)
    leaky = planted(
        grouped(con),
        qit="select q.* from {qit} q join people p using (age) order by q.group_id, p.value",
        st="select * from {st} order by group_id, value",
    )
    result = sqlanon.attack(leaky, against="people", id="id")
    order = finding(result, "order", "as they lie")
    assert order.leak and order.reached == pytest.approx(1.0) and result.best is order
    assert "100.0%" in result.headline and "promised 33.3%" in result.headline


def test_group_numbers_that_tell_values_are_found(con):
    """A group's number, divided by 3, leaves the place of its youngest member's value."""
    known_people(con)
    numbered = (
        "select q.group_id as before, row_number() over (order by q.group_id) * 3 + s.place as after"
        " from (select group_id, min(age) as age from {qit} group by group_id) q join people p using (age)"
        " join (select group_id, value, row_number() over (partition by group_id order by value) - 1 as place"
        " from {st}) s on s.group_id = q.group_id and s.value = p.value"
    )
    leaky = planted(
        grouped(con),
        qit=f"select age, area, after as group_id from {{qit}} join ({numbered}) n on before = group_id order by age",
        st=f"select after as group_id, value, count from {{st}} join ({numbered}) n on before = group_id order by 1, 2",
    )
    shifted = finding(sqlanon.attack(leaky, against="people", id="id"), "order", "as they lie")
    assert shifted.leak and "shifted" in shifted.attack and shifted.reached > 0.5


def test_learning_finds_what_depends_on_quasi_values(con):
    con.execute(
        "create table people as select i as id, i % 6 as job, i % 6 + (hash(i) % 2)::integer as pay, i % 97 as age,"
        " 'v' || ((i + (hash(i, 1) % 10 = 0)::integer) % 6) as value from range(1800) t(i)"
    )
    release = grouped(con, l=3, quasi=("job", "pay", "age"))
    result = sqlanon.attack(release, against="people", id="id")
    learned = finding(result, "learning", "likeliest")
    assert result.best.reached >= learned.reached > 0.75 and result.best.family == "learning"
    own = sqlanon.attack(release)
    assert not own.scored and finding(own, "learning", "likeliest").reached > 0.6
    assert "told by sqlanon attack with the source" in own.headline and own.best.family == "background knowledge"


def test_releases_of_the_same_people_are_intersected(con):
    people(con)
    con.execute("create or replace table people as select id, id::integer as age, area, value from people")
    first, second = grouped(con, key="01" * 32), grouped(con, key="02" * 32)
    result = sqlanon.attack(first, others=[second])
    fixed = finding(result, "composition")
    values = {}
    for one in (first, second):
        told = con.execute(
            f"select age, list(value) from {one.tables['qit']} join {one.tables['st']} using (group_id) group by age"
        ).fetchall()
        for age, held in told:
            values[age] = values.get(age, set(held)) & set(held)
    assert fixed.reached == pytest.approx(sum(len(left) == 1 for left in values.values()) / 1200)
    assert fixed.reached > 0.3
    assert result.headline.startswith(f"CERTAIN by composition: 2 releases intersected, {fixed.whom}; promised")
    same = sqlanon.attack(first, others=[first])
    assert finding(same, "composition").reached == 0
    con.execute("create or replace table people as select id + 5000 as id, age + 5000 as age, area, value from people")
    others = sqlanon.attack(first, others=[grouped(con)])
    assert not [one for one in others.findings if one.family == "composition"]
    assert any("it is about others" in note for note in others.notes)


def test_randomized_values_that_are_drawn_again_are_pooled(con):
    people(con)
    con.execute("create or replace table people as select id, id as age, area, value from people")
    given = {"quasi": ["age", "area"], "sensitive": "value", "id": "id", "unique_quasi": "keep", "gamma": 3}
    drawn = [sqlanon.splu(con, "people", **given, key=f"{number:02x}" * 32) for number in range(1, 6)]
    once = finding(sqlanon.attack(drawn[0], against="people", id="id"), "learning", "is taken").reached
    assert once == pytest.approx(1 / 3, abs=0.05)
    result = sqlanon.attack(drawn[0], against="people", id="id", others=drawn[1:])
    fixed = finding(result, "composition")
    assert fixed.reached > once + 0.08 and "5 releases" in fixed.attack
    # what stays from release to release tells what one of them tells
    same = sqlanon.attack(drawn[0], against="people", id="id", others=[drawn[0], drawn[0]])
    assert finding(same, "composition").reached == once
    assert any("0 of 1,200 people who are alone" in note for note in same.notes)
    boxes = sqlanon.mondrian(con, "people", quasi=["age", "area"], sensitive="value", id="id", k=10)
    none = sqlanon.attack(drawn[0], against="people", id="id", others=[boxes])
    assert not [one for one in none.findings if one.family == "composition"]
    alone = sqlanon.attack(drawn[0], others=[drawn[1], grouped(con), boxes])
    assert not [one for one in alone.findings if one.family == "composition"]
    for number in (3, 4):
        assert any(f"release {number} has no randomized values" in note for note in alone.notes)


def test_excluded_values_and_presence_are_counted(con):
    people(con)
    result = sqlanon.attack(grouped(con, l=4))
    reached = [one.reached for one in result.findings if one.family == "background knowledge"]
    assert reached == pytest.approx([1 / 4, 1 / 3, 1 / 2])
    unique = con.execute(
        "select count(*) from (select 1 from people group by age, area having count(*) = 1)"
    ).fetchone()[0]
    assert finding(result, "presence").reached == pytest.approx(unique / 1200)


def test_randomized_values_are_attacked_by_what_is_published_and_by_classifying(con):
    con.execute(
        "create table people as select i as id, i as age, i % 6 as job, 'v' || (i % 6) as value from range(3000) t(i)"
    )
    release = sqlanon.splu(
        con, "people", quasi=["age", "job"], sensitive="value", id="id", gamma=3, key=KEY, unique_quasi="keep"
    )
    result = sqlanon.attack(release, against="people", id="id")
    assert finding(result, "learning", "published value is taken").reached == pytest.approx(1 / 3, abs=0.04)
    assert finding(result, "learning", "likeliest").reached > 0.8


def test_randomized_values_of_people_of_whom_nobody_is_alone_are_not_scored(con):
    con.execute("create table people as select i as id, i % 3 as job, 'v' || (i % 6) as value from range(60) t(i)")
    release = sqlanon.splu(con, "people", quasi="job", sensitive="value", id="id", gamma=3, key=KEY)
    result = sqlanon.attack(release, against="people", id="id")
    assert finding(result, "learning", "published value is taken").reached == pytest.approx(1 / 3)
    assert any("nobody is alone" in note for note in result.notes)


def test_what_cannot_be_attacked(con):
    people(con)
    release = grouped(con)
    con.execute("create table strangers as select id, age + 900 as age, area, value from people")
    with pytest.raises(DataError, match="it is about others, and nothing is scored"):
        sqlanon.attack(release, against="strangers")
    con.execute('create table twice as select *, id as "i,d" from people union all select *, id from people')
    for identifier in ("id", "i,d", "id,area", ["id", "area"]):  # a text that is a column's name is that column
        with pytest.raises(DataError, match="1,200 persons have several rows"):
            sqlanon.attack(release, against="twice", id=identifier)
    with pytest.raises(UsageError, match="id is about the source; say which with against=SOURCE"):
        sqlanon.attack(release, id="id")
    con.execute("create table short as select id, age, area from people")
    with pytest.raises(UsageError, match="no column 'value'"):
        sqlanon.attack(release, against="short")


@pytest.mark.parametrize("first", range(3))
def test_any_name_works(first):
    con, names = connect(), NASTY_NAMES[first::3]
    columns = ", ".join(f"i % {5 + n} as " + '"' + name.replace('"', '""') + '"' for n, name in enumerate(names))
    con.execute(f"create table people as select i as id, {columns}, 'v' || i % 5 as value from range(60) t(i)")
    release = sqlanon.anatomy(con, "people", quasi=names, sensitive="value", l=3, key=KEY)
    result = sqlanon.attack(release, against="people")
    assert result.scored and "<td" in result._repr_html_()


def test_the_command_line(shell):
    asked = ("--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn", "-l", "3")
    assert shell("publish", "anatomy", "patients.parquet", *asked, "--out", "one").returncode == 0
    assert shell("publish", "anatomy", "patients.parquet", *asked, "--out", "two").returncode == 0
    seen = shell("attack", "one", "--against", "patients.parquet", "--id", "ssn", "--with", "two")
    assert seen.returncode == 0 and seen.stdout.startswith("promised 33.3%, best attack ")
    assert "2 releases intersected" in seen.stdout
    whole = json.loads(shell("attack", "one", "--format", "json").stdout)
    assert whole["scored"] is False and {line["family"] for line in whole["findings"]} >= {"presence", "learning"}
    assert shell("attack", "one", "--id", "ssn").returncode == 2
    assert "d1" not in shell("attack", "one", "--against", "patients.parquet", "--format", "csv").stdout


def test_the_headline_tells_the_worst_of_each_kind():
    """Whose values are certain, a share of the people, and a confidence beyond its own promise: none hides another."""
    order = Finding("order", "the order of ages", 0.26, 0.25, whom="everybody", headline=True)
    excluding = Finding("background knowledge", "2 values excluded", 0.9, 0.5, whom="in the worst group")
    allowed = Finding("background knowledge", "1 value excluded", 0.33, 1 / 3, whom="in the worst group")
    fixed = Finding("composition", "2 releases intersected", 0.01, 0.25, whom="9 of 900 people", headline=True)
    nobody = replace(fixed, reached=0.0)
    assert Attack((order, excluding, allowed, fixed), scored=True).headline == (
        "CERTAIN by composition: 2 releases intersected, 9 of 900 people; promised 25.0%, best attack 26.0%: the order"
        " of ages (order), everybody; 2 values excluded (background knowledge): 90.0% where 50.0% was promised, in the"
        " worst group"
    )
    assert Attack((order, allowed, nobody), scored=True).headline == (
        "promised 25.0%, best attack 26.0%: the order of ages (order), everybody"
    )
    most_fixed = Attack((replace(fixed, reached=0.4), order), scored=True).headline
    assert most_fixed.count("composition") == 1 and "best attack 26.0%" in most_fixed


def test_the_column_that_gives_most_away_is_named_with_what_is_left_without_it(con):
    con.execute(
        "create table people as select i as id, (i * 7919 % 100)::integer as age, (i * 104729 % 13)::integer as area,"
        " 'v' || ((i * 7919 % 100) // 20 + if(hash(i) % 3 = 0, hash(i + 9) % 6, 0)) % 6 as value from range(1200) t(i)"
    ).fetchall()
    result = sqlanon.attack(grouped(con), against="people", id="id")
    assert result.telling == ("age",)
    left = next(each for each in result.told if each.name == "age")
    # who is known by age and area knows their group all the same, and nothing is told by area alone
    assert finding(result, "learning", "likeliest").reached > 0.6 and left.without == pytest.approx(1 / 3, abs=0.05)
