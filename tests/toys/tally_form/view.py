"""What an adversary sees of crowds: groups of people alike."""

from collections.abc import Mapping
from dataclasses import replace

from sqlanon.adversary.view import View
from sqlanon.engines.base import Engine
from sqlanon.forms.qit_st.view import GroupView
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import PublishedTables
from tests.toys.tally_form import as_groups


class CrowdView(GroupView):
    """Crowds as groups: nobody has a place in one, and none has a number."""

    numbered = False
    even = False

    def __init__(self, engine: Engine, tables: Mapping[str, Sql], manifest: Manifest) -> None:
        """Take the published table and the manifest."""
        super().__init__(engine, *as_groups(tables, manifest))

    @staticmethod
    def find_candidates(view: View, published: PublishedTables, name: str) -> Sql:
        """Return the values of everybody's crowd."""
        if "tally" in published.tables:  # another release's
            tables, manifest = as_groups(published.tables, published.manifest)
            published = replace(published, tables=tables, manifest=manifest)
        return GroupView.find_candidates(view, published, name)


VIEW = CrowdView
