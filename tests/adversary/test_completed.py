"""Completed tables fit their release, keep what depends on the sensitive column, and say the same for the same seed."""

import json

import numpy as np
import pandas as pd
import pytest

import sqlanon
from sqlanon.adversary import dealing
from sqlanon.plans.templates import ident
from tests.conftest import NASTY_NAMES
from tests.databases import connect, database

pytestmark = pytest.mark.xdist_group("completed")  # a release and its tables serve several tests
KEY = "ab" * 32
# the sensitive value depends on the area: three of six values are three times as frequent in even areas
PEOPLE = (
    "create table people as select i as id, i as number, i % 4 as area, 'a' || (i * 7919 % 5) as job,"
    " case when i % 4 % 2 = (hash(i) % 4 > 0)::int then hash(i + 1000000) % 3"
    " else 3 + hash(i + 2000000) % 3 end as value"
    " from range({rows}) t(i)"
)
ROLES = {"sensitive": "value", "id": "id", "unique_quasi": "keep", "l": 4, "key": KEY}


def publish(connection, rows, quasi, **roles):
    connection.execute(PEOPLE.format(rows=rows))
    return sqlanon.anatomy(connection, "people", quasi=quasi, **(ROLES | roles))


connection = database()


@pytest.fixture(scope="module")
def release(connection):
    return publish(connection, 6000, ["area", "job", "number"])


@pytest.fixture(scope="module")
def completed(release):
    return release.complete(5, seed=3)


@pytest.fixture
def quickly(monkeypatch):
    """Let a chain be short where only what it may deal matters."""
    monkeypatch.setattr(dealing, "FIRST_ROUNDS", 1)
    monkeypatch.setattr(dealing, "ROUNDS", 1)


@pytest.mark.parametrize("number", [0, 6, -1])
def test_tables_are_numbered_from_1(completed, number):
    with pytest.raises(sqlanon.UsageError, match=f"no table {number}; these are numbered from 1 to 5"):
        completed.table(number)


def test_one_of_several_columns_is_completed_as_if_it_were_alone(quickly):
    """Each group's values of the named column are dealt to its rows, and no other sensitive value stands beside."""
    with connect() as con:
        both = publish(con, 300, ["job", "number"], sensitive=["value", "area"], l=2, max_suppressed=0.1)
        assert list(both.tables) == ["qit", "st", "st_2"]
        for column, table in (("VALUE", "st"), ("area", "st_2")):
            (rows,) = both.complete(1, seed=3, sensitive=column)
            assert list(rows.columns) == ["job", "number", column.lower()]
            group = dict(con.execute(f"select number, group_id from {both.tables['qit']}").fetchall())
            dealt = sorted((group[number], value) for _, number, value in rows.itertuples(index=False))
            assert dealt == sorted(row[:2] for row in both.table(table).fetchall())
        with pytest.raises(sqlanon.UsageError, match="named with sensitive"):
            both.complete(1)
        with pytest.raises(sqlanon.UsageError, match="'number' is no sensitive column of the release; it has 'value'"):
            both.complete(1, sensitive="number")
        randomized = sqlanon.splu(
            con, "people", quasi=["job"], sensitive=["value", "area"], id="id", gamma={"value": 2, "area": 2}
        )
        with pytest.raises(sqlanon.UsageError, match="completed in all columns"):
            randomized.complete(1, sensitive="value")


def test_every_table_has_each_groups_values(connection, release, completed):
    for rows in completed:
        connection.register("dealt", rows)
        differing = connection.execute(
            f"with held as (select group_id, value, count(*) as held from dealt join {release.tables['qit']} using"
            f" (area, job, number) group by all) select count(*) from held full join {release.tables['st']} as st"
            " using (group_id, value) where held is distinct from st.count"
        ).fetchall()
        assert differing == [(0,)] and len(rows) == 6000


def deviations(frame):
    """Return by how much values are more frequent in areas than in the whole."""
    shares = pd.crosstab(frame["area"], frame["value"], normalize="index")
    return (shares - frame["value"].value_counts(normalize=True)).to_numpy()


