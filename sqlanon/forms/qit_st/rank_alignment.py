"""Does a person's rank in their group tell their value, for example if the oldest of each group has its last value?

Two tests look at the people whom quasi values single out, and whose values the source tells. Both rely on how groups
are drawn: two people with the same value, in two groups, could have changed places.

`order_randomization` draws such arrangements anew and compares. It is the more powerful test for few people, and looks
at some thousands at most. For more people the following bound is more powerful. In each group, the person who has the
first of the group's values is compared by a quasi column with the person who has the last one: a = 1, 0 or -1 if the
former's column is larger, equal or smaller. Then the former is compared with a stand-in, who also has that last value
but is from another group: b. Chance decided which of these two holders of the last value came into this group, so d = a
- b is as likely as -d, independently in each group, and Efron's bound for sums of such d holds:

    Pr(|Σ d| >= t √(Σ d²)) <= 2 exp(-t²/2),

however values and columns depend on each other.

A release under a ledger has groups that were formed in several runs, and a stand-in has to come from the same run.
Groups are numbered run by run. If they are cut into blocks of neighbouring numbers, at most (runs - 1) blocks mix two
runs. It is not known which, so as many blocks as may be mixed are left out: those with the largest sums. Such releases
are tested by the bound alone, because nobody knows which people could have changed places.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon.plans.manifest import follows, manifest_text
from sqlanon.plans.plan import Source
from sqlanon.plans.roles import resolve_names
from sqlanon.plans.templates import Sql, ident
from sqlanon.verification.checks import Check, PublishedTables
from sqlanon.verification.multisets import WEIGHT, align_columns

if TYPE_CHECKING:
    from sqlanon.forms.qit_st.order_randomization import Outcome

NAME = "rank_alignment"
LEVEL = 1e-4  # how often a sound release may fail, by both tests together
BOUND_LEVEL = 1e-6  # by the bound, all its columns and orders together
# the orders that sensitive values come in: as they sort, and by how frequent they are
ORDERS = {"sorted": "{value} asc nulls last", "by frequency": "count(*) desc nulls last, {value} asc nulls last"}
MOST_PEOPLE = 3000  # that are arranged anew; where there are more, people of some of the groups
NOTHING_SEEN = "cannot be told: of so few people not even an order that names everybody right is sure to be seen"
_VALUE = "sensitive_value"
_RANKS = {how: f"value_rank_{number}" for number, how in enumerate(ORDERS, start=1)}
_BLOCKS = 4  # for each release that groups may be of: three quarters of them count
_MOST_BLOCKS = 4096
_HASH_DIGITS = 8  # of the hexadecimal ones of a group's hash, by which some groups are taken


class _Queries:
    """The queries over the people whom quasi columns single out."""

    def __init__(self, published: PublishedTables, source: Source, types: Mapping[str, str]) -> None:
        columns = published.manifest["columns"]
        self.published, self.quasi, (sensitive,) = published, columns["quasi"], columns["sensitive"]
        people = align_columns(published, "qit", self.quasi, source, types, ident(columns["group"]))
        spelled = resolve_names(list(types), [*self.quasi, sensitive])
        expressions = [
            f"{source.expression(column)} as {name}"
            for column, name in zip(spelled, [*people.names, _VALUE], strict=True)
        ]
        classes: list[str] = []
        if "backgrounds" in published.manifest["parameters"]:
            from sqlanon.forms.class_qit_st import verification as class_qit_st  # most releases are of one class

            classes = class_qit_st.signature(published.manifest)
        # who numbers groups must not choose whom they are compared with: the manifest names the digests of their files
        self.salt = hashlib.sha256(manifest_text(published.manifest).encode()).hexdigest()
        (row,) = published.engine.rows(f"select count(*) as people from {published.tables['qit']}")
        part = int(16**_HASH_DIGITS * MOST_PEOPLE / max(int(row["people"]), 1))
        times = _times(published)
        ranks = list(_RANKS.values())
        original = Sql(f"(select {', '.join(expressions)} from {source.relation})")
        self.texts = published.sections(
            "verify/rank_alignment",
            {"published": people.published, "original": original},
            quasi_names=people.names,
            class_names=[name for name, column in zip(people.names, self.quasi, strict=True) if column in classes],
            sensitive_name=_VALUE,
            group_name=WEIGHT,
            ranks=[(_RANKS[how], Sql(order.format(value=_VALUE))) for how, order in ORDERS.items()],
            value_ranks=ranks,
            stratum_rank=ranks[0],
            salt=self.salt,
            blocks=min(_BLOCKS * times, _MOST_BLOCKS) if times > 1 else 1,
            # every digit is below g
            hash_below=f"{part:0{_HASH_DIGITS}x}" if part < 16**_HASH_DIGITS else "g",
        )

    def sums(self) -> Iterator[tuple[str, str]]:
        """Yield the names and texts of the queries that sum up d, one for each order of the values."""
        for number, how in enumerate(_RANKS, start=1):
            yield f"alignment, values {how}", self.texts[f"alignment_{number}"]

    def placed_people(self) -> tuple[str, str]:
        """Return the name and the text of the query of the people who are arranged anew."""
        return "people in their groups", self.texts["placed_people"]

    def judge(self, draws: int | None = None) -> "Outcome | None":
        """Compare the people's arrangement with `draws` others; None where they are too few to have any."""
        # numpy is slow to import
        from sqlanon.forms.qit_st.order_randomization import DRAWS, PlacedPeople, judge_orders

        _, sql = self.placed_people()
        arrays = {name: numbers.astype("int64") for name, numbers in self.published.engine.arrays(sql).items()}
        columns = {column: arrays[f"place_{number}"] for number, column in enumerate(self.quasi, start=1)}
        ranks = [arrays[rank] for rank in _RANKS.values()]
        people = PlacedPeople(arrays["group_number"], arrays["stratum"], ranks, columns)
        return judge_orders(people, int(self.salt, 16), DRAWS if draws is None else draws)


