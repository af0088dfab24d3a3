"""What publishing tells of gammas that say next to nothing."""

import pytest

import sqlanon


@pytest.mark.parametrize(("gamma", "warned"), [(2, False), (3, True)])
def test_publishing_warns_where_gamma_is_near_a_columns_limit(con, gamma, warned):
    con.execute(
        "create table many as select i % 50 as age, 'd' || (i * i % 7 * (i % 3)) % 9 as disease from range(30000) t(i)"
    )
    con.execute("delete from many where disease = 'd0' and age > 8").fetchall()
    release = sqlanon.splu(con, "many", quasi=["age"], sensitive="disease", gamma=gamma, key="ab" * 32)
    notes = [note for note in release.notes if "near the largest of 'disease'" in note]
    assert len(notes) == warned, release.notes
    assert all("a smaller gamma tells more" in note and "d0" not in note for note in notes)
