"""Adopt: make a verified release of tables that a macro, a dbt hook or a compiled script wrote.

The tables are copied in the column order of a release, and verified as any release is. What the tables cannot show is
taken from the caller: l or gamma, and how many rows were left out.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.runner import read_persons
from sqlanon.errors import UsageError, VerificationError
from sqlanon.forms import form_of
from sqlanon.interruption import visible_or_not
from sqlanon.methods import METHODS
from sqlanon.plans.manifest import Manifest, new_manifest
from sqlanon.plans.plan import Publication, Source, Statement, refuse_as_said
from sqlanon.plans.roles import resolve_names, split_columns
from sqlanon.plans.templates import ident, order
from sqlanon.publishing.publish import target_of
from sqlanon.read_places import refuse_alone
from sqlanon.releases.opening import Place
from sqlanon.releases.release import Release, open_release
from sqlanon.releases.verified_write import write_verified
from sqlanon.wording import option

Found = tuple[Source, Mapping[str, str]]
Asked = Mapping[str, Any]  # all that the verb was told of the tables, by its names


def adopt(asked: Asked, engine: Engine) -> Release:
    """Write tables as a release to a directory (`out`) or a schema (`into`), verified; return the release.

    Raises UsageError where the tables cannot be a release, and VerificationError where they do not hold what is said of
    them: nothing appears.
    """
    out, against, place = asked["out"], asked["against"], Place.of(asked["out"], asked["into"])
    refuse_alone(asked["overwrite"], None if place == Place() else place, "out", "into")
    outputs, manifest = statements(asked, engine)
    if asked["id"] and against is None:
        raise UsageError(f"{option('id')} names columns of the source; say which with {option('against', 'SOURCE')}")
    if asked["data"] is not None and against is None:
        raise UsageError(f"say {option('against', 'SOURCE')}: rows that nobody randomized look like those that were")
    source = None if against is None else engine.find_source(against)
    if asked["id"] and source is not None and asked["unit"] == "person":
        # what the tables promise is per row
        relation, columns = source[0].relation, list(source[1])
        refuse_as_said(read_persons(engine, relation, resolve_names(columns, split_columns(asked["id"], columns))))
    # whoever wrote the tables may write to them again: one moment for the copies and the comparison
    with (
        visible_or_not(),
        closing(target_of(engine, out, asked["into"], asked["overwrite"])) as target,
        engine.snapshot(),
        target,
    ):
        manifest, tables, _ = write_verified(
            engine, target, outputs, manifest, source, lambda manifest, _: _require_retention(manifest)
        )
    return open_release(out) if out is not None else Release(engine, tables, manifest, place)


def _require_retention(manifest: Manifest) -> None:
    """Refuse rows of which nobody can tell whether they were randomized: they may be the microdata."""
    if manifest["method"] == "splu" and manifest["verified"].get("retention") != "holds":
        raise VerificationError(
            "nobody is unique on the quasi columns, so that nobody can tell whether values were randomized; nothing was"
            " published"
        )


def statements(asked: Asked, engine: Engine) -> tuple[list[Statement], Manifest]:
    """Return the SELECTs that copy the tables, and the manifest as far as it is known before they are verified."""
    if asked["dropped_rows"] < 0:
        raise UsageError(
            f"{option('dropped_rows', asked['dropped_rows'])} is no number of rows;"
            " say how many the script left out, 0 if none"
        )
    groups = [table for table in (asked["qit"], asked["st"]) if table is not None]
    if len(groups) != (0 if asked["data"] is not None else 2):
        raise UsageError(f"give {option('qit')} and {option('st')}, or {option('data')} alone")
    return _randomized(asked, engine) if asked["data"] is not None else _grouped(asked, engine)


def _grouped(asked: Asked, engine: Engine) -> tuple[list[Statement], Manifest]:
    if asked["l"] is None or asked["gamma"] is not None:
        raise UsageError(f"say {option('l', flag='-l')}, which QIT and ST promise, and no {option('gamma')}")
    qit, st = engine.find_source(asked["qit"]), engine.find_source(asked["st"])
    (group,) = resolve_names(qit[1], [asked["group"]])
    group_in_st, count = resolve_names(st[1], [asked["group"], asked["count"]])
    candidates = split_columns(asked["sensitive"], st[1]) or [n for n in st[1] if n not in (group_in_st, count)]
    if len(candidates) != 1:
        listing = ", ".join(map(repr, candidates)) or "none"
        raise UsageError(f"ST has one sensitive column beside {group!r} and {count!r}; found {listing}")
    (sensitive,) = resolve_names(st[1], candidates)
    quasi = _quasi(asked, qit[1], {group})
    if sensitive.lower() in {name.lower() for name in quasi}:
        raise UsageError(
            f"QIT holds the sensitive column {sensitive!r} beside the group: that is no release, but microdata"
        )
    columns = {"quasi": quasi, "sensitive": [sensitive], "group": group, "count": count}
    manifest = _manifest("anatomy", {"l": asked["l"]}, columns, engine, asked)
    outputs = [
        _copy("qit", qit, [*quasi, group], manifest),
        _copy("st", st, [group_in_st, sensitive, count], manifest),
    ]
    return outputs, manifest


def _randomized(asked: Asked, engine: Engine) -> tuple[list[Statement], Manifest]:
    if asked["gamma"] is None or asked["l"] is not None or not asked["sensitive"]:
        raise UsageError(
            f"say {option('gamma')} and {option('sensitive')}, the randomized columns, and no {option('l', flag='-l')}"
        )
    data = engine.find_source(asked["data"])
    sensitive = resolve_names(data[1], split_columns(asked["sensitive"], data[1]))
    quasi = _quasi(asked, data[1], set(sensitive))
    defaults = {name: METHODS["splu"].parameters[name].default for name in ("epsilon", "alpha", "target_error")}
    parameters = {"gamma": dict.fromkeys(sensitive, asked["gamma"]), "residue": asked["residue"], **defaults}
    columns = {"quasi": quasi, "sensitive": list(sensitive)}
    manifest = _manifest("splu", parameters, columns, engine, asked)
    return [_copy("data", data, [*quasi, *sensitive], manifest)], manifest


def _quasi(asked: Asked, types: Mapping[str, str], others: set[str]) -> list[str]:
    names = resolve_names(types, split_columns(asked["quasi"], types))
    quasi = [name for name in names or types if name not in others]
    if not quasi:
        raise UsageError(f"there is no quasi-identifier column beside {', '.join(sorted(others))}")
    return quasi


def _manifest(
    method: str, parameters: Mapping[str, object], columns: Mapping[str, Any], engine: Engine, asked: Asked
) -> Manifest:
    known_of_persons = "many" if asked["unit"] == "row" else "one" if asked["id"] else "unchecked"
    # the column names of both tables are the manifest's: `adopted` tells that no plan of ours made them
    publication = Publication((), {**parameters, "rows_per_person": known_of_persons, "adopted": True}, columns, {})
    manifest = new_manifest(method, publication, engine.name, {}, asked["dropped_rows"])
    form_of(manifest).check_manifest(manifest, "the adopted tables")
    return manifest


def _copy(table: str, origin: Found, columns: Sequence[str], manifest: Manifest) -> Statement:
    """Return the SELECT of one published table, its columns under the names that the manifest says."""
    source, types = origin
    source.refuse_collated(columns)
    nested = [name for name in columns if types[name] == "NESTED"]
    if nested:
        raise UsageError(f"column {nested[0]!r} holds nested values; a release has columns of single values")
    published = form_of(manifest).published_columns(manifest)[table]
    selected = ", ".join(
        f"{source.expression(name)} as {ident(alias)}" for name, alias in zip(columns, published, strict=True)
    )
    # in an order that depends on nothing but what it shows
    shown = f"with shown as (select {selected} from {source.relation})"
    return Statement(table, f"{shown} select * from shown order by {order(published)}")