@pytest.mark.usefixtures("quickly")
def test_portions_of_groups_are_dealt_as_all_groups_together(release, monkeypatch):
    (whole,) = release.complete(1, seed=3)
    monkeypatch.setattr(dealing, "ROWS_AT_ONCE", 1500)
    (in_portions,) = release.complete(1, seed=3)
    pd.testing.assert_frame_equal(whole, in_portions)


def test_what_is_learned_from_some_of_the_groups_is_kept_as_what_all_say(connection, release, completed, monkeypatch):
    monkeypatch.setattr(dealing, "MOST_ROWS", 3000)
    monkeypatch.setattr(dealing, "ROWS_AT_ONCE", 2000)
    some = release.complete(5, seed=3)
    test_every_table_has_each_groups_values(connection, release, some)
    assert not next(iter(some)).equals(next(iter(completed)))
    kept, of_all = (np.mean([deviations(table) for table in tables], axis=0) for tables in (some, completed))
    assert 0.7 < (kept * of_all).sum() / (of_all**2).sum() < 1.3
    assert some.own_value_share == pytest.approx(completed.own_value_share, abs=0.05)


def test_what_depends_on_a_value_is_kept_where_dealing_evenly_loses_it(connection, release, completed):
    true = deviations(connection.execute("select * from people").df())
    dealt_evenly = connection.execute(
        f"select area, value, sum(st.count) as n from {release.tables['qit']} join {release.tables['st']} as st"
        " using (group_id) group by all"
    ).df()
    weights = dealt_evenly.pivot(index="area", columns="value", values="n").to_numpy()
    even = weights / weights.sum(axis=1, keepdims=True) - weights.sum(axis=0) / weights.sum()
    kept = np.mean([deviations(one) for one in completed], axis=0)
    assert (even * true).sum() / (true**2).sum() < 0.4
    assert 0.9 < (kept * true).sum() / (true**2).sum() < 1.1


def test_how_many_rows_hold_their_persons_own_value_is_said(connection, completed):
    true = connection.execute("select number, value from people").df().set_index("number")["value"]
    own = np.mean([(one["value"].to_numpy() == true[one["number"]].to_numpy()).mean() for one in completed])
    assert own > 0.27, "more than one in four, which chance alone has"
    assert own - 0.02 < completed.own_value_share < own + 0.1


def test_pooled_intervals_hold_the_truth(connection, completed):
    shares = [pd.crosstab(one["area"], one["value"], normalize="index").to_numpy().ravel() for one in completed]
    errors = [np.sqrt(one * (1 - one) / 1500) for one in shares]
    true = connection.execute("select * from people").df()
    found = sqlanon.pool(shares, errors)
    held = pd.crosstab(true["area"], true["value"], normalize="index").to_numpy().ravel()
    assert ((found["low"] <= held) & (held <= found["high"])).mean() >= 0.85


