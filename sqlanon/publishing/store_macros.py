"""Store table macros in a DuckDB file, so that any client of DuckDB can say `from anatomy_groups(…)`.

The macros are the templates of the methods, rendered; they need no Python and no extension.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlanon.breaches.chapters import MACROS as BREACHES
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import TargetError, undone_by
from sqlanon.methods import METHODS, macro_steps
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import ident, literal
from sqlanon.sql.table_macro import Macro, describe_macro
from sqlanon.version import VERSION

if TYPE_CHECKING:
    import pandas as pd

L_DIVERSITY = Macro(
    "l_diversity",
    (macro_steps.TABLE, macro_steps.QUASI, macro_steps.SENSITIVE, macro_steps.NULLS),
    "one row: classes, rows, k, distinct_l, entropy_l, largest_share",
    "from l_diversity('patients', ['age', 'sex'], 'disease')",
    (
        *macro_steps.source(macro_steps.QUASI, macro_steps.column_refusals(macro_steps.QUASI, "--quasi")),
        Chapter("macros/l_diversity"),
    ),
)

MACROS = (*(macro for method in METHODS.values() for macro in method.macros), L_DIVERSITY, *BREACHES)


def stored_macros(engine: DuckDBEngine) -> dict[str, bool]:
    """Return the names in the database that our macros would take, and whether they are ours."""
    listed, database = ", ".join(str(literal(macro.name)) for macro in MACROS), literal(engine.place[0])
    rows = engine.rows(
        "select lower(function_name) as name, bool_and(coalesce(starts_with(comment, 'sqlanon '), false)) as ours"
        " from duckdb_functions() where not internal and function_type in ('macro', 'table_macro')"
        f" and schema_name = 'main' and database_name = {database} and lower(function_name) in ({listed})"
        " group by lower(function_name)"
    )
    return {row["name"]: row["ours"] for row in rows}


def store(engine: DuckDBEngine, overwrite: bool = False) -> tuple[Macro, ...]:
    """Store every macro in the database, in one transaction; ours of an earlier version are replaced.

    Raises TargetError where a macro of the same name is not ours, unless `overwrite`.
    """
    foreign = sorted(name for name, ours in stored_macros(engine).items() if not ours)
    if foreign and not overwrite:
        raise TargetError(
            f"the database has macros of its own named {', '.join(foreign)}; say --overwrite to replace them"
        )
    _run(engine, statements(f"{engine.qualified('main')}."))
    return MACROS


def describe(macros: Iterable[Macro]) -> "pd.DataFrame":
    """Return a line per macro: its name with parameters, what it yields, an example."""
    import pandas as pd

    return pd.DataFrame(map(describe_macro, macros), columns=["macro", "yields", "example"])


def statements(place: str = "") -> list[str]:
    """Return the statements that store the macros in a schema, each with the comment that tells it is ours."""
    texts = []
    for macro in MACROS:
        words = literal(f"sqlanon {VERSION}: {macro.sentence}")
        texts += [macro.sql_in(place), f"comment on macro table {place}{ident(macro.name)} is {words}"]
    return texts


def script() -> str:
    """Return the statements as text that a client of DuckDB runs as it is."""
    return "begin transaction;\n\n" + "".join(f"{text};\n\n" for text in statements()) + "commit;\n"


def _run(engine: DuckDBEngine, texts: list[str]) -> None:
    engine.execute("begin transaction")
    with undone_by(lambda: engine.execute("rollback")):
        for text in texts:
            engine.execute(text)
    engine.execute("commit")
