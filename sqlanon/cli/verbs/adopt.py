"""The verb that makes a release out of tables that something else wrote: adopt."""

import sys
from typing import Annotated, Literal

import typer

from sqlanon.cli.app import app
from sqlanon.cli.options import say
from sqlanon.cli.publication import say_next_steps
from sqlanon.cli.session_options import SessionOptions, with_session
from sqlanon.errors import UsageError

Table = Annotated[str | None, typer.Option(help="Table of groups (QIT): quasi columns and the group.")]
Values = Annotated[str | None, typer.Option(help="Table of each group's sensitive values and counts (ST).")]
Data = Annotated[str | None, typer.Option(help="Instead: table of rows with randomized sensitive values.")]
Quasi = Annotated[
    list[str], typer.Option("--quasi", help="Columns to publish; all that have no other role if not given.")
]
Sensitive = Annotated[
    list[str],
    typer.Option("--sensitive", help="Of --data: the randomized columns. Of ST: the column beside the others."),
]
Group = Annotated[str, typer.Option("--group", help="Column of the group, in QIT and ST.")]
Count = Annotated[str, typer.Option("--count", help="Column of the counts in ST.")]
Diversity = Annotated[int | None, typer.Option("-l", help="What QIT and ST promise: different values in every group.")]
Gamma = Annotated[int | None, typer.Option("--gamma", help="Of --data: a row keeps its value in one case of gamma.")]
Residue = Annotated[
    Literal["drop", "keep"], typer.Option("--residue", help="Of --data: what became of rows that fill no decoy group.")
]
Dropped = Annotated[int, typer.Option("--dropped-rows", help="Rows of the source that are in none of the tables.")]
Against = Annotated[str | None, typer.Option("--against", help="The source: compare multisets with it.")]
Identifier = Annotated[
    list[str], typer.Option("--id", help="Columns of --against that tell persons apart: one row each, or refused.")
]
RowsPerPerson = Annotated[
    Literal["many"] | None,
    typer.Option("--rows-per-person", help="many: persons have several rows; what is promised is per row."),
]
Out = Annotated[str | None, typer.Option("--out", help="Directory to appear, with Parquet files and release.json.")]
Into = Annotated[str | None, typer.Option("--into", help="Schema of the database to appear, in one transaction.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an older release at the target.")]


@app.command(
    epilog="Example: sqlanon adopt --database hospital.duckdb --qit ward_qit --st ward_st -l 4 --against patients"
    " --id ssn --out ward"
)
@with_session
def adopt(
    qit: Table = None,
    st: Values = None,
    data: Data = None,
    quasi: Quasi = [],  # noqa: B006
    sensitive: Sensitive = [],  # noqa: B006
    group: Group = "group_id",
    count: Count = "count",
    l: Diversity = None,
    gamma: Gamma = None,
    residue: Residue = "drop",
    dropped_rows: Dropped = 0,
    against: Against = None,
    id: Identifier = [],  # noqa: B006
    rows_per_person: RowsPerPerson = None,
    out: Out = None,
    into: Into = None,
    overwrite: Overwrite = False,
    *,
    session: SessionOptions,
) -> None:
    """Make a verified release of tables that a macro, a dbt hook or a compiled script wrote."""
    from sqlanon.cli import display
    from sqlanon.publishing import adopt as adoption

    if (out is None) == (into is None):
        raise UsageError("say where the release goes: --out DIR, or --database FILE --into SCHEMA")
    request = adoption.Adoption(
        qit=qit, st=st, data=data, quasi=quasi, sensitive=sensitive, group=group, count=count, l=l, gamma=gamma,
        residue=residue, dropped_rows=dropped_rows, id=id, rows_per_person=rows_per_person,
    )  # fmt: skip
    engine = session.open(write=into is not None)
    if session.sql:
        outputs, _ = adoption.statements(request, engine)
        sys.stdout.write("\n\n".join(f"-- {output.name}\n{output.sql};" for output in outputs) + "\n")
        return
    with display.progress():
        release = adoption.adopt(request, engine, out, into, overwrite, against)
    where = str(out) if out is not None else f"schema {into} of {session.database or 'the database'}"
    display.show_publication(release.manifest, where, session.how.value)
    if against is None:
        say("not compared with the microdata: --against SOURCE does that")
    else:
        say_next_steps(session, against, () if rows_per_person == "many" else id, out, into)
