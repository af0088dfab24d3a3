"""A model fitted to counts names at least as many people right as completed tables do, and as sure as it is right."""

import numpy as np
import pytest

import sqlanon
from sqlanon.attacks import fitted_model, learning
from sqlanon.forms.qit_st.view import GroupView
from sqlanon.forms.randomized.view import RandomizedView

KEY = "ab" * 32
ROWS = 2000
# of ten people four have the value of their area, four that of their job, others any; three columns repeat the area
PEOPLE = (
    "create table people as select *, area // 2 as region, 2 * area + (hash(id, 6) % 2)::integer as town,"
    " (area > 2)::integer as side from (select i as id, i as number, (hash(i, 1) % 6)::integer as area,"
    " (hash(i, 2) % 5)::integer as job, 'v' || case when hash(i, 4) % 10 < 4 then area when hash(i, 4) % 10 < 8"
    f" then 3 + job else hash(i, 5) % 8 end as value from range({ROWS}) t(i)) people"
)
QUASI = ["area", "town", "region", "side", "job", "number"]
ROLES = {"quasi": QUASI, "sensitive": "value", "id": "id", "unique_quasi": "keep", "key": KEY}
BAYES = "naive Bayes, learned from the groups"


def learned(result, name):
    return next(one for one in result.findings if one.attack == name)


@pytest.fixture
def release(con):
    con.execute(PEOPLE)
    return sqlanon.anatomy(con, "people", **ROLES, l=5)


@pytest.mark.thorough
def test_it_names_more_people_than_completed_tables_and_than_expectation_maximization(con, release):
    true = con.execute("select value from people order by number").df()["value"].to_numpy()
    tables = [one.sort_values("number")["value"].to_numpy() for one in release.complete(5, seed=1)]
    values, named = np.unique(np.stack(tables), return_inverse=True)
    shown = np.apply_along_axis(np.bincount, 0, named.reshape(len(tables), -1), minlength=len(values))
    most_often = (values[shown.argmax(axis=0)] == true).mean()

    result = sqlanon.attack(release, against="people", id="id")
    fitted = learned(result, fitted_model.NAMED)
    assert fitted.reached >= most_often > learned(result, BAYES).reached
    assert result.best is fitted
    own = learned(sqlanon.attack(release), fitted_model.NAMED)
    assert own.reached == pytest.approx(fitted.reached, abs=0.1) and not own.headline


def test_everybodys_weights_sum_up_and_values_are_weighed_as_often_as_they_are_held(release):
    view = GroupView(release.engine, release.tables, release.manifest)
    fitted_model.learn_groups(view, None, None)
    weighed = view.relations["weighed_0"]
    sql = f"select sum(weight) as whole from {weighed} group by person_number"
    assert view.engine.frame(sql)["whole"].to_numpy() == pytest.approx(np.ones(ROWS))
    sql = f"select sum(weight) as whole, any_value(total) as held from {weighed} join {view.values()}"
    values = view.engine.frame(f"{sql} using (value_number) group by value_number")
    assert values["whole"].to_numpy() == pytest.approx(values["held"].to_numpy(dtype=float), rel=0.1)
    view.close()


def test_more_values_than_a_system_is_solved_for_are_left_to_expectation_maximization(release, monkeypatch):
    monkeypatch.setattr(fitted_model, "MOST_VALUES", 7)
    named = [one.attack for one in sqlanon.attack(release).findings]
    assert fitted_model.NAMED not in named and BAYES in named


@pytest.mark.thorough
def test_randomized_values_are_undone_by_codes_and_the_value_that_is_shown(con):
    con.execute(PEOPLE)
    release = sqlanon.splu(con, "people", **ROLES, gamma=4)
    result = sqlanon.attack(release, against="people", id="id")
    others = (learning.TAKEN, "naive Bayes, learned from the published values")
    rivals = [learned(result, name).reached for name in others]
    assert learned(result, fitted_model.RANDOMIZED_NAMED).reached > max(rivals) + 0.03


def test_kinds_of_rows_beyond_what_memory_allows_are_not_weighed(con, monkeypatch):
    con.execute(PEOPLE)
    release = sqlanon.splu(con, "people", **ROLES, gamma=4)
    monkeypatch.setattr(fitted_model, "MOST_PAIRS", 100)
    view = RandomizedView(release.engine, release.tables, release.manifest)
    truth = view.read_source("people", ("id",))
    assert fitted_model.learn_randomized(view, truth, None) == []
    view.close()


@pytest.mark.thorough
def test_portions_of_groups_are_learned_from_as_all_together(release, monkeypatch):
    """Guesses and shares are those of one portion: odds are learned from all, and a person's group is in one."""
    whole = sqlanon.attack(release, against="people", id="id")
    monkeypatch.setattr(learning, "PAIRS_AT_ONCE", 3000)
    in_portions = sqlanon.attack(release, against="people", id="id")
    assert [finding.reached for finding in whole.findings] == pytest.approx(
        [finding.reached for finding in in_portions.findings], abs=2 / ROWS
    )
