"""What each published column is, in words: read off the manifest and the tables' types."""

from collections.abc import Callable, Iterator

from sqlanon.forms import form_of
from sqlanon.methods.kinds import one_or_several
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


def describe_columns(
    manifest: Manifest, types: TableTypes, write_name: Callable[[str], str]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield table, column, type and role of every published column; write_name: how a column is named in a role."""
    published = manifest["columns"]
    roles = {name: words for role, words in _ROLES.items() for name in one_or_several(published.get(role, ()))}
    form = form_of(manifest)
    roles |= form.describe_quasi(manifest, write_name)
    for name, rule in manifest["parameters"].get("coarsen", {}).items():
        if name in roles:  # of boxes the bounds are published, under names of their own
            roles[name] = f"{roles[name].removesuffix(', exact')}; made coarser: {Coarsening(rule).words}"
    sensitive = form.describe_sensitive(manifest)
    for table, columns in types.items():
        for column, sql_type in columns.items():
            yield table, column, sql_type, roles.get(column, sensitive)
