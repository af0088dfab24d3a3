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

from sqlanon.errors import TemplateError, raised_as
from sqlanon.plans.engines import ENGINES
from sqlanon.sql.arrays import respell_array
from sqlanon.sql.bound_constants import is_numbered_apart, number_apart, write_out_apart
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
from sqlanon.sql.spellings import SPELLINGS, put_spelling

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
    for written in tree.find_all(exp.Var):
        # our own text, which may contain literals of several lines: they must not be indented
        written.set("this", written.name.replace("\n", Generator.SENTINEL_LINE_BREAK))
    # every name is quoted: none of ours can be a reserved word, and one that is quoted once and bare once stays the
    # same name where bare names are folded to upper case
    with raised_as(TemplateError, f"{dialect} cannot say this", SqlglotError):
        text = tree.sql(dialect, pretty=True, max_text_width=_WIDTH, identify=True, unsupported_level=ErrorLevel.RAISE)
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
        put_spelling(node, spelling.sha256, dialect, node.this)
    elif type(node) in _SPELLED:
        operands = (node.args.get(name) for name in ("this", "expression"))
        put_spelling(node, getattr(spelling, _SPELLED[type(node)]), dialect, *filter(None, operands))
    elif type(node) in _RESPELLED:
        _RESPELLED[type(node)](node, dialect)
    elif isinstance(node, exp.NullSafeEQ) and node.find_ancestor(exp.Join):
        put_spelling(node, spelling.same, dialect, node.this, node.expression)
    elif isinstance(node, exp.Cast) and is_hexadecimal(node.this):
        put_spelling(node, spelling.hexadecimal, dialect, node.this.expression)
    elif isinstance(node, exp.DPipe):
        node.set("safe", False)  # both sides are text already: no cast is wanted
    elif isinstance(node, exp.Greatest | exp.Least):
        node.set("ignore_nulls", None)  # templates compare numbers that are never NULL


def _fence(select: exp.Select | None) -> None:
    """Keep what a CTE computes in it: PostgreSQL dissolves no query with an offset, and any other at every mention."""
    if select is not None and isinstance(select.parent, exp.CTE):
        select.set("offset", exp.Offset(expression=exp.Literal.number(0)))


def _respell_round(node: exp.Round, dialect: str) -> None:
    # half away from zero, as DuckDB rounds: PostgreSQL rounds to even, and knows no digits of floating point numbers
    digits = node.args.get("decimals")
    scale = exp.Literal.number(10 ** int(digits.name if digits is not None else 0))
    put_spelling(node, _ROUND, dialect, node.this, scale)


def _respell_named(node: exp.Anonymous, dialect: str) -> None:
    name, spelled = node.name.lower(), SPELLINGS[dialect]
    if name == "to_json":
        node.replace(write_json_text(node.expressions[0], dialect))
    elif name == "hash":
        _respell_hash(node, dialect)
    elif name == "row" and spelled.pairs:
        # Spark compares structs with NULL as the least value; DuckDB and PostgreSQL rows with NULL as the greatest
        values = [[exp.Is(this=value.copy(), expression=exp.Null()), value] for value in node.expressions]
        node.replace(exp.Struct(expressions=[part for pair in values for part in pair]))
    elif name in _CALLED:
        if not (spelling := getattr(spelled, _CALLED[name])):
            raise TemplateError(f"{dialect} has no bytes that a template may ask for")
        if name in ("hash_bytes", "bytes_text"):
            _fence(node.parent_select)
        put_spelling(node, spelling, dialect, *node.expressions)


def _respell_hash(node: exp.Anonymous, dialect: str) -> None:
    spelled, hashed = SPELLINGS[dialect], node.expressions[0]
    if spelled.number_link and isinstance(hashed, exp.Anonymous) and hashed.name.lower() == "row":
        _fence(node.parent_select)
        node.replace(_hash_row(hashed, dialect))
    else:
        put_spelling(node, spelled.hash, dialect, hashed)


def _respell_sketch(node: exp.ApproxDistinct, dialect: str) -> None:
    if spelling := SPELLINGS[dialect].different:
        put_spelling(node, spelling, dialect, _hash_row(node.this, dialect))


def _hash_row(row: exp.Anonymous, dialect: str) -> exp.Var:
    chain = "0"
    for value in row.expressions:
        spelled, known = SPELLINGS[dialect], isinstance(value, exp.Coalesce) and value.this.is_type("bigint")
        link = spelled.known_link if known else spelled.number_link if value.is_type("bigint") else spelled.text_link
        chain = link.format(value.sql(dialect, identify=True), chain)
    return exp.Var(this=f"({chain} & 9223372036854775807)")


def _respell_collation(node: exp.Collate, dialect: str) -> None:
    if SPELLINGS[dialect].binary:  # nothing need be said, and most have no such name
        node.replace(node.this)


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
        put_spelling(node, spelling.numbering, dialect)
    else:
        any_order = spelling.any_order
        if node.args.get("order") is None and isinstance(node.this, exp.RowNumber) and any_order:
            # Spark refuses row_number() without an order; a constant keeps it arbitrary
            node.set("order", exp.Order(expressions=[exp.Ordered(this=exp.Var(this=any_order), nulls_first=True)]))


def _lower(text: str, dialect: str) -> str:
    """Write keywords and functions as the templates do; names are quoted and stay, as texts do."""
    letters = list(text)
    for token in sqlglot.tokenize(text, read=dialect):
        if token.token_type.name not in ("STRING", "IDENTIFIER") and token.text.isupper():
            letters[token.start : token.end + 1] = text[token.start : token.end + 1].lower()
    return "".join(letters)


_ROUND = "(CASE WHEN {0} < 0 THEN -FLOOR(-({0}) * {1} + 0.5) ELSE FLOOR(({0}) * {1} + 0.5) END / {1})"
# what takes the place of a node and its operands, and of a function that the parser knows by name only
_SPELLED: dict[type[exp.Expr], str] = {
    exp.IntDiv: "divide", exp.Div: "quotient", exp.Rand: "random", exp.TimeToUnix: "seconds",
}  # fmt: skip
_CALLED = {"epoch_us": "micros", "bit_count": "bits", "hash_bytes": "hash_bytes", "bytes_text": "bytes_text"}
_RESPELLED: dict[type[exp.Expr], Callable[..., None]] = {
    exp.Round: _respell_round,
    exp.Anonymous: _respell_named,
    exp.ApproxDistinct: _respell_sketch,
    exp.Collate: _respell_collation,
    exp.Explode: write_list,
    exp.TryCast: try_cast,
    exp.Select: _respell_select,
    exp.Subquery: _name_subquery,
    exp.Window: _respell_window,
}
