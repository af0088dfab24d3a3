"""Write the rows of classes that miss a required value, with the reason; for the publisher alone."""

import os
from collections.abc import Iterable
from pathlib import Path

from sqlanon.atomic_files import check_new_file, write_atomically
from sqlanon.errors import TargetError
from sqlanon.ordered_types import is_ordered
from sqlanon.plans.templates import Sql, literal
from sqlanon.read_places import refuse_read
from sqlanon.risks.limits import failing_condition
from sqlanon.risks.relations import Classes
from sqlanon.wording import option


def check_path(path: str | os.PathLike[str], overwrite: bool, read: Iterable[object]) -> Path:
    """Return where failing rows go; raise TargetError for a path that cannot be written.

    read: what the check reads, as it was named: a file of microdata is not replaced by some of its rows.
    """
    target = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link at the target
    check_new_file(target, (".parquet",), option("failing"), overwrite)
    refuse_read(target, read)
    return target


def write_failing(classes: Classes, target: Path) -> None:
    """Write a line per row of a failing class: identifiers, quasi values, class_number, class_size, fails.

    The file is microdata, readable for its owner alone; it appears whole or not at all.
    """
    question = classes.question
    relations = {"class": classes.of()}
    failing = classes.keep(
        "failing", "risks/failing_class", relations, quasi=classes.quasi, conditions=_conditions(classes)
    )
    sql = classes.workspace.render(
        "risks/failing_row",
        {"microdata": classes.microdata, "failing": failing},
        quasi=[(classes.names[name], name) for name in question.quasi],
        identifiers=[(classes.names[name], name) for name in question.identifier],
    )
    with write_atomically(target, f"cannot write {str(target)!r}") as place:
        new = place.with_name("rows.parquet")
        written = classes.engine.write_parquet(sql, new)
        if len(written) != 1:
            raise TargetError("failing rows come in several files here; check with fewer rows, or on DuckDB")
        next(iter(written)).replace(place)
        place.chmod(0o600)


def _conditions(classes: Classes) -> list[tuple[Sql, str]]:
    """Return for every required value the SQL under which a class misses it, and its name."""
    limits, conditions = classes.question.limits, []
    if limits.k is not None:
        conditions.append((Sql(f"class.class_size < {literal(limits.k)}"), "k "))
    for column in classes.question.sensitive:
        ordered = is_ordered(classes.types[column])
        for name, required in limits.of_values.items():
            figure, comparison, bound = failing_condition(name, required)
            if name == "recursive":
                relation = classes.recursions_of(column, required[1])
            else:
                relation = (classes.ordered_distances_of if name == "t" and ordered else classes.distances_of)(column)
            classes_off = f"select class_number from {relation} where {figure} {comparison} {literal(float(bound))}"
            conditions.append((Sql(f"class.class_number in ({classes_off})"), f"{name}({column}) "))
    return conditions
