"""Say which SQL travels, and translate it: DuckDB's text of a template into another engine's, same meaning.

sqlglot parses and writes; it neither validates nor knows every difference that changes a result. So what
may travel is an allow-list over the syntax tree, and what sqlglot would get wrong stands in `spellings.py`,
a line per dialect.
"""

import re
from collections.abc import Callable

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from sqlanon.errors import TemplateError
from sqlanon.sql.dialect_names import DIALECTS
from sqlanon.sql.spellings import SPELLINGS

_BINARY = {"this", "expression"}
_CASE_COUNTS = {"SHA256"}  # ClickHouse has no sha256

# Every node that may stand in a template that travels, with the arguments it may have.
PORTABLE: dict[type[exp.Expr], set[str]] = {
    exp.Select: {"expressions", "distinct", "from_", "joins", "where", "group", "order", "limit", "with_"},
    exp.With: {"expressions"},
    exp.CTE: {"this", "alias"},
    exp.TableAlias: {"this"},
    exp.Subquery: {"this", "alias"},
    exp.From: {"this"},
    exp.Join: {"this", "kind", "on"},
    exp.Table: {"this", "alias", "db", "catalog"},
    exp.Where: {"this"},
    exp.Group: {"expressions"},
    exp.Order: {"expressions"},
    exp.Ordered: {"this", "desc", "nulls_first"},
    exp.Limit: {"expression"},
    exp.Distinct: set(),
    exp.Star: set(),
    exp.Alias: {"this", "alias"},
    exp.Column: {"this", "table"},
    exp.Identifier: {"this", "quoted"},
    exp.Literal: {"this", "is_string"},
    exp.Boolean: {"this"},
    exp.Null: set(),
    exp.Paren: {"this"},
    exp.Not: {"this"},
    exp.Is: _BINARY,
    exp.Case: {"this", "ifs", "default"},
    exp.If: {"this", "true"},
    exp.Cast: {"this", "to"},
    exp.DataType: {"this"},
    exp.DPipe: _BINARY | {"safe"},
    exp.NullSafeEQ: _BINARY,
    exp.Window: {"this", "partition_by", "order", "spec", "over"},
    exp.WindowSpec: {"kind", "start", "start_side"},
    exp.SHA2: {"this", "length"},
    exp.Substring: {"this", "start", "length"},
    exp.Length: {"this"},
    exp.Coalesce: {"this", "expressions"},
    exp.Greatest: {"this", "expressions", "ignore_nulls"},
    exp.Least: {"this", "expressions", "ignore_nulls"},
    exp.Floor: {"this"},
    exp.Rand: set(),
    exp.RowNumber: set(),
    exp.Count: {"this", "big_int"},
    exp.Sum: {"this"},
    exp.Min: {"this"},
    exp.Max: {"this"},
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.IntDiv), _BINARY),
    **dict.fromkeys((exp.And, exp.Or, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE), _BINARY),
}
_TYPES = {exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.BIGINT, exp.DType.INT}

# What may stand beside it where an engine of ours runs the SQL: verification, estimates, recipients' queries.
RUN: dict[type[exp.Expr], set[str]] = {
    exp.Union: {"this", "expression", "distinct"},
    exp.Join: {"this", "kind", "side", "on"},
    exp.DataType: {"this", "expressions"},
    exp.DataTypeParam: {"this"},
    exp.Collate: _BINARY,
    exp.Lag: {"this"},
    exp.DenseRank: set(),
    exp.Avg: {"this"},
    exp.Nullif: _BINARY,
    exp.Anonymous: {"this", "expressions"},
    exp.Div: _BINARY,
    exp.Neg: {"this"},
    exp.Abs: {"this"},
    exp.Exp: {"this"},
    exp.Ln: {"this"},
    exp.GroupConcat: {"this", "separator"},
    exp.Order: {"this", "expressions"},
    exp.In: {"this", "expressions"},
    exp.Between: {"this", "low", "high"},
    exp.Like: _BINARY,
}
_RUN_TYPES = _TYPES | {
    *(exp.DType.BOOLEAN, exp.DType.DATE, exp.DType.DECIMAL, exp.DType.SMALLINT, exp.DType.FLOAT, exp.DType.DOUBLE),
    *(exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPNTZ),
}
_WHOLE = {exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT}
_PUBLISHED = re.compile(r"(quasi|(other_)?part)_\d+|sensitive")  # what recipients' queries read
_NAMED = {"row"}  # functions that the parser knows by name only


