"""Bound what a user's SQL may cost before anything runs: its length, its depth, and the texts that it makes.

An engine folds constants before it runs a query: ten nested replace() of ten letters each make a text of gigabytes
past every limit of memory, and nothing interrupts it.
"""

from sqlglot import exp

from sqlanon.errors import QueryError

LONGEST_TEXT = 200_000  # letters of SQL
MOST_TOKENS = 30_000
MOST_DEEP = 250
MOST_CONDITIONS = 2_000  # an engine plans five thousand for a minute
LONGEST_VALUE = 1_000_000  # letters that an expression may make of a value
LETTERS_OF_A_COLUMN = 100  # taken for every value of a column
LETTERS_OF_ANYTHING_ELSE = 64  # of a number, a date, a hash

_JOINING = (exp.And, exp.Or)


def check_length(sql: str, subject: str) -> None:
    """Refuse a text that is too long to be read."""
    if len(sql) > LONGEST_TEXT:
        raise QueryError(f"{subject} has {len(sql):,} letters; the most is {LONGEST_TEXT:,}")


def check_count(tokens: int, subject: str) -> None:
    """Refuse a text of too many words and signs."""
    if tokens > MOST_TOKENS:
        raise QueryError(f"{subject} has {tokens:,} words and signs; the most is {MOST_TOKENS:,}")


def check_tree(root: exp.Expr, subject: str) -> None:
    """Refuse a tree that is too deep, or an expression whose text could be too long for a value.

    A chain of one AND (or OR) counts once: it is deep only in the way it is written down.
    """
    ordered: list[exp.Expr] = []
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        ordered.append(node)
        if depth > MOST_DEEP:
            raise QueryError(f"{subject} is nested more than {MOST_DEEP} deep; write it with fewer operations in a row")
        for child in node.iter_expressions():
            chain = isinstance(node, _JOINING) and type(child) is type(node)
            waiting.append((child, depth + (not chain)))
    joined = sum(isinstance(node, exp.And) for node in ordered) + 1
    if joined > MOST_CONDITIONS:
        raise QueryError(f"{subject} joins {joined:,} conditions by AND; the most is {MOST_CONDITIONS:,}")
    lengths: dict[int, float] = {}
    for node in reversed(ordered):  # children before what holds them
        length = _bound_text(node, lengths)
        if length > LONGEST_VALUE:
            raise QueryError(
                f"{subject} may make texts of more than {LONGEST_VALUE:,} letters; nest fewer functions that lengthen"
                " a text (replace, regexp_replace, concat)"
            )
        lengths[id(node)] = length


def _bound_text(node: exp.Expr, lengths: dict[int, float]) -> float:
    """Return how many letters the text of an expression has at most, from those of its parts."""
    parts = [lengths[id(child)] for child in node.iter_expressions()]
    if isinstance(node, exp.Literal):
        return float(max(len(node.name), 1))
    if isinstance(node, exp.Column):
        return LETTERS_OF_A_COLUMN
    if isinstance(node, exp.Replace | exp.RegexpReplace):
        return _bound_replaced(node, lengths)
    if isinstance(node, exp.Concat | exp.ConcatWs | exp.DPipe):
        # ConcatWs writes its first text between all others
        between = parts[0] * len(parts) if isinstance(node, exp.ConcatWs) and parts else 0.0
        return sum(parts) + between
    if isinstance(node, exp.Func | exp.Binary | exp.Condition):
        return max([LETTERS_OF_ANYTHING_ELSE, *parts])
    return 1.0  # clauses make no text


def _bound_replaced(node: exp.Replace | exp.RegexpReplace, lengths: dict[int, float]) -> float:
    """Return the bound of replace() and regexp_replace()."""
    text, found, put = lengths[id(node.this)], node.expression, node.args.get("replacement")
    added = lengths[id(put)] if isinstance(put, exp.Expr) else 1.0
    if isinstance(node, exp.Replace):  # a shorter text in the place of a longer one adds nothing
        shortest = len(found.name) if isinstance(found, exp.Literal) else 1
        return text * max(1.0, added / max(shortest, 1))
    # a pattern may be found before each letter and at the end, and each \0 repeats what was found
    repeats = put.name.count("\\") if isinstance(put, exp.Literal) else added
    return text + (text + 1) * added + repeats * text
