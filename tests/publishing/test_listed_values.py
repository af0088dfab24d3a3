"""Lists of values beside randomized rows: what they hold, what is promised with them, where they are refused."""

import json

import pytest

import sqlanon
from sqlanon.errors import UsageError
from tests.databases import database

ROLES = {"quasi": "age", "sensitive": "disease", "id": "ssn"}


# 600 patients: six frequent diseases, NULL, and sixty that one patient has.
con = database(
    "create table patients as select i as ssn, 20 + i % 50 as age, i % 7 as ward, case when i < 60"
    " then 'rare ' || i when i % 7 < 6 then 'd' || i % 7 end as disease from range(600) t(i)"
)


@pytest.mark.parametrize("residue", ["drop", "keep"])
def test_the_list_holds_the_values_of_the_rows_in_order_and_nothing_else(con, tmp_path, residue):
    out = tmp_path / "release"
    asked = {"gamma": 7, "values": "list", "nulls": "value", "residue": residue}
    release = sqlanon.splu(con, "patients", **ROLES, **asked, out=out)
    listed = con.execute(f"select disease from '{out}/values_1.parquet'").fetchall()
    source = con.execute("select distinct disease from patients order by 1 nulls last").fetchall()
    assert listed == sorted(listed, key=lambda row: (row[0] is None, row[0]))
    assert set(listed) <= set(source) and len(source) - len(listed) <= release.manifest["dropped_rows"]
    assert (con.execute(f"select count(distinct disease) from '{out}/data.parquet'").fetchone()[0]) < len(listed) - 5
    opened = sqlanon.open(out)
    assert all(check.holds is not False for check in opened.verify().checks)
    groups = opened.estimate("select disease, count(*) as n from release group by disease")
    assert len(groups) == len(listed)


def test_two_columns_have_a_list_each(con, tmp_path):
    out = tmp_path / "release"
    roles = {**ROLES, "sensitive": ["disease", "ward"]}
    sqlanon.splu(con, "patients", **roles, gamma=4, values="list", nulls="value", out=out)
    assert con.execute(f"select count(*) from '{out}/values_2.parquet'").fetchone() == (7,)
    opened = sqlanon.open(out)
    both = opened.estimate("select disease, ward, count(*) as n from release group by all")
    assert len(both) == 67 * 7 and both.notna()[["n", "n_low", "n_high"]].all(axis=None)


def test_the_promise_counts_whoever_takes_1_for_0(con, tmp_path):
    promised = {}
    for values in ("hide", "list"):
        out = tmp_path / values
        sqlanon.splu(con, "patients", **ROLES, gamma=7, values=values, nulls="value", out=out)
        manifest = json.loads((out / "release.json").read_text())
        promised[values] = manifest["guarantee"]["disease"]["small_sums"]["off_at_least"]
        assert manifest["parameters"].get("values", "hide") == values
    alone = (6 / 7) ** 7 + 7 * (1 / 7) * (6 / 7) ** 6  # f' of 0 and of 1 for a count of 1
    assert promised["list"] == pytest.approx(1 - alone) and promised["hide"] > 2 * promised["list"]


def test_a_ledger_lists_nothing(con, tmp_path):
    asked = {"gamma": 7, "nulls": "value", "key": "5e" * 32}
    with pytest.raises(UsageError, match="under a ledger no values are listed"):
        sqlanon.splu(con, "patients", **ROLES, **asked, values="list", ledger=tmp_path / "l.ledger", out=tmp_path / "r")
    with pytest.raises(UsageError, match="values = 'all' is none of hide, list"):
        sqlanon.splu(con, "patients", **ROLES, gamma=7, values="all")
