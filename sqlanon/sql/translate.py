"""Translate DuckDB's text of a template into another engine's, with the same meaning.

sqlglot does not know every difference that changes a result: what it would get wrong stands in `spellings.py`, a line
per dialect. What may travel at all stands in `portable.py`.
"""

from collections.abc import Callable
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.generator import Generator

from sqlanon.errors import TemplateError
from sqlanon.plans.engines import ENGINES
from sqlanon.sql.arrays.respelling import respell_array
from sqlanon.sql.differences import is_hexadecimal
from sqlanon.sql.lists import (
    is_constant_list,
    is_list,
    list_constants,
    name_apart,
    try_cast,
    write_json_text,
    write_list,
)
from sqlanon.sql.portable import parse_portable
from sqlanon.sql.spark.bound_constants import is_numbered_apart, number_apart, write_out_apart
from sqlanon.sql.spellings import SPELLINGS, Spelling

_WIDTH = 110  # letters of a line, before what is in brackets is broken up


@lru_cache(maxsize=256)  # the turns of a loop say the same again
def translate(sql: str, dialect: str) -> str:
    """Return DuckDB's text of a template as `dialect` writes it; DuckDB's own is left as it is.

    Raises TemplateError where the text holds what does not travel, or the dialect cannot say.
    """
    if dialect == "duckdb":
        return sql
    if dialect not in SPELLINGS:
        raise TemplateError(f"no dialect {dialect!r}; there are {', '.join(ENGINES)}")
    tree = parse_portable(sql)
    for node in reversed(list(tree.walk(bfs=False))):  # operands before what holds them
        _respell(node, dialect)
    name_apart(tree)
    return write_tree(tree, dialect)


def write_tree(tree: exp.Expr, dialect: str) -> str:
    """Write a syntax tree, names quoted, everything else in lower case; refuse what sqlglot would drop."""
    for written in tree.find_all(
        exp.Var
    ):  # our own text, which may contain literals of several lines: they must not be indented
        written.set("this", written.name.replace("\n", Generator.SENTINEL_LINE_BREAK))
    # every name is quoted: none of ours can be a reserved word, and one that is quoted once and bare once stays the
    # same name where bare names are folded to upper case
    try:
        text = tree.sql(dialect, pretty=True, max_text_width=_WIDTH, identify=True, unsupported_level=ErrorLevel.RAISE)
    except SqlglotError as error:
        raise TemplateError(f"{dialect} cannot say this: {error}") from None
    return _lower(text, dialect)


def quote_relation(quoted: str, dialect: str) -> str:
    """Write a name, given as DuckDB quotes it, as `dialect` quotes it."""
    return sqlglot.parse_one(quoted, read="duckdb", into=exp.Table).sql(dialect, identify=True)


def _respell(node: exp.Expr, dialect: str) -> None:
    """Put the dialect's own text where sqlglot's would mean something else."""
    spelling = SPELLINGS[dialect]
    if not is_list(node) and respell_array(node, dialect):
        return
    if isinstance(node, exp.SHA2):
        if spelling.fences:
            _fence(node.parent_select)
        _put(node, spelling.sha256, dialect, node.this)
    elif isinstance(node, exp.IntDiv):
        _put(node, spelling.divide, dialect, node.this, node.expression)
    elif isinstance(node, tuple(_RESPELLED)):
        _RESPELLED[type(node)](node, dialect)
    elif isinstance(node, exp.Rand):
        _put(node, spelling.random, dialect)
    elif isinstance(node, exp.NullSafeEQ) and node.find_ancestor(exp.Join):
        _put(node, spelling.same, dialect, node.this, node.expression)
    elif isinstance(node, exp.Cast) and is_hexadecimal(node.this):
        _put(node, spelling.hexadecimal, dialect, node.this.expression)
    elif isinstance(node, exp.DPipe):
        node.set("safe", False)  # both sides are text already: no cast is wanted
    elif isinstance(node, exp.Greatest | exp.Least):
        node.set("ignore_nulls", None)  # templates compare numbers that are never NULL


