"""Rows of packed quasi values: what a number adds to the sort is looked up by its value instead of computed row by row.

The templates are `sql_templates/methods/uncertain/scales/`. They read `determined`, and end in `scaled`: its rows with
`packed`, number_1 …, weighed_1 …, where the quasi values fit into one number (`methods/packing.py`); `unpacked` reads
the numbers off it again, in clusters.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlanon.methods.packing import PACKED, Layout
from sqlanon.methods.uncertain import dimensions as attributes
from sqlanon.methods.uncertain.dimensions import Dimension
from sqlanon.plans.plan import Step, relation_name

MOST_VALUES = 2**12  # of a column, none included: beyond, to look values up costs what they save

# each word's name, and in it the weights of a place's coarse, fine and exact bins
Weights = Sequence[tuple[str, Sequence[tuple[str, str, str]]]]


class PackedNumber(NamedTuple):
    """A number's place among the quasi values, and the columns of what is made of it, by the parts of their names."""

    place: int
    read: str
    number: str
    share: str
    lowest: str
    span: str


def unpack(dimensions: Sequence[Dimension]) -> Step:
    """Return the step of the rows of the clusters with what distances go by."""
    numbers = [
        PackedNumber(place, *(f"{part}_{place}" for part in PackedNumber._fields[1:]))
        for place, _ in attributes.numbers(dimensions)
    ]
    return Step("methods/uncertain/scales/unpacked", "view", yields="measured", values={"numbers": numbers})


def scaled_places(dimensions: Sequence[Dimension], layout: Layout | None) -> list[int]:
    """Return the places of the numbers whose values are few enough to be looked up; none where rows are not packed."""
    if layout is None:
        return []
    return [place for place, _ in attributes.numbers(dimensions) if layout[f"span_{place}"] <= MOST_VALUES]


def begun(dimensions: Sequence[Dimension], passed: Sequence[str]) -> Step:
    """Return the step of the rows as offsets from the least values; passed: the other columns of `determined`."""
    places = [place for place, _ in attributes.numbers(dimensions)]
    return Step(
        "methods/uncertain/scales/behind", "view", values={"passed": [*passed, *_columns(dimensions)], "places": places}
    )


def steps(
    dimensions: Sequence[Dimension], places: Sequence[int], weights: Weights, passed: Sequence[str], prefix: str
) -> tuple[Step, ...]:
    """Return the steps from `behind` and `arrangement` to `scaled`; weights: of each word, those of every place."""
    words = [word for word, _ in weights]
    scales = [(relation_name(prefix, f"scale_{place}"), f"scale_{place}", place) for place in places]
    looked_up = {
        "passed": [*passed, PACKED, *_columns(dimensions)],
        "scales": scales,
        "words": [(word, weighed(word)) for word in words],
    }
    return (
        *(_scale(place, [(word, *of[number]) for word, of in weights]) for number, place in enumerate(places)),
        Step("methods/uncertain/scales/scaled", "view", values=looked_up),
    )


def weighed(word: str) -> str:
    """Return the column that holds what scaled numbers add to a word."""
    return f"weighed_{word}"


def _scale(place: int, weights: Sequence[tuple[str, str, str, str]]) -> Step:
    values = {
        "place": place,
        **{name: f"{name}_{place}" for name in ("share", "lowest", "span")},
        "weights": weights,
        **attributes.bin_widths(),
    }
    return Step("methods/uncertain/scales/scale", suffix=f"_{place}", values=values)


def _columns(dimensions: Sequence[Dimension]) -> list[str]:
    return [dimension.column for dimension in dimensions]
