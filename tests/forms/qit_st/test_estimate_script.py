"""The script beside a release: its weights sum to the paper's estimate, and a join without them does not."""

import os
import re
import textwrap

import pytest

import sqlanon
from tests.databases import connect

# two groups of two: everybody above 40 earns 60 or 80, everybody below 20
PEOPLE = (
    "create table people as select * from (values (1, 24, 'no', 20), (2, 30, 'no', 20), (3, 44, 'yes', 60),"
    " (4, 52, 'yes', 80)) t(id, age, degree, income)"
)


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Publish people, then run the script where the files are, without sqlanon."""

    def opened(sql, method=sqlanon.anatomy, **roles):
        connection = connect()
        connection.execute(sql)
        release = method(connection, "people", out=tmp_path / "release", key="0" * 64, **roles)
        monkeypatch.chdir(tmp_path / "release")
        shell = connect()
        shell.execute((tmp_path / "release" / "estimate.sql").read_text())
        return release, lambda query: shell.execute(query).fetchall()

    return opened


def test_a_join_without_weights_is_wrong_where_the_weights_are_right(ask):
    _, query = ask(PEOPLE, quasi=["age", "income"], sensitive="degree", id="id", l=2)
    # two of four people have a degree, and each of the two groups lists it once
    assert query("select count(*) from qit join st using (group_id) where degree = 'yes'") == [(4,)]
    for view in ("weighted", "weighted_paper"):
        assert query(f"select sum(weight) from {view} where degree = 'yes'") == [(2.0,)]
        assert query(f"select count(*), sum(weight) from {view}") == [(8, 4.0)]


@pytest.mark.parametrize("method", [sqlanon.anatomy, sqlanon.splu])
def test_the_script_reads_its_release_from_any_directory(ask, tmp_path, monkeypatch, method):
    """Even from the directory of another release, whose files have the same names."""
    size = {"l": 2} if method is sqlanon.anatomy else {"gamma": 2}
    ask(PEOPLE, method, quasi=["age", "income"], sensitive="degree", id="id", **size)
    (tmp_path / "it's here").mkdir()
    for file in (tmp_path / "release").iterdir():
        file.rename(tmp_path / "it's here" / file.name)
    connection = connect()
    connection.execute(
        "create table people as select i as id, i % 9 as age, 'x' || i % 3 as degree from range(30) t(i)"
    )
    method(connection, "people", quasi="age", sensitive="degree", id="id", out=tmp_path / "other", **size)
    monkeypatch.chdir(tmp_path / "other")
    for folder, rows in (("", 30), ("../it''s here", 4), (f"{tmp_path}/it''s here", 4)):
        shell = connect()
        if folder:
            shell.execute(f"set variable release = '{folder}'")
        shell.execute((tmp_path / ("it's here" if folder else "other") / "estimate.sql").read_text())
        table = "data" if method is sqlanon.splu else "qit"
        assert shell.execute(f"select count(*) from {table}").fetchall() == [(rows,)]
        assert shell.execute("select count(*) > 0 from weighted").fetchall() == [(True,)]


QUERIES = [
    ("count(*)", "sum(weight)", "disease = 'd1' and age < 50"),
    ("count(*)", "sum(weight)", "disease in ('d1', 'd2') and sex = 'F' or disease = 'd3'"),
    ("sum(age)", "sum(weight * age)", "disease = 'd1'"),
    ("avg(age)", "sum(weight * age) / sum(weight)", "disease <> 'd0' and zipcode > 10003"),
]
HOSPITAL = (
    "create table people as select i as ssn, 20 + i * 7 % 60 as age, case when i % 3 = 0 then 'F' else 'M' end as sex,"
    " 10000 + i % 11 as zipcode, 'd' || greatest(0, i % 8 - 1) as disease from range({rows}) t(i)"
)


@pytest.mark.parametrize(("rows", "l"), [(240, 4), (241, 3)])  # with groups of 4 alone no fraction is rounded
def test_the_weights_sum_to_the_uniform_estimate(ask, rows, l):
    sql = HOSPITAL.format(rows=rows)
    release, query = ask(sql, quasi=["age", "sex", "zipcode"], sensitive="disease", id="ssn", l=l)
    for aggregate, weights, condition in QUERIES:
        told = release.estimate(f"SELECT {aggregate} AS x FROM release WHERE {condition}", estimator="uniform")
        (found,) = query(f"select {weights} from weighted_paper where {condition}")
        expected = told["x"][0]
        assert found[0] == (expected if rows == 240 else pytest.approx(expected, rel=1e-12))


def test_names_that_sql_reads_differently(ask):
    sql = (
        'create table people as select i as id, i % 5 as weight, i % 7 as "group_id", i % 3 as "a""b\'; --",'
        ' i % 2 as "sized_group", \'v\' || i % 4 as "count" from range(40) t(i)'
    )
    quasi = ["weight", "group_id", "a\"b'; --", "sized_group"]
    release, query = ask(sql, quasi=quasi, sensitive="count", id="id", l=4)
    told = release.estimate("SELECT COUNT(*) AS x FROM release WHERE \"count\" = 'v1' AND weight < 3", "uniform")
    for view in ("weighted", "weighted_paper"):
        assert query(f"select sum(weight_2) from {view} where \"count\" = 'v1'") == [(pytest.approx(10),)]
    assert query("select sum(weight_2) from weighted_paper where \"count\" = 'v1' and weight < 3") == [(told["x"][0],)]


def test_parts_of_a_table_are_read_together(ask, tmp_path):
    from sqlanon.forms.estimate_script import write_group_script

    release, _ = ask(PEOPLE, quasi=["age", "income"], sensitive="degree", id="id", l=2)
    files = {"qit-2.parquet": {}, "qit-1.parquet": {}, "st.parquet": {}}
    text = write_group_script({**release.manifest, "files": files})
    folder = "coalesce(getvariable('release') || '/', '') || "
    assert f"read_parquet([{folder}'qit-1.parquet', {folder}'qit-2.parquet'])" in text
    assert os.fspath(tmp_path) not in text


# a person's work depends on sex and age: of women seven of ten have one of the first three, of men two
WORKERS = (
    "create table people as select i as id, sex, age, case when {first} then d % 3 else 3 + d * d // 17 % 9 end as work"
    " from (select i, case when i % 2 = 0 then 'F' else 'M' end as sex, 20 + i * 37 % 41 as age, i * 7919 % 101 as d"
    " from range(3000) t(i))"
).format(first="(i * 104729 % 100) < case when sex = 'F' then 70 else 20 end - (age > 40)::int * 15")


def weigh_by_hand(people, signature, condition, values):
    """Return the sum of unbiased weights, from the release's rows and groups, in loops."""
    groups = {}
    for quasi, group, held in people:
        groups.setdefault(group, ([], held))[0].append(quasi)
    classes = {}
    for rows, held in groups.values():
        classes.setdefault(signature(rows[0]), []).append((sum(map(condition, rows)), len(rows), held))
    total = 0.0
    for value in values:
        deviation = kept_rows = all_rows = 0.0
        for own in classes.values():
            rows, hits = sum(size for _, size, _ in own), sum(hit for hit, _, _ in own)
            holding = [(hit, size) for hit, size, held in own if value in held]
            # of the rows beside the value's in its groups a share `met` of all others is met
            met = sum(size - 1 for _, size in holding) / (rows - len(holding))
            total += len(holding) * hits / rows
            deviation += sum(hit for hit, _ in holding) - met * hits - (1 - met) * len(holding) * hits / rows
            kept_rows += (1 - met) * len(holding)
            all_rows += len(holding)
        total += deviation * all_rows / kept_rows if kept_rows > 1e-9 * all_rows else 0.0
    return total


