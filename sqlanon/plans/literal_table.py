"""Small tables written into a statement as constants: what is given beside the source and is not data."""

from collections.abc import Mapping, Sequence

from sqlanon.plans.templates import Sql


def constant_table(
    required: Mapping[str, tuple[str, Sequence[object]]], optional: Mapping[str, Sequence[str | None]]
) -> dict[str, object]:
    """Return a table as chapters write it: required columns with their types, optional texts or NULL."""
    listed = {column: [*map(str, values)] for column, (_, values) in required.items()}
    # one text per column, split in SQL: a list of thousands of literals is slow to parse; NULL travels as an empty text
    texts = {column: [value or "" for value in values] for column, values in optional.items()}
    separator = _free_separator([value for values in (*listed.values(), *texts.values()) for value in values])
    return {
        "separator": separator,
        "required": [(name, separator.join(listed[name]), Sql(sql_type)) for name, (sql_type, _) in required.items()],
        "optional": [(name, separator.join(values)) for name, values in texts.items()],
    }


def _free_separator(values: Sequence[str]) -> str:
    """Return a text that stands in no value: a bar, or a number between bars."""
    whole = "\n".join(values)
    separator, number = " | ", 0
    # without its spaces as well: two values that end and begin with its bars would join to it
    while separator in whole or separator.strip() in whole:
        number += 1
        separator = f" |{number}| "
    return separator
