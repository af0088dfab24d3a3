"""The one list of methods: a module, a template folder, a test and golden files, under one name each."""

from types import ModuleType

from sqlanon.methods import anatomy, robust, splu, uncertain

METHODS: dict[str, ModuleType] = {module.NAME: module for module in (anatomy, splu, robust, uncertain)}
