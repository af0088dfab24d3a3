"""Say where engines would answer a recipient's query differently, though all of them can run it."""

import re

from sqlglot import exp

_WHOLE = {exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT}
_INTERNAL_NAME = re.compile(r"(quasi|(other_)?part)_\d+|sensitive")  # what recipients' queries read


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
