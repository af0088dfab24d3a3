"""Attacks on uncertain data: each finds a leak that was planted, and stays at the promise on a clean release."""

import pytest

import sqlanon
from sqlanon.attacks.attack_release import attack_release
from sqlanon.forms.uncertain.view import UncertainView
from tests.attacks.test_attack_release import KEY, finding, grouped, planted
from tests.conftest import PAPERS

# every seventh age and every fifth value have two alternatives
PEOPLE = (
    "create table people as select i as id, [i] || case when i % 7 = 0 then [i + 1] else [] end as age,"
    " (i * 104729 % 13)::integer as area,"
    " ['v' || hash(i) % 6] || case when i % 5 = 0 then ['v' || (hash(i) + 1) % 6] else [] end as value"
    " from range(400) t(i)"
)


def clustered(con, k=4, l=3, key=KEY, **options):
    named = {"quasi": ["age", "area"], "sensitive": "value", "id": "id", "k": k, "l": l, "key": key}
    return sqlanon.uncertain(con, "people", **named, **{"threshold": 0.5, "influence": "learn"} | options)


def test_a_clean_release_stays_at_its_promise(con):
    con.execute(PEOPLE).fetchall()
    release = clustered(con)
    result = sqlanon.attack(release, against="people", id="id")
    assert result.scored and not result.leaks
    n, named = release.manifest["verified"]["largest_group"], finding(result, "background knowledge", "most frequent")
    assert named.reached == pytest.approx(release.manifest["verified"]["largest_confidence"])
    assert named.reached <= named.promised == pytest.approx((n - 1 + 1 / 3) / n)
    order = finding(result, "order", "as they lie")
    assert order.reached == pytest.approx(order.chance, abs=0.08) and order.chance < 0.45
    assert (
        finding(result, "learning", "likeliest").reached <= finding(result, "learning", "of each group").reached + 0.03
    )
    shown = con.execute(f"select count(distinct (age, area, qiid)) from {release.tables['qit']}").fetchone()[0]
    assert finding(result, "presence").reached == pytest.approx((2 * shown - 400) / 400)  # nobody is one of three alike


def test_truth_is_every_alternative_by_its_share(con):
    con.execute(PEOPLE).fetchall()
    release = clustered(con)
    view = UncertainView(release.engine, release.tables, release.manifest)
    links = view.links(view.read_source("people", ("id",)))
    found = con.execute(
        f"select quasi_1, quasi_2, map_from_entries(list((value, weight) order by value)) from {links}"
        f" join {view.people()} using (person_number) join {view.values()} using (value_number)"
        " group by person_number, quasi_1, quasi_2"
    ).fetchall()
    told = con.execute("select list_max(age), area, value from people").fetchall()
    expected = {(age, area): {v: 1 / len(held) for v in held} for age, area, held in told}
    alone = [one for one in found if sum(one[:2] == other[:2] for other in told) == 1]
    assert len(alone) > 200
    for age, area, weights in alone:
        assert weights == pytest.approx(expected[age, area])
    view.close()


def test_rows_in_the_order_of_their_values_are_found(con):
    con.execute(PEOPLE.replace("i % 7 = 0", "false")).fetchall()
    leaky = planted(
        clustered(con),
        qit="select q.* from {qit} q join people p on p.age[1] = q.age order by q.group_id, list_sort(p.value)",
        st="select * from {st} order by group_id, list_sort(list_filter([value1, value2], lambda x: x is not null))",
    )
    order = finding(sqlanon.attack(leaky, against="people", id="id"), "order", "as they lie")
    assert order.leak and order.reached > 0.99


def test_groups_of_one_value_are_found(con):
    con.execute(PEOPLE).fetchall()
    release = clustered(con)
    st = "select * replace (case when group_id = 1 then 'v0' else value1 end as value1,"
    leaky = planted(release, st=st + " case when group_id = 1 then null else value2 end as value2) from {st}")
    result = attack_release(leaky, telling=False, orders=False)
    assert result.best.reached == 1 and result.leaks[0].attack == "a group's most frequent value is named"
    assert not attack_release(release, telling=False, orders=False).leaks


def test_what_is_harmless_and_who_is_hidden_stand_against_no_promise():
    paper = sqlanon.open(PAPERS / "uncertain" / "release")
    found = sqlanon.attack(paper, against=str(PAPERS / "uncertain" / "table_6.parquet"))
    hidden = finding(found, "background knowledge", "hidden")
    # the paper's t3 and t6 both have mammary cancer, and whoever misses one of them in the table knows it
    assert hidden.reached == 1 and hidden.promised is None and "2 rows are hidden" in hidden.whom
    assert found.best is hidden and "no confidence was promised" in found.headline and found.scored
    harmless = finding(found, "background knowledge", "harmless")
    assert harmless.reached == pytest.approx(1 / 2) and "2 rows in all" in harmless.whom
    grave = finding(found, "background knowledge", "most frequent")
    assert grave.reached == pytest.approx(1 / 2) and grave.promised == pytest.approx((2 - 1 / 2) / 2)


def test_learning_finds_what_depends_on_quasi_values(con):
    con.execute(
        "create table people as select i as id, (hash(i) % 4)::integer as age, (hash(i, 1) % 3)::integer as area,"
        " ['v' || hash(i) % 4] as value from range(800) t(i)"
    ).fetchall()
    matrix = con.sql("select 'v' || i as value, 0.0 as age, 1.0 as area, 0.9 + i / 100 as weight from range(4) t(i)")
    release = clustered(con, influence=matrix, k=5, unique_quasi="keep")
    result = sqlanon.attack(release, against="people", id="id")
    assert (
        finding(result, "learning", "likeliest").reached
        > 0.9
        > finding(result, "learning", "of each group").reached + 0.3
    )


def test_releases_of_uncertain_and_of_certain_data_are_intersected(con):
    con.execute(PEOPLE.replace("i % 7 = 0", "false")).fetchall()
    first, second = clustered(con, key="01" * 32), clustered(con, k=5, key="02" * 32)
    con.execute(
        "create or replace table people as select id, age[1] as age, area, value[1] as value from people"
    ).fetchall()
    third = grouped(con)
    sets = "select age, list(distinct v) from {qit} join"
    sets += " (select group_id, unnest({cells}) as v from {st}) using (group_id)"
    told = []
    for one, cells in ((first, "[value1, value2]"), (second, "[value1, value2]"), (third, "[value]")):
        text = f"{sets.format(**one.tables, cells=cells)} where v is not null group by age"
        told.append({age: set(held) for age, held in con.execute(text).fetchall()})

    def fixed(*which):
        return sum(len(set.intersection(*(told[n][age] for n in which))) == 1 for age in told[0]) / 400

    reached = [
        finding(attack_release(mine, others=others, telling=False, orders=False), "composition").reached
        for mine, others in ((first, [second]), (first, [second, third]), (third, [first]), (first, [first]))
    ]
    assert reached == pytest.approx([fixed(0, 1), fixed(0, 1, 2), fixed(2, 0), fixed(0)])
    assert reached[1] > 0.1
