"""The text of what an engine runs, and of the errors that its client raises."""

from collections.abc import Mapping

from sqlanon.errors import TemplateError, UsageError, raised_as
from sqlanon.plans.plan import Statement
from sqlanon.plans.templates import ident


def creation_text(statement: Statement, sql: str, lasting: bool) -> str:
    """Return what keeps a statement's rows or text under its relation's name; a query's `sql` as it is."""
    if statement.kind == "query":
        return sql
    what = "table" if lasting else f"temporary {statement.kind}"
    return f"create {what} {statement.relation} as\n{sql}"


def typed(wanted: Mapping[str, str], found: Mapping[str, str]) -> str:
    """Return a select list of columns with the types that are wanted. found: those that they have."""
    columns = ((ident(name), sql_type == found[name], sql_type) for name, sql_type in wanted.items())
    return ", ".join(name if same else f"cast({name} as {sql_type}) as {name}" for name, same, sql_type in columns)


def translate_for_engine(sql: str, dialect: str) -> str:
    """Translate SQL that an engine is to run; raise UsageError where it cannot be said there."""
    from sqlanon.sql.translate import translate  # sqlglot is slow to import, and DuckDB's SQL needs no translation

    with raised_as(UsageError, f"{dialect} cannot run this", TemplateError):
        return translate(sql, dialect)


def first_line(error: Exception) -> str:
    """Return the first line of an error: the lines behind it quote the statement, with its names and constants."""
    return str(error).strip().partition("\n")[0]
