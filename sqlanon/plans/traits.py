"""What makes one form of a statement cheaper than another on an engine."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """What an engine does cheaply; the defaults are those of a script, which has to say what every dialect can.

    row_by_row: rows are taken one by one, by one process, so that any window spills, and a view that is read once costs
    no table. few_tables: a table between two statements costs more than one longer statement. shares_hashes: a join
    costs less than a hash of each row, so that of a fresh key neighbours share one. wide_hashes: a hash has 64 bytes,
    and a row takes its own out of those of many rows at a fraction of what a hash costs. numbers_rows: a table numbers
    its rows one after the other (rowid), in the order in which they were written, and a sort costs less than a window.
    packs_rows: the source can be asked for the ranges of its values first, and rows that are sorted stay so where
    columns are read off them.
    """

    row_by_row: bool = False
    few_tables: bool = False
    shares_hashes: bool = False
    wide_hashes: bool = False
    numbers_rows: bool = False
    packs_rows: bool = False


# what is known of an engine decides what runs there, and so what a script for it says
TRAITS = {
    "duckdb": Traits(few_tables=True, shares_hashes=True, numbers_rows=True, packs_rows=True),
    "spark": Traits(few_tables=True, packs_rows=True),
    "postgres": Traits(row_by_row=True, few_tables=True, wide_hashes=True, packs_rows=True),
}


def traits_of(dialect: str) -> Traits:
    """Return the traits of the engine that speaks a dialect; those of any engine where none of ours does."""
    return TRAITS.get(dialect, Traits())
