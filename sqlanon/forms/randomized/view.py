"""What an adversary sees of randomized rows."""

from functools import cached_property

from sqlanon.adversary.view import Promise
from sqlanon.forms.qit_st.view import ExactView, shown_quasi
from sqlanon.plans.templates import Sql


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
        stored = {"stored_data": self.engine.in_stored_order(self.tables["data"])}
        return self.keep(
            "person",
            "adversary/view/published_person",
            stored,
            quasi=shown_quasi(self.published, self.table, self.quasi),
            sensitive=self.sensitive,
        )

    def values(self) -> Sql:
        """Return every published value with its number."""
        return self.keep("value", "adversary/view/value", {"holding": self.people()}, weight=Sql("1"))
