"""Small tables that stand in a statement as constants: what was given beside the source and is no data."""

from collections.abc import Mapping, Sequence

from sqlanon.plans.plan import Step
from sqlanon.plans.templates import Sql


def constants(
    name: str,
    required: Mapping[str, tuple[str, Sequence[object]]],
    optional: Mapping[str, Sequence[str | None]],
    suffix: str = "",
) -> Step:
    """Return the step that yields the table `name`: required columns with their types, optional texts or NULL."""
    listed = {column: [*map(str, values)] for column, (_, values) in required.items()}
    texts = {column: [value or "" for value in values] for column, values in optional.items()}
    between = _separator([value for values in (*listed.values(), *texts.values()) for value in values])
    values = {
        "separator": between,
        "required": [(column, between.join(listed[column]), Sql(kind)) for column, (kind, _) in required.items()],
        "optional": [(column, between.join(values)) for column, values in texts.items()],
    }
    return Step("plans/literal_table/constants", yields=name, suffix=suffix, values=values)


def _separator(values: Sequence[str]) -> str:
    """Return a text that stands in no value: a bar, or a number between bars."""
    whole = "\n".join(values)
    found, number = " | ", 0
    while found in whole or found.strip() in whole:
        number += 1
        found = f" |{number}| "
    return found
