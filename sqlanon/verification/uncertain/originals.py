"""The source of a release of uncertain data, read as it was published: every attribute a list of alternatives.

How its cells were written (lists, braces, tuple-ors) stands in the manifest: it is no secret.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlanon.errors import ReleaseError
from sqlanon.methods.uncertain.read_manifest import Described, described
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import Published

LABEL, TIE = "label", "tie"


@dataclass(frozen=True)
class Original:
    """A source's rows with lists of alternatives under internal names, and the types that the source gives them.

    rows: quasi_1 …, sensitive, label (where one is published). kinds: internal name → type of one alternative.
    """

    rows: Sql
    kinds: Mapping[str, Sql]
    labels: tuple[str, ...]


def original(published: Published, source: Source, types: Mapping[str, str]) -> Original:
    """Read a source by what the manifest says of it; raise UsageError where it lacks a column."""
    manifest = published.manifest
    columns, parameters, said = manifest["columns"], manifest["parameters"], described(manifest)
    internal = {name: f"quasi_{number}" for number, name in enumerate(said.quasi, start=1)}
    internal[columns["sensitive"][0]] = "sensitive"
    tie = parameters.get("alternative_of")
    passed = {columns[LABEL]: LABEL} if LABEL in columns else {}
    wanted = [*internal.items(), *passed.items(), *([(tie, TIE)] if isinstance(tie, str) else [])]
    names = [name for name, _ in wanted]  # a label may be the tie as well
    spelled = dict(zip(names, resolve_names(list(types), names), strict=True))
    texts = _braced(manifest, said, {name: types[spelled[name]] for name in internal})
    kinds = {name: texts.get(name, source.lists.get(spelled[name], types[spelled[name]])) for name in internal}
    nested = [name for name, kind in kinds.items() if kind == "NESTED"]
    if nested:
        raise ReleaseError(f"the source's column {nested[0]!r} holds nested values, which the release does not have")
    selected = [(source.expression(spelled[name]), ours) for name, ours in wanted]
    selected.append((Sql("row_number() over ()"), "row_number"))
    rows = _inline(published, "shared/source", relation=source.relation, selected=selected)
    labels = tuple(passed.values())
    lists = [internal[name] for name in internal if name in texts or spelled[name] in source.lists]
    if texts:
        kept = [
            ours
            for ours in (*(ours for _, ours in wanted), "row_number")
            if ours not in {internal[name] for name in texts}
        ]
        cast = [(internal[name], Sql(f"{kind}[]")) for name, kind in texts.items()]
        rows = _inline(
            published,
            "shared/listed",
            {"source": rows},
            passed_columns=kept,
            text_columns=cast,
        )
    scalars = [ours for ours in internal.values() if ours not in lists]
    if isinstance(tie, str):
        named = {"single_columns": labels, "scalar_columns": scalars, "list_columns": lists}
        rows = _inline(published, "shared/folded", {"source": rows}, **named)
        lists, scalars = [*lists, *scalars], []
    rows = _inline(
        published, "verification/uncertain/listed_row", {"source": rows}, passed=labels, lists=lists, scalars=scalars
    )
    return Original(rows, {internal[name]: Sql(kind) for name, kind in kinds.items()}, labels)


def _braced(manifest: Manifest, said: Described, kinds: Mapping[str, str]) -> dict[str, str]:
    """Return the text columns whose cells may stand in braces, with the type of one alternative."""
    if manifest["parameters"].get("alternatives") != "braces":
        return {}
    told = {name: said.types[name] if name not in said.hierarchies else "VARCHAR" for name in said.quasi}
    return {name: told.get(name, "VARCHAR") for name, kind in kinds.items() if kind == "VARCHAR"}


def _inline(published: Published, template: str, given: Mapping[str, Sql] | None = None, **values: object) -> Sql:
    return Sql(f"(\n{published.query(template, given or {}, **values)}\n)")
