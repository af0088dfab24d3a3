"""Rows with the values of their columns numbered, and how many of them meet each of many queries.

A query joins conditions by AND, each over one column. What a condition says depends on the column's value alone, so
that it is evaluated once for every different value. 64 queries then share one word of bits per row, and one pass over
the rows counts the hits of all of them: by label, a whole number such as the row's group.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimation.temporary_tables import Workspace
from sqlanon.estimators.evidence import Array, BoolArray, IntArray
from sqlanon.plans.templates import Sql

WORD = 64  # queries that share a pass
SLAB = 1 << 20  # rows whose bits are spread out at once
PART = 128  # rows of a part where there are no labels; SLAB is a multiple of it
MOST_CODES = 100_000_000  # rows x columns that are held in memory
AT_ONCE = 100  # conditions of one statement

Condition = tuple[str, Sql]  # a column and a condition over it


@dataclass(frozen=True)
class Block:
    """Neighbouring rows in equal parts of `size` rows. labels: one for each part; a label has `label_size` rows."""

    rows: slice
    labels: IntArray
    size: int
    label_size: int


@dataclass(frozen=True)
class Masks:
    """By column and value, a word whose bit q tells whether query q's conditions hold."""

    queries: int
    by_column: Mapping[str, NDArray[np.uint64]]


class CodedRows:
    """Hold the rows of one relation, their columns as codes, sorted so that equal parts lie side by side."""

    def __init__(
        self, space: Workspace, name: str, rows: Sql, columns: Sequence[str], label: Sql | None = None
    ) -> None:
        """Take a relation, the columns that conditions read, and by which whole number hits are counted.

        name: what the tables of values begin with.
        """
        self.space, self.name, self.rows, self.columns, self.label = space, name, rows, tuple(columns), label
        self.domains: dict[str, Sql] = {}
        self.sizes: dict[str, int] = {}
        self.blocks: list[Block] = []
        self._codes: dict[str, NDArray[np.unsignedinteger]] = {}

    def load(self) -> None:
        """Number the values of every column; nothing is done again."""
        if self.blocks:
            return
        for number, column in enumerate(self.columns, start=1):
            text = self._render("estimation/coded_rows/domain", {"rows": self.rows}, column=column)
            self.domains[column] = self.space.keep(f"{self.name}_{number}", text)
        domains = [(column, self.domains[column]) for column in self.columns]
        label = self.label or Sql("0")
        frame = self.space.engine.frame(
            self._render("estimation/coded_rows/coded_row", {"rows": self.rows}, domains=domains, label=label)
        )
        order = None if self.label is None else self._sort(frame["label"].to_numpy(dtype=np.int64))
        for number, column in enumerate(self.columns, start=1):
            codes = frame[f"code_{number}"].to_numpy()
            self.sizes[column] = int(codes.max(initial=-1)) + 1
            least = np.min_scalar_type(max(self.sizes[column] - 1, 0))
            self._codes[column] = (codes if order is None else codes[order]).astype(least)
        if order is None:
            whole = len(frame) // PART * PART
            for start in range(0, whole, SLAB):
                rows = slice(start, min(start + SLAB, whole))
                self.blocks.append(Block(rows, np.zeros((rows.stop - start) // PART, dtype=np.int64), PART, len(frame)))
            self.blocks += _cut_label(whole, len(frame), 0)

    def _sort(self, labels: IntArray) -> IntArray:
        """Lay out blocks of parts that are equally large; return the order of the rows."""
        counts = np.bincount(labels)
        order = np.lexsort((labels, counts[labels]))
        ordered, begin = labels[order], 0
        for size in np.unique(counts[counts > 0]).tolist():
            end = begin + size * int((counts == size).sum())
            if size > SLAB:
                for start in range(begin, end, size):
                    self.blocks += _cut_label(start, start + size, int(ordered[start]))
            else:
                step = SLAB // size * size
                for start in range(begin, end, step):
                    rows = slice(start, min(start + step, end))
                    self.blocks.append(Block(rows, ordered[rows][::size], size, size))
            begin = end
        return order

    def count_hits(self, masks: Masks) -> Iterator[tuple[int, Array]]:
        """Yield the number of each block with its hits: parts x queries."""
        everyone = np.full(1, np.iinfo(np.uint64).max)
        for number, block in enumerate(self.blocks):
            words = np.broadcast_to(everyone, (block.rows.stop - block.rows.start,)).copy()
            for column, mask in masks.by_column.items():
                words &= mask[self._codes[column][block.rows]]
            bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
            parts = bits.reshape(len(block.labels), block.size, WORD)[:, :, : masks.queries]
            yield number, _sum_parts(parts)

    def mask(self, queries: Sequence[Sequence[Condition]]) -> Masks:
        """Evaluate the conditions of at most 64 queries on the values of their columns.

        Raises what the engine raises where a condition cannot be evaluated on some value.
        """
        numbers: dict[str, dict[Sql, int]] = {}
        for query in queries:
            for column, condition in query:
                numbers.setdefault(column, {}).setdefault(condition, len(numbers[column]))
        holds = {
            column: tell_holding(self.space, self.domains[column], self.sizes[column], list(conditions))
            for column, conditions in numbers.items()
        }
        masks = {column: np.full(self.sizes[column], np.iinfo(np.uint64).max) for column in numbers}
        for number, query in enumerate(queries):
            bit = np.uint64(1 << number)
            for column, condition in query:
                masks[column][~holds[column][:, numbers[column][condition]]] &= ~bit
        return Masks(len(queries), masks)

    def close(self) -> None:
        """Drop the tables of values, and forget the rows."""
        self.space.forget([str(relation) for relation in self.domains.values()])
        self.domains, self.blocks, self._codes = {}, [], {}

    def _render(self, template: str, relations: Mapping[str, Sql], **values: object) -> str:
        return self.space.render(template, relations, **values)


def tell_holding(space: Workspace, domain: Sql, size: int, conditions: Sequence[Sql]) -> BoolArray:
    """Tell for every value of a column which conditions hold: values x conditions.

    domain: the relation of the values, with `code` from 0 to below `size`.
    """
    holds = np.zeros((size, len(conditions)), dtype=bool)
    for start in range(0, len(conditions), AT_ONCE):
        some = list(conditions[start : start + AT_ONCE])
        frame = space.engine.frame(
            space.render("estimation/coded_rows/holds", {"domain": domain}, conditions=some)
        ).dropna()
        code, number = (frame[name].to_numpy(dtype=np.int64) for name in ("code", "condition_number"))
        holds[code, start + number - 1] = True
    return holds


def _cut_label(begin: int, end: int, label: int) -> Iterator[Block]:
    """Yield the rows of one label in pieces that are spread out at once."""
    for start in range(begin, end, SLAB):
        stop = min(start + SLAB, end)
        yield Block(slice(start, stop), np.array([label]), stop - start, end - begin)


def _sum_parts(bits: NDArray[np.uint8]) -> Array:
    """Sum bits (parts x rows x queries) over the rows of each part."""
    if bits.shape[1] > np.iinfo(np.uint8).max:
        return np.asarray(bits.sum(axis=1, dtype=np.int64), dtype=float)
    total = bits[:, 0].copy()
    for row in range(1, bits.shape[1]):
        total += bits[:, row]
    return np.asarray(total, dtype=float)
