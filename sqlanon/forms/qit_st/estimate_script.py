"""estimate.sql of groups: for each sensitive column, views of people weighted by their class, and by their group."""

from collections.abc import Iterator

from sqlanon.forms.weights import (
    FIRST_LINES,
    LINES,
    VIEW,
    group_views,
    paper_view,
    read_files,
    read_files_first,
    weight_name,
    write_in_one_line,
    write_view,
)
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.sensitive_tables import sensitive_tables
from sqlanon.plans.templates import Sql, render

_HEAD = """\
-- Counts from this release in plain SQL. {reading}\
--     select sum({weight}), sqrt(sum({weight} * {weight})) as std_error from {view} where …
-- In {views} each person stands with each sensitive value of people like them, and weights may be
-- negative. Sums of them are counts without bias, as far as groups tell values apart: what the other values of a
-- group add is taken out. Small counts may be far off, or below 0: in 95 of 100 releases by less than twice std_error.
-- {paper}, with weights that are the value's share of the group: the estimate
-- of the paper, in which inside a group every row is as likely as any other to own each value. It has little noise, and
-- a bias: what depends on the value is pulled towards the average, often by factors.{several}
-- In another engine, load the files as the tables {tables}, and run the statements after them there.
"""
_SEVERAL_VIEWS = """
-- Which values of two columns belong to one person is published nowhere: no sum of weights tells of both.
{listed}"""
_FIRST_HEAD = """\
-- Counts from this release in plain SQL. {reading}\
--     select sum({weight}) from weighted where …
-- Each person stands here with each value of their group. The weight is the value's share of the group, so that
-- sums of weights are counts: the estimate of the paper, in which inside a group every row is as likely as any other
-- to own each value. It pulls what depends on the value towards the average; README.md says how to do better.
-- In another engine, load the files as the tables qit and st, and run the last statement there.
"""
_FIRST_SEVERAL_HEAD = """\
-- Counts from this release in plain SQL. {reading}\
--     select sum({weight}) from {view} where …
-- Each sensitive column has its view, in which each person stands with each of the column's values in their group. The
-- weight is the value's share of the group, so that sums of weights are counts: the estimate of the paper, in which
-- inside a group every row is as likely as any other to own each value. Which values of two columns belong to one
-- person is published nowhere: no sum of weights tells of both.
{views}
-- In another engine, load the files as the tables {tables}, and run the statements after them there.
"""


def write_first_script(manifest: Manifest) -> str:
    """Return the script as it was when groups had the paper's weights only."""
    if len(manifest["columns"]["sensitive"]) > 1:
        return _write_first_several(manifest)
    text = _FIRST_HEAD.format(weight=write_in_one_line(weight_name(manifest)), reading=FIRST_LINES)
    views = "".join(f"{write_view(table, read_files_first(manifest, table))};\n\n" for table in ("qit", "st"))
    return f"{text}{views}{write_view(VIEW, _weigh(manifest, 'st', manifest['columns']['sensitive'][0]))};\n"


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
        several="" if len(views) == 1 else _SEVERAL_VIEWS.format(listed=listed),
        reading=LINES,
        tables=", ".join(tables),
    )
    statements = [write_view(table, read_files(manifest, table)) for table in tables]
    classes = f"{VIEW}_class"
    statements.append(write_view(classes, _render_classes(manifest)))
    for view, (column, table) in views.items():
        statements += [
            write_view(name, select) for name, select in _weigh_unbiased(manifest, view, classes, table, column)
        ]
        statements.append(write_view(paper_view(view), _weigh(manifest, table, column)))
    return text + "\n\n".join(f"{statement};" for statement in statements) + "\n"


def _render_classes(manifest: Manifest) -> str:
    """Return the query for the class of each group: its rows agree in what backgrounds read."""
    columns = manifest["columns"]
    backgrounds = manifest.get("parameters", {}).get("backgrounds", [])
    signature = {name for background in backgrounds for name in background}
    return render(
        "forms/qit_st/estimate_script/group_class",
        qit=Sql("qit"),
        signature_columns=[name for name in columns["quasi"] if name in signature],
        group_column=columns["group"],
    )


def _weigh_unbiased(manifest: Manifest, view: str, classes: str, table: str, column: str) -> Iterator[tuple[str, str]]:
    """Yield views with their queries; the last has each person of QIT with each value of one column in their class."""
    columns, lines, values = manifest["columns"], f"{view}_line", f"{view}_value"
    names = {"sensitive_column": column, "group_column": columns["group"]}
    relations = {"group_class": Sql(classes), "value_line": Sql(lines)}
    query = render("forms/qit_st/estimate_script/value_line", st=Sql(table), count_column=columns["count"], **names)
    yield lines, query
    yield values, render("forms/qit_st/estimate_script/class_value", **relations)
    yield (
        view,
        render(
            "forms/qit_st/estimate_script/weighted_unbiased",
            qit=Sql("qit"),
            class_value=Sql(values),
            quasi_columns=columns["quasi"],
            weight_column=weight_name(manifest),
            **names,
            **relations,
        ),
    )


def _weigh(manifest: Manifest, table: str, column: str) -> str:
    """Return the query that has each person of QIT with each value of one column in their group."""
    columns = manifest["columns"]
    return render(
        "forms/qit_st/estimate_script/weighted",
        qit=Sql("qit"),
        st=Sql(table),
        quasi_columns=columns["quasi"],
        sensitive_column=column,
        group_column=columns["group"],
        count_column=columns["count"],
        weight_column=weight_name(manifest),
    )


def _write_first_several(manifest: Manifest) -> str:
    """Return the script with a view for each sensitive column of groups."""
    view_tables = {f"{VIEW}_{number}": pair for number, pair in enumerate(sensitive_tables(manifest).items(), start=1)}
    tables = ["qit", *(table for _, table in view_tables.values())]
    head = _FIRST_SEVERAL_HEAD.format(
        reading=FIRST_LINES,
        weight=write_in_one_line(weight_name(manifest)),
        view=next(iter(view_tables)),
        views="\n".join(f"--     {view}: {write_in_one_line(column)}" for view, (column, _) in view_tables.items()),
        tables=", ".join(tables),
    )
    views = [write_view(table, read_files_first(manifest, table)) for table in tables]
    views += [write_view(view, _weigh(manifest, table, column)) for view, (column, table) in view_tables.items()]
    return head + "\n\n".join(f"{view};" for view in views) + "\n"
