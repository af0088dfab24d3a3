"""Constants and lists in templates: tables of constants, texts in JSON, ranges, casts that may fail.

Templates use DuckDB's functions; this module says what other dialects write in their place.
"""

from decimal import Decimal
from functools import reduce

from sqlglot import exp

from sqlanon.plans.roles import free_name
from sqlanon.sql.spellings import SPELLINGS, put_spelling

_MOST = {exp.DType.SMALLINT: 2**15, exp.DType.INT: 2**31, exp.DType.BIGINT: 2**63}
# texts of numbers and times as engines write them; a text that looks like one, and is none, is an error still
_NUMBER = (
    r"^ *[+-]?([0-9]{{1,255}}(\.[0-9]*)?|\.[0-9]+)(e[+-]?(30[0-7]|[0-2]?[0-9]{{1,2}}))? *$"
    r"|^ *(nan|[+-]?inf(inity)?) *$"
)
_DAY = r"^ *-?infinity *$|^ *[0-9]{{4,7}}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_WRITTEN = {
    **dict.fromkeys((exp.DType.FLOAT, exp.DType.DOUBLE, exp.DType.DECIMAL), _NUMBER),
    exp.DType.DATE: _DAY + "( BC)? *$",
    **dict.fromkeys((exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPNTZ), _DAY + "( *$|[ T])"),
}
_SHORT = {8: r"\b", 9: r"\t", 10: r"\n", 12: r"\f", 13: r"\r"}


def is_list(node: exp.Expr) -> bool:
    """Tell whether a node is one of the lists that are read: constants between separators, a JSON text's, a range."""
    return is_constant_list(node) or read_json(node) is not None or isinstance(node.this, exp.GenerateSeries)


def is_constant_list(node: exp.Expr) -> bool:
    """Tell whether a node is unnest(string_split('…', '…')): a column of a table of constants."""
    if not (isinstance(node, exp.Explode) and isinstance(node.this, exp.Split)):
        return False
    return isinstance(node.this.this, exp.Literal) and isinstance(node.this.expression, exp.Literal)


def read_json(node: exp.Expr) -> exp.Expr | None:
    """Return what holds the JSON text of unnest(case when json_valid(text) then from_json(text, …) end)."""
    return next((call.this for call in node.find_all(exp.FromJson)), None)


def write_list(node: exp.Explode, dialect: str) -> None:
    """Put what unnests a list of ours; constants stay where a table of them is to take the columns' place."""
    spelling, text, listed = SPELLINGS[dialect], read_json(node), node.this
    if text is not None:
        put_spelling(node, spelling.texts, dialect, text)
    elif isinstance(listed, exp.GenerateSeries):
        put_spelling(node, spelling.range, dialect, listed.args["start"], listed.args["end"])
    elif spelling.constants:
        put_spelling(node, spelling.constants, dialect, listed.this, listed.expression)


def list_constants(select: exp.Select) -> None:
    """Put a table of constants into the place of the columns that are read off texts, row by row."""
    columns = {
        expression.alias: expression.this for expression in select.expressions if is_constant_list(expression.this)
    }
    texts = [(column.this.this.name, column.this.expression.name) for column in columns.values()]
    rows = list(zip(*(text.split(separator) for text, separator in texts), strict=True))
    for expression in select.expressions:
        if expression.alias in columns:
            expression.set("this", exp.column(expression.alias, quoted=True))
    select.from_(exp.values(rows, alias="line", columns=list(columns)), copy=False)


def write_json_text(text: exp.Expr, dialect: str) -> exp.Expr:
    """Return what writes a text as DuckDB's to_json does: quotes and control characters escaped, the rest as it is."""
    spelling = SPELLINGS[dialect]
    escapes: list[tuple[exp.Expr, str]] = [(exp.Literal.string(sign), "\\" + sign) for sign in ("\\", '"')]
    for number in range(spelling.least_character, 32):
        character = exp.Var(this=f"CHR({number})")
        escapes.append((character, _SHORT.get(number, f"\\u{number:04X}")))
    replaced = reduce(
        lambda nested, escape: exp.Anonymous(
            this="REPLACE", expressions=[nested, escape[0], exp.Literal.string(escape[1])]
        ),
        escapes,
        text.copy(),
    )
    quote = exp.Literal.string('"')
    quoted = exp.DPipe(this=quote, expression=replaced, safe=False)
    whole = exp.DPipe(this=quoted, expression=quote.copy(), safe=False)
    return exp.Var(this=f"({whole.sql(dialect, identify=True)})")  # on one line: it is deeply nested


def try_cast(node: exp.TryCast, dialect: str) -> None:
    """Write NULL for what a type does not hold, where a cast to it would be an error: constants, and texts."""
    number = node.this.unnest()
    digits = number.this if isinstance(number, exp.Neg) else number
    if SPELLINGS[dialect].tries:
        return
    if not digits.is_number:
        put_spelling(node, _tried(node.to.this), dialect, node.this, node.to)
        return
    sizes = [int(expression.name) for expression in node.to.expressions]
    most = 10 ** (sizes[0] - sizes[-1]) if len(sizes) == 2 else _MOST.get(node.to.this)
    if most is not None and abs(Decimal(digits.name)) > most - 1:
        node.set("this", exp.Null())


def _tried(sql_type: exp.DType) -> str:
    """Return what casts a text {0} to a type {1} where it is one of its values as they are commonly written."""
    if sql_type in _MOST:
        within = f"CAST({{0}} AS DECIMAL) BETWEEN {-_MOST[sql_type]} AND {_MOST[sql_type] - 1}"
        return (
            "CASE WHEN CAST({0} AS TEXT) ~ '^ *[+-]?[0-9]{{1,40}} *$' THEN"
            f" CASE WHEN {within} THEN CAST({{0}} AS {{1}}) END END"
        )
    pattern = _WRITTEN.get(sql_type)
    return (
        f"CASE WHEN CAST({{0}} AS TEXT) ~* '{pattern}' THEN CAST({{0}} AS {{1}}) END" if pattern else "CAST({0} AS {1})"
    )


def name_apart(tree: exp.Expr) -> None:
    """Give all but one of several WITH tables of one name others: some dialects write all of them in one WITH."""
    listed = list(tree.find_all(exp.CTE))
    names = [with_table.alias for with_table in listed]
    for with_table in reversed(listed):  # inner ones first, which hide outer ones from what stands inside
        if names.count(with_table.alias) > 1:
            names.remove(with_table.alias)
            names.append(free_name(with_table.alias, names))
            name = names[-1]
            assert with_table.parent is not None and with_table.parent.parent is not None
            for table in with_table.parent.parent.find_all(exp.Table):
                if table.name == with_table.alias and not table.db:
                    table.set("alias", table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(table.name)))
                    table.set("this", exp.to_identifier(name))
            with_table.set("alias", exp.TableAlias(this=exp.to_identifier(name)))
