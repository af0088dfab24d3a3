"""The one list of methods; each is one object, and everything that a user sees of it is read off that."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlanon.methods.base import Method

MODULES = {  # where each is declared, under its own name in capitals
    "anatomy": "sqlanon.methods.anatomy",
    "splu": "sqlanon.methods.splu.plan",
    "robust": "sqlanon.methods.robust.plan",
    "uncertain": "sqlanon.methods.uncertain.plan",
    "mondrian": "sqlanon.methods.mondrian.plan",
}


class _Methods(Mapping[str, "Method[Any]"]):
    """Load a method when it is first asked for: whoever has a release needs the one that made it."""

    def __getitem__(self, name: str) -> "Method[Any]":
        method: Method[Any] = getattr(import_module(MODULES[name]), name.upper())
        return method

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)

    def __contains__(self, name: object) -> bool:
        return name in MODULES


METHODS = _Methods()
