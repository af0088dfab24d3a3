"""estimate.sql: a release's estimate for whoever has DuckDB and no Python, as a view whose weights are summed."""

from sqlanon.methods import METHODS
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql, ident, literal, render
from sqlanon.releases.companions.column_types import TableTypes
from sqlanon.releases.targets import table_files

VIEW = "weighted"
_HEAD = """\
-- Counts from this release in plain SQL. In the release's directory, in DuckDB's shell (or: duckdb < estimate.sql):
--     .read estimate.sql
--     select sum({weight}) from weighted where …
-- Each person stands here with each value of their group. The weight is the value's share of the group, so that
-- sums of weights are counts: the estimate of the paper, in which inside a group every row is as likely as any other
-- to own each value. It pulls what depends on the value towards the average; README.md says how to do better.
-- In another engine, load the files as the tables qit and st, and run the last statement there.
"""


def write_estimate_script(manifest: Manifest, types: TableTypes) -> str | None:
    """Return the script that makes the view `weighted`; None for a form whose answers are no sum of weights."""
    if METHODS[manifest["method"]].form not in ("qit_st", "class_qit_st"):
        return None
    columns, weight = manifest["columns"], weight_name(manifest)
    weighted = render(
        "releases/companions/estimate_script/weighted",
        qit=Sql("qit"),
        st=Sql("st"),
        quasi_columns=columns["quasi"],
        sensitive_column=columns["sensitive"][0],
        group_column=columns["group"],
        count_column=columns["count"],
        weight_column=weight,
    )
    # a line of comment ends with the line: a name with a line's end in it must not begin another
    head = _HEAD.format(weight=" ".join(str(ident(weight)).split()))
    views = "".join(f"{_view(table, _files(manifest, table))};\n\n" for table in ("qit", "st"))
    return f"{head}{views}{_view(VIEW, weighted)};\n"


def _view(name: str, select: str) -> str:
    return f"create or replace temporary view {name} as\n{select}"


def _files(manifest: Manifest, table: str) -> str:
    listed = ", ".join(literal(file) for file in table_files(manifest["files"], table))
    return f"select * from read_parquet([{listed}])"


def weight_name(manifest: Manifest) -> str:
    """Return what the column of weights is called: no published column has its name."""
    columns = manifest["columns"]
    return free_name("weight", [*columns["quasi"], *columns["sensitive"], columns["group"], columns["count"]])
