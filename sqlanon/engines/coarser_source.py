"""A source whose quasi columns are read coarser than they are: by rules, tables of values and labels, or a key."""

from collections.abc import Mapping
from dataclasses import replace

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import fresh_prefix
from sqlanon.errors import DataError, UsageError, undone_by
from sqlanon.key import Key
from sqlanon.plans.build import render_queries, render_query
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.coarsening import PSEUDONYM, Coarsening, resolve_rules
from sqlanon.plans.plan import Source, relation_name
from sqlanon.plans.roles import free_name, resolve_names, tell_columns
from sqlanon.plans.templates import Sql, ident
from sqlanon.wording import option

FROM, TO = "from", "to"  # columns of a table of values and labels
SHOWN_PLACES = (1, 2, 3)  # of the values that have no label


def coarsen_source(
    engine: Engine,
    source: Source,
    types: Mapping[str, str],
    rules: Mapping[str, str],
    quasi: tuple[str, ...],
    key: Key | None = None,
) -> tuple[Source, Mapping[str, str]]:
    """Return the source with quasi columns read coarser, and the types of its columns then.

    rules: by column, as they are typed; quasi: the columns that may have one; key: of the draws, which hashes nothing.
    What holds the key of pseudonyms (`Source.keys`) stays in the session until it is dropped.
    Raises UsageError for rules that are not for these columns and for tables that map no values, DataError where values
    of the source have no label, or no year.
    """
    resolved = resolve_rules(rules, quasi, types)
    for column, rule in resolved.items():
        if rule.reads_years(types[column]):
            named = f"{option('coarsen')} {column}={rule.rule!r}: "
            lies = f", which lies in no {rule.rule}"
            refuse_endless(engine, source.relation, column, source.expression(column), named, lies)
    mapped = {column: rule for column, rule in resolved.items() if rule.table}
    if not mapped:
        return source.coarsened(types, resolved)
    files = {rule.table for rule in mapped.values() if rule.rule == PSEUDONYM}
    keys = {file: (relation_name(fresh_prefix(), "pseudonym_key"), _read_key(file, key)) for file in files}
    names, lines, tables = list(types), [], dict[str, Sql]()
    for column, rule in mapped.items():
        expression = source.expression(column).removesuffix(' collate "C"')
        reading = Sql(f'cast({expression} as varchar) collate "C"')
        if rule.rule == PSEUDONYM:
            relations = {"origin": source.relation, "key": keys[rule.table][0]}
            tables[column] = Sql(f"(\n{render_query('pseudonym', {'reading': reading}, relations)}\n)")
        else:
            tables[column] = _find_labels(engine, source.relation, reading, column, rule)
        names.append(free_name("value", names))
        lines.append((column, reading, names[-1], tables[column]))
    number_name = free_name("row_number", names)
    values = {
        "kept": [name for name in types if name not in mapped],
        "numbering": source.numbering,
        "number_name": number_name,
        "mapped": lines,
    }
    sql = render_query("labelled", values, {"origin": source.relation})
    labelled = replace(
        source,
        relation=Sql(f"(\n{sql}\n)"),
        numbering=ident(number_name),
        casts={name: sql_type for name, sql_type in source.casts.items() if name not in mapped},
        floats={name: sql_type for name, sql_type in source.floats.items() if name not in mapped},
        labels=tables,
        keys=tuple(str(relation) for relation, _ in keys.values()),
    )
    coarser = labelled.coarsened(types, resolved)
    # last: a request that is refused leaves no key in the session
    with undone_by(lambda: engine.drop(labelled.keys)):
        for relation, own in keys.values():
            engine.keep_key(relation, own)
    return coarser


def _find_labels(engine: Engine, origin: Sql, reading: Sql, column: str, rule: Coarsening) -> Sql:
    """Return the table of each value and its label that a rule names, once every value of the column has one."""
    named = f"{option('coarsen')} {column}={rule.typed!r}"
    place, level = rule.place
    # a hierarchy has a value and its levels in each line, and no line of names
    table, table_types = engine.find_source(place, as_text="lines" if level else True)
    from_name, to_name = _find_columns(named, column, rule.table, table_types, level)
    values = {"from_name": from_name, "to_name": to_name, "reading": reading, "places": SHOWN_PLACES}
    queries = render_queries(Chapter("labels", values), {"origin": origin, "labels": table.relation})
    (faults,) = engine.rows(queries["faults"])
    if faults["empty_count"]:
        raise UsageError(
            f"{named}: {faults['empty_count']:,} of {faults['line_count']:,} lines have no {FROM} or no {TO}: write a"
            " label for each value (who has no value stays without)",
            about=["coarsen"],
        )
    if faults["repeated_count"]:
        several = f"{faults['repeated_count']:,} values stand in several lines"
        raise UsageError(f"{named}: {several}; leave one line for each", about=["coarsen"])
    (lacking,) = engine.rows(queries["unmapped"])
    if lacking["value_count"]:
        shown = [repr(text) for place in SHOWN_PLACES if (text := lacking[f"value_{place}"]) is not None]
        beginning = ", the first are " if lacking["value_count"] > len(shown) else ": "
        raise DataError(
            f"{named} has no label for {lacking['value_count']:,} values of {column} ({lacking['row_count']:,} rows)"
            f"{beginning}{', '.join(shown)}; add a line for each, if need be with the label 'other'",
            about=["coarsen"],
        )
    value, label = (f"cast({ident(name)} as varchar)" for name in (from_name, to_name))
    return Sql(f'(select {value} collate "C" as value, {label} as label from {table.relation})')


def _find_columns(named: str, column: str, table: str, columns: Mapping[str, str], level: int) -> tuple[str, str]:
    """Return the columns of a table that hold a value and its label."""
    names = list(columns)
    if level >= len(names):
        raise UsageError(f"{named}: the hierarchy has {len(names) - 1} levels above its values", about=["coarsen"])
    if level:
        return names[0], names[level]
    try:
        from_name, to_name = resolve_names(columns, (FROM, TO))
    except UsageError:
        raise UsageError(
            f"{named}: a table of labels has the columns {FROM} (a value of {column}) and {TO} (its label);"
            f" {tell_columns(columns)}; of a hierarchy, a value and its levels in each line, say which level:"
            f" {column}={table}@1",
            about=["coarsen"],
        ) from None
    return from_name, to_name


def _read_key(file: str, key: Key | None) -> Key:
    """Return a file's key of pseudonyms; refuse that of the draws."""
    own = Key.from_file(file)
    if key is not None and key.text == own.text:
        raise UsageError(
            "the key of pseudonyms is that of the draws: who gets it, to hash another table alike, could undo the"
            " release; make another one with: openssl rand -hex 32",
            about=["coarsen"],
        )
    return own


def refuse_endless(
    engine: Engine, relation: Sql, column: str, reading: Sql, named: str = "", consequence: str = ""
) -> None:
    """Raise DataError where a column of dates or timestamps has infinite ones.

    reading: the SQL that reads the column. named: what stands before the message; consequence: behind the date.
    """
    if "infinite_dates" in engine.lacks:
        return
    endless = "(cast('infinity' as timestamp), cast('-infinity' as timestamp))"
    (row,) = engine.rows(
        f"select count(*) as row_count from {relation} where cast({reading} as timestamp) in {endless}"
    )
    if row["row_count"]:
        raise DataError(
            f"{named}{row['row_count']:,} rows have an infinite date in {column!r}{consequence}; read the column as"
            f" CASE WHEN isfinite({column}) THEN {column} END AS {column} in a view or a {option('query')}",
            about=["coarsen"] if named else [column],
        )