def _fence(select: exp.Select | None) -> None:
    """Keep what a CTE computes in it: PostgreSQL dissolves no query with an offset, and any other at every mention."""
    if select is not None and isinstance(select.parent, exp.CTE):
        select.set("offset", exp.Offset(expression=exp.Literal.number(0)))


def _put(node: exp.Expr, spelling: str, dialect: str, *operands: exp.Expr) -> None:
    texts = [operand.sql(dialect, identify=True) for operand in operands]
    node.replace(exp.Var(this=spelling.format(*texts)))


def _respell_division(node: exp.Div, dialect: str) -> None:
    _put(node, SPELLINGS[dialect].quotient, dialect, node.this, node.expression)


def _respell_round(node: exp.Round, dialect: str) -> None:
    # half away from zero, as DuckDB rounds: PostgreSQL rounds to even, and knows no digits of floating point numbers
    digits = node.args.get("decimals")
    scale = exp.Literal.number(10 ** int(digits.name if digits is not None else 0))
    _put(node, _ROUND, dialect, node.this, scale)


def _respell_named(node: exp.Anonymous, dialect: str) -> None:
    if node.name.lower() == "to_json":
        node.replace(write_json_text(node.expressions[0], dialect))
    elif node.name.lower() == "epoch_us":
        _put(node, SPELLINGS[dialect].micros, dialect, node.expressions[0])
    elif node.name.lower() == "bit_count":
        _put(node, SPELLINGS[dialect].bits, dialect, node.expressions[0])
    elif node.name.lower() == "hash":
        _respell_hash(node, dialect)
    elif node.name.lower() in ("hash_bytes", "bytes_text"):
        _respell_bytes(node, dialect)
    elif node.name.lower() == "row":
        _respell_row(node, dialect)


def _respell_hash(node: exp.Anonymous, dialect: str) -> None:
    spelled, hashed = SPELLINGS[dialect], node.expressions[0]
    if spelled.number_link and isinstance(hashed, exp.Anonymous) and hashed.name.lower() == "row":
        _fence(node.parent_select)
        node.replace(_hash_row(hashed, dialect))
    else:
        _put(node, spelled.hash, dialect, hashed)


def _respell_sketch(node: exp.ApproxDistinct, dialect: str) -> None:
    if spelling := SPELLINGS[dialect].different:
        _put(node, spelling, dialect, _hash_row(node.this, dialect))


def _hash_row(row: exp.Anonymous, dialect: str) -> exp.Var:
    chain = "0"
    for value in row.expressions:
        chain = _link_of(SPELLINGS[dialect], value).format(value.sql(dialect, identify=True), chain)
    return exp.Var(this=f"({chain} & 9223372036854775807)")


def _link_of(spelled: Spelling, value: exp.Expr) -> str:
    if isinstance(value, exp.Coalesce) and value.this.is_type("bigint"):
        return spelled.known_link
    return spelled.number_link if value.is_type("bigint") else spelled.text_link


def _respell_bytes(node: exp.Anonymous, dialect: str) -> None:
    spelled = SPELLINGS[dialect]
    spelling = spelled.hash_bytes if node.name.lower() == "hash_bytes" else spelled.bytes_text
    if not spelling:
        raise TemplateError(f"{dialect} has no bytes that a template may ask for")
    _fence(node.parent_select)
    _put(node, spelling, dialect, *node.expressions)


def _respell_row(node: exp.Anonymous, dialect: str) -> None:
    if SPELLINGS[dialect].pairs:
        # Spark compares structs with NULL as the least value; DuckDB and PostgreSQL rows with NULL as the greatest
        values = [[exp.Is(this=value.copy(), expression=exp.Null()), value] for value in node.expressions]
        node.replace(exp.Struct(expressions=[part for pair in values for part in pair]))


