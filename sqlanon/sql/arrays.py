"""Rewrite what templates do with lists, in DuckDB's functions, into the text of another dialect.

Only listed functions and types of lists may be used in templates that run on several dialects.
"""

from collections.abc import Callable, Mapping

from sqlglot import exp

from sqlanon.errors import TemplateError

# One dialect's own SQL for each use of an array: `{0}` is the array, or the expression that is aggregated.
# size: the number of items, NULLs counted
# item: the item at place {1}, counted from 1; NULL beyond the last
# largest, sorted: the largest item; the items in order
# distinct: the different items that are not NULL
# known: how many items are not NULL
# place: the place of item {1}, counted from 1
# head: the first {1} items
# gathered: an aggregate, the sorted array of an expression that is never NULL
# gathered_once: an aggregate, the array of different values, NULL last
# unnested: a row for each item
# least: an aggregate, the smallest of rows of several columns, NULL last in each; {1}: columns after their `is null`
# parts: the parts of a text {0} between commas, without the spaces {1} around them; an empty part is NULL
# matching: the items in which a regular expression {1} finds something; `end`: how that dialect writes its end
# marks: attributes with their counts (see `_macros/alternatives`), from lines {0} of attribute, count and place, for
# counts that are {1}; empty where the dialect writes it as DuckDB does
# mark: the count of attribute {1}
_SPARK = {
    "size": "ARRAY_SIZE({0})",
    "item": "GET({0}, {1} - 1)",
    "largest": "ARRAY_MAX({0})",
    "sorted": "ARRAY_SORT({0})",
    "distinct": "ARRAY_DISTINCT(ARRAY_COMPACT({0}))",
    "known": "ARRAY_SIZE(ARRAY_COMPACT({0}))",
    "place": "ARRAY_POSITION({0}, {1})",
    "head": "SLICE({0}, 1, {1})",
    "gathered": "SORT_ARRAY(COLLECT_LIST({0}))",
    "gathered_once": "CONCAT(SORT_ARRAY(COLLECT_SET({0})),"
    " CASE WHEN COUNT(*) > COUNT({0}) THEN ARRAY(NULL) ELSE ARRAY() END)",
    "unnested": "EXPLODE({0})",
    "least": "MIN(STRUCT({1}))",
    "mark": "GET(FILTER({0}, held -> held.`attribute` = {1}), 0).`count`",
    "parts": "TRANSFORM(SPLIT({0}, ','), part -> NULLIF(TRIM({1} FROM part), ''))",
    "matching": "FILTER({0}, part -> part RLIKE {1})",
    "end": r"\z",
}
# NULL has no items, and what gathers items of none would be an empty array
_ITEMS = "CASE WHEN {0} IS NOT NULL THEN ARRAY(SELECT "
_HELD = " FROM UNNEST({0}) AS held(item)"
# a mark of a release that somebody else made may say anything
_NAMED_TYPES = "'$[*] ? (@.attribute == $name).count', JSONB_BUILD_OBJECT('name', {1})"
_MARK = f"(JSONB_PATH_QUERY_FIRST({{0}}, {_NAMED_TYPES}) #>> '{{{{}}}}')"

SPELLINGS: dict[str, Mapping[str, str]] = {
    "spark": _SPARK,
    "postgres": {
        "size": "CARDINALITY({0})",
        "item": "({0})[{1}]",
        "largest": f"(SELECT item{_HELD} ORDER BY item DESC NULLS LAST LIMIT 1)",
        "sorted": f"{_ITEMS}item{_HELD} ORDER BY item) END",
        "distinct": f"{_ITEMS}DISTINCT item{_HELD} WHERE item IS NOT NULL ORDER BY item) END",
        "known": f"(SELECT COUNT(item){_HELD})",
        "place": "ARRAY_POSITION({0}, {1})",
        "head": "({0})[1:{1}]",
        "gathered": "ARRAY_AGG({0} ORDER BY {0})",
        "gathered_once": "ARRAY_AGG(DISTINCT {0} ORDER BY {0})",
        "unnested": "UNNEST({0})",
        "least": "(ARRAY_AGG(ROW({0}) ORDER BY ROW({0})))[1]",
        "mark": f"CASE WHEN {_MARK} ~ '^[0-9]{{{{1,9}}}}$' THEN CAST({_MARK} AS INT) END",
        "parts": "ARRAY(SELECT NULLIF(TRIM({1} FROM part), '') FROM UNNEST(STRING_TO_ARRAY({0}, ',')) WITH ORDINALITY"
        " AS held(part, place) ORDER BY place)",
        "matching": "ARRAY(SELECT item FROM UNNEST({0}) AS held(item) WHERE item ~ {1})",
        "end": "$",
        # an array of pairs would need a type of its own, which a schema of a release has no place for
        "marks": "(SELECT COALESCE(JSONB_AGG(JSONB_BUILD_OBJECT('attribute', attribute, 'count', number) ORDER BY"
        " place), '[]') FROM (VALUES {0}) AS line(attribute, number, place) WHERE number {1})",
        "line": "({0}, {1}, {2})",
    },
}


__all__ = ["FUNCTIONS", "NODES", "SPELLINGS", "TYPES"]