@pytest.mark.usefixtures("quickly")
def test_a_seed_gives_the_same_tables_and_leaves_nothing_else(release):
    sql = "select count(*) as n from duckdb_tables() where temporary and table_name like 'sqlanon_%'"
    before = release.engine.rows(sql)
    made = release.complete(2, seed=3)
    assert release.engine.rows(sql)[0]["n"] == before[0]["n"] + 2
    again = release.complete(2, seed=3)
    for one, other in zip(made, again, strict=True):
        pd.testing.assert_frame_equal(one, other)
    first, second = made
    assert not first.equals(second)
    made.close()
    again.close()
    assert release.engine.rows(sql) == before


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("place", range(0, len(NASTY_NAMES), 3))
def test_names_that_sql_reads_differently(con, place):
    names = [*NASTY_NAMES, *NASTY_NAMES][place : place + 3]
    texts = ("nullif(i % 5, 0)", "date '2020-01-01' + (i % 9)::int", "chr((65 + i % 4)::int) || chr(10) || chr(39)")
    columns = ", ".join(f"{text} as {ident(name)}" for text, name in zip(texts, names, strict=True))
    con.execute(f"create table people as select i as id_of_ours, {columns} from range(40) t(i)")
    release = sqlanon.anatomy(con, "people", quasi=names[:2], sensitive=[names[2]], id="id_of_ours", l=4, key=KEY)
    (table,) = release.complete(1, seed=1)
    assert list(table.columns) == names and len(table) == 40
    assert sorted(table[names[2]].value_counts()) == [10, 10, 10, 10]


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("quickly")
def test_files_appear_whole_and_old_ones_stay(tmp_path, con):
    release, out = publish(con, 40, ["area", "job"], l=3), tmp_path / "completed"
    sqlanon.complete(release, tables=2, seed=1, out=out)
    assert names_in(out) == ["README.md", "completed.json", "completed_01.parquet", "completed_02.parquet"]
    assert "hold their person's own value" in (out / "README.md").read_text()
    order = con.execute(f"select * from '{out}/completed_01.parquet'").fetchall()
    assert order == sorted(order) and len(order) == 40
    with pytest.raises(sqlanon.TargetError, match="exists; choose another out"):
        sqlanon.complete(release, tables=1, out=out)
    sqlanon.complete(release, tables=1, seed=1, out=out, overwrite=True)
    assert names_in(out) == ["README.md", "completed.json", "completed_01.parquet"]
    assert "One table of plausible microdata" in (out / "README.md").read_text()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(sqlanon.TargetError, match="replaces what an earlier run has written"):
        sqlanon.complete(release, tables=1, out=out, overwrite=True)
    assert (out / "thesis.txt").read_text() == "mine"
    (out / "thesis.txt").unlink()
    for change in ("another's table", "no list"):
        (out / ("completed_01.parquet" if change == "another's table" else "completed.json")).write_text("mine")
        with pytest.raises(sqlanon.TargetError, match="replaces what an earlier run has written"):
            sqlanon.complete(release, tables=1, out=out, overwrite=True)
        assert (out / "completed_01.parquet").read_text() == "mine"


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"tables": 0}, r"is a number from 1 to 99, not 0"),
        ({"tables": 100}, r"is a number from 1 to 99, not 100"),
        ({"tables": True}, r"tables = True is not a whole number"),
        ({"seed": -1}, r"is a number from 0 to 2\*\*63 - 1, not -1"),
        ({"seed": 2**63}, r"is a number from 0 to 2\*\*63 - 1, not 9223372036854775808"),
    ],
)
def test_numbers_out_of_range_are_refused(release, numbers, message):
    with pytest.raises(sqlanon.UsageError, match=message):
        sqlanon.complete(release, **numbers)


def test_releases_of_other_forms_are_refused(con):
    con.execute(PEOPLE.format(rows=60))
    release = sqlanon.mondrian(con, "people", quasi=["area", "job"], sensitive="value", id="id", k=2, l=2)
    with pytest.raises(sqlanon.UsageError, match="releases of mondrian are not completed"):
        release.complete()


@pytest.fixture
def wide(con):
    """Return a release with 600 sensitive values, for which nothing of values x values is held."""
    con.execute(
        "create table people as select i as id, i % 4 as area, i % 3 as job, i % 600 as value from range(1800) t(i)"
    )
    return sqlanon.anatomy(con, "people", quasi=["area", "job"], sensitive="value", id="id", l=3, key=KEY)


def test_too_many_randomized_values_are_refused(con, wide):
    release = sqlanon.splu(con, "people", quasi=["area", "job"], sensitive="value", id="id", gamma=3, key=KEY)
    with pytest.raises(
        sqlanon.DataError, match=r"5\d\d sensitive values; complete learns of 500 at most where they are"
    ):
        release.complete()


