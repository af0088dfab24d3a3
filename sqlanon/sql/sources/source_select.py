"""A query as a source: one SELECT over tables and files of the publisher's, written again from its tree."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.errors import QueryError
from sqlanon.plans.templates import Sql, ident
from sqlanon.sql.user_sql import Wording, check_expression, parse_select, write_expression

GRAMMAR = (
    "a source is SELECT [DISTINCT] column | expression AS name, … FROM table_or_file [AS name] [[LEFT] JOIN"
    " table_or_file [AS name] ON condition] … [WHERE condition]"
)
_WORDS = Wording("the query", "is not allowed in the query of a source", GRAMMAR)
_CLAUSES = {"expressions", "distinct", "from_", "joins", "where"}
_JOINS = {("", ""): "join", ("", "INNER"): "join", ("LEFT", ""): "left join", ("LEFT", "OUTER"): "left join"}


@dataclass(frozen=True)
class SourceSelect:
    """A query as it was read; tables: what its FROM names, as a source is named, in order."""

    tables: tuple[str, ...]
    _tree: exp.Select = field(repr=False, compare=False)

    def write(self, find: Callable[[str], str]) -> Sql:
        """Return the SQL of the query in brackets; find: the SQL that reads a table or file."""
        select = self._tree
        items = ",\n".join(f"    {_write_item(item)}" for item in select.expressions)
        lines = [f"select{' distinct' if select.args.get('distinct') else ''}\n{items}"]
        for word, table, condition in _joined(select):
            on = f" on {write_expression(condition)}" if condition is not None else ""
            lines.append(f"{word} {find(_name(table))} as {ident(table.alias_or_name)}{on}")
        where = select.args.get("where")
        lines += [f"where {write_expression(where.this)}"] if where is not None else []
        return Sql("(\n{}\n)".format("\n".join(lines)))


def read_source_select(sql: str) -> SourceSelect:
    """Read the query of a source; raise QueryError, naming the piece, for anything outside its grammar."""
    try:
        select = parse_select(sql, _WORDS, _CLAUSES)
        _check(select)
    except RecursionError:
        raise QueryError("the query is nested too deeply; write it with fewer brackets") from None
    return SourceSelect(tuple(_name(table) for _, table, _ in _joined(select)), select)


def _check(select: exp.Select) -> None:
    distinct, where = select.args.get("distinct"), select.args.get("where")
    if distinct is not None and distinct.args.get("on"):
        _WORDS.refuse("DISTINCT ON")
    if select.args.get("from_") is None:
        _WORDS.refuse("SELECT without FROM")
    for _, table, condition in _joined(select):
        _check_table(table)
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
    found: list[tuple[str, exp.Expr, exp.Expr | None]] = [("from", select.args["from_"].this, None)]
    for join in select.args.get("joins") or ():
        extra = [key for key, value in join.args.items() if value and key not in {"this", "side", "kind", "on"}]
        word = _JOINS.get((str(join.side).upper(), str(join.kind).upper()))
        if word is None or extra or join.args.get("on") is None:
            _WORDS.refuse("this join", "tables are joined by JOIN or LEFT JOIN, with ON condition")
        found.append((word, join.this, join.args["on"]))
    return found


def _check_table(table: exp.Expr) -> None:
    if not isinstance(table, exp.Table) or not all(isinstance(part, exp.Identifier) for part in table.parts):
        _WORDS.refuse(table.sql("duckdb", comments=False), "FROM names tables, views and files")
    extra = [key for key, value in table.args.items() if value and key not in {"this", "db", "catalog", "alias"}]
    if extra:
        _WORDS.refuse(f"{extra[0].upper()} in FROM")
    alias = table.args.get("alias")
    if alias is not None and alias.columns:
        _WORDS.refuse("renaming columns in FROM")


def _check_item(item: exp.Expr) -> str:
    """Check what stands in SELECT; return its name without case, nothing for all columns."""
    if isinstance(item, exp.Star) and not any(item.args.values()):
        return ""
    inner = item.this if isinstance(item, exp.Alias) else item
    check_expression(inner, _WORDS)
    if not isinstance(item, exp.Alias | exp.Column):
        _WORDS.refuse(f"the expression {item.sql('duckdb', comments=False)} without a name", "give it one with AS")
    return item.alias_or_name.lower()


def _write_item(item: exp.Expr) -> str:
    if isinstance(item, exp.Star):
        return "*"
    inner = item.this if isinstance(item, exp.Alias) else item
    return f"{write_expression(inner)} as {ident(item.alias_or_name)}"


def _name(table: exp.Expr) -> str:
    assert isinstance(table, exp.Table), "nothing else passes the check"
    return ".".join(part.name for part in table.parts)
