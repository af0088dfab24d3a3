"""What is published of partitions: bounds, nodes and sets of values, and every row's exact sensitive values."""

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.methods.base import REMADE, Steps
from sqlanon.methods.mondrian.attributes import UNKNOWN_CODE, Attribute
from sqlanon.methods.mondrian.sensitive_columns import SensitiveColumn
from sqlanon.plans.plan import Step, relation_name


def made(attributes: Sequence[Attribute], prefix: str, rows: str) -> Steps:
    """Return the steps that end in `box`: what is published of each partition; rows: the relation of the rows."""
    reads = {"splitting": rows}
    sets = [attribute for attribute in attributes if attribute.shape == "set"]
    values = {
        "numbers": [
            (attribute.number, attribute.dictionary(prefix)) for attribute in attributes if attribute.shape == "bounds"
        ],
        "nodes": [
            (attribute.number, attribute.dictionary(prefix), attribute.levels[::-1], attribute.hierarchy.root)
            for attribute in attributes
            if attribute.hierarchy is not None
        ],
        "sets": [(attribute.number, relation_name(prefix, f"value_set{attribute.suffix}")) for attribute in sets],
        "unknown_code": UNKNOWN_CODE,
    }
    listed = (
        Step(
            "methods/mondrian/boxes/value_set",
            suffix=attribute.suffix,
            values={"column": attribute.code, "dictionary": attribute.dictionary(prefix)},
            reads=reads,
        )
        for attribute in sets
    )
    return (*listed, Step("methods/mondrian/boxes/box", values=values, reads=reads))


def published(attributes: Sequence[Attribute], sensitive: Sequence[SensitiveColumn], rows: str) -> Steps:
    """Return the steps of the published tables: the boxes with each sensitive column by itself."""
    shown_columns = [pair for attribute in attributes for pair in attribute.shown]
    return tuple(
        Step(
            "methods/mondrian/boxes/data",
            suffix=sensitive_column.suffix,
            values={
                "shown": shown_columns,
                "sensitive": sensitive_column.name,
                "sensitive_code": sensitive_column.code,
            },
            reads={"splitting": rows, "sensitive_value": f"sensitive_value{sensitive_column.suffix}"},
        )
        for sensitive_column in sensitive
    )


def linked(attributes: Sequence[Attribute], sensitive: Sequence[SensitiveColumn], prefix: str, rows: str) -> Steps:
    """Return the views of the rows as the run knows them to the end, and of the boxes made once more."""
    dictionaries = [(attribute.number, attribute.dictionary(prefix)) for attribute in attributes]
    views = tuple(
        Step(
            "methods/mondrian/boxes/linked",
            "view",
            suffix=sensitive_column.suffix,
            values={"dictionaries": dictionaries, "sensitive_code": sensitive_column.code},
            reads={"splitting": rows, "sensitive_value": f"sensitive_value{sensitive_column.suffix}"},
        )
        for sensitive_column in sensitive
    )
    *_, box = made(attributes, prefix, rows)
    assert isinstance(box, Step)
    return (*views, replace(box, kind="view", yields=f"box{REMADE}"))