def test_means_and_slopes_of_a_fine_scale_are_kept_and_their_intervals_hold(con):
    """Of hundreds of different wages neighbours share their effects."""
    con.execute(
        "create table earners as select i as id, cast(u1 * 15 as int) as year, u2 < .5 as female, cast(exp(5 + .04"
        " * cast(u1 * 15 as int) - .3 * (u2 < .5)::int + .45 * sqrt(-2 * ln(u3)) * cos(2 * pi() * u4)) as int) as wage"
        " from (select i, (hash(i * 4 + 1) % 999983 + 1) / 999984 as u1, (hash(i * 4 + 2) % 999983 + 1) / 999984 as u2,"
        " (hash(i * 4 + 3) % 999983 + 1) / 999984 as u3, (hash(i * 4 + 4) % 999983 + 1) / 999984 as u4"
        " from range(8000) t(i))"
    )
    true = con.execute("select year, female, wage from earners").df()
    found, held = [], []
    for seed in range(1, 4):
        release = sqlanon.anatomy(
            con, "earners", quasi=["year", "female"], sensitive="wage", id="id", l=5, key=f"{seed:02}" * 32
        )
        tables = [figures(one) for one in release.complete(6, seed=seed)]
        pooled = sqlanon.pool(*zip(*tables, strict=True))
        truth, _ = figures(true)
        found.append(pooled["estimate"] / truth)
        held += list((pooled["low"] <= truth) & (truth <= pooled["high"]))
    assert 0.9 < np.mean(found) < 1.1
    assert np.mean(held) > 0.85


def figures(table):
    """Return the slopes of a wage on year and sex, the correlation with both, and the mean in each year's deviation."""
    wage = table["wage"].to_numpy(float)
    design = np.column_stack([np.ones(len(table)), table["year"], table["female"]]).astype(float)
    inverse = np.linalg.inv(design.T @ design)
    slopes = inverse @ design.T @ wage
    meat = design * (wage - design @ slopes)[:, None]
    errors = np.sqrt(np.diag(inverse @ meat.T @ meat @ inverse))
    correlations = np.array([np.corrcoef(design[:, place], wage)[0, 1] for place in (1, 2)])
    early = wage[table["year"] < 5]
    return (
        [*slopes[1:], *correlations, early.mean()],
        [*errors[1:], *((1 - correlations**2) / len(wage) ** 0.5), early.std() / len(early) ** 0.5],
    )


def test_hundreds_of_values_are_dealt_to_their_rows(wide):
    (completed,) = wide.complete(tables=1, seed=1)
    assert completed["value"].value_counts().to_dict() == dict.fromkeys(range(600), 3)


def test_a_damaged_release_is_refused(connection, release):
    from sqlanon.releases.release import Release

    connection.execute(f"create or replace temp table damaged as select * from {release.tables['st']} limit 5000")
    damaged = Release(release.engine, release.tables | {"st": ident("damaged")}, release.manifest)
    with pytest.raises(sqlanon.ReleaseError, match="the release is damaged"):
        damaged.complete(1)


@pytest.mark.usefixtures("quickly")
def test_complete_on_the_command_line(shell, tmp_path, con):
    publish(con, 40, ["area", "job"], l=3, out=tmp_path / "release")
    out = tmp_path / "completed"
    done = shell("complete", tmp_path / "release", "--tables", 2, "--seed", 5, "--out", out, "--format", "json")
    told = json.loads(done.stdout)[1]
    assert 0 < told.pop("own_value_share") < 1
    assert told == {"file": "completed_02.parquet", "rows": 40, "seed": 5}
    refused = shell("complete", tmp_path / "release", "--out", out)
    assert (refused.returncode, refused.stdout) == (2, "") and "--overwrite" in refused.stderr
    assert shell("complete", tmp_path / "release", "--out", tmp_path / "more", "--sql").returncode == 2
    assert not (tmp_path / "more").exists()


@pytest.mark.usefixtures("quickly")
def test_groups_that_are_made_class_by_class_are_completed(con):
    con.execute(PEOPLE.format(rows=1200))
    con.execute(
        "create table known as select area, value, count(*) / 300.0 as probability from people group by area, value"
    )
    roles = {"quasi": ["area", "job"], "sensitive": "value", "id": "id", "key": KEY}
    release = sqlanon.robust(con, "people", **roles, r=2.5, background="known", max_suppressed=0.5)
    (table,) = release.complete(1, seed=1)
    # a class is an area: its groups tell how values go with it, and no deal changes that
    published = con.execute(
        f"select area, value, sum(st.count)::bigint from (select distinct group_id, area from {release.tables['qit']})"
        f" join {release.tables['st']} as st using (group_id) group by all order by all"
    ).fetchall()
    counted = table.groupby(["area", "value"]).size()
    assert published == [(*key, count) for key, count in counted.items()] and len(table) == release.manifest["rows"]
