"""Boxes with several sensitive columns: what stands in their tables, forgeries, recipients and refusals."""

import pytest

import sqlanon
from sqlanon.attacks.attack_release import attack_release
from sqlanon.plans.templates import Sql
from tests.databases import connect, insert
from tests.methods.test_mondrian import classes_of

KEY = "0f" * 32
QUASI = ["a", "b"]


def fill(con, rows):
    """Make the table t: two quasi values and the sensitive values of each row."""
    names = [*QUASI, *(f"s{number}" for number in range(1, len(rows[0]) - 1))]
    con.execute(f"create or replace table t ({', '.join(f'{name} integer' for name in names)})").fetchall()
    insert(con, "t", [list(row) for row in rows])
    return names[2:]


def test_relaxed_halves_keep_the_values_of_every_column(con):
    # equal quasi values: only halves of equal rows are boxes, and the second column allows fewer of them
    names = fill(con, [(1, 1, n % 5, n % 2 if n < 6 else 0) for n in range(40)])
    asked = {"quasi": QUASI, "k": 4, "diversity": "distinct", "partition": "relaxed", "draws": "keyed", "key": KEY}
    one = sqlanon.mondrian(con, "t", sensitive=names[0], l=2, **asked)
    both = sqlanon.mondrian(con, "t", sensitive=names, l=2, **asked)
    assert one.verify(against="t").holds and both.verify(against="t").holds
    assert both.manifest["verified"]["l"] >= 2
    # equal boxes are one class, so that both show one; its rows are all there
    assert {name: {box: len(held) for box, held in classes_of(both, name).items()} for name in both.tables} == {
        "data": {(1, 1, 1, 1): 40},
        "data_2": {(1, 1, 1, 1): 40},
    }


@pytest.fixture(scope="module")
def published():
    """Return a connection with 600 people, and boxes of two columns, one of them with NULLs that are left out."""
    con = connect()
    con.execute(
        "create table t as select i as person, i * 7 % 60 as q, i * 13 % 7 as r, case when i % 50 > 0"
        " then 'd' || (i * i % 11 + i % 2) end as disease, (i * i % 11 + i // 11 % 3) % 9 as \"in come\""
        " from range(600) x(i)"
    ).fetchall()
    asked = {"quasi": ["q", "r"], "sensitive": ["disease", "in come"], "id": "person", "k": 5, "l": 3, "nulls": "drop"}
    return con, sqlanon.mondrian(con, "t", **asked)


def test_a_written_release_proves_itself_by_every_column(published, tmp_path):
    _, release = published
    release.write(tmp_path / "rel")
    opened = sqlanon.open(tmp_path / "rel")
    assert opened.verify().holds and opened.manifest["dropped_rows"] == 12
    assert release.verify(against="t").holds
    assert list(opened.tables) == ["data", "data_2"]
    readme = (tmp_path / "rel" / "README.md").read_text(encoding="utf-8")
    assert "each value of each of disease, in come in at most 1/3" in readme and "pairs of values" in readme


def test_a_table_with_boxes_of_its_own_is_seen_and_one_with_too_few_values(published):
    con, release = published
    forged = sqlanon.mondrian(
        con, "t", quasi=["q", "r"], sensitive=["disease", "in come"], id="person", k=5, l=3, nulls="drop"
    )
    told = forged.tables["data_2"]
    con.execute(
        f"create or replace table moved as select q_low - 1 as q_low, * exclude (q_low) from {told} order by all"
    ).fetchall()
    forged.tables["data_2"] = Sql("moved")
    # every table alone is one of boxes, and what the manifest says of their columns is another's
    assert [check.name for check in forged.verify().checks if check.holds is False] == ["manifest", "same_boxes"]
    con.execute(f'create or replace table poor as select * replace (0 as "in come") from {told}').fetchall()
    forged.tables["data_2"] = Sql("poor")
    assert "l" in {check.name for check in forged.verify().checks if check.holds is False}
    assert release.verify().holds


def test_a_query_is_answered_by_the_one_column_that_it_reads(published):
    con, release = published
    for column in ("disease", "in come"):
        sql = f'SELECT "{column}" AS v, COUNT(*) AS n FROM release WHERE q < 30 GROUP BY ALL ORDER BY ALL'
        answer = release.estimate(sql)
        known = con.execute(
            f'select "{column}", count(*) from t where q < 30 and disease is not null group by all order by all'
        ).fetchall()
        bounds = {row.v: (row.n_low, row.n_high) for row in answer.itertuples()}
        assert all(bounds[value][0] <= count <= bounds[value][1] for value, count in known)
    asked = ['SELECT COUNT(*) FROM release WHERE "in come" = 3 AND q < 30'] * 10
    together, alone = release.estimate_many(asked), release.estimate(asked[0])
    assert all(one.iloc[0].tolist() == pytest.approx(alone.iloc[0].tolist(), nan_ok=True) for one in together)
    with pytest.raises(sqlanon.QueryError, match="reads 'disease' and 'in come' together"):
        release.estimate("SELECT COUNT(*) FROM release WHERE disease = 'd1' AND \"in come\" = 3")


def test_what_boxes_of_several_columns_cannot_do_is_said(published):
    con, release = published
    with pytest.raises(sqlanon.UsageError, match="voters are looked up in a release of one sensitive column"):
        release.verify(voters="t")
    with pytest.raises(sqlanon.UsageError, match="releases of mondrian are not completed"):
        release.complete()
    with pytest.raises(sqlanon.DataError, match="12 rows have no value in the sensitive column 'disease'"):
        sqlanon.mondrian(con, "t", quasi="q", sensitive=["in come", "disease"], k=5)


def test_attacks_look_at_every_column(published):
    _, release = published
    told = [one.attack for one in attack_release(release, "t", ("person",), telling=False, orders=False).findings]
    assert any(text.startswith("disease: ") for text in told) and any(text.startswith("in come: ") for text in told)
