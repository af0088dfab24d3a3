"""The sensitive columns of boxes: each has a published table of its own, so that no row shows two values together."""

from dataclasses import dataclass

from sqlanon.methods.internal_names import sensitive_names
from sqlanon.plans.plan import Request, relation_name
from sqlanon.plans.templates import Sql


@dataclass(frozen=True)
class SensitiveColumn:
    """One sensitive column: its name in the source, and in our relations (`sensitive`, `sensitive_2` …)."""

    name: str
    internal: str

    @property
    def suffix(self) -> str:
        """Return what tells its relations, and its published table, from those of the first column."""
        return self.internal.removeprefix("sensitive")

    @property
    def code(self) -> str:
        """Return the column of its codes."""
        return f"sensitive_code{self.suffix}"

    def dictionary(self, prefix: str) -> Sql:
        """Return the relation of its numbered values."""
        return relation_name(prefix, f"sensitive_value{self.suffix}")


def sensitive_columns(request: Request) -> tuple[SensitiveColumn, ...]:
    """Return the sensitive columns in their order."""
    return tuple(map(SensitiveColumn, request.roles.sensitive, sensitive_names(request)))
