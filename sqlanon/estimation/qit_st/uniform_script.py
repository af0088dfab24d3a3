"""The uniform estimate as a script: sums and quotients of the moments of a query, which SQL can do."""

from sqlanon.estimation.printed_script import ANSWER, MOMENTS, write_script
from sqlanon.estimation.qit_st.uniform_run import UniformRun
from sqlanon.estimation.query_statements import weigh_choice
from sqlanon.estimation.temporary_tables import inline
from sqlanon.plans.plan import relation_name
from sqlanon.plans.templates import Sql
from sqlanon.sql.aggregate_query import Aggregate

_NONE = Sql("cast(null as double)")


def print_script(run: UniformRun, estimator: str) -> str:
    """Return the script of a query: it ends in the answer, or in the moments where the estimator solves for shares.

    What the release settles by itself, any estimator answers as the uniform one does, without error.
    """
    run.keep_everything()
    statements = [*run.loaded.loading_statements(), *run.preparing_statements(), ("asked", run.render_asked())]
    statements += [("hit", run.render_hit())] if run.quasi_keys else []
    settled = _settles(run)
    if run.query.derived or not (settled or estimator == "uniform"):
        statements += [*run.solving_statements(), *run.moment_statements()]
        return write_script(run.loaded, statements, MOMENTS.format(estimator=estimator))
    statements.append(("moment", run.render_moment()))
    run.relations["figure"] = inline(_render_figure(run, settled))
    return write_script(run.loaded, [*statements, ("answer", run.render_answer())], ANSWER)


def _settles(run: UniformRun) -> bool:
    """Tell whether the release settles the query: it asks for rows whatever their value, or values of all rows."""
    query = run.query
    of_rows = bool(query.filters("quasi", "mixed", "constant") or run.quasi_keys or run.measures)
    of_values = bool(query.filters("sensitive", "mixed") or run.sensitive_keys or run.weights)
    return not (of_rows and of_values)


def _render_figure(run: UniformRun, settled: bool) -> str:
    estimates = [
        (_estimate(run, aggregate), f"value_{number}") for number, aggregate in enumerate(run.query.aggregates)
    ]
    columns: list[tuple[Sql, str]] = []
    for number in range(len(estimates)):
        value = Sql(f"value_{number}")
        error = Sql(f"case when {value} is not null then cast(0 as double) end") if settled else _NONE
        columns += [(value, str(value)), (error, f"std_error_{number}")]
        columns += [(value if settled else _NONE, f"{end}_{number}") for end in ("low", "high")]
    return run.loaded.render(
        "estimation/qit_st/uniform_figure",
        run.relations | {"moment": relation_name(run.loaded.prefix, "moment")},
        quasi_keys=run.quasi_keys,
        keys=[*run.quasi_keys, *run.sensitive_keys],
        estimates=estimates,
        columns=columns,
    )


def _estimate(run: UniformRun, aggregate: Aggregate) -> Sql:
    """Return one aggregate over asked values beside their moments; it is NULL over no row, but for COUNT."""
    piece, present = aggregate.argument, "1"
    added, row_share, shared = "moment.uniform", "moment.uniform", "moment.shared"
    if piece in run.weights:
        weight = f"asked.weight_{run.weights.index(piece) + 1}"
        added, present = f"{weight} * moment.uniform", f"case when {weight} is null then 0 else 1 end"
    elif piece is not None:
        number = run.measures.index(piece) + 1
        added, row_share, shared = (
            f"moment.{name}_{number}" for name in ("sum_uniform", "count_uniform", "count_shared")
        )
    if aggregate.chosen is not None:
        condition = f"asked.weight_{run.weights.index(weigh_choice(aggregate.chosen)) + 1} = 1"
        added, present = (f"case when {condition} then {term} end" for term in (added, present))
    rows, is_met = f"sum(({present}) * {row_share})", f"sum(({present}) * {shared}) > 0"
    return Sql(aggregate.function.write(f"sum({added})", rows, is_met))
