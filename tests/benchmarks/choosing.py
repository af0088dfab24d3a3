"""Which release resists and what it costs, on two real tables; and the search of `compare --resist` beside all subsets.

    python -m tests.benchmarks.choosing adult.parquet census_income_kdd.parquet [--queries 200] [--without-subsets]

Adult (people with an occupation) and 85,109 people of the census whose occupation and industry are one value of 516
each with four quasi columns, l = r = gamma = 5. Every candidate is published, attacked and
asked by `compare` itself; robust with every subset of the quasi columns as `--background-from` that leaves out no more
than a quarter of the rows. Printed for each table: the lines of papers.md; then, for every share that any subset
reaches as the target, the subset that the search comes to, the most accurate one that resists, and the ratio of their
median errors; and the largest memory of the process so far.
"""

import argparse
import resource
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import duckdb

from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.plans.templates import literal
from sqlanon.risks.candidates import Candidate, CompareQuestion, Resistance
from sqlanon.risks.candidates import search as find
from sqlanon.risks.compare import compare

HEADS = "| release | promise | attack reaches | left out | median error | median half width | coverage | seconds |"
STRENGTH = 5
MOST_LEFT_OUT = 0.25
ADULT = "create table microdata as select * from {source} where occupation is not null"
PEOPLE = """
create table microdata as
select age, sex, education, marital_status, class_of_worker, occupation_code * 100 + industry_code % 13 as work,
    row_number() over (order by md5(cast(row_number as varchar))) as person
from (select *, row_number() over () as row_number from {source} where occupation_code <> 0)
order by person
limit {rows}
"""
TABLES = {
    "Adult": (ADULT, ("age", "education", "marital_status", "sex"), "occupation"),
    "census": (PEOPLE, ("age", "sex", "education", "marital_status"), "work"),
}


@dataclass(frozen=True, kw_only=True)
class Enumerated(CompareQuestion):
    """A comparison of candidates that are listed."""

    listed: tuple[Candidate, ...]

    def candidates(self, background: str) -> list[Candidate]:
        """Return them."""
        return list(self.listed)


def list_candidates(quasi: Sequence[str], subsets: bool) -> Iterator[Candidate]:
    """Return the other methods, then robust with every subset of the quasi columns, or with the first ones alone."""
    for method in ("anatomy", "splu", "mondrian"):
        yield Candidate(method, STRENGTH)
    for size in range(1, len(quasi) + 1):
        known = combinations(quasi, size) if subsets else [tuple(quasi[:size])]
        yield from (Candidate("robust", STRENGTH, names, MOST_LEFT_OUT) for names in known)


def search(lines: Sequence[Mapping[str, Any]], quasi: Sequence[str]) -> None:
    """Print what the search comes to beside the best of all subsets, for every target that one of them meets."""
    outcomes = {frozenset(line["knowing"].split(", ")): line for line in lines if line["candidate"] == "robust"}

    def attack(trial: Candidate) -> Resistance | None:
        line = outcomes.get(frozenset(trial.background))
        return None if line is None else Resistance(line["reached"], line["family"], line["left_out"])

    def change(trial: Candidate, name: str) -> Candidate:
        return replace(trial, background=tuple(each for each in quasi if each in {*trial.background, name}))

    print(
        "| target | the search comes to | its error | the best subset | its error | ratio |\n|---|---|---|---|---|---|"
    )
    for target in sorted({line["reached"] for line in outcomes.values()}, reverse=True):
        first = Candidate("robust", STRENGTH, quasi[:1], MOST_LEFT_OUT)
        line = outcomes[frozenset(find(first, quasi, change, target, attack)[0].background)]
        best = min(
            (line for line in outcomes.values() if line["reached"] <= target), key=lambda outcome: outcome["median"]
        )
        missed = "" if line["reached"] <= target else f" (does not resist: {line['reached']:.1%})"
        ratio = f"{line['median'] / best['median']:.2f}" if best["median"] else ""
        print(
            f"| {target:.1%} | {line['knowing']}{missed} | {line['median']:.2%} | {best['knowing']} |"
            f" {best['median']:.2%} | {ratio} |"
        )


def main() -> None:
    """Compare on both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adult")
    parser.add_argument("census")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--without-subsets", action="store_true")
    arguments = parser.parse_args()
    for name, path in (("Adult", arguments.adult), ("census", arguments.census)):
        create, quasi, sensitive = TABLES[name]
        with duckdb.connect() as con:
            con.execute(create.format(source=f"read_parquet({literal(path)})", rows=85_109))
            rows, values = con.execute(f"select count(*), count(distinct {sensitive}) from microdata").fetchall()[0]
            listed = tuple(list_candidates(quasi, not arguments.without_subsets))
            question = Enumerated(
                source="microdata", quasi=quasi, sensitive=(sensitive,), queries=arguments.queries, listed=listed,
                options={"nulls": "value"},
            )  # fmt: skip
            comparison = compare(question, DuckDBEngine(con))
        print(f"\n{name}: {rows:,} rows, {values} values, known: {', '.join(quasi)}\n")
        print(HEADS)
        print("|---|---|---|---|---|---|---|---|")
        for line in sorted(comparison.overall, key=lambda line: (line["candidate"], -line["reached"])):
            known = f" by {line['knowing']}" if line["knowing"] else ""
            shares = [f"{line[name]:.1%}" for name in ("median", "half_width", "coverage")]
            cells = [f"{line['confidence']:.1%}", f"{line['reached']:.1%}", f"{line['left_out']:.2%}", *shares]
            cells.append(f"{line['seconds']:.0f}")
            print(f"| {line['candidate']}, {line['parameter']}{known} | {' | '.join(cells)} |")
        refused = sum(note.startswith("robust") and "is left out" in note for note in comparison.notes)
        print(f"\n{refused} subsets would leave out more than {MOST_LEFT_OUT:.0%} of the rows.\n")
        if not arguments.without_subsets:
            search(comparison.overall, quasi)
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(f"\n{used.ru_utime + used.ru_stime:.0f} s of the processors and {used.ru_maxrss / 1e6:.2f} GB so far")


if __name__ == "__main__":
    main()
