"""What each dialect must write differently from sqlglot, because the result would otherwise be different.

Only the uses of lists that are named here may stand in templates that run on several dialects. SQL is written in upper
case, as sqlglot writes it; `translate` lowers both.
"""

from collections.abc import Callable

from sqlglot import exp

from sqlanon.errors import TemplateError

FENCES = {
    "postgres"
}  # which merges a CTE that computes a hash into the queries that read it, unless it is kept from it
COLLATES = {"postgres"}  # which orders texts by a language unless a collation says otherwise
WITHOUT_NUL = {"postgres"}  # whose texts hold no character of the number 0
TRIES = {"spark"}  # which has a cast that gives NULL where it fails
COMPARES_PAIRS = {"spark"}  # which sorts NULLs first: a row is compared as pairs (is it NULL, value)
SORTS_PARTS = {"spark"}  # which can send rows to workers by a value, and sort them there

_TEXT = r'"([^"\\\u0001-\u001f]|\\["\\bfnrt]|\\u00[01][0-9A-F])*"'
_TEXTS = rf"^\[({_TEXT}|null)(,({_TEXT}|null))*\]$"  # a JSON list as we write them
# NULL has no items, and what gathers items of none would be an empty array
_ITEMS = "CASE WHEN {0} IS NOT NULL THEN ARRAY(SELECT "
_HELD = " FROM UNNEST({0}) AS held(item)"
# a mark of a release that somebody else made may say anything
_NAMED_TYPES = "'$[*] ? (@.attribute == $name).count', JSONB_BUILD_OBJECT('name', {1})"
_MARK = f"(JSONB_PATH_QUERY_FIRST({{0}}, {_NAMED_TYPES}) #>> '{{{{}}}}')"