@pytest.mark.parametrize("method", [sqlanon.anatomy, sqlanon.robust])
def test_unbiased_weights_are_those_of_the_definition(ask, method):
    given = {"l": 4} if method is sqlanon.anatomy else {"r": 4, "background_from": ["sex"]}
    _, query = ask(WORKERS, method, quasi=["sex", "age"], sensitive="work", id="id", **given)
    held = dict(query("select group_id, list(work) from st group by all"))
    people = [((sex, age), group, held[group]) for sex, age, group in query("select sex, age, group_id from qit")]
    by_sex = (lambda row: row[0]) if method is sqlanon.robust else (lambda row: 0)
    for condition, values, where in (
        (lambda row: row[1] < 30, [1, 8], "age < 30 and work in (1, 8)"),
        (lambda row: row[1] > 50 and row[0] == "F", [3], "age > 50 and sex = 'F' and work = 3"),
    ):
        ((total,),) = query(f"select sum(weight) from weighted where {where}")
        assert total == pytest.approx(weigh_by_hand(people, by_sex, condition, values), abs=1e-6)
    if method is sqlanon.robust:  # a signature's counts stand in ST, and the weights say the same
        for sex in ("F", "M"):
            ((total,),) = query(f"select sum(weight) from weighted where sex = '{sex}' and work = 2")
            ((told,),) = query(
                "select sum(count) from st semi join (select group_id from qit where sex = '"
                + sex
                + "') using (group_id)"
                " where work = 2"
            )
            assert total == pytest.approx(told)


