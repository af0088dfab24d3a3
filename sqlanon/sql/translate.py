"""Translate DuckDB's text of a template into another engine's, with the same meaning.

sqlglot does not know every difference that changes a result: what it would get wrong stands in `spellings.py`, a line
per dialect. What may travel at all stands in `portable.py`.

Constants of a run are bound parameters: a join with their one row would stand between a sort and what is read off it.
Spark takes a sort below a join for idle and leaves it out, and joins even one row by a job of its own.

Templates say `row_number() over apart` of rows in the order of a window named `apart`, and read of it only which of two
rows of a part comes first, and how many stand between them: each part may be numbered from anywhere on. An engine with
several workers sends each part to one, which sorts what it has and numbers it as it goes: a window would keep the rows
of a part until it has all of them, and a sort of all rows looks at them beforehand.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.generator import Generator

from sqlanon.errors import TemplateError, raised_as
from sqlanon.plans.engines import ENGINES
from sqlanon.plans.roles import free_name
from sqlanon.sql.portable import is_hexadecimal, parse_portable
from sqlanon.sql.spellings import (
    COLLATES,
    COMPARES_PAIRS,
    FENCES,
    SORTS_PARTS,
    SPELLINGS,
    TRIES,
    WITHOUT_NUL,
    put_spelling,
    respell_array,
)

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
_WIDTH = 110  # letters of a line, before what is in brackets is broken up
_ROUND = "(CASE WHEN {0} < 0 THEN -FLOOR(-({0}) * {1} + 0.5) ELSE FLOOR(({0}) * {1} + 0.5) END / {1})"
# what takes the place of a node and its operands
_SPELLED: dict[type[exp.Expr], str] = {
    exp.IntDiv: "divide", exp.Div: "quotient", exp.Rand: "random", exp.TimeToUnix: "seconds",
}  # fmt: skip


def _number_apart(select: exp.Select, numbering: str) -> None:
    """Put the parts of the window, sorted, below the SELECT, and in place of its row numbers any number that rises."""
    (window,) = select.args["windows"]
    numbered = [expression for expression in select.expressions if isinstance(expression.unalias(), exp.Window)]
    passing = [expression for expression in select.expressions if expression not in numbered]
    below = exp.Select(
        expressions=passing,
        from_=select.args["from_"],
        distribute=exp.Distribute(expressions=window.args["partition_by"]),
        sort=exp.Sort(expressions=window.args["order"].expressions),
    )
    columns = [exp.column(expression.alias_or_name, quoted=True) for expression in passing]
    rising = [exp.alias_(exp.Var(this=numbering), expression.alias, quoted=True) for expression in numbered]
    select.set("expressions", [*columns, *rising])
    select.set("from_", exp.From(this=below.subquery("sorted")))
    select.set("windows", None)


def _write_out_apart(select: exp.Select) -> None:
    """Put the window where it is named: not every engine has names for windows."""
    (window,) = select.args["windows"]
    for expression in select.expressions:
        numbered = expression.unalias()
        if isinstance(numbered, exp.Window):
            numbered.set("alias", None)
            numbered.set("partition_by", window.args["partition_by"])
            numbered.set("order", window.args["order"])
    select.set("windows", None)


def bind_constants(sql: str, views: Mapping[str, Mapping[str, int]]) -> tuple[str, dict[str, int]]:
    """Return Spark's SQL with parameters in the place of joins with these one-row views, and what is bound to them."""
    if not any(name in sql for name in views):
        return sql, {}
    bound: dict[str, int] = {}
    tree = sqlglot.parse_one(sql, read="spark")
    for select in tree.find_all(exp.Select):
        joined = {join.alias_or_name: join for join in select.args.get("joins", []) if _is_one_row(join, views)}
        for column in list(select.find_all(exp.Column)):
            if column.table in joined and column.parent_select is select:
                parameter = f"{column.table}_{column.name}"
                bound[parameter] = views[joined[column.table].this.name][column.name]
                constant: exp.Expr = exp.cast(exp.Placeholder(this=parameter), exp.DType.BIGINT)
                # what a SELECT passes on keeps its name
                passed = column.parent is select and column.arg_key == "expressions"
                column.replace(exp.alias_(constant, column.name, quoted=True) if passed else constant)
        for join in joined.values():
            join.pop()
    return tree.sql("spark", identify=True), bound


def _is_one_row(join: exp.Join, views: Mapping[str, Mapping[str, int]]) -> bool:
    """Tell whether a join adds the row of one of these views to every row."""
    return isinstance(join.this, exp.Table) and join.this.name in views and join.kind == "CROSS"


def _is_list(node: exp.Expr) -> bool:
    """Tell whether a node is one of the lists that are read: constants between separators, a JSON text's, a range."""
    return _is_constant_list(node) or _read_json(node) is not None or isinstance(node.this, exp.GenerateSeries)


