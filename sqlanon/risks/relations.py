"""What every question about a table's risks reads: its rows under names of ours, classes, and values in them."""

from collections.abc import Mapping

from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Source
from sqlanon.plans.templates import Sql, ident
from sqlanon.risks.question import CheckQuestion


def internal_names(question: CheckQuestion) -> dict[str, str]:
    """Return published name → the name of ours under which it is read: no column of the user's meets one of ours."""
    roles = {"quasi": question.quasi, "value": question.sensitive, "identifier": question.identifier}
    return {name: f"{role}_{n}" for role, names in roles.items() for n, name in enumerate(names, start=1)}


def select_columns(source: Source, names: Mapping[str, str]) -> Sql:
    """Return a subquery over a source with some of its columns under names of ours."""
    selected = ", ".join(f"{source.expression(name)} as {ident(ours)}" for name, ours in names.items())
    return Sql(f"(select {selected} from {source.relation})")


def class_values(question: CheckQuestion, column: str) -> Chapter:
    """Return the chapter that counts a sensitive column's values in the classes; it reads `microdata`."""
    names = internal_names(question)
    return Chapter("check/class_values", {"quasi": [names[name] for name in question.quasi], "value": names[column]})


def classes(question: CheckQuestion, k: int) -> Chapter:
    """Return the chapter of the classes, which reads `class_value` of a sensitive column where there is one."""
    names = internal_names(question)
    values = {
        "quasi": [names[name] for name in question.quasi],
        "counted": bool(question.sensitive),
        "k": k,
        "identifiers": [names[name] for name in question.identifier],
    }
    return Chapter("check/classes", values)


def measures(question: CheckQuestion, ordered: bool) -> Chapter:
    """Return the chapter that measures a sensitive column; ordered: whether t is by the order of its values."""
    names, recursive = internal_names(question), question.limits.recursive
    values = {
        "quasi": [names[name] for name in question.quasi],
        "ordered": ordered,
        "recursive": recursive[1] if recursive else None,
    }
    return Chapter("check/measures", values)
