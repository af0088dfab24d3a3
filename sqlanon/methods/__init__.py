"""The one list of methods; each is one object, and everything that a user sees of it is read off that."""

from typing import Any

from sqlanon.methods.anatomy import ANATOMY
from sqlanon.methods.base import Method
from sqlanon.methods.mondrian.plan import MONDRIAN
from sqlanon.methods.robust.plan import ROBUST
from sqlanon.methods.splu.plan import SPLU
from sqlanon.methods.uncertain.plan import UNCERTAIN

METHODS: dict[str, Method[Any]] = {
    "anatomy": ANATOMY,
    "splu": SPLU,
    "robust": ROBUST,
    "uncertain": UNCERTAIN,
    "mondrian": MONDRIAN,
}
