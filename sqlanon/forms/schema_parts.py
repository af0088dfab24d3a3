"""What the manifests of several forms say of their columns and checks, as shapes."""

from sqlanon.models.shapes import NAME, Shape, either, number, record, several, text, whole, word

SHARE = number(0, 1)
COMPARED = either(record({"added_rows": word(0), "missing_rows": whole()}), word("holds", "not run"))
BALANCES = {"quasi_rows": COMPARED, "sensitive_counts": COMPARED}
SORTED = {"row_order": word("sorted")}
SIZES = {"smallest_group": whole(), "largest_group": whole()}
ROLES = {"quasi": several(NAME, 1), "sensitive": several(NAME, 1)}
GROUP_ROLES = {**ROLES, "group": NAME, "count": NAME}
PROVED_OTHERWISE = text(r"\d{1,18} groups mix signatures: verify with --background")


def counts(*names: str) -> Shape:
    """Return the shape of an object of counts."""
    return record({}, {name: whole() for name in names})
