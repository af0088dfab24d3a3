"""A release meets a known distribution: what `verify --background` finds equals the enumeration of every world."""

import json
import math
import re
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon.adversary import knowledge
from sqlanon.cli.display import posterior_table
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import DataError, SqlanonError, UsageError
from sqlanon.plans.templates import Sql, ident
from sqlanon.releases.release import Release
from tests.conftest import NASTY_NAMES, NASTY_VALUES
from tests.databases import database, insert
from tests.examples import examples
from tests.oracles import permanent

PAPER_QIT = [("Male", 41, 1), ("Female", 42, 1), ("Female", 63, 2), ("Female", 64, 2)]
PAPER_ST = [(1, "Lung Cancer", 1), (1, "Hypertension", 1), (2, "Flu", 1), (2, "HIV", 1)]


def released(con, qit, lines, l=2, quasi=("sex", "age")):
    """Return a release of these tables, as whoever made it might hand it over."""
    con.execute(f"create or replace table qit ({', '.join(f'{name} varchar' for name in quasi)}, g bigint)").fetchall()
    con.execute("create or replace table st (g bigint, disease varchar, n bigint)").fetchall()
    insert(con, "qit", qit)
    insert(con, "st", lines)
    manifest = {
        "method": "anatomy",
        "parameters": {"l": l},
        "columns": {"quasi": list(quasi), "sensitive": ["disease"], "group": "g", "count": "n"},
        "rows": len(qit),
        "groups": 0,
        "dropped_rows": 0,
        "files": {},
    }
    return Release(DuckDBEngine(con), {"qit": Sql("qit"), "st": Sql("st")}, manifest)


def known(con, rows, columns="sex, disease, probability"):
    con.execute(f"create or replace table known as select * from (values {rows}) as t({columns})").fetchall()
    return "known"


def judged(report):
    (check,) = [check for check in report.checks if check.name == "posterior"]
    return check


# -- the paper's example --------------------------------------------------------------------------


def test_alan_is_found_out_though_his_group_is_2_diverse(con):
    release = released(con, PAPER_QIT, PAPER_ST)
    table = known(con, "('Male', 'Lung Cancer', 0.1), ('Female', 'Lung Cancer', 0.003)")
    report = release.verify(background=table, r=2)
    (found,) = report.posterior
    assert found["largest_posterior"] == pytest.approx(0.1 * 0.997 / (0.1 * 0.997 + 0.9 * 0.003))
    assert (found["background"], found["attributes"]) == ("known", ["sex"])
    assert (found["rows"], found["rows_above"], found["share_above"]) == (4, 2, 0.5)
    assert (found["rows_one_signature"], found["rows_exact"], found["rows_bound"]) == (2, 2, 0)
    assert (found["groups"], found["groups_off_delta"], found["groups_contradicted"]) == (2, 1, 0)
    assert {line["method"]: line["rows_above"] for line in found["sizes"]} == {"exact": 2, "one signature": 0}
    assert judged(report).required == "<= 1/2" and judged(report).holds is False and not report.holds


def test_without_r_posteriors_are_reported(con):
    release = released(con, PAPER_QIT, PAPER_ST)
    table = known(con, "('Male', 'Lung Cancer', 0.1), ('Female', 'Lung Cancer', 0.003)")
    report = release.verify(background=[table])
    assert (judged(report).required, judged(report).holds) == ("reported", None)
    assert report.posterior[0]["rows_above"] == 2, "above 1/l"
    assert report.promise == "promised 1/l = 50 %"


def test_a_prior_above_the_limit_is_counted_and_no_obstacle(con):
    release = released(con, [("F", "1", 1)] * 3, [(1, value, 1) for value in "xyz"])
    frame = pd.DataFrame([("F", "x", 0.9)], columns=["SEX", "Disease", "Probability"])
    report = release.verify(background=frame, r=2)
    assert judged(report).found == pytest.approx(1 / 3) and judged(report).holds
    (found,) = report.posterior
    assert (found["rows_prior_above"], found["background"], found["attributes"]) == (3, "background 1", ["sex"])


# -- against the enumeration ----------------------------------------------------------------------

CHANCES = [Fraction(0), Fraction(1, 100), Fraction(1, 10), Fraction(1, 5)]


session = database()