def _is_constant_list(node: exp.Expr) -> bool:
    """Tell whether a node is unnest(string_split('…', '…')): a column of a table of constants."""
    if not (isinstance(node, exp.Explode) and isinstance(node.this, exp.Split)):
        return False
    return isinstance(node.this.this, exp.Literal) and isinstance(node.this.expression, exp.Literal)


def _read_json(node: exp.Expr) -> exp.Expr | None:
    """Return what holds the JSON text of unnest(case when json_valid(text) then from_json(text, …) end)."""
    return next((call.this for call in node.find_all(exp.FromJson)), None)


def _write_list(node: exp.Explode, dialect: str) -> None:
    """Put what unnests a list of ours; constants stay where a table of them is to take the columns' place."""
    spelling, text, listed = SPELLINGS[dialect], _read_json(node), node.this
    if text is not None:
        put_spelling(node, spelling["texts"], dialect, text)
    elif isinstance(listed, exp.GenerateSeries):
        put_spelling(node, spelling["range"], dialect, listed.args["start"], listed.args["end"])
    elif "constants" in spelling:
        put_spelling(node, spelling["constants"], dialect, listed.this, listed.expression)


def _list_constants(select: exp.Select) -> None:
    """Put a table of constants into the place of the columns that are read off texts, row by row."""
    columns = {
        expression.alias: expression.this for expression in select.expressions if _is_constant_list(expression.this)
    }
    texts = [(column.this.this.name, column.this.expression.name) for column in columns.values()]
    rows = list(zip(*(text.split(separator) for text, separator in texts), strict=True))
    for expression in select.expressions:
        if expression.alias in columns:
            expression.set("this", exp.column(expression.alias, quoted=True))
    select.from_(exp.values(rows, alias="line", columns=list(columns)), copy=False)


def _write_json_text(text: exp.Expr, dialect: str) -> exp.Expr:
    """Return what writes a text as DuckDB's to_json does: quotes and control characters escaped, the rest as it is."""

    def quote(letters: str) -> str:
        return exp.Literal.string(letters).sql(dialect)

    escapes = [(quote(sign), "\\" + sign) for sign in ("\\", '"')]
    for number in range(int(dialect in WITHOUT_NUL), 32):
        escapes.append((f"CHR({number})", _SHORT.get(number, f"\\u{number:04X}")))
    written = text.sql(dialect, identify=True)
    for letter, escape in escapes:
        written = f"REPLACE({written}, {letter}, {quote(escape)})"
    mark = quote('"')
    return exp.Var(this=f"({mark} || {written} || {mark})")  # on one line: it is deeply nested


def _try_cast(node: exp.TryCast, dialect: str) -> None:
    """Write NULL for what a type does not hold, where a cast to it would be an error: constants, and texts."""
    number = node.this.unnest()
    digits = number.this if isinstance(number, exp.Neg) else number
    if dialect in TRIES:
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


def _name_apart(tree: exp.Expr) -> None:
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
    _name_apart(tree)
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
    if not _is_list(node) and respell_array(node, dialect):
        return
    if isinstance(node, exp.SHA2):
        _fence(node, dialect)
        put_spelling(node, spelling["sha256"], dialect, node.this)
    elif type(node) in _SPELLED:
        operands = (node.args.get(name) for name in ("this", "expression"))
        put_spelling(node, spelling[_SPELLED[type(node)]], dialect, *filter(None, operands))
    elif type(node) in _RESPELLED:
        _RESPELLED[type(node)](node, dialect)
    elif isinstance(node, exp.NullSafeEQ) and node.find_ancestor(exp.Join):
        put_spelling(node, spelling["same"], dialect, node.this, node.expression)
    elif isinstance(node, exp.Cast) and is_hexadecimal(node.this):
        put_spelling(node, spelling["hexadecimal"], dialect, node.this.expression)
    elif isinstance(node, exp.DPipe):
        node.set("safe", False)  # both sides are text already: no cast is wanted
    elif isinstance(node, exp.Greatest | exp.Least):
        node.set("ignore_nulls", None)  # templates compare numbers that are never NULL


def _fence(node: exp.Expr, dialect: str) -> None:
    """Keep what a CTE computes in it: PostgreSQL dissolves no query with an offset, and any other at every mention."""
    select = node.parent_select
    if dialect in FENCES and select is not None and isinstance(select.parent, exp.CTE):
        select.set("offset", exp.Offset(expression=exp.Literal.number(0)))


def _respell_round(node: exp.Round, dialect: str) -> None:
    # half away from zero, as DuckDB rounds: PostgreSQL rounds to even, and knows no digits of floating point numbers
    digits = node.args.get("decimals")
    scale = exp.Literal.number(10 ** int(digits.name if digits is not None else 0))
    put_spelling(node, _ROUND, dialect, node.this, scale)


