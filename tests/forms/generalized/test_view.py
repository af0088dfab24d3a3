"""Attacks on generalized rows: each finds a leak that was planted, and stays at the promise on a clean release."""

import pytest

import sqlanon
from sqlanon.attacks.attack_release import attack_release
from sqlanon.errors import DataError
from sqlanon.forms.generalized.view import BoxView
from sqlanon.plans.templates import ident
from sqlanon.releases.release import Release
from tests.attacks.test_attack_release import KEY, finding, grouped

PEOPLE = (
    "create table people as select i as id, (i * 7919 % 101)::integer as age, 's' || (i * 104729 % 5) as area,"
    " 'v' || (hash(i) % 6) as value from range(400) t(i)"
)


def boxed(con, k=6, l=3, **options):
    quasi = ["age", "area"]
    return sqlanon.mondrian(con, "people", quasi=quasi, sensitive="value", id="id", k=k, l=l, key=KEY, **options)


def planted(release, data):
    """Return the release with another table in the place of its own, which `data` stands for in the query."""
    con = release.engine.connection
    con.execute(f"create or replace table planted as {data.format(**release.tables)}").fetchall()
    return Release(release.engine, {"data": ident("planted")}, release.manifest)


@pytest.mark.parametrize("diversity", ["frequent", "distinct"])
def test_a_clean_release_stays_at_its_promise(con, diversity):
    con.execute(PEOPLE).fetchall()
    release = boxed(con, diversity=diversity)
    result = sqlanon.attack(release, against="people", id="id")
    assert result.scored and not result.leaks
    l, largest = 3, release.manifest["verified"]["largest_class"]
    promised = {"frequent": [1 / l, 1 / (l - 1)], "distinct": [1 - (l - 1) / largest, 1 - (l - 2) / (largest - 1)]}
    named = finding(result, "background knowledge", "most frequent")
    assert named.promised == pytest.approx(promised[diversity][0])
    assert named.reached == pytest.approx(release.manifest["verified"]["largest_confidence"])
    excluded = finding(result, "background knowledge", "1 value excluded")
    assert named.reached < excluded.reached <= excluded.promised == pytest.approx(promised[diversity][1])
    order = finding(result, "order", "as they lie")
    assert order.reached == pytest.approx(order.chance, abs=0.05)
    # nothing depends on anything: whoever learns gets no further than who reads the boxes
    assert (
        finding(result, "learning", "likeliest").reached <= finding(result, "learning", "of each group").reached + 0.02
    )
    assert finding(result, "presence", "own box").reached <= 1 / 6
    left = "select count(*) from duckdb_tables() where temporary and table_name like '%box%'"
    assert con.execute(left).fetchone() == (0,)


def test_without_a_source_boxes_show_nobody(con):
    con.execute(PEOPLE).fetchall()
    result = sqlanon.attack(boxed(con))
    assert not result.scored and {one.family for one in result.findings} == {
        "background knowledge",
        "learning",
        "presence",
    }
    assert any("boxes show nobody" in note for note in result.notes)
    assert "no confidence was promised" in sqlanon.attack(boxed(con, l=1)).headline


@pytest.mark.parametrize("partition", ["strict", "relaxed"])
def test_people_are_found_in_every_box_that_has_room_for_them(con, partition):
    con.execute(
        "create table people as select i as id, case when i % 9 > 0 then (i * 7919 % 83)::integer end as age,"
        " case when i % 11 > 0 then 's' || (i % 4) end as area, 'n' || (i % 6) as town,"
        " 'v' || (hash(i) % 5) as value from range(150) t(i)"
    ).fetchall()
    towns = con.sql("select 'n' || i as child, 'c' || i % 2 as parent from range(6) t(i)"
                    " union all select 'c' || i, 'root' from range(2) t(i)")  # fmt: skip
    release = sqlanon.mondrian(con, "people", quasi=["age", "area", "town"], sensitive="value", id="id", k=4,
                               partition=partition, hierarchy={"town": towns}, key=KEY)  # fmt: skip
    view = BoxView(release.engine, release.tables, release.manifest)
    people = view.read_source("people", ("id",))
    found = con.execute(
        f"select id, list(distinct line_number order by line_number) from people p join {view.combinations()} c"
        " on p.age is not distinct from quasi_1 and p.area is not distinct from quasi_2 and p.town = quasi_3"
        f" join {view.boxes.find_people()} using (combination) join {view.boxes.rows} on group_id = box group by id"
    ).fetchall()
    below = {"root": {f"n{i}" for i in range(6)}, **{f"c{j}": {f"n{i}" for i in range(j, 6, 2)} for j in range(2)}}
    rows = con.execute(
        f"select age_low, age_high, age_unknown, area::json::varchar[], town from {release.tables['data']}"
    )
    boxes = rows.fetchall()
    people = con.execute("select id, age, area, town from people").fetchall()
    expected = {
        person: [
            number
            for number, (low, high, unknown, areas, node) in enumerate(boxes, start=1)
            if (unknown if age is None else low is not None and low <= age <= high)
            and area in areas and town in below.get(node, {node})
        ]
        for person, age, area, town in people
    }  # fmt: skip
    assert dict(found) == expected and all(expected.values())
    view.close()


