"""Types by roles and methods: what is published equals the source and verifies, or the type is refused by its name."""

import duckdb
import pytest

import sqlanon

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
METHODS = {
    "anatomy": {"l": 2},
    "splu": {"gamma": 2},
    "robust": {"r": 2, "background_from": ["age"]},
    "mondrian": {"k": 4},
    "uncertain": {"k": 4, "l": 2, "threshold": 0.5, "influence": "learn"},
}
ROLES = ("quasi", "sensitive")
NESTED = ("INTEGER[]", "STRUCT(a INTEGER)")
REFUSED = {
    **{
        (kind, role, method): "nested values"
        for kind in NESTED
        for role in ("quasi", "sensitive")
        for method in METHODS
    },
    **{("GEOMETRY", role, method): "a GEOMETRY" for role in ("quasi", "sensitive") for method in METHODS},
    ("INTERVAL", "quasi", "mondrian"): "an INTERVAL",
    **{("INTERVAL", role, "uncertain"): "an INTERVAL" for role in ROLES},
    **{("INTEGER[]", role, "uncertain"): "" for role in ROLES},  # alternatives, which it is for
}


@pytest.mark.parametrize(
    "method", [name if name == "mondrian" else pytest.param(name, marks=pytest.mark.thorough) for name in METHODS]
)
@pytest.mark.parametrize("kind", TYPES)
def test_what_is_published_holds_or_the_type_is_refused(con, tmp_path, kind, method):
    value = f"cast({TYPES[kind]} as {kind})"
    con.execute(
        f"create table t as select i, 20 + i % 7 as age, 'd' || i % 4 as d, {value} as v from range(70) r(i)"
    ).fetchall()
    for role in ROLES:
        columns = {"quasi": ["v", "age"], "sensitive": "d"} if role == "quasi" else {"quasi": ["age"], "sensitive": "v"}
        asked = {**columns, "id": "i", "out": tmp_path / role, **METHODS[method]}
        reason = REFUSED.get((kind, role, method))
        if reason:
            with pytest.raises(sqlanon.UsageError, match=f"column 'v' .*{reason}"):
                getattr(sqlanon, method)(con, "t", **asked)
            assert not (tmp_path / role).exists()
            continue
        getattr(sqlanon, method)(con, "t", **asked)
        verified = sqlanon.open(tmp_path / role, con=con).verify(against="t")
        assert verified.holds, [check for check in verified.checks if check.holds is False]
