"""Quasi-identifiers that single people out: refused if one does so by itself, reported if one nearly does."""

from collections.abc import Sequence

from sqlanon.methods.base import Design, Steps
from sqlanon.methods.packing import quasi_names, sensitive_names
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Request, Row

NEARLY = 0.9  # of the rows: from which share on a publisher should know
FAR_OFF = 1 / 3  # of the rows: an estimate of different ones that is below it stands for none that is nearly all
FEW = 100  # rows of which all values may differ by chance: ages of a ward, say
MEASURED = ("DOUBLE", "FLOAT", "DECIMAL", "DATE", "TIME")  # of what is measured values are many, and no names


def check_sensitive(design: Design, facts: str = "") -> Steps:
    """Return the chapter that refuses a sensitive column where most rows have a value of their own.

    facts: what the relations of who has which value are called, before their numbers; empty: of rows.
    """
    request = design.request
    names = zip(request.roles.sensitive, sensitive_names(request), strict=True)
    concerned = [
        {
            "rows": f"{facts}_{number}" if facts else "population",
            "name": "sensitive" if facts else name,
            "column": column,
            "shown": repr(column),
            "allowed": False,
        }
        for number, (column, name) in enumerate(names, start=1)
        if not request.types.get(column, "").startswith((*MEASURED, "NESTED"))
    ]
    if request.unique_sensitive == "keep" or not concerned:
        return ()
    return (Chapter("unique_sensitive", {"concerned": concerned, "few": FEW}),)


def check_quasi(design: Design, rows: str = "population") -> Steps:
    """Return the chapter that refuses a quasi column that is unique by itself, and tells of those that nearly are.

    There is none where it is known beforehand that nothing would be told. rows: what the relation of rows is called.
    """
    request = design.request
    names = zip(request.roles.quasi, quasi_names(request), strict=True)
    # of lists of alternatives no single value is published exactly
    columns = {column: name for column, name in names if request.types.get(column) != "NESTED"}
    columns = {column: name for column, name in columns.items() if _may_be_unique(request, column)}
    if not columns and not _may_differ(request):
        return ()
    values = {
        "rows": rows,
        "quasi": quasi_names(request),
        "counted": [{"name": name, "column": column, "shown": repr(column)} for column, name in columns.items()],
        "refuses": request.unique_quasi == "refuse",
        "few": FEW,
    }
    several = len(request.roles.quasi) > 1

    def note(row: Row) -> str:
        return describe_uniqueness([*columns], row, several)

    return (Chapter("unique_quasi", values, {"uniqueness": note}),)


def _may_be_unique(request: Request, column: str) -> bool:
    """Tell whether a column may have so many different values that somebody has to be told.

    Where its range was measured, whole numbers in it are no more than it has room for.
    """
    ranges = _measured(request)
    if not ranges:
        return True
    place = request.roles.quasi.index(column) + 1
    room = int(ranges[f"most_{place}"] or 0) - int(ranges[f"least_{place}"] or 0) + 1
    return room >= NEARLY * int(ranges[f"known_{place}"])


def _may_differ(request: Request) -> bool:
    """Tell whether nearly all rows may have quasi values of their own; of one column alone that is told by itself."""
    ranges = _measured(request)
    return not ranges or int(ranges["different_rows"]) >= FAR_OFF * int(ranges["row_count"])


def _measured(request: Request) -> Row:
    """Return the ranges of the rows that are published; none where those were measured that are left out, too."""
    return {} if request.nulls == "drop" else request.ranges


def describe_uniqueness(columns: Sequence[str], row: Row, several: bool) -> str:
    """Say, in counts, which columns nearly identify people, alone or, of several, together; empty where none does."""
    count, unique = row["row_count"], row["unique_rows"]
    alone = [
        f"{column!r} alone has {row[f'distinct_{number}']:,} different values in {row[f'known_{number}']:,} rows"
        for number, column in enumerate(columns, start=1)
        if row[f"distinct_{number}"] >= NEARLY * row[f"known_{number}"] > 1
    ]
    # a column that is nearly unique makes its combinations so
    if several and count and unique >= NEARLY * count:
        share = f"{unique:,} of {count:,} rows ({unique / count:.1%})"
        alone.append(f"together the quasi columns tell {share} from all others")
    if not alone:
        return ""
    return f"{'; '.join(alone)}: whoever knows these values of a person finds the row"
