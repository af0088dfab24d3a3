"""The one list of methods: a module, a template folder, a test and golden files, under one name each."""

from types import ModuleType

from sqlanon.methods import anatomy
from sqlanon.methods.robust import plan as robust
from sqlanon.methods.splu import plan as splu
from sqlanon.methods.uncertain import plan as uncertain

METHODS: dict[str, ModuleType] = {module.NAME: module for module in (anatomy, splu, robust, uncertain)}
