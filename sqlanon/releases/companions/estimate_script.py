"""estimate.sql: a release's estimate for whoever has DuckDB and no Python, as views whose weights are summed."""

from collections.abc import Iterator

from sqlanon.methods.published_forms import form_name, sensitive_tables
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.roles import free_name
from sqlanon.plans.templates import Sql, ident, literal, render
from sqlanon.releases.companions.column_types import TableTypes
from sqlanon.releases.targets import table_files

VIEW = "weighted"
PAPER = "paper"  # ends the name of the view with the paper's weights

_FIRST_READING = """\
In the release's directory, in DuckDB's shell (or: duckdb < estimate.sql):
--     .read estimate.sql
"""
_READING = """\
In DuckDB's shell, in any directory, where PATH is the release's:
--     set variable release = 'PATH';
--     .read PATH/estimate.sql
"""
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
_RANDOMIZED_HEAD = """\
-- Counts from this release in plain SQL. {reading}\
--     select sum({weight}) from {view} where …
-- Each row stands here with each value of a sensitive column; conditions on that column are about true values. Weights
-- may be negative: sums of them are counts, the closed form, in which the mixing of values is taken out. It has no
-- bias, and a small sum may be far off, or below 0; sqlanon estimate says how far. {views}
-- In another engine, load the file as the table data, and run the statements after the first there.
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
_FOLDER = "coalesce(getvariable('release') || '/', '')"
_ONE = "What no condition names is counted in data."
_SEVERAL = "Each sensitive column has its view:\n{listed}\n-- (several of them in one question: sqlanon estimate)."
_GROUPS = ("qit_st", "class_qit_st", "several_qit_st", "several_class_qit_st")


def write_estimate_script(manifest: Manifest, types: TableTypes) -> str | None:
    """Return the script that makes views of weights; None for a form whose answers are no sum of weights."""
    form = form_name(manifest)
    if form == "randomized":
        return _write_randomized(manifest, _READING)
    return _write_groups(manifest) if form in _GROUPS else None


def write_first_estimate_script(manifest: Manifest, types: TableTypes) -> str | None:
    """Return the script as it was when groups had the paper's weights only."""
    form = form_name(manifest)
    if form == "randomized":
        return _write_randomized(manifest, _FIRST_READING)
    if form in ("several_qit_st", "several_class_qit_st"):
        return _write_first_several(manifest)
    if form not in _GROUPS:
        return None
    text = _FIRST_HEAD.format(weight=_in_one_line(weight_name(manifest)), reading=_FIRST_READING)
    views = "".join(f"{_view(table, _first_files(manifest, table))};\n\n" for table in ("qit", "st"))
    return f"{text}{views}{_view(VIEW, _weigh(manifest, 'st', manifest['columns']['sensitive'][0]))};\n"


def group_views(manifest: Manifest) -> dict[str, tuple[str, str]]:
    """Return the views of unbiased weights of a release with groups: by name the sensitive column and its table."""
    tables = sensitive_tables(manifest)
    if len(tables) == 1:
        return {VIEW: next(iter(tables.items()))}
    return {f"{VIEW}_{number}": line for number, line in enumerate(tables.items(), start=1)}


def paper_view(view: str) -> str:
    """Return the name of the view with the paper's weights beside one with unbiased ones."""
    return f"{view}_{PAPER}"


def _write_groups(manifest: Manifest) -> str:
    """Return the script with two views for each sensitive column of groups."""
    views = group_views(manifest)
    tables = ["qit", *(table for _, table in views.values())]
    first = next(iter(views))
    listed = "\n".join(
        f"--     {view}, {paper_view(view)}: {_in_one_line(column)}" for view, (column, _) in views.items()
    )
    text = _HEAD.format(
        weight=_in_one_line(weight_name(manifest)),
        view=first,
        views=first if len(views) == 1 else "the first view of each sensitive column",
        paper=f"{paper_view(first)} has the values of the person's group"
        if len(views) == 1
        else "The second has the values of the person's group",
        several="" if len(views) == 1 else _SEVERAL_VIEWS.format(listed=listed),
        reading=_READING,
        tables=", ".join(tables),
    )
    statements = [_view(table, _files(manifest, table)) for table in tables]
    classes = f"{VIEW}_class"
    statements.append(_view(classes, _render_classes(manifest)))
    for view, (column, table) in views.items():
        statements += [_view(name, select) for name, select in _weigh_unbiased(manifest, view, classes, table, column)]
        statements.append(_view(paper_view(view), _weigh(manifest, table, column)))
    return text + "\n\n".join(f"{statement};" for statement in statements) + "\n"