def _respell_collation(node: exp.Collate, dialect: str) -> None:
    if SPELLINGS[dialect].binary:  # nothing need be said, and most have no such name
        node.replace(node.this)


def _respell_seconds(node: exp.TimeToUnix, dialect: str) -> None:
    _put(node, SPELLINGS[dialect].seconds, dialect, node.this)


def _respell_join(node: exp.GroupConcat, dialect: str) -> None:
    if isinstance(node.this, exp.Order):
        _leave_nulls(node.this, dialect)


def _respell_select(node: exp.Select, dialect: str) -> None:
    if is_numbered_apart(node):
        if SPELLINGS[dialect].sorts_parts:
            number_apart(node, SPELLINGS[dialect].numbering)
        else:
            write_out_apart(node)
    if any(is_constant_list(expression.this) for expression in node.expressions):
        list_constants(node)


def _name_subquery(node: exp.Subquery, dialect: str) -> None:
    # PostgreSQL before 16 refuses a subquery in FROM that has no name
    if isinstance(node.parent, exp.From | exp.Join) and not node.alias:
        node.set("alias", exp.TableAlias(this=exp.to_identifier("unnamed")))


def _respell_window(node: exp.Window, dialect: str) -> None:
    """Respell windows over everything that number rows, and order the others."""
    spelling = SPELLINGS[dialect]
    if node.alias:  # the window that it names is respelled where that stands
        return
    everywhere = not (node.args.get("partition_by") or node.args.get("order"))
    if everywhere and isinstance(node.this, exp.RowNumber) and spelling.numbering:
        _put(node, spelling.numbering, dialect)
    else:
        _order_window(node, dialect)


def _order_window(node: exp.Window, dialect: str) -> None:
    """Order what needs an order; where NULLs go is left out."""
    order, any_order = node.args.get("order"), SPELLINGS[dialect].any_order
    if order is None and isinstance(node.this, exp.RowNumber) and any_order:
        # Spark refuses row_number() without an order; a constant keeps it arbitrary
        order = exp.Order(expressions=[exp.Ordered(this=exp.Var(this=any_order))])
        node.set("order", order)
    if order:
        _leave_nulls(order, dialect)


def _leave_nulls(order: exp.Order, dialect: str) -> None:
    """Leave out where NULLs go: windows are ordered by what is never NULL, or where its place makes no difference."""
    nulls = sqlglot.Dialect.get_or_raise(dialect).NULL_ORDERING
    for ordered in order.expressions:
        descending = bool(ordered.args.get("desc"))
        # sqlglot writes NULLS FIRST or LAST where this differs from the dialect's own order: say what it has anyway
        places = {"nulls_are_small": not descending, "nulls_are_large": descending, "nulls_are_last": False}
        ordered.set("nulls_first", places[nulls])


def _lower(text: str, dialect: str) -> str:
    """Write keywords and functions as the templates do; names are quoted and stay, as texts do."""
    letters = list(text)
    for token in sqlglot.tokenize(text, read=dialect):
        if token.token_type.name not in ("STRING", "IDENTIFIER") and token.text.isupper():
            letters[token.start : token.end + 1] = text[token.start : token.end + 1].lower()
    return "".join(letters)


_ROUND = "(CASE WHEN {0} < 0 THEN -FLOOR(-({0}) * {1} + 0.5) ELSE FLOOR(({0}) * {1} + 0.5) END / {1})"
_RESPELLED: dict[type[exp.Expr], Callable[..., None]] = {
    exp.Div: _respell_division,
    exp.Round: _respell_round,
    exp.Anonymous: _respell_named,
    exp.ApproxDistinct: _respell_sketch,
    exp.Collate: _respell_collation,
    exp.TimeToUnix: _respell_seconds,
    exp.GroupConcat: _respell_join,
    exp.Explode: write_list,
    exp.TryCast: try_cast,
    exp.Select: _respell_select,
    exp.Subquery: _name_subquery,
    exp.Window: _respell_window,
}