def _respell_named(node: exp.Anonymous, dialect: str) -> None:
    name, spelling = node.name.lower(), SPELLINGS[dialect]
    if name == "to_json":
        node.replace(_write_json_text(node.expressions[0], dialect))
    elif name == "hash":
        _respell_hash(node, dialect)
    elif name == "row" and dialect in COMPARES_PAIRS:
        # Spark compares structs with NULL as the least value; DuckDB and PostgreSQL rows with NULL as the greatest
        values = [[exp.Is(this=value.copy(), expression=exp.Null()), value] for value in node.expressions]
        node.replace(exp.Struct(expressions=[part for pair in values for part in pair]))
    elif name in ("hash_bytes", "bytes_text"):
        if name not in spelling:
            raise TemplateError(f"{dialect} has no bytes that a template may ask for")
        _fence(node, dialect)
        put_spelling(node, spelling[name], dialect, *node.expressions)
    elif name in ("epoch_us", "bit_count"):
        put_spelling(node, spelling["micros" if name == "epoch_us" else "bits"], dialect, *node.expressions)


def _respell_hash(node: exp.Anonymous, dialect: str) -> None:
    spelling, hashed = SPELLINGS[dialect], node.expressions[0]
    if "number_link" in spelling and isinstance(hashed, exp.Anonymous) and hashed.name.lower() == "row":
        _fence(node, dialect)
        node.replace(_hash_row(hashed, spelling, dialect))
    else:
        put_spelling(node, spelling["hash"], dialect, hashed)


def _respell_sketch(node: exp.ApproxDistinct, dialect: str) -> None:
    spelling = SPELLINGS[dialect]
    if "different" in spelling:
        put_spelling(node, spelling["different"], dialect, _hash_row(node.this, spelling, dialect))


def _hash_row(row: exp.Anonymous, spelling: Mapping[str, str], dialect: str) -> exp.Var:
    chain = "0"
    for value in row.expressions:
        known = isinstance(value, exp.Coalesce) and value.this.is_type("bigint")
        link = "known_link" if known else "number_link" if value.is_type("bigint") else "text_link"
        chain = spelling[link].format(value.sql(dialect, identify=True), chain)
    return exp.Var(this=f"({chain} & 9223372036854775807)")


def _respell_collation(node: exp.Collate, dialect: str) -> None:
    if dialect not in COLLATES:  # nothing need be said, and most have no such name
        node.replace(node.this)


def _respell_select(node: exp.Select, dialect: str) -> None:
    if any(window.name == "apart" for window in node.args.get("windows") or ()):
        if dialect in SORTS_PARTS:
            _number_apart(node, SPELLINGS[dialect]["numbering"])
        else:
            _write_out_apart(node)
    if any(_is_constant_list(expression.this) for expression in node.expressions):
        _list_constants(node)


def _name_subquery(node: exp.Subquery, dialect: str) -> None:
    # PostgreSQL before 16 refuses a subquery in FROM that has no name
    if isinstance(node.parent, exp.From | exp.Join) and not node.alias:
        node.set("alias", exp.TableAlias(this=exp.to_identifier("unnamed")))


def _respell_window(node: exp.Window, dialect: str) -> None:
    """Respell windows over everything that number rows, and order the others."""
    spelling = SPELLINGS[dialect]
    if node.alias:  # the window that it names is respelled where that stands
        return
    if node.args.get("order") or not isinstance(node.this, exp.RowNumber):
        return
    if "numbering" in spelling and not node.args.get("partition_by"):
        put_spelling(node, spelling["numbering"], dialect)
    elif "any_order" in spelling:
        # Spark refuses row_number() without an order; a constant keeps it arbitrary
        order = exp.Ordered(this=exp.Var(this=spelling["any_order"]), nulls_first=True)
        node.set("order", exp.Order(expressions=[order]))


def _lower(text: str, dialect: str) -> str:
    """Write keywords and functions as the templates do; names are quoted and stay, as texts do."""
    letters = list(text)
    for token in sqlglot.tokenize(text, read=dialect):
        if token.token_type.name not in ("STRING", "IDENTIFIER") and token.text.isupper():
            letters[token.start : token.end + 1] = text[token.start : token.end + 1].lower()
    return "".join(letters)


_RESPELLED: dict[type[exp.Expr], Callable[..., None]] = {
    exp.Round: _respell_round,
    exp.Anonymous: _respell_named,
    exp.ApproxDistinct: _respell_sketch,
    exp.Collate: _respell_collation,
    exp.Explode: _write_list,
    exp.TryCast: _try_cast,
    exp.Select: _respell_select,
    exp.Subquery: _name_subquery,
    exp.Window: _respell_window,
}