# One dialect's own SQL for each construct; `{0}`, `{1}` … are its operands. What a dialect lacks it does not need.
# sha256: the hash of a text's UTF-8 bytes, as lower-case hex digits
# hexadecimal: 15 hex digits, as a whole number
# divide, quotient: the integer quotient of two whole numbers; that of any two numbers, as a double
# random: a number in [0, 1)
# same: equality for which NULL equals NULL, in a join
# any_order: the ORDER BY of a window that needs none, where the dialect demands one
# seconds, micros: the time since 1970 of a date or a time, in seconds as a double, in microseconds as a whole number
# constants: a row for each part of a text {0} between separators {1}; without it a table is used instead
# texts: a row for each text of a JSON list; no row for what is no such list
# range: a row for each whole number from {0} to {1}
# numbering: any unique number of a row, in place of `row_number() over ()`
# hash: a well distributed whole number from 0 on, of any text
# known_link, number_link, text_link: the hash of a row up to its value {0}, with {1} for the hash of what stands before
# it; the second where {0} is cast to a whole number, the first where one that is NULL is made another number as well.
# Without them a dialect hashes rows itself
# different: about how many different hashes {0} there are, for a dialect without such a function
# bits: how many bits of a whole number are set
# hash_bytes, bytes_text: a 64-byte hash of a text; eight of such bytes, from {1} on, as a text
# Of lists {0} is the list, or the expression that is aggregated:
# size, known: the number of items, NULLs counted, or not
# item, place: the item at place {1}, counted from 1, NULL beyond the last; the place of the item {1}
# largest, sorted, distinct, head: the largest item; the items in order; the different ones but NULL; the first {1}
# gathered: an aggregate, the sorted list of an expression that is never NULL
# gathered_once: an aggregate, the list of different values, NULL last
# unnested: a row for each item
# least: an aggregate, the smallest of rows of several columns, NULL last in each; {1}: columns after their `is null`
# parts: the parts of a text {0} between commas, without the spaces {1} around them; an empty part is NULL
# matching: the items in which a regular expression {1} finds something; `end`: how that dialect writes its end
# marks: attributes with their counts (see `_macros/alternatives`), from lines {0} of attribute, count and place, for
# counts that are {1}; without it as in DuckDB
# mark: the count of attribute {1}
SPELLINGS = {
    "spark": {
        "hash": "(XXHASH64({0}) & 9223372036854775807)",
        "sha256": "SHA2({0}, 256)",
        "hexadecimal": "CAST(CONV({0}, 16, 10) AS BIGINT)",
        "divide": "({0} DIV {1})",
        "random": "RAND()",
        "same": "{0} IS NOT DISTINCT FROM {1}",
        "any_order": "1",
        "quotient": "(CAST({0} AS DOUBLE) / NULLIF({1}, 0))",  # where DuckDB says infinity, these would raise
        "seconds": "CAST(CAST({0} AS TIMESTAMP) AS DOUBLE)",
        "micros": "UNIX_MICROS(CAST({0} AS TIMESTAMP))",
        "texts": "EXPLODE(FROM_JSON({0}, 'ARRAY<STRING>'))",
        "range": "EXPLODE(SEQUENCE({0}, {1}))",
        "numbering": "MONOTONICALLY_INCREASING_ID()",
        "bits": "BIT_COUNT({0})",
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
    },
    "postgres": {
        # the collation keeps the order of hashes binary, whatever the database's language is
        "sha256": "(ENCODE(SHA256(CONVERT_TO({0}, 'UTF8')), 'hex') COLLATE \"C\")",
        "hexadecimal": "CAST(CAST('x' || {0} AS BIT(60)) AS BIGINT)",
        "divide": "({0} / {1})",
        "random": "RANDOM()",
        "same": "ARRAY[{0}] = ARRAY[{1}]",  # NULL-safe as well, and can be hashed
        "quotient": "(CAST({0} AS DOUBLE PRECISION) / NULLIF({1}, 0))",
        "seconds": "CAST(EXTRACT(EPOCH FROM {0}) AS DOUBLE PRECISION)",
        "micros": "CAST(EXTRACT(EPOCH FROM {0}) * 1000000 AS BIGINT)",
        "range": "GENERATE_SERIES({0}, {1})",
        "constants": 'UNNEST(STRING_TO_ARRAY({0} COLLATE "C", {1}))',
        # no cast can be tried: what is written as such a list is read
        "texts": f"(JSON_ARRAY_ELEMENTS_TEXT(CASE WHEN {{0}} ~ '{_TEXTS}' THEN CAST({{0}} AS JSON) END) COLLATE \"C\")",
        "bits": "BIT_COUNT(CAST({0} AS BIT(64)))",
        "hash": "(HASHTEXTEXTENDED({0}, 0) & 9223372036854775807)",
        # a hash of 8 bytes reads 4 that both halves are folded to, and a record's is a sum of its values': all 64 bits
        # of a number, and of what stands before it, go into the seed. NULL is told from 0 and from an empty text
        "known_link": "HASHINT4EXTENDED(0, {0} # {1})",
        "number_link": "HASHINT4EXTENDED(CAST({0} IS NULL AS INT), COALESCE({0}, 0) # {1})",
        "text_link": "HASHTEXTEXTENDED(COALESCE(CAST({0} AS TEXT) COLLATE \"C\", ''),"
        " {1} # CAST(CAST({0} IS NULL AS INT) AS BIGINT))",
        # the different ones of a sixteenth of all hashes are counted; of few rows it is said that all may differ
        "different": "CASE WHEN COUNT(*) < 100000 THEN COUNT(*)"
        " ELSE 16 * COUNT(DISTINCT CASE WHEN {0} & 15 = 0 THEN {0} END) END",
        "hash_bytes": "SHA512(CONVERT_TO({0}, 'UTF8'))",
        "bytes_text": "ENCODE(SUBSTR({0}, CAST({1} AS INT), 8), 'hex')",
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
    },
}
_PLAIN: dict[type[exp.Expr], str] = {
    exp.ArraySize: "size",
    exp.ArrayMax: "largest",
    exp.ArraySort: "sorted",
    exp.ArrayDistinct: "distinct",
    exp.Explode: "unnested",
}


def put_spelling(node: exp.Expr, spelling: str, dialect: str, *operands: exp.Expr | str) -> bool:
    """Put a dialect's own text in the place of a node; its operands are nodes, or texts already. Return True."""
    texts = [each if isinstance(each, str) else each.sql(dialect, identify=True) for each in operands]
    node.replace(exp.Var(this=spelling.format(*texts)))
    return True


