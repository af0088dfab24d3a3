"""The forms that a release takes, an object each: nothing outside this package asks what a form is called."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlanon.forms.form import Form
from sqlanon.loaded import Loaded
from sqlanon.methods import METHODS

_FOLDERS = sorted(place.parent.name for place in Path(__file__).parent.glob("*/__init__.py"))
MODULES = {name: f"sqlanon.forms.{name}" for name in _FOLDERS}  # where each is declared, under its name in capitals


def _load(name: str) -> Form:
    form: Form = getattr(import_module(MODULES[name]), name.upper())
    return form


FORMS = Loaded(MODULES, _load)


def form_of_method(method: str) -> Form:
    """Return the form of what a method publishes, of one sensitive column."""
    return FORMS[METHODS[method].form]


def form_of(manifest: Mapping[str, Any]) -> Form:
    """Return the form of a release, by the method that its manifest names."""
    return form_of_method(manifest["method"])


def has_several(manifest: Mapping[str, Any]) -> bool:
    """Tell whether each of several sensitive columns has a table by itself."""
    return form_of(manifest).has_several(manifest)
