"""Say which SQL is portable: an allow-list over the syntax tree of what means the same on every engine.

sqlglot parses and writes but does not validate: for a dialect that lacks something it writes it all the same.
"""

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.errors import TemplateError
from sqlanon.sql.arrays import respelling as arrays
from sqlanon.sql.differences import find_difference

_BINARY = {"this", "expression"}

# Every node that may stand in a template that travels, with the arguments it may have.
PORTABLE: dict[type[exp.Expr], set[str]] = {
    exp.Select: {
        "expressions",
        "distinct",
        "from_",
        "joins",
        "where",
        "group",
        "having",
        "order",
        "limit",
        "with_",
        "windows",
    },
    exp.With: {"expressions", "recursive"},
    exp.CTE: {"this", "alias"},
    exp.TableAlias: {"this", "columns"},
    exp.Subquery: {"this", "alias"},
    exp.From: {"this"},
    exp.Join: {"this", "kind", "side", "on"},
    exp.Union: {"this", "expression", "distinct"},
    exp.Table: {"this", "alias", "db", "catalog"},
    exp.Where: {"this"},
    exp.Group: {"expressions"},
    exp.Having: {"this"},
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
    exp.In: {"this", "expressions"},
    exp.Between: {"this", "low", "high"},
    exp.Case: {"this", "ifs", "default"},
    exp.If: {"this", "true"},
    exp.Cast: {"this", "to"},
    exp.DPipe: _BINARY | {"safe"},
    exp.NullSafeEQ: _BINARY,
    exp.NullSafeNEQ: _BINARY,
    exp.Window: {"this", "partition_by", "order", "spec", "over", "alias"},
    exp.WindowSpec: {"kind", "start", "start_side", "end", "end_side"},
    exp.SHA2: {"this", "length"},
    exp.Substring: {"this", "start", "length"},
    exp.Length: {"this"},
    exp.Coalesce: {"this", "expressions"},
    exp.Greatest: {"this", "expressions", "ignore_nulls"},
    exp.Least: {"this", "expressions", "ignore_nulls"},
    exp.Floor: {"this"},
    exp.Abs: {"this"},
    exp.Neg: {"this"},
    exp.Exp: {"this"},
    exp.Ln: {"this"},
    exp.Div: _BINARY,
    exp.Nullif: _BINARY,
    exp.TimeToUnix: {"this"},
    exp.Collate: _BINARY,
    exp.Rand: set(),
    exp.RowNumber: set(),
    exp.DenseRank: set(),
    exp.Lead: {"this"},
    exp.GroupConcat: {"this", "separator"},
    exp.Order: {"this", "expressions"},
    exp.Count: {"this", "big_int"},
    exp.Sum: {"this"},
    exp.Min: {"this"},
    exp.Max: {"this"},
    exp.Anonymous: {"this", "expressions"},
    exp.Explode: {"this"},
    exp.Split: _BINARY,
    # of numbers that are not negative; in brackets wherever one stands in another
    **dict.fromkeys((exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.BitwiseAnd, exp.BitwiseXor), _BINARY),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.IntDiv), _BINARY),
    **dict.fromkeys((exp.And, exp.Or, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE), _BINARY),
    exp.DataTypeParam: {"this"},
    exp.Lag: {"this"},
    exp.Avg: {"this"},
    exp.ApproxDistinct: {"this"},
    exp.Round: {"this", "decimals"},
    exp.ToChar: {"this", "format"},  # of PostgreSQL's macros, as format_number is of Spark's
    exp.Like: _BINARY,
    exp.MD5: {"this"},
    exp.FromJson: _BINARY,
    exp.TryCast: {"this", "to", "safe"},
    exp.GenerateSeries: {"start", "end"},
    exp.UnixToTime: {"this", "scale"},
    exp.TimestampTrunc: {"this", "unit"},
    exp.Var: {"this"},  # its unit
    exp.Year: {"this"},
    exp.ConcatWs: {"expressions", "safe", "coalesce"},
    exp.Values: {"expressions", "alias"},
    exp.Tuple: {"expressions"},
    exp.BitwiseOrAgg: {"this"},
    exp.BitwiseAndAgg: {"this"},
    **arrays.NODES,
}
_TYPES = arrays.TYPES | {
    *(exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.BIGINT, exp.DType.INT),
    exp.DType.TINYINT,
    *(exp.DType.BOOLEAN, exp.DType.DATE, exp.DType.DECIMAL, exp.DType.SMALLINT, exp.DType.FLOAT, exp.DType.DOUBLE),
    *(exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPNTZ, exp.DType.TIME, exp.DType.UUID),
}
# functions that the parser knows by name only
_NAMED_FUNCTIONS = arrays.FUNCTIONS | {
    *("to_json", "row", "json_valid", "epoch_us", "bit_count", "hash", "hash_bytes", "bytes_text", "format_number"),
}


def parse_portable(sql: str) -> exp.Select:
    """Parse one SELECT; refuse what is not known to mean the same on every engine.

    Raises TemplateError, naming the node and where it stands.
    """
    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
    except SqlglotError as error:
        raise TemplateError(f"not one SELECT that can be read: {str(error).partition(chr(10))[0]}") from None
    if not isinstance(tree, exp.Select):
        raise TemplateError(f"a template is one SELECT; found {tree.key}")
    for node in tree.walk():
        allowed = PORTABLE.get(type(node))
        if isinstance(node, exp.Distinct) and _is_of_one_column(node):
            allowed = {"expressions"}
        if allowed is None:
            raise TemplateError(f"not portable: {_name_node(node)} in {_excerpt(node)}")
        # an argument that is not listed changes what a node means: NULLS FIRST, DISTINCT in an aggregate, a sample
        unknown = sorted(name for name, value in node.args.items() if value and name not in allowed)
        if unknown:
            raise TemplateError(f"not portable: {_name_node(node)} with {', '.join(unknown)} in {_excerpt(node)}")
        if isinstance(node, exp.DataType) and node.this not in _TYPES:
            raise TemplateError(f"not portable: the type {node.sql('duckdb')}")
        if isinstance(node, exp.Anonymous) and node.name.lower() not in _NAMED_FUNCTIONS:
            raise TemplateError(f"not portable: {_name_node(node)} in {_excerpt(node)}")
        if difference := find_difference(node):
            raise TemplateError(f"not portable: {difference} in {_excerpt(node)}")
    return tree


def _is_of_one_column(node: exp.Distinct) -> bool:
    """Tell whether different values of one column are counted, or gathered: every engine does."""
    order = node.parent
    gathers = isinstance(order, exp.Order) and isinstance(order.parent, exp.ArrayAgg)
    return len(node.expressions) == 1 and (gathers or isinstance(node.parent, exp.Count))


def _name_node(node: exp.Expr) -> str:
    return f"function {node.name}" if isinstance(node, exp.Anonymous) else node.key


def _excerpt(node: exp.Expr) -> str:
    text = node.sql("duckdb")
    return text if len(text) <= 60 else f"{text[:57]}..."
