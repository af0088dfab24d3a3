"""Columns whose texts the database takes for one value though they differ: what is promised is counted by bytes."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlanon.plans.templates import ident, literal

_SPELLINGS = ("a", "A", "\u00e1", "a\u0301")  # as collations ignore case, accents, and how a letter is composed


def find_collated(ask: Callable[[str], Sequence[Sequence[Any]]], relation: str, names: Iterable[str]) -> set[str]:
    """Return those of the columns of text that have such a collation; ask: runs a query, which reads no row."""
    columns = list(names)
    if not columns:
        return set()
    counts = ", ".join(f"count(distinct {ident(name)}) as n{place}" for place, name in enumerate(columns))
    none = f"select {', '.join(map(ident, columns))} from {relation} where false"
    spelled = (f"select {', '.join([literal(text)] * len(columns))}" for text in _SPELLINGS)
    (row,) = ask(f"select {counts} from ({' union all '.join([none, *spelled])}) as spelled")
    return {name for name, count in zip(columns, row, strict=True) if count < len(_SPELLINGS)}
