"""Say which SQL is portable: an allow-list over the syntax tree of what means the same on every engine.

sqlglot parses and writes but does not validate: for a dialect that lacks something it writes it all the same.
"""

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.errors import TemplateError
from sqlanon.sql import arrays
from sqlanon.sql.differences import find_difference

# Every node that may stand in a template that travels, by the arguments it may have. Bits are of numbers that are not
# negative, in brackets wherever one stands in another; ToChar is of PostgreSQL's macros; a Var is a unit.
_NODES = {
    "": "Distinct Star Null Rand RowNumber DenseRank",
    "expression": "Limit",
    "expressions": "Group Tuple",
    "this": (
        "From Where Having Boolean Paren Not Length Floor Abs Neg Exp Ln Sqrt TimeToUnix Lead Sum Min Max Explode"
        " DataTypeParam Lag Avg ApproxDistinct MD5 Var Year BitwiseOrAgg BitwiseAndAgg"
    ),
    "end start": "GenerateSeries",
    "expressions alias": "Values",
    "expressions recursive": "With",
    "this alias": "CTE Subquery Alias",
    "this big_int": "Count",
    "this columns": "TableAlias",
    "this decimals": "Round",
    "this expression": (
        "Is NullSafeEQ NullSafeNEQ Div Nullif Collate Split BitwiseLeftShift BitwiseRightShift BitwiseAnd BitwiseXor"
        " Add Sub Mul Mod IntDiv And Or EQ NEQ GT GTE LT LTE Like FromJson"
    ),
    "this expressions": "In Coalesce Order Anonymous",
    "this format": "ToChar",
    "this is_string": "Literal",
    "this length": "SHA2",
    "this quoted": "Identifier",
    "this scale": "UnixToTime",
    "this separator": "GroupConcat",
    "this table": "Column",
    "this to": "Cast",
    "this true": "If",
    "this unit": "TimestampTrunc",
    "expressions safe coalesce": "ConcatWs",
    "this expression distinct with_": "Union",
    "this expression safe": "DPipe",
    "this expressions ignore_nulls": "Greatest Least",
    "this ifs default": "Case",
    "this low high": "Between",
    "this nulls_first desc": "Ordered",
    "this start length": "Substring",
    "this to safe": "TryCast",
    "this catalog db alias": "Table",
    "this side kind on": "Join",
    "end start start_side kind end_side": "WindowSpec",
    "this over alias order partition_by spec": "Window",
    "expressions limit from_ where group windows distinct having order joins with_": "Select",
}
PORTABLE: dict[type[exp.Expr], set[str]] = {
    **{getattr(exp, name): {*arguments.split()} for arguments, names in _NODES.items() for name in names.split()},
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


def parse_portable(sql: str) -> exp.Select | exp.Union:
    """Parse one SELECT, or rows of several together; refuse what is not known to mean the same on every engine.

    Raises TemplateError, naming the node and where it stands.
    """
    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
    except SqlglotError as error:
        raise TemplateError(f"not one SELECT that can be read: {str(error).partition(chr(10))[0]}") from None
    if not isinstance(tree, exp.Select | exp.Union):
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