@pytest.mark.parametrize("rows", [400, 403])  # of 403 rows three are left over, which some groups hold beside theirs
def test_weights_of_randomized_rows_sum_to_the_closed_form(ask, rows):
    sql = HOSPITAL.format(rows=rows)
    roles = {"quasi": ["age", "sex"], "sensitive": ["disease", "zipcode"], "id": "ssn", "residue": "keep"}
    release, query = ask(sql, sqlanon.splu, **roles, gamma={"disease": 2, "zipcode": 4})
    conditions = [
        ("weighted_1", "disease in ('d0', 'd4') and sex = 'F'"),
        ("weighted_2", "zipcode < 10004 and sex = 'M'"),
    ]
    for view, condition in conditions:
        told = release.estimate(f"SELECT COUNT(*) AS x FROM release WHERE {condition}", "closed_form")["x"][0]
        ((found,),) = query(f"select sum(weight) from {view} where {condition}")
        assert found > 0 and found == pytest.approx(told, rel=1e-9)


def test_randomized_columns_that_sql_reads_differently(ask):
    sql = (
        "create table people as select i as id, i % 5 as weight, i % 3 as channels, i % 7 as asked_value,"
        " case when i % 4 > 0 then 'v' || i % 4 end as \"a\nb; drop\" from range(80) t(i)"
    )
    roles = {"quasi": ["weight", "channels", "asked_value"], "sensitive": ["a\nb; drop"], "id": "id", "nulls": "value"}
    _, query = ask(sql, sqlanon.splu, **roles, gamma=2)
    counts = dict(query('select "a\nb; drop", sum(weight_2) from weighted group by all'))
    assert len(counts) == 4 and sum(counts.values()) == pytest.approx(80)


def _blocks(text):
    """Return the indented blocks of a text, without their indents."""
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE)
    return [textwrap.dedent(block).strip("\n") for block in found]


@pytest.mark.parametrize(("method", "asked"), [("anatomy", {"l": 3}), ("splu", {"gamma": 3})])
def test_the_recipes_of_a_readme_run_and_averages_are_as_near_as_they_say(tmp_path, method, asked):
    con = connect()
    con.execute(
        "create table people as select i as id, 20 + hash(i) % 50 as age, if(hash(i, 1) % 2 = 0, 'F', 'M') as sex,"
        " 'v' || ((hash(i, 2) % 9 + (hash(i) % 50) // 10) % 6) as \"it's\" from range(3000) t(i)"
    ).fetchall()
    truth = dict(con.execute('select "it\'s", avg(age) from people group by all').fetchall())
    out = tmp_path / "release"
    sqlanon_method = getattr(sqlanon, method)
    sqlanon_method(con, "people", quasi=["age", "sex"], sensitive="it's", id="id", key="3" * 64, out=out, **asked)
    readme = (out / "README.md").read_text().replace("PATH", str(out))
    mean = next(block for block in _blocks(readme) if "AS mean" in block).replace("WHERE …", "WHERE age > 0")
    session = connect()
    session.execute(f"set variable release = '{out}'").fetchall()
    session.execute((out / "estimate.sql").read_text()).fetchall()
    rows = session.execute(re.sub(r"\bx\b", "age", mean)).fetchall()
    assert len(rows) > 4
    assert max(abs(found - truth[value]) / error for value, found, error in rows) < 3
    # of a constant nothing is uncertain, and rounding makes no error of it that is no number
    constant = session.execute(re.sub(r"\bx\b", "(age * 0 + 7.7::double)", mean)).fetchall()
    assert [(line[1], line[2]) for line in constant] == [(pytest.approx(7.7), pytest.approx(0, abs=1e-6))] * len(rows)
    names = {}
    block = next(block for block in _blocks(readme) if "import duckdb" in block)
    *lines, last = block.splitlines()
    exec("\n".join(lines), names)
    counts = eval(last, names)
    assert counts["n"].sum() == pytest.approx(3000) and (counts["std_error"] > 0).all()
