"""Which column is a quasi-identifier, sensitive, or an identifier; which name is free."""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from sqlanon.errors import UsageError
from sqlanon.wording import find_near, option

NO_COLUMN = "no column {missing} in the source; its columns are {columns}"
NAMELESS = "the first line of the file is to hold the names of its columns, and seems not to"
ONE_COLUMN = "of a text file the first line is to hold the names of its columns, with commas between them"
NO_QUASI = "name at least one quasi-identifier column with " + option("quasi")
TWO_ROLES = "column {column} stands in {one} and in {other}; a column has one role"


@dataclass(frozen=True)
class Roles:
    """Name the columns of a source by what they tell: published exactly, protected, never published."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifier: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Return every column that has a role."""
        return self.quasi + self.sensitive + self.identifier


def split_columns(texts: Iterable[str], columns: Collection[str] | None = None) -> tuple[str, ...]:
    """Turn option texts into column names: a text that is a column is that column, else commas split it."""
    lower_names = {column.lower() for column in columns or ()}
    names: list[str] = []
    for text in texts:
        if text.lower() in lower_names:
            names.append(text)
        else:
            names.extend(part.strip() for part in text.split(","))
    if any(not name for name in names):
        raise UsageError("an empty column name was given; write names separated by single commas")
    return tuple(names)


def resolve_roles(
    columns: Collection[str],
    quasi: Iterable[str],
    sensitive: Iterable[str],
    identifier: Iterable[str] = (),
) -> Roles:
    """Match the asked names with `columns` (case does not count) and refuse doubles and overlaps."""
    return checked_roles(
        resolve_names(columns, split_columns(quasi, columns)),
        resolve_names(columns, split_columns(sensitive, columns)),
        resolve_names(columns, split_columns(identifier, columns)),
    )


def resolve_names(columns: Collection[str], names: Iterable[str], words: str = NO_COLUMN) -> tuple[str, ...]:
    """Return `names` as `columns` spell them (case does not count); refuse what is not among them, in these words."""
    spelled = {column.lower(): column for column in columns}
    names = tuple(names)
    missing = [name for name in names if name.lower() not in spelled]
    if missing:
        several = next((name.split() for name in missing if len(name.split()) > 1), [])
        if several and all(name.lower() in spelled for name in several):
            raise UsageError(f"{' '.join(several)!r} is several columns: write {','.join(several)}", about=missing)
        known = () if is_nameless(columns) else columns
        message = words.format(missing=_listed(missing), columns=_listed(columns))
        if not known:
            message = f"no column {_listed(missing)} in the source; {NAMELESS}"
        elif len(columns) == 1 and words == NO_COLUMN:
            message += f"; {ONE_COLUMN}"
        near = dict.fromkeys(match for name in missing for match in find_near(name, known, most=1))
        raise UsageError(message + (f"; did you mean {_listed(near)}?" if near else ""), about=missing)
    return tuple(spelled[name.lower()] for name in names)


class SourceColumns(dict[str, str]):
    """The types of a source's columns by their names; `are_values` looks whether these are values of theirs."""

    are_values: Callable[[], bool] = staticmethod(lambda: False)


def is_nameless(columns: Iterable[str]) -> bool:
    """Tell whether the names are a row, or DuckDB's, as where the first line of a text file looks like all others."""
    made_up = all(re.fullmatch(r"column\d+", name) for name in columns)
    return made_up or (isinstance(columns, SourceColumns) and columns.are_values())


def tell_columns(columns: Iterable[str]) -> str:
    """Return what a message says of a source's columns: their names, but not where these seem to be somebody's row."""
    return NAMELESS if is_nameless(columns) else f"its columns are {_listed(columns)}"


def checked_roles(quasi: tuple[str, ...], sensitive: tuple[str, ...], identifier: tuple[str, ...]) -> Roles:
    """Refuse empty roles, a column named twice in one role, and a column in two roles."""
    if not quasi:
        raise UsageError(NO_QUASI)
    if not sensitive:
        raise UsageError(f"name the sensitive column with {option('sensitive')}")
    by_role = {option("quasi"): quasi, option("sensitive"): sensitive, option("id"): identifier}
    roles: dict[str, str] = {}
    for role, names in by_role.items():
        for name in names:
            before = roles.setdefault(name.lower(), role)
            if before == role and sum(n.lower() == name.lower() for n in names) > 1:
                raise UsageError(f"column {name!r} is named twice in {role}; name it once", about=[name])
            if before != role:
                raise UsageError(TWO_ROLES.format(column=repr(name), one=before, other=role), about=[name])
    return Roles(quasi, sensitive, identifier)


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """Return `wanted`, or the next of `wanted_2`, `wanted_3` … that no taken name equals without case."""
    used = {name.lower() for name in taken}
    name, number = wanted, 1
    while name.lower() in used:
        number += 1
        name = f"{wanted}_{number}"
    return name


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