def check_portable(sql: str, run: bool = False) -> None:
    """Refuse SQL that holds anything not known to mean the same in every dialect (`run`: in our engines')."""
    tree = _parsed(sql)
    nodes, types = ({**PORTABLE, **RUN}, _RUN_TYPES) if run else (PORTABLE, _TYPES)
    if not isinstance(tree, exp.Select):
        raise TemplateError(f"a template is one SELECT; found {tree.key}")
    for node in tree.walk():
        allowed = nodes.get(type(node))
        if allowed is None:
            raise TemplateError(f"not portable: {_named(node)} in {_excerpt(node)}")
        unknown = sorted(name for name, value in node.args.items() if value and name not in allowed)
        if unknown:
            raise TemplateError(f"not portable: {_named(node)} with {', '.join(unknown)} in {_excerpt(node)}")
        if isinstance(node, exp.DataType) and node.this not in types:
            raise TemplateError(f"not portable: the type {node.sql('duckdb')}")
        if isinstance(node, exp.Anonymous) and node.name.lower() not in _NAMED:
            raise TemplateError(f"not portable: {_named(node)} in {_excerpt(node)}")
        if run and (unlike := _unlike(node)):
            raise TemplateError(f"not portable: {unlike} in {_excerpt(node)}")


def translate(sql: str, dialect: str, run: bool = False) -> str:
    """Return DuckDB's text of a template as `dialect` writes it; DuckDB's own is left as it is.

    run: an engine of ours is to run it, which widens what may be said.

    Every name is quoted: no name of ours can be a reserved word, and a name that is quoted once and bare
    once is the same name where bare names are folded to upper case.
    """
    if dialect == "duckdb":
        return sql
    if dialect not in SPELLINGS:
        raise TemplateError(f"no dialect {dialect!r}; there are {', '.join(DIALECTS)}")
    check_portable(sql, run)
    tree = _parsed(sql)
    for node in reversed(list(tree.walk(bfs=False))):  # operands before what holds them
        _respell(node, dialect)
    return written(tree, dialect)


def written(tree: exp.Expr, dialect: str) -> str:
    """Write a syntax tree, names quoted, everything else in lower case; refuse what sqlglot would drop."""
    try:
        text = tree.sql(dialect, pretty=True, identify=True, unsupported_level=ErrorLevel.RAISE)
    except SqlglotError as error:
        raise TemplateError(f"{dialect} cannot say this: {error}") from None
    return _lowered(text, dialect)


def relation_name(quoted: str, dialect: str) -> str:
    """Write a name, given as DuckDB quotes it, as `dialect` quotes it."""
    return sqlglot.parse_one(quoted, read="duckdb", into=exp.Table).sql(dialect, identify=True)


def _parsed(sql: str) -> exp.Expr:
    try:
        return sqlglot.parse_one(sql, read="duckdb")
    except SqlglotError as error:
        raise TemplateError(f"not one SELECT that can be read: {str(error).partition(chr(10))[0]}") from None


def _respell(node: exp.Expr, dialect: str) -> None:
    """Put the dialect's own text where sqlglot's would mean something else."""
    spelling = SPELLINGS[dialect]
    if isinstance(node, exp.SHA2):
        _put(node, spelling.sha256, dialect, node.this)
    elif isinstance(node, exp.IntDiv):
        _put(node, spelling.divide, dialect, node.this, node.expression)
    elif isinstance(node, tuple(_RESPELLED)):
        _RESPELLED[type(node)](node, dialect)
    elif isinstance(node, exp.Rand):
        _put(node, spelling.random, dialect)
    elif isinstance(node, exp.NullSafeEQ) and node.find_ancestor(exp.Join):
        _put(node, spelling.same, dialect, node.this, node.expression)
    elif isinstance(node, exp.Cast) and _is_hexadecimal(node.this):
        _put(node, spelling.hexadecimal, dialect, node.this.expression)
    elif isinstance(node, exp.DPipe):
        node.set("safe", False)  # both sides are text already: no cast is wanted
    elif isinstance(node, exp.Greatest | exp.Least):
        node.set("ignore_nulls", None)  # templates compare numbers that are never NULL
    elif isinstance(node, exp.Column) and isinstance(node.parent, exp.Select) and node.table and spelling.keeps_table:
        node.replace(exp.alias_(node.copy(), node.name, quoted=True))


