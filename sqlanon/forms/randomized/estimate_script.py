"""estimate.sql of randomized values: for each sensitive column a view of rows with every value, weighed."""

from sqlanon.forms.weights import (
    FIRST_LINES,
    LINES,
    VIEW,
    read_files,
    read_files_first,
    weight_name,
    write_in_one_line,
    write_view,
)
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import Sql, render

_RANDOMIZED_HEAD = """\
-- Counts from this release in plain SQL. {reading}\
--     select sum({weight}) from {view} where …
-- Each row stands here with each value of a sensitive column; conditions on that column are about true values. Weights
-- may be negative: sums of them are counts, the closed form, in which the mixing of values is taken out. It has no
-- bias, and a small sum may be far off, or below 0; sqlanon estimate says how far. {views}
-- In another engine, load the file as the table data, and run the statements after the first there.
"""
_ONE = "What no condition names is counted in data."
_SEVERAL = "Each sensitive column has its view:\n{listed}\n-- (several of them in one question: sqlanon estimate)."


def write_script(manifest: Manifest, reading: str = LINES) -> str:
    """Return the script with a view for each sensitive column; its other columns are the quasi columns."""
    columns, gamma = manifest["columns"], manifest["parameters"]["gamma"]
    sensitive, weight = columns["sensitive"], weight_name(manifest)
    names = [VIEW if len(sensitive) == 1 else f"{VIEW}_{number}" for number in range(1, len(sensitive) + 1)]
    files = read_files_first if reading == FIRST_LINES else read_files
    views = [f"{write_view('data', files(manifest, 'data'))};\n"]
    for name, column in zip(names, sensitive, strict=True):
        weighted = render(
            "forms/randomized/estimate_script/weighted_randomized",
            data=Sql("data"),
            quasi_columns=columns["quasi"],
            sensitive_column=column,
            gamma=gamma[column] if isinstance(gamma, dict) else gamma,
            weight_column=weight,
        )
        views.append(f"{write_view(name, weighted)};\n")
    listed = "\n".join(
        f"--     {name}: {write_in_one_line(column)}" for name, column in zip(names, sensitive, strict=True)
    )
    views_text = _ONE if len(sensitive) == 1 else _SEVERAL.format(listed=listed)
    head = _RANDOMIZED_HEAD.format(reading=reading, weight=write_in_one_line(weight), view=names[0], views=views_text)
    return head + "\n".join(views)