@st.composite
def releases(draw):
    """Draw groups of rows (signatures) and values, repeats and NULLs among them, and what is known."""
    size = st.integers(1, 5)
    groups = [
        (draw(st.lists(st.sampled_from(["F", "M", None]), min_size=many, max_size=many)),
         draw(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=many, max_size=many)))
        for many in draw(st.lists(size, min_size=1, max_size=4))
    ]  # fmt: skip
    signatures = sorted({sex for sexes, _ in groups for sex in sexes}, key=str)
    entries = {
        (sex, value): draw(st.sampled_from(CHANCES))
        for sex in signatures
        for value in draw(st.lists(st.sampled_from(["a", "b", "c", None, "else"]), min_size=1, unique_by=str))
    }
    return groups, signatures, entries


@given(
    drawn=releases(),
    r=st.sampled_from([1.5, 2, 3]),
    at_once=st.sampled_from([1, 3, 10**6]),
)
@examples(30)
def test_what_is_found_equals_every_world(session, drawn, r, at_once):
    groups, signatures, entries = drawn
    totals = {}
    for _, values in groups:
        for value in values:
            totals[value] = totals.get(value, 0) + 1
    prior = permanent.completed(entries, signatures, totals)
    con = session
    qit = [(sex, "1", -number) for number, (sexes, _) in enumerate(groups) for sex in sexes]
    lines = [(-n, value, values.count(value)) for n, (_, values) in enumerate(groups) for value in {*values}]
    release = released(con, qit, lines)
    con.execute("create or replace table known (sex varchar, disease varchar, probability double)").fetchall()
    insert(con, "known", [[*key, float(p)] for key, p in entries.items()])
    if any(not any(prior[sex, value] for sex in signatures) for value in totals):
        with pytest.raises(DataError, match="gives probability 0 to"):
            release.verify(background="known", r=r)
        return
    rows, largest, above, contradicted, priors_above = [], Fraction(0), 0, 0, 0
    for sexes, values in groups:
        mine = [{value: prior[sex, value] for value in values} for sex in sexes]
        found = permanent.posteriors(mine, values)
        unlikely = any(not any(row[value] for row in mine) for value in values)
        if len(set(sexes)) == 1:
            found = [{value: Fraction(values.count(value), len(values)) for value in values} for _ in sexes]
        contradicted += found is None or unlikely
        rows += [Fraction(1)] * len(sexes) if found is None else [max(row.values()) for row in found]
        priors_above += sum(max(row.values()) > 1 / r + 1e-12 for row in mine)
    largest, above = max(rows), sum(row > 1 / r + 1e-12 for row in rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knowledge, "PAIRS_AT_ONCE", at_once)
        report = release.verify(background="known", r=r)
    (told,) = report.posterior
    assert told["largest_posterior"] == pytest.approx(float(largest), rel=1e-9)
    assert (told["rows"], told["rows_above"]) == (len(rows), above)
    assert (told["groups"], told["groups_contradicted"]) == (len(groups), contradicted)
    assert told["rows_prior_above"] == priors_above
    assert judged(report).holds is (above == 0)
    assert con.execute("select count(*) from duckdb_tables() where temporary").fetchone() == (0,)


# -- releases of real methods -------------------------------------------------------------------------


@pytest.fixture
def correlated(con):
    """Fill a table of 2,000 patients whose disease has much to do with their sex and little with their age."""
    con.execute(
        "create table patients as select i as ssn, (20 + i * 7 % 60)::integer as age,"
        " case when i % 2 = 0 then 'F' else 'M' end as sex,"
        " 'd' || (case when i % 10 < 6 then (i % 2) * 4 + i // 2 % 4 else i // 2 % 8 end) as disease"
        " from range(2000) t(i)"
    ).fetchall()
    for name in ("sex", "age"):
        con.execute(
            f"create table by_{name} as select {name}, disease, count(*) / sum(count(*)) over (partition by {name})"
            f" as probability from patients group by {name}, disease"
        ).fetchall()
    return con


ROLES = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn"}


def test_a_plain_release_of_correlated_data_is_broken_and_a_robust_one_is_not(correlated):
    plain = sqlanon.anatomy(correlated, "patients", l=3, **ROLES)
    report = plain.verify(background=["by_sex", "by_age"], r=3)
    sex, age = report.posterior
    assert not report.holds and sex["share_above"] > 0.5 and sex["largest_posterior"] > 0.6
    assert age["attributes"] == ["age"] and age["groups_off_delta"] > 0
    robust = sqlanon.robust(correlated, "patients", r=3, background=["by_sex"], **ROLES)
    report = robust.verify(background="by_sex", r=3)
    assert report.holds and judged(report).found == pytest.approx(1 / 3)
    assert report.posterior[0]["rows_one_signature"] == robust.manifest["rows"]
    assert robust.verify(background="by_sex").promise == "promised 1/r = 33.33 %"