def _put(node: exp.Expr, spelling: str, dialect: str, *operands: exp.Expr) -> None:
    texts = [operand.sql(dialect, identify=True) for operand in operands]
    node.replace(exp.Var(this=spelling.format(*texts)))


def _divided(node: exp.Div, dialect: str) -> None:
    _put(node, SPELLINGS[dialect].quotient, dialect, node.this, node.expression)


def _row(node: exp.Anonymous, dialect: str) -> None:
    if SPELLINGS[dialect].pairs:
        values = [[exp.Is(this=value.copy(), expression=exp.Null()), value] for value in node.expressions]
        node.replace(exp.Struct(expressions=[part for pair in values for part in pair]))


def _named_subquery(node: exp.Subquery, dialect: str) -> None:
    if isinstance(node.parent, exp.From | exp.Join) and not node.alias:
        node.set("alias", exp.TableAlias(this=exp.to_identifier("unnamed")))


def _window(node: exp.Window, dialect: str) -> None:
    """Respell windows over everything, which number rows or look at the row before, and order the others."""
    spelling = SPELLINGS[dialect]
    everywhere = not (node.args.get("partition_by") or node.args.get("order"))
    if everywhere and isinstance(node.this, exp.RowNumber) and spelling.numbering:
        _put(node, spelling.numbering, dialect)
    elif everywhere and isinstance(node.this, exp.Lag):
        _put(node, spelling.stored, dialect, node.this.this)
    else:
        _order_window(node, dialect)


def _unlike(node: exp.Expr) -> str:
    """Say what engines would answer differently in a recipient's query; nothing where they agree."""
    if isinstance(node, exp.Like) and not _is_plain_pattern(node.expression):
        return "LIKE with a backslash, or without a fixed pattern,"
    if isinstance(node, exp.Substring) and not isinstance(node.args.get("start"), exp.Literal):
        return "a part of a text that does not begin at a fixed place"
    counts = node.find(exp.AggFunc) is not None  # ours: recipients' pieces hold no aggregate
    published = not counts and any(_PUBLISHED.fullmatch(column.name) for column in node.find_all(exp.Column))
    if isinstance(node, exp.IntDiv) and published:
        return "// (write floor(x / y))"
    if isinstance(node, exp.Cast) and published and node.to.this in _WHOLE and not _is_hexadecimal(node.this):
        return "a cast to whole numbers (write floor(x))"
    return ""


def _is_plain_pattern(pattern: exp.Expr) -> bool:
    return isinstance(pattern, exp.Literal) and pattern.is_string and "\\" not in pattern.this


def _is_hexadecimal(node: exp.Expr) -> bool:
    return isinstance(node, exp.DPipe) and node.this.is_string and node.this.this == "0x"


def _order_window(node: exp.Window, dialect: str) -> None:
    """Leave out where NULLs go: windows are ordered by numbers and hashes, which are never NULL."""
    order, any_order = node.args.get("order"), SPELLINGS[dialect].any_order
    if order is None and isinstance(node.this, exp.RowNumber) and any_order:
        order = exp.Order(expressions=[exp.Ordered(this=exp.Var(this=any_order))])
        node.set("order", order)
    nulls = sqlglot.Dialect.get_or_raise(dialect).NULL_ORDERING
    for ordered in order.expressions if order else ():
        descending = bool(ordered.args.get("desc"))
        places = {"nulls_are_small": not descending, "nulls_are_large": descending, "nulls_are_last": False}
        ordered.set("nulls_first", places[nulls])


def _lowered(text: str, dialect: str) -> str:
    """Write keywords and functions as the templates do; names are quoted and stay, as texts do."""
    letters = list(text)
    for token in sqlglot.tokenize(text, read=dialect):
        if (
            token.token_type.name not in ("STRING", "IDENTIFIER")
            and token.text.isupper()
            and not (dialect == "clickhouse" and token.text in _CASE_COUNTS)
        ):
            letters[token.start : token.end + 1] = text[token.start : token.end + 1].lower()
    return "".join(letters)


_RESPELLED: dict[type[exp.Expr], Callable[..., None]] = {
    exp.Div: _divided,
    exp.Anonymous: _row,
    exp.Subquery: _named_subquery,
    exp.Window: _window,
}


def _named(node: exp.Expr) -> str:
    return f"function {node.name}" if isinstance(node, exp.Anonymous) else node.key


def _excerpt(node: exp.Expr) -> str:
    text = node.sql("duckdb")
    return text if len(text) <= 60 else f"{text[:57]}..."
