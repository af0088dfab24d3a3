"""What a check is about, before any database was looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlanon.errors import UsageError
from sqlanon.plans.roles import TWO_ROLES, resolve_names, split_columns
from sqlanon.risks.limits import Limits
from sqlanon.wording import option

MOST_QUASI = 12  # columns whose pairs are all looked at


@dataclass(frozen=True, kw_only=True)
class CheckQuestion:
    """A source, the roles of its columns as far as they are known, what is required, and what is known of a population.

    population: a table with the quasi columns, of which the source is a part. sampled: the share of the population that
    the source is. coarsen: rules by quasi column, as for a release.
    Any role may be empty; without quasi columns the columns are described and roles suggested.
    """

    source: object
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifier: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    population: object = None
    sampled: float | None = None
    coarsen: Mapping[str, str] = field(default_factory=dict)

    def resolved(self, columns: Sequence[str]) -> "CheckQuestion":
        """Return the question with columns spelled as the source has them; raise UsageError for what cannot be."""
        roles = {
            option(name): resolve_names(columns, split_columns(getattr(self, role), columns))
            for name, role in (("quasi", "quasi"), ("sensitive", "sensitive"), ("id", "identifier"))
        }
        roles_by_name: dict[str, str] = {}
        for role, names in roles.items():
            for name in names:
                if name in roles_by_name:
                    raise UsageError(TWO_ROLES.format(column=repr(name), one=roles_by_name[name], other=role))
                roles_by_name[name] = role
        quasi, sensitive, identifier = roles.values()
        self._refuse_without(quasi, sensitive)
        if len(quasi) > MOST_QUASI:
            raise UsageError(
                f"at most {MOST_QUASI} quasi columns are checked, pair by pair; {option('quasi')} names {len(quasi)}"
            )
        return CheckQuestion(
            source=self.source, quasi=quasi, sensitive=sensitive, identifier=identifier, limits=self.limits,
            population=self.population, sampled=self.sampled, coarsen=self.coarsen,
        )  # fmt: skip

    def _refuse_without(self, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> None:
        of_population = self.population is not None or self.sampled is not None
        needs_quasi = self.coarsen or self.limits.asked or of_population or sensitive
        if needs_quasi and not quasi:
            raise UsageError(f"classes are made by quasi columns; name them with {option('quasi')}")
        if self.limits.of_values and not sensitive:
            name = next(iter(self.limits.of_values))
            raise UsageError(f"{name} is about sensitive values; name their column with {option('sensitive')}")
        if self.population is not None and self.sampled is not None:
            raise UsageError(f"say {option('population')} or {option('sampled')}, not both: one tells the other")
