"""Types by roles and methods: what is published equals the source and verifies, or the type is refused by its name."""

import functools
import re

import duckdb
import pytest

import sqlanon
from sqlanon.plans.templates import ident
from tests.conftest import METHODS as ASKED
from tests.conftest import NASTY_NAMES, NASTY_VALUES
from tests.databases import insert

STAMP = "'2024-01-01 12:00:0' || i % 5"
# by type, five values of numbers i
TYPES = {
    "BOOLEAN": "i % 2 = 0",
    "TINYINT": "i % 5",
    "UBIGINT": "i % 5",
    "HUGEINT": "i % 5",
    "BIGNUM": "i % 5",
    "FLOAT": "i % 5",
    "DOUBLE": "i % 5",
    "DECIMAL(30,2)": "i % 5",
    "VARCHAR": "i % 5",
    "BLOB": "'v' || i % 5",
    "BIT": "i % 5",
    "UUID": "'00000000-0000-0000-0000-00000000000' || i % 5",
    "JSON": "'{\"a\": ' || i % 5 || '}'",
    "DATE": "date '2024-01-01' + cast(i % 5 as integer)",
    "TIME": "'12:00:0' || i % 5",
    "TIMETZ": "'12:00:0' || i % 5 || '+00'",
    "TIMESTAMP": STAMP,
    "TIMESTAMP_S": STAMP,
    "TIMESTAMP_MS": STAMP,
    "TIMESTAMP_NS": STAMP,
    "TIMESTAMPTZ": f"{STAMP} || '+00'",
    "INTERVAL": "case i % 5 when 0 then interval 1 month else to_days(cast(30 * (i % 5) as integer)) end",
    "GEOMETRY": "'POINT (1 ' || i % 5 || ')'",
    "INTEGER[]": "[i % 5]",
    "STRUCT(a INTEGER)": "{'a': i % 5}",
}
if duckdb.__version__.startswith("1."):  # there it is an extension's
    del TYPES["GEOMETRY"]
METHODS = {**ASKED, "anatomy": {"l": 2}, "splu": {"gamma": 2}, "robust": {"r": 2, "background_from": ["age"]}}
ROLES = ("quasi", "sensitive")
NESTED = ("INTEGER[]", "STRUCT(a INTEGER)")
REFUSED = {
    **{
        (kind, role, method): "nested values"
        for kind in NESTED
        for role in ("quasi", "sensitive")
        for method in METHODS
        if (kind, method) != ("INTEGER[]", "uncertain")  # alternatives, which it is for
    },
    **{("GEOMETRY", role, method): "a GEOMETRY" for role in ("quasi", "sensitive") for method in METHODS},
    ("INTERVAL", "quasi", "mondrian"): "an INTERVAL",
    **{("INTERVAL", role, "uncertain"): "an INTERVAL" for role in ROLES},
}


@pytest.mark.parametrize("method", METHODS)
def test_what_is_published_holds_or_the_type_is_refused(con, tmp_path, method):
    """All types at once as quasi-identifiers; as the sensitive attribute, each method has a part of the types."""
    columns = ", ".join(f'cast({values} as {kind}) as "{kind}"' for kind, values in TYPES.items())
    con.execute(
        f"create table t as select i, 20 + i % 7 as age, 'd' || i % 4 as d, {columns} from range(70) r(i)"
    ).fetchall()
    publish = functools.partial(getattr(sqlanon, method), con, "t", id="i", **METHODS[method])
    roles = {role: [kind for kind in TYPES if (kind, role, method) not in REFUSED] for role in ROLES}
    for (kind, role, name), reason in REFUSED.items():
        if name == method and kind in TYPES:
            asked = {"quasi": ["age"], "sensitive": "d"} | {role: [kind]}
            with pytest.raises(sqlanon.UsageError, match=re.escape(f"column '{kind}' ") + f".*{reason}"):
                publish(**asked, out=tmp_path / "refused")
    part = roles["sensitive"][list(METHODS).index(method) :: len(METHODS)]
    requests = [{"quasi": [*roles["quasi"], "age"], "sensitive": "d"}]
    requests += [{"quasi": ["age"], "sensitive": kind} for kind in part]
    for number, asked in enumerate(requests):
        publish(**asked, out=tmp_path / str(number))
        verified = sqlanon.open(tmp_path / str(number), con=con).verify(against="t")
        assert verified.holds, (asked, verified.failed())
    assert len(roles["quasi"]) > 18 and not (tmp_path / "refused").exists()


@pytest.mark.parametrize("method", [method for method in METHODS if method != "uncertain"])  # whose own has lists
def test_names_and_values_of_every_kind(con, method):
    """Every nasty name is a quasi column's; some are known to the adversary of robust, some randomized by splu."""
    columns = ", ".join(f"{ident(name)} varchar" for name in NASTY_NAMES)
    con.execute(f'create table "nasty; table" ({columns}, "sick ""ness" varchar)').fetchall()
    quasi = [[NASTY_VALUES[(i * (n + 3) // 5) % 3 + n % 4] for n in range(len(NASTY_NAMES))] for i in range(240)]
    insert(con, '"nasty; table"', [[*row, NASTY_VALUES[i % len(NASTY_VALUES)]] for i, row in enumerate(quasi)])
    asked = METHODS[method] | {"quasi": NASTY_NAMES, "sensitive": 'sick "ness'}
    if method == "robust":
        asked |= {"background_from": [[name] for name in NASTY_NAMES[::9]], "max_suppressed": 0.9}
    if method == "splu":
        asked |= {"quasi": NASTY_NAMES[:-2], "sensitive": ['sick "ness', *NASTY_NAMES[-2:]]}
    release = getattr(sqlanon, method)(con, "nasty; table", **asked)
    assert release.verify(against="nasty; table").holds
    assert con.execute('select count(*) from "nasty; table"').fetchall() == [(240,)]
    if method == "anatomy":  # published names make ours give way
        assert release.table("qit").columns == [*NASTY_NAMES, "group_id_2"]
        assert release.manifest["columns"]["count"] == "count_2"
