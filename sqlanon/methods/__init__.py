"""The one list of methods; each is one object, and everything that a user sees of it is read off that."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sqlanon.loaded import Loaded

if TYPE_CHECKING:
    from sqlanon.methods.base import Method

MODULES = {  # where each is declared, under its own name in capitals
    "anatomy": "sqlanon.methods.anatomy",
    "splu": "sqlanon.methods.splu.plan",
    "robust": "sqlanon.methods.robust.plan",
    "uncertain": "sqlanon.methods.uncertain.plan",
    "mondrian": "sqlanon.methods.mondrian.plan",
}


def _load(name: str) -> "Method[Any]":
    method: Method[Any] = getattr(import_module(MODULES[name]), name.upper())
    return method


METHODS = Loaded(MODULES, _load)
