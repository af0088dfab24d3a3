"""Say which SQL is portable: an allow-list over the syntax tree of what means the same on every engine.

sqlglot parses and writes but does not validate: for a dialect that lacks something it writes it all the same. Engines
would also answer some of what all of them can run differently.
"""

import re

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.errors import TemplateError

_WHOLE = {exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT}
_INTERNAL_NAME = re.compile(r"(quasi|(other_)?part)_\d+|sensitive")  # what recipients' queries read
# Every node that may stand in a template that travels, by the arguments it may have. Bits are of numbers that are not
# negative, in brackets wherever one stands in another; ToChar is of PostgreSQL's macros; a Var is a unit.
_NODES = {
    "": "Distinct Star Null Rand RowNumber DenseRank",
    "expression": "Limit",
    "expressions": "Group Tuple Array Struct",
    "this": (
        "From Where Having Boolean Paren Not Length Floor Abs Neg Exp Ln Sqrt TimeToUnix Lead Sum Min Max Explode"
        " DataTypeParam Lag Avg ApproxDistinct MD5 Var Year BitwiseOrAgg BitwiseAndAgg"
        " ArraySize ArrayMax ArrayAgg"
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
        " Add Sub Mul Mod IntDiv And Or EQ NEQ GT GTE LT LTE Like FromJson ArrayFilter Transform RegexpLike Trim"
        " Right Dot PropertyEQ"
    ),
    "this expressions": "In Coalesce Order Anonymous Bracket Lambda",
    "this check_null": "ArrayDistinct",
    "this kind": "ColumnDef",
    "this nulls_first": "ArraySort",
    "this expressions nested": "DataType",
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
    getattr(exp, name): {*arguments.split()} for arguments, names in _NODES.items() for name in names.split()
}
_TYPES = {
    *(exp.DType.ARRAY, exp.DType.STRUCT),
    *(exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.BIGINT, exp.DType.INT),
    exp.DType.TINYINT,
    *(exp.DType.BOOLEAN, exp.DType.DATE, exp.DType.DECIMAL, exp.DType.SMALLINT, exp.DType.FLOAT, exp.DType.DOUBLE),
    *(exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPNTZ, exp.DType.TIME, exp.DType.UUID),
}
# functions that the parser knows by name only
_NAMED_FUNCTIONS = {
    *("list_count", "list_position", "list_slice", "create_sort_key"),
    *("to_json", "row", "json_valid", "epoch_us", "bit_count", "hash", "hash_bytes", "bytes_text", "format_number"),
}


def find_difference(node: exp.Expr) -> str:
    """Say what engines would answer differently in a recipient's query; nothing where they agree."""
    # a backslash escapes in PostgreSQL and Spark, and is a letter in DuckDB
    if isinstance(node, exp.Like) and not _is_plain_pattern(node.expression):
        return "LIKE with a backslash, or without a fixed pattern,"
    # an engine writes numbers and truth values in its own way where they become text unasked
    if isinstance(node, exp.ConcatWs) and not all(map(_is_text, node.expressions)):
        return "concat_ws of what is not cast to varchar"
    if isinstance(node, exp.Round) and not _is_plain_digits(node.args.get("decimals")):
        return "round to another number of digits than 0 to 9"
    if isinstance(node, exp.Round) and node.this.find(exp.Round):  # each writes what it rounds three times
        return "round within round"
    # engines have regular expressions of their own; those of templates, over alternatives, mean the same in all
    if isinstance(node, exp.RegexpLike) and not node.find_ancestor(exp.Lambda):
        return "regexp_matches"
    if isinstance(node, exp.Trim) and not isinstance(node.expression, exp.Literal):
        return "trim without the letters that go"
    if isinstance(node, exp.Right) and not isinstance(node.expression, exp.Literal):
        return "right without a fixed number of letters"
    # at a negative place DuckDB counts from the end, PostgreSQL from before the text
    if isinstance(node, exp.Substring) and not isinstance(node.args.get("start"), exp.Literal):
        return "a part of a text that does not begin at a fixed place"
    # templates divide and cast counts, which no engine rounds in its own way; recipients' pieces hold no aggregate
    ours = node.find(exp.AggFunc, exp.Window) is not None
    theirs = not ours and any(_INTERNAL_NAME.fullmatch(column.name) for column in node.find_all(exp.Column))
    if isinstance(node, exp.IntDiv) and theirs:  # engines round negative quotients in their own ways
        return "// (write floor(x / y))"
    if isinstance(node, exp.Cast) and theirs and node.to.this in _WHOLE and not is_hexadecimal(node.this):
        return "a cast to whole numbers (write floor(x))"
    return ""


def _is_plain_pattern(pattern: exp.Expr) -> bool:
    return isinstance(pattern, exp.Literal) and pattern.is_string and "\\" not in pattern.this


def _is_text(node: exp.Expr) -> bool:
    """Tell whether a node is a text by its form: each engine writes what is none in its own way."""
    if isinstance(node, exp.Coalesce):
        return _is_text(node.this)
    is_cast = isinstance(node, exp.Cast) and node.to.this in (exp.DType.TEXT, exp.DType.VARCHAR)
    return node.is_string or is_cast or isinstance(node, exp.Substring | exp.MD5)


def _is_plain_digits(digits: exp.Expr | None) -> bool:
    return digits is None or (isinstance(digits, exp.Literal) and len(digits.name) == 1 and digits.name.isdigit())


def is_hexadecimal(node: exp.Expr) -> bool:
    """Tell whether a node is '0x' || digits, which templates cast to make a hash a number."""
    return isinstance(node, exp.DPipe) and node.this.is_string and node.this.this == "0x"


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
