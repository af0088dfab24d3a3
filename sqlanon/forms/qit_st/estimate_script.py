"""estimate.sql of groups: for each sensitive column, views of people weighted by their class, and by their group."""

from collections.abc import Mapping

from sqlanon.forms.weights import (
    LINES,
    VIEW,
    group_views,
    paper_view,
    read_files,
    weight_name,
    write_in_one_line,
    write_view,
)
from sqlanon.plans.build import render_queries
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.manifest import Manifest, of_people
from sqlanon.plans.templates import Sql

_HEAD = """\
-- Counts from this release in plain SQL. {reading}\
--     select sum({weight}), sqrt(sum({weight} * {weight})) as std_error from {view} where …
-- In {views} each person stands with each sensitive value of people like them, and weights may be
-- negative. Sums of them are counts with little bias, as far as groups tell values apart: what the other values of a
-- group add is taken out, as if they were dealt at random. Small counts may be far off, or below 0: in 95 of 100
-- releases by less than twice std_error.
-- {paper}, with weights that are the value's share of the group: the estimate
-- of the paper, in which inside a group every row is as likely as any other to own each value. It has little noise, and
-- a bias: what depends on the value is pulled towards the average, often by factors.{several}{people}
-- In another engine, load the files as the tables {tables}, and run the statements after them there.
"""
_PEOPLE = """
-- People have several values each. Where how many goes with what is asked (the old have more), sums of weights are too
-- large for those who have few values and too small for those who have many; `sqlanon estimate` mends that.
"""
_SEVERAL_VIEWS = """
-- Which values of two columns belong to one person is published nowhere: no sum of weights tells of both.
{listed}"""


def write_script(manifest: Manifest) -> str:
    """Return the script with two views for each sensitive column of groups."""
    views = group_views(manifest)
    tables = ["qit", *(table for _, table in views.values())]
    first = next(iter(views))
    listed = "\n".join(
        f"--     {view}, {paper_view(view)}: {write_in_one_line(column)}" for view, (column, _) in views.items()
    )
    text = _HEAD.format(
        weight=write_in_one_line(weight_name(manifest)),
        view=first,
        views=first if len(views) == 1 else "the first view of each sensitive column",
        paper=f"{paper_view(first)} has the values of the person's group"
        if len(views) == 1
        else "The second has the values of the person's group",
        people=_PEOPLE.rstrip() if of_people(manifest) else "",
        several="" if len(views) == 1 else _SEVERAL_VIEWS.format(listed=listed),
        reading=LINES,
        tables=", ".join(tables),
    )
    statements = [write_view(table, read_files(manifest, table)) for table in tables]
    classes = f"{VIEW}_class"
    for number, (view, (column, table)) in enumerate(views.items()):
        names = {
            "group_class": classes,
            "value_line": f"{view}_line",
            "class_value": f"{view}_value",
            "weighted_unbiased": view,
            "weighted": paper_view(view),
        }
        selects = _render_views(manifest, column, {"st": table, **names})
        if number:
            del selects["group_class"]  # the first column's is every column's
        statements += [write_view(names[name], select) for name, select in selects.items()]
    return text + "\n\n".join(f"{statement};" for statement in statements) + "\n"


def _render_views(manifest: Manifest, column: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return the queries of one sensitive column's views by their sections; names: what the relations are called."""
    columns = manifest["columns"]
    backgrounds = manifest.get("parameters", {}).get("backgrounds", [])
    signature = {name for background in backgrounds for name in background}
    values = {
        "signature": [name for name in columns["quasi"] if name in signature],
        "quasi_columns": columns["quasi"],
        "sensitive_column": column,
        "group_column": columns["group"],
        "count_column": columns["count"],
        "weight_column": weight_name(manifest),
        "people": of_people(manifest),
    }
    relations = {"qit": Sql("qit"), **{name: Sql(called) for name, called in names.items()}}
    return render_queries(Chapter("estimate/weighted_groups", values), relations)
