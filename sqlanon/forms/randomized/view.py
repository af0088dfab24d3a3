"""What an adversary sees of randomized rows."""

from collections.abc import Mapping
from functools import cached_property

from sqlanon.adversary.view import Promise, View, shown_sensitive
from sqlanon.forms.qit_st.view import AS_THEY_LIE, ExactView, shown_quasi
from sqlanon.forms.randomized.verification import find_uneven
from sqlanon.plans.templates import Sql
from sqlanon.verification.checks import PublishedTables


class RandomizedView(ExactView):
    """Rows with randomized values; of several sensitive columns the first."""

    table = "data"
    kept = "value"
    randomized = True

    @cached_property
    def promise(self) -> Promise:
        """Return the share of the rows that keep their value."""
        gamma = self.manifest["parameters"]["gamma"]
        return Promise((1 / (gamma[self.sensitive] if isinstance(gamma, dict) else gamma),))

    def people(self) -> Sql:
        """Return the published rows as they lie."""
        return self.show_people(self, self.published, "person")

    @staticmethod
    def show_people(view: View, published: PublishedTables, name: str) -> Sql:
        """Return the rows, with the columns that the people of `view` are known by."""
        sensitive = (shown_sensitive(published, "data", view.sensitive), "value")
        selected = [(AS_THEY_LIE, "person_number"), sensitive, *shown_quasi(published, "data", view.quasi)]
        stored = published.engine.in_stored_order(published.tables["data"])
        return view.keep(name, "source", {}, relation=stored, selected=selected)

    @property
    def own_share(self) -> float:
        """Return the share of the people who show their own value."""
        return self.promise.plain or 0.0

    def own_pairs(self) -> Sql:
        """Return everybody's combination with the value that they show."""
        return self.labelled()

    def find_kept(self, against: object) -> Mapping[str, float]:
        """Return the shares of people who publish their own value, by parts where these are beyond chance."""
        source, types = self.published.find_original(against)
        return find_uneven(self.published, source, types, self.sensitive)

    def values(self) -> Sql:
        """Return every published value with its number."""
        return self.keep("value", "adversary/view/value", {"holding": self.people()}, weight=Sql("1"))


VIEW = RandomizedView
