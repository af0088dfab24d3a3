"""What a check is about, before any database was looked at."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlanon.errors import UsageError
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import TWO_ROLES, resolve_names, split_columns
from sqlanon.plans.templates import Sql, ident
from sqlanon.risks.limits import Limits
from sqlanon.wording import option

USUAL_SIZE = 5  # people in a group, where none is asked for
MOST_QUASI = 12  # columns whose pairs are all looked at


@dataclass(frozen=True, kw_only=True)
class CheckQuestion:
    """A source, the roles of its columns as far as they are known, what is required, and what is known of a population.

    population: a table with the quasi columns, of which the source is a part. sampled: the share of the population that
    the source is. coarsen: rules by quasi column, as for a release. subsets: how many quasi columns are looked at
    together at most.
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
    subsets: int | None = None

    def resolved(self, columns: Collection[str]) -> "CheckQuestion":
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
        if self.subsets is not None and self.subsets < 1:
            raise UsageError(f"{option('subsets', self.subsets)} looks at no columns; say 1 or more")
        of_population = self.population is not None or self.sampled is not None
        needs_quasi = self.coarsen or of_population or (self.limits.asked and not (sensitive or self.subsets))
        if needs_quasi and not quasi:
            raise UsageError(f"classes are made by quasi columns; name them with {option('quasi')}")
        if self.limits.of_values and not sensitive:
            name = next(iter(self.limits.of_values))
            raise UsageError(f"{name} is about sensitive values; name their column with {option('sensitive')}")
        if self.population is not None and self.sampled is not None:
            raise UsageError(f"say {option('population')} or {option('sampled')}, not both: one tells the other")
        if len(quasi) > MOST_QUASI:
            raise UsageError(
                f"at most {MOST_QUASI} quasi columns are checked, pair by pair; {option('quasi')} names {len(quasi)}"
            )
        return replace(self, quasi=quasi, sensitive=sensitive, identifier=identifier)

    @property
    def names(self) -> dict[str, str]:
        """Return published name → the name of ours under which it is read, which no column of the user's meets."""
        roles = {"quasi": self.quasi, "value": self.sensitive, "identifier": self.identifier}
        return {name: f"{role}_{n}" for role, names in roles.items() for n, name in enumerate(names, start=1)}

    def ours(self, names: Sequence[str]) -> list[str]:
        """Return columns under our names."""
        ours = self.names
        return [ours[name] for name in names]

    def class_values(self, column: str) -> Chapter:
        """Return the chapter that counts a sensitive column's values in the classes; it reads `microdata`."""
        return Chapter("check/columns/class_value", {"quasi": self.ours(self.quasi), "value": self.names[column]})

    def classes(self, k: int) -> Chapter:
        """Return the chapter of the classes, which reads `class_value` of a sensitive column where there is one."""
        values = {"quasi": self.ours(self.quasi), "counted": bool(self.sensitive), "k": k}
        return Chapter("check/classes", {**values, "identifiers": self.ours(self.identifier)})

    def measures(self, ordered: bool) -> Chapter:
        """Return the chapter that measures a sensitive column; ordered: whether t is by the order of its values."""
        recursive = self.limits.recursive[1] if self.limits.recursive else None
        values = {"quasi": self.ours(self.quasi), "ordered": ordered, "recursive": recursive}
        values["l"] = self.limits.l or USUAL_SIZE
        return Chapter("check/measures", values)


def select_columns(source: Source, names: Mapping[str, str]) -> Sql:
    """Return a subquery over a source with some of its columns under names of ours."""
    selected = ", ".join(f"{source.expression(name)} as {ident(ours)}" for name, ours in names.items())
    return Sql(f"(select {selected} from {source.relation})")
