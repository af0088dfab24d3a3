"""Estimate what learning and orders reach from a sample of whole groups, and state the error of the estimate."""

from dataclasses import dataclass

from sqlanon.adversary.findings import NORMAL_QUANTILE
from sqlanon.adversary.view import View
from sqlanon.errors import UsageError
from sqlanon.forms.form import Form
from sqlanon.wording import option

LEAST = 10_000  # rows; with fewer, a share is known to one percentage point at best, and little is learned


def read_sample(rows: int | None, seed: int | None) -> "Sample | None":
    """Return the sample that was asked for, if any; raise UsageError for a seed without one."""
    if rows is None and seed is not None:
        raise UsageError(f"{option('seed')} draws a sample; say {option('sample', '100000')} as well")
    return None if rows is None else Sample(rows, 1 if seed is None else seed)


SAMPLED = "orders were matched and learning ran on a sample"


def draws_groups(form: Form) -> bool:
    """Tell whether whole groups can be drawn of a release of some form."""
    return not form.view.lacks_groups


@dataclass(frozen=True)
class Sample:
    """How many rows, about, and the seed by which their groups are drawn. required: whether all else is refused."""

    rows: int
    seed: int = 1
    required: bool = True

    def __post_init__(self) -> None:
        """Refuse a sample of too few rows."""
        if self.rows < LEAST:
            raise UsageError(
                f"{option('sample')} takes at least {LEAST:,} rows, by which a share is known to a point of a hundred;"
                f" {self.rows:,} tell too little"
            )

    def tell(self, rows: int) -> list[str]:
        """Say what a comparison's shares are of, where a table has more rows than that."""
        half = NORMAL_QUANTILE * 0.5 / self.rows**0.5
        words = (
            f"groups are attacked on a sample of about {self.rows:,} of {rows:,} rows: shares are known to"
            f" {100 * half:.1f} points of a hundred (95 %), and who learns from all rows reaches more; boxes and"
            " randomized rows are attacked whole"
        )
        return [words] if rows > self.rows else []

    def draw(self, view: View, part: View) -> str:
        """Let `part`, another view of a release, see some of its groups only; return what is to be said of it.

        Nothing is drawn, and nothing said, where the release has no more rows than that. Raises UsageError for what is
        not in groups.
        """
        rows = int(view.manifest["rows"])
        if view.lacks_groups:
            if self.required:
                raise UsageError(
                    f"{option('sample')} draws whole groups, and this release has {view.lacks_groups}; leave it out"
                )
            return ""
        if rows <= self.rows:
            return ""
        (row,) = view.engine.rows(f"select count(distinct group_id) as groups from {view.lines()}")
        most = max(1, -(-row["groups"] * self.rows // rows))
        relations, parameters = {"line": view.lines()}, {"seed": str(self.seed), "most": int(most)}
        part.drawn = view.keep("drawn_group", "adversary/view/drawn_group", relations, **parameters)
        return (
            f"{SAMPLED}: {most:,} of {row['groups']:,} whole groups, about"
            f" {self.rows:,} of {rows:,} rows, drawn by seed {self.seed}; intervals are of the sample's error alone,"
            " and who learns from all rows reaches more"
        )
