"""The verb that makes a release out of tables that something else wrote: adopt."""

from sqlanon.api import operations
from sqlanon.api.verbs import arguments_of
from sqlanon.cli.app import command
from sqlanon.cli.console import say, write_out
from sqlanon.cli.declared import Values, command_of
from sqlanon.cli.options import Session
from sqlanon.cli.publication import refuse_place, show_publication, words_against


@command(
    epilog="Example: sqlanon adopt --database hospital.duckdb --qit ward_qit --st ward_st -l 4 --against patients"
    " --id ssn --out ward"
)
@command_of(operations.adopt)
def adopt(values: Values, session: Session) -> None:
    """Make a verified release of tables that a macro, a dbt hook or a compiled script wrote."""
    from sqlanon.cli import display
    from sqlanon.publishing.adopt import statements

    out, into, against = (values.get(name) for name in ("out", "into", "against"))
    refuse_place(out, into)
    engine = session.open(write=into is not None)
    if session.sql:
        outputs, _ = statements(arguments_of(operations.adopt, values), engine)
        write_out("\n\n".join(f"-- {output.name}\n{output.sql};" for output in outputs) + "\n")
        return
    with display.progress():
        release = operations.adopt(engine, **values)
    identifier = () if values.get("unit") == "row" else values.get("id", ())
    show_publication(release, session, words_against(session, against, identifier), out, into)
    if against is None:
        say("not compared with the microdata: --against SOURCE does that")
