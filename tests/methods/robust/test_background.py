"""A background table is matched, checked and completed; what it cannot say is refused with a message."""

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.runner import run_plan
from sqlanon.errors import DataError, UsageError
from sqlanon.key import Key
from sqlanon.methods.robust import background
from sqlanon.plans.build import build
from sqlanon.plans.plan import Plan, Publication
from sqlanon.plans.templates import Sql, ident, literal
from tests.conftest import NASTY_NAMES, NASTY_VALUES
from tests.databases import database
from tests.examples import examples
from tests.oracles.permanent import completed

COLUMNS = background.Columns({"Sex": ("quasi_1", "VARCHAR"), "age": ("quasi_2", "INTEGER")}, ("disease", "VARCHAR"))
PATIENTS = "select * from (values ('F', 30, 'flu'), ('F', 30, 'hiv'), ('M', 40, 'flu'), (null, 40, null)) as t"


def found(con, known):
    """Return the whole prior as {(signature, value): probability}."""
    given_ = {"population": Sql('"population"'), "tally": Sql('"tally"')}
    steps = build([background.read_table(known, 1)], "t_", given_)
    plan = Plan("background", steps, Publication(()), key=Sql('"t_key"'))
    engine = DuckDBEngine(con)
    with run_plan(plan, engine, Key.fresh()):
        rows = con.execute(f"select * exclude (listed) from {steps[-2].relation}").fetchall()
    return {(row[:-2], row[-2]): row[-1] for row in rows}


def data(con, rows=PATIENTS):
    con.execute(
        "create or replace table population as select quasi_1, quasi_2, cast(sensitive as varchar) as sensitive"
        f" from ({rows}) as t(quasi_1, quasi_2, sensitive)"
    ).fetchall()
    con.execute(
        "create or replace table tally as select sensitive, count(*) as row_count from population group by 1"
    ).fetchall()


def declared(con, table, columns=COLUMNS):
    return background.declared(table, *DuckDBEngine(con).find_source(table), columns)


def test_unlisted_values_share_what_is_left_over(con):
    data(con)
    con.execute("create table known as select * from (values ('F', 'flu', 0.4), ('M', 'hiv', 0.0), (null, 'flu', 1.0))"
                " as t(SEX, Disease, PROBABILITY)").fetchall()  # fmt: skip
    known = declared(con, "known")
    assert (known.attributes, known.columns) == (("Sex",), ("quasi_1",))
    prior = found(con, known)
    assert prior == pytest.approx({
        (("F",), "flu"): 0.4, (("F",), "hiv"): 0.3, (("F",), None): 0.3,
        (("M",), "flu"): 2 / 3, (("M",), "hiv"): 0, (("M",), None): 1 / 3,
        ((None,), "flu"): 1, ((None,), "hiv"): 0, ((None,), None): 0,
    })  # fmt: skip


entries = st.dictionaries(
    st.tuples(st.sampled_from(["F", "M"]), st.sampled_from(["flu", "hiv", None, "else"])),
    st.sampled_from([Fraction(0), Fraction(1, 8), Fraction(1, 4)]),
)


session = database()


@given(listed=entries, values=st.lists(st.sampled_from(["flu", "hiv", None]), min_size=2, max_size=6))
@examples(30)
def test_the_prior_is_the_oracles_or_is_refused_as_it_says(session, listed, values):
    con = session
    rows = ", ".join(f"('{'FM'[i % 2]}', {i}, {literal(value)})" for i, value in enumerate(values))
    data(con, f"from (values {rows}, ('F', 0, null))")
    con.execute("create or replace table known (sex varchar, disease varchar, probability double)").fetchall()
    for (sex, disease), probability in listed.items():
        con.execute("insert into known values (?, ?, ?)", [sex, disease, float(probability)]).fetchall()
    totals = {value: values.count(value) + (value is None) for value in {*values, None}}
    wanted = completed(listed, ["F", "M"], totals)
    impossible = [value for value in totals if not any(wanted[sex, value] for sex in "FM")]
    if {sex for sex, _ in listed} < {"F", "M"}:
        with pytest.raises(DataError, match="names no probability for"):
            found(con, declared(con, "known"))
    elif impossible:
        with pytest.raises(DataError, match=f"gives probability 0 to {len(impossible)} values"):
            found(con, declared(con, "known"))
    else:
        prior = found(con, declared(con, "known"))
        assert prior == pytest.approx({((sex,), value): float(p) for (sex, value), p in wanted.items()})