def _render_classes(manifest: Manifest) -> str:
    """Return the query for the class of each group: its rows agree in what backgrounds read."""
    columns = manifest["columns"]
    backgrounds = manifest.get("parameters", {}).get("backgrounds", [])
    signature = {name for background in backgrounds for name in background}
    return render(
        "releases/companions/estimate_script/group_class",
        qit=Sql("qit"),
        signature_columns=[name for name in columns["quasi"] if name in signature],
        group_column=columns["group"],
    )


def _weigh_unbiased(manifest: Manifest, view: str, classes: str, table: str, column: str) -> Iterator[tuple[str, str]]:
    """Yield views with their queries; the last has each person of QIT with each value of one column in their class."""
    columns, lines, values = manifest["columns"], f"{view}_line", f"{view}_value"
    names = {"sensitive_column": column, "group_column": columns["group"]}
    relations = {"group_class": Sql(classes), "value_line": Sql(lines)}
    query = render(
        "releases/companions/estimate_script/value_line", st=Sql(table), count_column=columns["count"], **names
    )
    yield lines, query
    yield values, render("releases/companions/estimate_script/class_value", **relations)
    yield (
        view,
        render(
            "releases/companions/estimate_script/weighted_unbiased",
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
        "releases/companions/estimate_script/weighted",
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
        reading=_FIRST_READING,
        weight=_in_one_line(weight_name(manifest)),
        view=next(iter(view_tables)),
        views="\n".join(f"--     {view}: {_in_one_line(column)}" for view, (column, _) in view_tables.items()),
        tables=", ".join(tables),
    )
    views = [_view(table, _first_files(manifest, table)) for table in tables]
    views += [_view(view, _weigh(manifest, table, column)) for view, (column, table) in view_tables.items()]
    return head + "\n\n".join(f"{view};" for view in views) + "\n"


def _write_randomized(manifest: Manifest, reading: str) -> str:
    """Return the script with a view for each sensitive column; its other columns are the quasi columns."""
    columns, gamma = manifest["columns"], manifest["parameters"]["gamma"]
    sensitive, weight = columns["sensitive"], weight_name(manifest)
    names = [VIEW if len(sensitive) == 1 else f"{VIEW}_{number}" for number in range(1, len(sensitive) + 1)]
    files = _first_files if reading == _FIRST_READING else _files
    views = [f"{_view('data', files(manifest, 'data'))};\n"]
    for name, column in zip(names, sensitive, strict=True):
        weighted = render(
            "releases/companions/estimate_script/weighted_randomized",
            data=Sql("data"),
            quasi_columns=columns["quasi"],
            sensitive_column=column,
            gamma=gamma[column] if isinstance(gamma, dict) else gamma,
            weight_column=weight,
        )
        views.append(f"{_view(name, weighted)};\n")
    listed = "\n".join(f"--     {name}: {_in_one_line(column)}" for name, column in zip(names, sensitive, strict=True))
    views_text = _ONE if len(sensitive) == 1 else _SEVERAL.format(listed=listed)
    head = _RANDOMIZED_HEAD.format(reading=reading, weight=_in_one_line(weight), view=names[0], views=views_text)
    return head + "\n".join(views)


def _in_one_line(name: str) -> str:
    # a line of comment ends with the line: a name with a line's end in it must not begin another
    return " ".join(str(ident(name)).split())


def _view(name: str, select: str) -> str:
    return f"create or replace temporary view {name} as\n{select}"


def _files(manifest: Manifest, table: str) -> str:
    """Return what reads a table's files in the directory that the variable `release` names, or else in the shell's."""
    listed = ", ".join(f"{_FOLDER} || {literal(file)}" for file in table_files(manifest["files"], table))
    return f"select * from read_parquet([{listed}])"


def _first_files(manifest: Manifest, table: str) -> str:
    listed = ", ".join(literal(file) for file in table_files(manifest["files"], table))
    return f"select * from read_parquet([{listed}])"


def weight_name(manifest: Manifest) -> str:
    """Return what the column of weights is called: no published column has its name."""
    columns = manifest["columns"]
    group_columns = [columns[role] for role in ("group", "count") if role in columns]
    return free_name("weight", [*columns["quasi"], *columns["sensitive"], *group_columns])
