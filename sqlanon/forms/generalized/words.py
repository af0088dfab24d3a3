"""Generalized rows in words: what a publisher is shown, and what recipients are warned of."""

from sqlanon.forms.summary_lines import Manifest, count_dropped, list_files, name_method, tell_agreement, tell_limits
from sqlanon.plain_values import words

WARNING = """\
## Do not take a box for a person

All rows of a box show the same ranges and sets, which say of nobody where in them they lie. `sqlanon estimate` counts
as if a box's rows lay evenly in it, and says between which counts the true one lies for sure.
"""
SEVERAL_WARNING = """\
## Do not take a box for a person

All rows of a box show the same ranges and sets, which say of nobody where in them they lie. Each sensitive column has a
table by itself: who joins two of them by their boxes gets pairs of values of which hardly any belongs to one person.
`sqlanon estimate` counts as if a box's rows lay evenly in it, and says between which counts the true one lies for sure.
"""
ADVICE = (
    "Do not take a box for a person: ranges and sets say of nobody where in them they lie. `sqlanon"
    " estimate` counts as if a box's rows lay evenly in it, and says between which counts the true one lies for sure."
)
_SHOWN_PARAMETERS = ("k", "l", "partition", "nulls")


def summarize_boxes(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of generalized rows is."""
    verified, guarantee, parameters = manifest["verified"], manifest["guarantee"], manifest["parameters"]
    sizes = " to ".join(map(str, sorted({verified["k"], verified["largest_class"]})))
    column = words(manifest["columns"]["sensitive"])
    diverse = f", with at least {guarantee['l']} different values of {column}" if guarantee["l"] > 1 else ""
    return {
        "published": f"{manifest['rows']:,} rows in {manifest['groups']:,} boxes of {sizes}: {where}",
        "method": name_method(manifest, {name: parameters[name] for name in _SHOWN_PARAMETERS}),
        "dropped rows": count_dropped(manifest),
        "promised": f"every row shares its box with others, at least {guarantee['k']} rows in all{diverse}"
        + tell_limits(manifest),
        "not promised": f"any confidence: in some box one value of {column} is held by"
        f" {verified['largest_confidence']:.1%} of the rows; nor anything against who knows more, or has a"
        " second release of these people",
        "verified": f"class sizes, different values, boxes, row order{tell_agreement(verified, 'quasi_values')}",
        "files": list_files(manifest),
    }