def test_equal_lists_leave_equal_shares_in_any_order(con):
    # sums of floats differ with the order of their terms, and what they leave of 1 differs by more
    data(con, "select 'sex ' || i % 40, 1, 'v' || i % 12 from range(480) t(i)")
    listed = list(enumerate([0.1, 0.2, 0.3, 0.05, 0.007, 0.013, 0.2899, 0.0301]))
    shuffled = [(sex, *entry) for sex in range(40) for entry in random.Random(sex).sample(listed, len(listed))]
    rows = ", ".join(f"('sex {sex}', 'v{value}', {probability!r}::double)" for sex, value, probability in shuffled)
    con.execute(f"create table known as select * from (values {rows}) as t(sex, disease, probability)").fetchall()
    prior = found(con, declared(con, "known"))
    assert len({probability for (_, value), probability in prior.items() if value == "v9"}) == 1


def test_a_sum_of_one_but_for_rounding_is_a_sum_of_one(con):
    data(con, "select 'F', 1, 'v' || i % 10 from range(20) t(i)")
    con.execute("create table known as select 'F' as sex, 'v' || i as disease, 0.1 as probability from range(10) t(i)")
    assert set(found(con, declared(con, "known")).values()) == {0.1}


def test_a_value_that_is_not_of_the_published_type_is_not_shown(con):
    data(con)
    con.execute("create table known as select 'thirty' as age, 'flu' as disease, 0.5 as probability").fetchall()
    with pytest.raises(DataError) as raised:
        found(con, declared(con, "known"))
    assert "thirty" not in str(raised.value)


@pytest.mark.parametrize("name", NASTY_NAMES[::12])
def test_names_and_values_of_any_kind(con, name):
    values = [*NASTY_VALUES, None]
    other = NASTY_NAMES[NASTY_NAMES.index(name) - 1]
    columns = background.Columns({name: ("quasi_1", "VARCHAR")}, (other, "VARCHAR"))
    con.execute("create table population (quasi_1 varchar, quasi_2 integer, sensitive varchar)").fetchall()
    con.executemany("insert into population values (?, 1, ?)", [[value, value] for value in values])
    con.execute("create table tally as select sensitive, count(*) as row_count from population group by 1").fetchall()
    con.execute(f"create table known ({ident(name)} varchar, {ident(other)} varchar, probability float)").fetchall()
    con.executemany("insert into known values (?, ?, 0.5)", [[value, value] for value in values])
    prior = found(con, declared(con, "known", columns))
    assert len(prior) == len(values) ** 2
    assert all(
        p == (0.5 if signature == (value,) else 0.5 / (len(values) - 1)) for (signature, value), p in prior.items()
    )


def test_a_column_called_probability_leaves_the_next_name(con):
    columns = background.Columns({"Probability": ("quasi_1", "INTEGER")}, ("disease", "VARCHAR"))
    con.execute("create table known as select 1 as probability, 'flu' as disease, 0.5 as probability_2").fetchall()
    assert declared(con, "known", columns).attributes == ("Probability",)
    con.execute("create table wrong as select 1 as probability, 'flu' as disease, 0.5 as p").fetchall()
    with pytest.raises(UsageError, match="has a column 'p', which is no quasi column"):
        declared(con, "wrong", columns)
    two = background.Columns({"Probability": ("quasi_1", "INTEGER"), "sex": ("quasi_2", "VARCHAR")}, COLUMNS.sensitive)
    con.execute("create table plain as select 'F' as sex, 'flu' as disease, 0.5 as Probability").fetchall()
    assert declared(con, "plain", two).attributes == ("sex",)
    assert declared(con, "known", two).attributes == ("Probability",)