# Every node that may stand where a dialect has arrays, with the arguments it may have.
NODES: dict[type[exp.Expr], set[str]] = {
    getattr(exp, name): {*arguments.split()}
    for arguments, names in {
        "expressions": "Array Struct",
        "this": "ArraySize ArrayMax ArrayAgg",
        "this check_null": "ArrayDistinct",
        "this expression": "ArrayFilter Transform RegexpLike Trim Right Dot PropertyEQ",
        "this expressions": "Bracket Lambda",
        "this kind": "ColumnDef",
        "this nulls_first": "ArraySort",
        "this expressions nested": "DataType",
    }.items()
    for name in names.split()
}
TYPES = {exp.DType.ARRAY, exp.DType.STRUCT, exp.DType.DATE}
FUNCTIONS = {"list_count", "list_position", "list_slice", "create_sort_key"}
_NAMED = {"list_count": "known", "list_position": "place"}
_PLAIN: dict[type[exp.Expr], str] = {
    exp.ArraySize: "size",
    exp.ArrayMax: "largest",
    exp.ArraySort: "sorted",
    exp.ArrayDistinct: "distinct",
    exp.Explode: "unnested",
}


def respell_array(node: exp.Expr, dialect: str) -> bool:
    """Put the dialect's own text where a node is one of arrays; tell whether it was, or belongs to one that will be."""
    spelling = SPELLINGS.get(dialect)
    writes = _WRITERS.get(type(node))
    if spelling is None or writes is None:
        return False
    return writes(node, spelling, lambda piece: piece.sql(dialect, identify=True))


Text = Callable[[exp.Expr], str]


def _put(node: exp.Expr, text: str) -> bool:
    node.replace(exp.Var(this=text))
    return True


def _write_plain(node: exp.Expr, spelling: Mapping[str, str], text: Text) -> bool:
    return _put(node, spelling[_PLAIN[type(node)]].format(text(node.this)))


def _write_item(node: exp.Bracket, spelling: Mapping[str, str], text: Text) -> bool:
    (place,) = node.expressions  # sqlglot counts from 0
    if not place.is_int:
        raise TemplateError(f"not portable: an item at no fixed place in {node.sql('duckdb')}")
    if isinstance(node.this, exp.ArrayFilter):
        return True  # a mark, written as a whole
    return _put(node, spelling["item"].format(text(node.this), int(place.name) + 1))


def _write_named(node: exp.Anonymous, spelling: Mapping[str, str], text: Text) -> bool:
    name, operands = node.name.lower(), [text(expression) for expression in node.expressions]
    if name in _NAMED:
        return _put(node, spelling[_NAMED[name]].format(*operands))
    if name == "list_slice":
        return _put(node, spelling["head"].format(operands[0], operands[2]))
    return name == "create_sort_key"


def _write_least(node: exp.Min, spelling: Mapping[str, str], text: Text) -> bool:
    if not (isinstance(node.this, exp.Anonymous) and node.this.name.lower() == "create_sort_key"):
        return False
    columns = [text(expression) for expression in node.this.expressions[::2]]  # behind each stands how it is ordered
    behind = [f"{column} IS NULL, {column}" for column in columns]
    return _put(node, spelling["least"].format(", ".join(columns), ", ".join(behind)))


def _write_gathered(node: exp.ArrayAgg, spelling: Mapping[str, str], text: Text) -> bool:
    order = node.this
    argument = order.this if isinstance(order, exp.Order) else order
    once = isinstance(argument, exp.Distinct)
    item = argument.expressions[0] if once else argument
    if not isinstance(order, exp.Order) or [expression.this for expression in order.expressions] != [item]:
        raise TemplateError(f"not portable: a list in another order than its own in {node.sql('duckdb')}")
    return _put(node, spelling["gathered_once" if once else "gathered"].format(text(item)))


def _write_parts(node: exp.Transform, spelling: Mapping[str, str], text: Text) -> bool:
    spaces = node.expression.find(exp.Trim).expression
    return _put(node, spelling["parts"].format(text(node.this.this), text(spaces)))


def _write_filter(node: exp.ArrayFilter, spelling: Mapping[str, str], text: Text) -> bool:
    condition = node.expression.this
    if not isinstance(condition, exp.RegexpLike):
        return _write_marks(node, spelling, text)
    pattern = condition.expression.this
    ended = pattern.removesuffix("$") + spelling["end"] if pattern.endswith("$") else pattern
    return _put(node, spelling["matching"].format(text(node.this), text(exp.Literal.string(ended))))


def _write_marks(node: exp.ArrayFilter, spelling: Mapping[str, str], text: Text) -> bool:
    if isinstance(node.parent, exp.Bracket) or "marks" not in spelling:
        return True
    lines = [[text(part.expression) for part in expression.expressions] for expression in node.this.this.expressions]
    listed = [spelling["line"].format(*line, place) for place, line in enumerate(lines, start=1)]
    comparison = node.expression.this.copy()
    comparison.set("this", exp.Var(this=""))  # which counts are told: the comparison without its left side
    return _put(
        node, spelling["marks"].format(", ".join(listed or [spelling["line"].format("''", "1", "0")]), text(comparison))
    )


def _write_mark(node: exp.Dot, spelling: Mapping[str, str], text: Text) -> bool:
    marks = node.this.this if isinstance(node.this, exp.Bracket) else None
    if not isinstance(marks, exp.ArrayFilter):
        return False  # of a mark inside
    name = marks.expression.this.expression
    return _put(node, spelling["mark"].format(text(marks.this), text(name)))


_WRITERS: dict[type[exp.Expr], Callable[..., bool]] = {
    **dict.fromkeys(_PLAIN, _write_plain),
    exp.Bracket: _write_item,
    exp.Anonymous: _write_named,
    exp.Min: _write_least,
    exp.ArrayAgg: _write_gathered,
    exp.ArrayFilter: _write_filter,
    exp.Transform: _write_parts,
    exp.Dot: _write_mark,
}
