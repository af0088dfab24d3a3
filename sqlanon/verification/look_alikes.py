"""Values that people read as one and engines count as several: no group is as diverse as it seems."""

from collections.abc import Mapping

from sqlanon.plans.plan import Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import REPORTED, Check, PublishedTables

NAME = "look_alikes"


def look_alike_queries(published: PublishedTables, source: Source, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return for each sensitive column of texts its name and a query; none but DuckDB normalizes texts for us."""
    if published.engine.dialect != "duckdb":
        return []
    columns = published.manifest["columns"]["sensitive"]
    pairs = zip(columns, resolve_names(list(types), columns), strict=True)
    return [(column, _query(published, source, name)) for column, name in pairs if types[name] == "VARCHAR"]


def _query(published: PublishedTables, source: Source, column: str) -> str:
    value = Sql(f"(select cast({ident(column)} as varchar) as value from {source.relation})")
    return published.query("verification/look_alikes/look_alikes", {"original": value})


def report_look_alikes(published: PublishedTables, source: Source, types: Mapping[str, str]) -> list[Check]:
    """Return a check that reports how many values of each column look like another's; none where none does."""
    counts = {
        column: int(published.engine.rows(sql)[0]["values_alike"])
        for column, sql in look_alike_queries(published, source, types)
    }
    alike = {column: f"{count} values look like another" for column, count in counts.items() if count}
    return [Check(NAME, REPORTED, alike, None)] if alike else []