# -- lists ---------------------------------------------------------------------------------------


def respell_array(node: exp.Expr, dialect: str) -> bool:
    """Put the dialect's own text where a node is one of arrays; tell whether it was, or belongs to one that will be."""
    writes = _WRITERS.get(type(node))
    return writes is not None and writes(node, dialect)


def _write_plain(node: exp.Expr, dialect: str) -> bool:
    return put_spelling(node, SPELLINGS[dialect][_PLAIN[type(node)]], dialect, node.this)


def _write_item(node: exp.Bracket, dialect: str) -> bool:
    (place,) = node.expressions  # sqlglot counts from 0
    if not place.is_int:
        raise TemplateError(f"not portable: an item at no fixed place in {node.sql('duckdb')}")
    if isinstance(node.this, exp.ArrayFilter):
        return True  # a mark, written as a whole
    return put_spelling(node, SPELLINGS[dialect]["item"], dialect, node.this, str(int(place.name) + 1))


def _write_named(node: exp.Anonymous, dialect: str) -> bool:
    name, operands, spelling = node.name.lower(), node.expressions, SPELLINGS[dialect]
    if name == "list_count":
        return put_spelling(node, spelling["known"], dialect, *operands)
    if name == "list_position":
        return put_spelling(node, spelling["place"], dialect, *operands)
    if name == "list_slice":
        return put_spelling(node, spelling["head"], dialect, operands[0], operands[2])
    return name == "create_sort_key"


def _write_least(node: exp.Min, dialect: str) -> bool:
    if not (isinstance(node.this, exp.Anonymous) and node.this.name.lower() == "create_sort_key"):
        return False
    # behind each column stands how it is ordered
    columns = [column.sql(dialect, identify=True) for column in node.this.expressions[::2]]
    behind = [f"{column} IS NULL, {column}" for column in columns]
    return put_spelling(node, SPELLINGS[dialect]["least"], dialect, ", ".join(columns), ", ".join(behind))


def _write_gathered(node: exp.ArrayAgg, dialect: str) -> bool:
    order = node.this
    argument = order.this if isinstance(order, exp.Order) else order
    once = isinstance(argument, exp.Distinct)
    item = argument.expressions[0] if once else argument
    if not isinstance(order, exp.Order) or [expression.this for expression in order.expressions] != [item]:
        raise TemplateError(f"not portable: a list in another order than its own in {node.sql('duckdb')}")
    return put_spelling(node, SPELLINGS[dialect]["gathered_once" if once else "gathered"], dialect, item)


def _write_parts(node: exp.Transform, dialect: str) -> bool:
    spaces = node.expression.find(exp.Trim).expression
    return put_spelling(node, SPELLINGS[dialect]["parts"], dialect, node.this.this, spaces)


def _write_filter(node: exp.ArrayFilter, dialect: str) -> bool:
    condition, spelling = node.expression.this, SPELLINGS[dialect]
    if isinstance(condition, exp.RegexpLike):
        pattern = condition.expression.this
        ended = pattern.removesuffix("$") + spelling["end"] if pattern.endswith("$") else pattern
        return put_spelling(node, spelling["matching"], dialect, node.this, exp.Literal.string(ended))
    if isinstance(node.parent, exp.Bracket) or "marks" not in spelling:
        return True
    lines = []
    for place, marked in enumerate(node.this.this.expressions, start=1):
        attribute, count = (part.expression.sql(dialect, identify=True) for part in marked.expressions)
        lines.append(f"({attribute}, {count}, {place})")
    comparison = condition.copy()
    comparison.set("this", exp.Var(this=""))  # which counts are told: the comparison without its left side
    return put_spelling(node, spelling["marks"], dialect, ", ".join(lines) or "('', 1, 0)", comparison)


def _write_mark(node: exp.Dot, dialect: str) -> bool:
    marks = node.this.this if isinstance(node.this, exp.Bracket) else None
    if not isinstance(marks, exp.ArrayFilter):
        return False  # of a mark inside
    name = marks.expression.this.expression
    return put_spelling(node, SPELLINGS[dialect]["mark"], dialect, marks.this, name)


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