def test_equal_groups_of_one_signature_need_no_prior_at_all(con):
    rows = [("F", "1", group) for group in range(3) for _ in range(200)]
    lines = [(group, value, 100) for group in range(3) for value in "ab"]
    (found,) = released(con, rows, lines).verify(background=known(con, "('F', 'a', 0.99)")).posterior
    assert found["largest_posterior"] == 0.5 and found["rows_one_signature"] == 600
    assert found["groups_off_delta"] == 3, "the paper's condition is for values that occur once"


def test_groups_too_large_for_exact_posteriors_are_bounded_and_said_to_be(con):
    signatures = [str(number) for number in range(25)]
    release = released(con, [(s, "1", 1) for s in signatures], [(1, f"d{s}", 1) for s in signatures])
    rows = ", ".join(f"('{s}', 'd0', {0.04 + 0.001 * int(s)})" for s in signatures)
    report = release.verify(background=known(con, rows), r=10)
    (found,) = report.posterior
    assert (found["largest_by"], found["rows_bound"], found["rows_exact"]) == ("bound", 25, 0)
    assert 1 / 25 < found["largest_posterior"] <= 1 / 10 and judged(report).holds
    title, _, lines, closing = posterior_table(found, report.promise)
    assert "reaches at most" in title and lines[0][-1] == "bound" and "25 rows are in groups too large" in closing[-1]


def test_tables_that_do_not_fit_each_other_have_no_posterior(con):
    table = known(con, "('Male', 'Lung Cancer', 0.1), ('Female', 'Lung Cancer', 0.003)")
    for wrong in (PAPER_ST[:-1], [*PAPER_ST[:-1], (2, "HIV", 0)], [*PAPER_ST[:-1], (None, "HIV", 1)]):
        report = released(con, PAPER_QIT, wrong).verify(background=table, r=2)
        assert judged(report).holds is None and "do not fit" in judged(report).found and not report.holds
    rows = [(sex, age, None if group == 2 else group) for sex, age, group in PAPER_QIT]
    lines = [(None if group == 2 else group, *line) for group, *line in PAPER_ST]
    check = judged(released(con, rows, lines).verify(background=table, r=2))
    assert check.holds is None and "do not fit" in check.found


