"""Tables for tests and benchmarks that are made by the project's own templates."""

from collections.abc import Sequence

from sqlanon.plans.templates import Sql, render


def uncertain(source: str, kept: Sequence[str], columns: Sequence[str], key: str, share: float, most: int = 3) -> str:
    """Return the SELECT that makes a share of the cells of `columns` uncertain, with 2 to `most` alternatives.

    source: a relation with row_number. The same key gives the same cells.
    """
    named = [
        (column, f"values_{place}", f"hash_{place}", f"cell_{place}", f"/{column}/")
        for place, column in enumerate(columns, start=1)
    ]
    return render(
        "shared/uncertain_workload",
        source=Sql(source),
        key=key,
        kept_columns=list(kept),
        uncertain=named,
        share=round(share * 1_000_000),
        most=most,
    )
