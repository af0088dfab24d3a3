"""A query as a source: one SELECT over tables and files of the publisher's, written again from its tree."""

import os
from collections.abc import Callable

from sqlglot import exp

from sqlanon.errors import QueryError
from sqlanon.plans.templates import Sql
from sqlanon.sql.source import QueriedSource
from sqlanon.sql.user_sql import Wording, check_expression, parse_select, read_table, write_expression
from sqlanon.sql.view_definitions import PATH

GRAMMAR = (
    "a source is SELECT [DISTINCT] column | expression AS name, … FROM table_or_file [AS name] [[LEFT] JOIN"
    " table_or_file [AS name] ON condition] … [WHERE condition]"
)
_WORDS = Wording("the query", "is not allowed in the query of a source", GRAMMAR)
_CLAUSES = {"expressions", "distinct", "from_", "joins", "where"}
_JOINS = {("", ""): "join", ("", "INNER"): "join", ("LEFT", ""): "left join", ("LEFT", "OUTER"): "left join"}


def write_source_select(source: QueriedSource, find: Callable[[str], str]) -> Sql:
    """Write a query that was read, in brackets and in its dialect; find: the SQL there that reads a table or file."""
    select, names, dialect = source.tree, iter(source.tables), source.dialect

    def item(node: exp.Expr) -> str:
        if isinstance(node, exp.Star):
            return "    *"
        return f"    {write_expression(node.unalias(), dialect=dialect)} as {quote(node.alias_or_name)}"

    def quote(name: str) -> str:
        return exp.to_identifier(name, quoted=True).sql(dialect)

    listed = ",\n".join(map(item, select.expressions))
    lines = [f"select{' distinct' if select.args.get('distinct') else ''}\n{listed}"]
    for word, table, condition in _joined(select):
        on = f" on {write_expression(condition, dialect=dialect)}" if condition is not None else ""
        lines.append(f"{word} {find(next(names))} as {quote(table.alias_or_name)}{on}")
    if (where := select.args.get("where")) is not None:
        lines.append(f"where {write_expression(where.this, dialect=dialect)}")
    return Sql("(\n{}\n)".format("\n".join(lines)))


def place_files(source: QueriedSource, folder: str) -> tuple[str, ...]:
    """Return what the FROM of a query names, paths of files relative to a folder."""
    tables = ((_name(table), _is_path(table)) for _, table, _ in _joined(source.tree))
    return tuple(os.path.normpath(os.path.join(folder, name)) if path else name for name, path in tables)  # noqa: PTH118


def read_source_select(sql: str, dialect: str = "duckdb") -> QueriedSource:
    """Read the query of a source; raise QueryError, naming the piece, for anything outside its grammar.

    dialect: of the engine that runs it, in whose words it is read and written.
    """
    try:
        select = parse_select(sql, _WORDS, _CLAUSES, dialect)
        _check(select)
    except RecursionError:
        raise QueryError("the query is nested too deeply; write it with fewer brackets") from None
    if dialect == "postgres":  # which folds what is not quoted; all names are quoted when they are written
        for name in select.find_all(exp.Identifier):
            name.set("this", name.name if name.args.get("quoted") else name.name.lower())
    return QueriedSource(tuple(_name(table) for _, table, _ in _joined(select)), sql, dialect, select)


def _check(select: exp.Select) -> None:
    distinct, where = select.args.get("distinct"), select.args.get("where")
    if distinct is not None and distinct.args.get("on"):
        _WORDS.refuse("DISTINCT ON")
    if select.args.get("from_") is None:
        _WORDS.refuse("SELECT without FROM")
    for _, table, condition in _joined(select):
        read_table(table, _WORDS, "FROM names tables, views and files", {"db", "catalog"})
        if condition is not None:
            check_expression(condition, _WORDS)
    if where is not None:
        check_expression(where.this, _WORDS)
    names = [_check_item(item) for item in select.expressions]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise QueryError(f"the query gives two columns the name {twice!r}; rename one with AS")


def _joined(select: exp.Select) -> list[tuple[str, exp.Expr, exp.Expr | None]]:
    """Return what each table is joined by, the table, and the condition."""
    tables: list[tuple[str, exp.Expr, exp.Expr | None]] = [("from", select.args["from_"].this, None)]
    for join in select.args.get("joins") or ():
        extra = [key for key, value in join.args.items() if value and key not in {"this", "side", "kind", "on"}]
        word = _JOINS.get((str(join.side).upper(), str(join.kind).upper()))
        if word is None or extra or join.args.get("on") is None:
            _WORDS.refuse("this join", "tables are joined by JOIN or LEFT JOIN, with ON condition")
        tables.append((word, join.this, join.args["on"]))
    return tables


def _check_item(item: exp.Expr) -> str:
    """Check what stands in SELECT; return its name without case, nothing for all columns."""
    if isinstance(item, exp.Star) and not any(item.args.values()):
        return ""
    inner = item.unalias()
    check_expression(inner, _WORDS)
    if not isinstance(item, exp.Alias | exp.Column):
        _WORDS.refuse(f"the expression {item.sql('duckdb', comments=False)} without a name", "give it one with AS")
    return item.alias_or_name.lower()


def _is_path(table: exp.Expr) -> bool:
    """Tell whether a table is a local file or a pattern by its name."""
    assert isinstance(table, exp.Table), "nothing else passes the check"
    return len(table.parts) == 1 and "://" not in table.name and PATH.search(table.name) is not None


def _name(table: exp.Expr) -> str:
    assert isinstance(table, exp.Table), "nothing else passes the check"
    return ".".join(part.name for part in table.parts)
