"""Tables for tests and benchmarks that are made by the project's own templates."""

from collections.abc import Sequence
from pathlib import Path

from sqlanon.plans import templates
from sqlanon.plans.build import render_query
from sqlanon.plans.templates import Sql

FOLDER = Path(__file__).parent / "toys"


def uncertain(source: str, kept: Sequence[str], columns: Sequence[str], key: str, share: float, most: int = 3) -> str:
    """Return the SELECT that makes a share of the cells of `columns` uncertain, with 2 to `most` alternatives.

    source: a relation with row_number. The same key gives the same cells.
    """
    named = [
        (column, f"values_{place}", f"hash_{place}", f"cell_{place}", f"/{column}/")
        for place, column in enumerate(columns, start=1)
    ]
    values = {
        "key": key,
        "kept_columns": list(kept),
        "uncertain": named,
        "share": round(share * 1_000_000),
        "most": most,
    }
    if FOLDER not in templates.FOLDERS:
        templates.FOLDERS.append(FOLDER)
    return render_query("uncertain_workload", values, {"source": Sql(source)})
