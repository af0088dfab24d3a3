"""What each published column is, in words: read off the manifest and the tables' types."""

from collections.abc import Callable, Iterator

from sqlanon.methods import METHODS
from sqlanon.methods.mondrian.read_manifest import described
from sqlanon.methods.published_forms import form_name
from sqlanon.plans.coarsening import Coarsening
from sqlanon.plans.manifest import Manifest
from sqlanon.releases.companions.column_types import TableTypes

_ROLES = {
    "quasi": "quasi-identifier, exact",
    "group": "the group of a row",
    "count": "how many rows of the group have the value",
    "label": "the label of a row",
    "qiid": "the number of a person's row",
    "alternatives": "what else the row may be",
}
_SENSITIVE = {
    "qit_st": "sensitive, listed for a group and for nobody in it",
    "several_qit_st": "sensitive, listed for a group and for nobody in it",
    "several_class_qit_st": "sensitive, listed for a group and for nobody in it",
    "class_qit_st": "sensitive, listed for a group and for nobody in it",
    "randomized": "sensitive, randomized: a row's value may not be its own",
    "uncertain": "sensitive, listed for a group and for nobody in it",
    "generalized": "sensitive, exact",
    "several_generalized": "sensitive, exact, of nobody in particular in the box",
}
_DOUBTFUL = "quasi-identifier, exact but for `*` and alternatives"
_PARTS = {
    "low": "the least {name} in the row's box",
    "high": "the largest {name} in the row's box",
    "unknown": "whether a row of the box may have no {name}",
    "node": "the lowest node of a hierarchy above each {name} in the row's box",
    "set": "each {name} in the row's box, a JSON list",
}


def describe_columns(
    manifest: Manifest, types: TableTypes, write_name: Callable[[str], str]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield table, column, type and role of every published column; write_name: how a column is named in a role."""
    roles = {
        name: description for role, description in _ROLES.items() for name in _listed(manifest["columns"].get(role, []))
    }
    roles |= _describe_boxes(manifest, write_name)
    form = form_name(manifest)
    if form == "uncertain":
        roles |= dict.fromkeys(manifest["columns"]["quasi"], _DOUBTFUL)
    for name, rule in manifest["parameters"].get("coarsen", {}).items():
        # of boxes the bounds are published, under names of their own
        roles |= {name: f"{roles[name]}; made coarser: {Coarsening(rule).words}"} if name in roles else {}
    sensitive = _SENSITIVE[form]
    for table, columns in types.items():
        for column, kind in columns.items():
            yield table, column, kind, roles.get(column, sensitive)


def _describe_boxes(manifest: Manifest, write_name: Callable[[str], str]) -> dict[str, str]:
    """Return what the columns of generalized rows are, none of other releases."""
    if METHODS[manifest["method"]].form != "generalized":
        return {}
    rules = manifest["parameters"].get("coarsen", {})
    coarser = {name: f"; made coarser: {Coarsening(rule).words}" for name, rule in rules.items()}
    return {
        name: _PARTS[part].format(name=write_name(attribute.name)) + coarser.get(attribute.name, "")
        for attribute in described(manifest)
        for part, name in attribute.names.items()
    }


def _listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names