def alignment_queries(published: PublishedTables, source: Source, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names and texts of the queries that the two tests ask."""
    queries = _Queries(published, source, types)
    return [*queries.sums(), *([queries.placed_people()] if _times(published) == 1 else [])]


def check_alignment(published: PublishedTables, source: Source, types: Mapping[str, str]) -> Check:
    """Check that no quasi column's order within the groups goes with the values'; None where it was not run."""
    required = f"people of a group not in order of values (level {LEVEL:g})"
    if published.manifest["parameters"].get("changed") == "keep" and follows(published.manifest):
        return Check(NAME, required, "not run: some are shown with values that they no longer have", None, True)
    queries, mixed = _Queries(published, source, types), _times(published) - 1
    quasi = queries.quasi
    least, blocks, most = dict.fromkeys(quasi, 1.0), set[int](), 0
    for _, sql in queries.sums():
        halves: dict[int, list[Mapping[str, Any]]] = {}
        for row in published.engine.rows(sql):
            halves.setdefault(int(row["half"]), []).append(row)
            blocks.add(int(row["block"]))
        most = max([most, *(_count_informative(rows, len(quasi)) for rows in halves.values())])
        for number, column in enumerate(quasi, start=1):
            bounds = (_bound(rows, number, mixed) for rows in halves.values())
            least[column] = min(least[column], *bounds, 1.0)
    tests = 2 * len(ORDERS) * len(quasi)  # a column, an order of the values, a half of the groups
    chances = {column: min(1.0, chance * tests) for column, chance in least.items()}
    aligned = {column: chance for column, chance in chances.items() if chance < BOUND_LEVEL}
    if aligned:
        return Check(NAME, required, aligned, False)
    if not mixed and (outcome := queries.judge()) is not None:
        return _judge_outcome(required, outcome)
    if not blocks:
        return Check(NAME, required, "nobody is unique on the quasi columns: cannot be told", None)
    if len(blocks) <= mixed:
        reason = f"not run: groups may have been drawn at {mixed + 1} times, too many for so few"
        return Check(NAME, required, reason, None, True)
    if 2 * math.exp(-most / 2) * tests >= BOUND_LEVEL:
        return Check(NAME, required, "cannot be told: groups that could show an order are too few", None)
    return Check(NAME, required, "as chance has it, as far as groups of several times can tell", True)


def _judge_outcome(required: str, outcome: "Outcome") -> Check:
    """Judge what arranging people anew came to, and say what could have gone unseen."""
    if outcome.aligned:
        return Check(NAME, required, dict.fromkeys(outcome.aligned, LEVEL), False)
    if outcome.seen_from > 1:
        return Check(NAME, required, NOTHING_SEEN, None)
    least, chance = math.ceil(100 * outcome.seen_from), round(100 * outcome.by_chance)
    message = (
        f"as chance has it; an order that names fewer than {least} % right of those whom quasi values single out, where"
        f" chance names {chance} %, might not be seen"
    )
    return Check(NAME, required, message, True)


def _times(published: PublishedTables) -> int:
    """Return at how many times the groups may have been drawn: the release's number in its ledger."""
    return int(published.manifest["parameters"].get("release", 1))


def _count_informative(rows: Sequence[Mapping[str, Any]], columns: int) -> int:
    """Return in how many groups an order would show, for the column that tells most: there d is 2, and d² is 4.

    If each of n such groups were in order, t would be √n: with fewer than the level asks for, nothing could be found.
    """
    return max(sum(int(row[f"square_{number}"]) for row in rows) for number in range(1, columns + 1)) // 4


def _bound(rows: Sequence[Mapping[str, Any]], number: int, mixed: int) -> float:
    """Return 2 exp(-t²/2) for t = |Σ d| / √(Σ d²), without the `mixed` blocks that add the most to |Σ d|."""
    sums = sorted(int(row[f"sum_{number}"]) for row in rows)
    squares = sum(int(row[f"square_{number}"]) for row in rows)
    above = sum(sums) - sum(block_sum for block_sum in sums[len(sums) - min(mixed, len(sums)) :] if block_sum > 0)
    below = sum(sums) - sum(block_sum for block_sum in sums[:mixed] if block_sum < 0)
    total = max(above, -below, 0)
    return min(1.0, 2 * math.exp(-(total**2) / (2 * squares))) if squares else 1.0