@pytest.mark.parametrize("name", NASTY_NAMES[::4])
def test_names_and_values_of_any_kind(con, name):
    other = NASTY_NAMES[NASTY_NAMES.index(name) - 1]
    con.execute(f"create table source ({ident(name)} varchar, {ident(other)} varchar)").fetchall()
    values = [NASTY_VALUES[i % len(NASTY_VALUES)] for i in range(44)]
    insert(con, "source", [[values[i // 4], values[i]] for i in range(44)])
    release = sqlanon.anatomy(con, "source", quasi=[name], sensitive=other, l=3)
    con.execute(f"create table known as select *, 0.05 as probability from (select distinct {ident(name)} from source)"
                f" cross join (select distinct {ident(other)} from source)").fetchall()  # fmt: skip
    report = release.verify(background="known", r=3)
    assert report.holds and report.posterior[0]["largest_posterior"] == pytest.approx(1 / 3)


OURS = ["signature_1", "signature_2", "row_count", "sensitive", "probability", "item", "group_id", "value_number"]


def test_columns_called_as_ours_are(con):
    for place, sensitive in list(enumerate(OURS))[::2]:
        quasi = OURS[:place] + OURS[place + 1 :]
        columns = ", ".join(f"i // {2 + n} % 2 as {name}" for n, name in enumerate(quasi))
        con.execute(f"create or replace table source as select {columns}, i % 7 as {sensitive} from range(140) t(i)")
        release = sqlanon.anatomy(con, "source", quasi=quasi, sensitive=sensitive, l=3)
        number = "probability_2" if "probability" in (quasi[0], quasi[-1], sensitive) else "probability"
        con.execute(f"create or replace table known as select distinct {quasi[0]}, {quasi[-1]}, {sensitive},"
                    f" 0.1 as {number} from source")  # fmt: skip
        report = release.verify(background="known", r=3)
        assert report.holds and report.posterior[0]["attributes"] == [quasi[0], quasi[-1]]


# -- refusals and the command line ----------------------------------------------------------------------


def test_bad_requests_are_refused(correlated):
    release = sqlanon.anatomy(correlated, "patients", l=3, **ROLES)
    for r, said in ((1, "protects nobody"), (0.5, "protects nobody"), (-2, "protects nobody"), (math.inf, "beyond")):
        with pytest.raises(UsageError, match=said):
            release.verify(background="by_sex", r=r)
        with pytest.raises(UsageError, match=said):
            release.verification_sql(background="by_sex", r=r)
    with pytest.raises(UsageError, match="name with background what the adversary knows"):
        release.verify(r=3)
    with pytest.raises(UsageError, match="no table, view or file 'gone'"):
        release.verify(background="gone")
    splu = sqlanon.splu(correlated, "patients", gamma=3, **ROLES)
    with pytest.raises(UsageError, match="splu has no groups of exact values to hold against a background"):
        splu.verify(background="by_sex")


BAD = {
    "outside": ("sex,disease,probability\nF,d1,1.5\nM,d1,0.1", 2, "1 of 2 probabilities are not from 0 to 1"),
    "twice": ("sex,disease,probability\nF,d1,0.1\nF,d1,0.1\nM,d1,0.1", 2, "several rows"),
    "no_male": ("sex,disease,probability\nF,d1,0.5\nX,d1,0.5", 3, "no probability for 1 signature of the data,"),
    "foreign": ("income,disease,probability\n1,d1,0.5", 2, "a column 'income', which is no quasi column"),
    "never": ("sex,disease,probability\nF,d1,0\nM,d1,0", 3, "gives probability 0 to 1 values of 'disease' under"),
}  # fmt: skip


def test_bad_tables_are_refused(correlated, tmp_path):
    release = sqlanon.anatomy(correlated, "patients", l=3, **ROLES)
    temporary = "select count(*) from duckdb_tables() where temporary"
    before = correlated.execute(temporary).fetchone()
    for name, (text, code, said) in BAD.items():
        (tmp_path / "known.csv").write_text(text)
        with pytest.raises(SqlanonError) as raised:
            release.verify(background=tmp_path / "known.csv")
        assert raised.value.exit_code == code and said in str(raised.value), name
        assert correlated.execute(temporary).fetchone() == before, name


def test_the_command_line_says_what_an_adversary_reaches(shell, con, monkeypatch):
    published = ("publish", "anatomy", "patients.parquet", "--quasi", "age,sex", "--sensitive", "disease", "-l", "5")
    assert shell(*published, "--out", "rel").returncode == 0
    (shell.folder / "sex.csv").write_text("SEX,disease,probability\nF,d1,0.5\nM,d1,0.01\n")
    (shell.folder / "age.csv").write_text(
        "age,disease,probability\n" + "".join(f"{20 + i},d2,0.125\n" for i in range(60))
    )
    told = ("verify", "rel", "--background", "sex.csv", "--background", "age.csv")
    done = shell(*told)
    assert done.returncode == 0, done.stderr
    title = "promised 1/l = 20 %, an adversary who knows sex.csv's distribution (by sex) reaches"
    assert title in done.stdout and "reported" in done.stdout and "miss the paper's delta condition" in done.stdout
    assert done.stdout.endswith("who combines them is met only by one over all their columns\n")
    assert "its files can prove it; not judged: posterior." in done.stderr
    assert "d1" not in re.sub(r"[0-9a-f]{8,}", "", done.stdout + done.stderr), "no sensitive value is shown"
    done = shell(*told, "-r", "5", "--format", "json")
    assert "d1" not in re.sub(r"[0-9a-f]{8,}", "", done.stdout + done.stderr)
    assert done.returncode == 3 and "does not hold what it promises: posterior: " in done.stderr
    printed = json.loads(done.stdout)
    sex, age = printed["posterior"]
    assert not printed["holds"] and printed["checks"][-1]["name"] == "posterior"
    assert printed["checks"][-1]["found"] == sex["largest_posterior"] > 0.5
    assert sex["rows"] == 600 and sex["rows_above"] > 0 and age["largest_posterior"] == pytest.approx(0.2)
    assert set(sex["sizes"][0]) == {"size", "groups", "rows", "largest_posterior", "rows_above", "method"}
    done = shell(*told, "--sql")
    assert done.returncode == 0 and done.stdout.count("create temporary table") == 16
    assert "listed_prior_2" in done.stdout and "values_alike_2" in done.stdout
    monkeypatch.chdir(shell.folder)
    for statement in done.stdout.split(";\n"):
        if statement.strip():
            con.execute(statement).fetchall()