@pytest.mark.parametrize("before", ["p.id", "p.age desc, p.id"])
def test_rows_in_the_order_of_people_are_found(con, before):
    con.execute(PEOPLE.replace("i * 7919 % 101", "i * 7919 % 401")).fetchall()
    release = boxed(con)
    # the rows of a careless publisher: as the source has them, or sorted by age before the ages became ranges
    leaky = planted(
        release,
        "select b.*, p.value as value from (select distinct * exclude (value) from {data}) b join people p on p.age"
        " between age_low and age_high and list_contains(b.area::json::varchar[], p.area)"
        f" order by b.age_low, b.area, {before}",
    )
    result = attack_release(leaky, "people", ("id",), telling=False)
    order = finding(result, "order", "as they lie")
    assert order.leak and order.reached > 0.99 and result.best.reached > 0.99 and "LEAK" in str(result.lines())


def test_boxes_of_one_value_and_small_ones_are_found(con):
    con.execute(PEOPLE).fetchall()
    release = boxed(con)
    worst = "(select age_low, area from {data} order by all limit 1)"
    one = planted(
        release,
        f"select * replace (case when (age_low, area) in {worst} then 'v0' else value end as value) from {{data}}",
    )
    result = attack_release(one, telling=False)
    assert [o.attack for o in result.leaks] == ["a group's most frequent value is named", "1 value excluded"]
    assert result.best.reached == 1 and "promised" in result.headline
    lone = planted(release, f"(select * from {{data}} where (age_low, area) in {worst} limit 1) union all"
                            f" select * from {{data}} where (age_low, area) not in {worst}")  # fmt: skip
    picked = finding(attack_release(lone, telling=False), "presence", "own box")
    assert picked.leak and picked.reached == 1 and picked.promised == pytest.approx(1 / 6)
    narrow = planted(release, "select * replace (age_low as age_high, '[\"s1\"]' as area) from {data}")
    assert finding(attack_release(narrow, telling=False), "presence", "exactly").reached == 1
    assert finding(attack_release(release, telling=False), "presence", "exactly").reached == 0


def test_learning_finds_what_depends_on_quasi_values_inside_boxes(con):
    con.execute(
        "create table people as select i as id, (i // 3)::integer as age, 's' || (hash(i) % 3) as area,"
        " 'v' || ((hash(i) % 3 + (hash(i, 1) % 10 = 0)::integer) % 6) as value from range(900) t(i)"
    ).fetchall()
    # boxes are cut by age alone, as a publisher would have it who keeps areas together
    release = boxed(con, k=12, l=3, diversity="distinct")
    coarse = planted(release, 'select * replace (\'["s0","s1","s2"]\' as area) from {data}')
    result = attack_release(coarse, "people", ("id",), telling=False, orders=False)
    read, learned = finding(result, "learning", "of each group"), finding(result, "learning", "likeliest")
    assert learned.reached > 0.75 and read.reached < 0.6 and result.best.reached >= learned.reached


def test_boxes_are_intersected_with_other_releases(con):
    con.execute(PEOPLE.replace("i * 7919 % 101", "i * 7919 % 401")).fetchall()
    asked = {"l": 2, "diversity": "distinct"}
    first, second, third = boxed(con, k=3, **asked), boxed(con, k=4, partition="relaxed", **asked), grouped(con)

    def candidates(release):
        boxes = con.execute(f"select age_low, age_high, area::json::varchar[], value from {release.tables['data']}")
        listed = boxes.fetchall()
        people = con.execute("select age, area from people").fetchall()
        return {
            age: {v for low, high, areas, v in listed if low <= age <= high and area in areas} for age, area in people
        }

    groups = con.execute(f"select age, list(value) from {third.tables['qit']} join {third.tables['st']}"
                         " using (group_id) group by age").fetchall()  # fmt: skip
    told = [candidates(first), candidates(second), {age: set(held) for age, held in groups}]

    def fixed(*which):
        return sum(len(set.intersection(*(told[n][age] for n in which))) == 1 for age in told[0]) / 400

    both = finding(attack_release(first, "people", others=[second], telling=False, orders=False), "composition")
    every = finding(attack_release(first, "people", others=[second, third], telling=False, orders=False), "composition")
    from_groups = finding(attack_release(third, others=[first], telling=False, orders=False), "composition")
    assert [both.reached, every.reached, from_groups.reached] == pytest.approx(
        [fixed(0, 1), fixed(0, 1, 2), fixed(2, 0)]
    )
    assert both.reached < every.reached and from_groups.reached > 0.2
    assert (
        finding(attack_release(first, "people", others=[first], telling=False, orders=False), "composition").reached
        == 0
    )


def test_people_of_others_are_refused(con):
    con.execute(PEOPLE).fetchall()
    release = boxed(con)
    con.execute("create table strangers as select id, age + 900 as age, area, value from people").fetchall()
    with pytest.raises(DataError, match="it is about others, and nothing is scored"):
        sqlanon.attack(release, against="strangers")
