"""Write the rows of classes that miss a required value, with the reason; for the publisher alone."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from sqlanon.atomic_files import write_atomically
from sqlanon.engines.runner import ChapterRun
from sqlanon.errors import TargetError
from sqlanon.plain_values import is_ordered
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import Sql, literal
from sqlanon.read_places import check_new_file
from sqlanon.risks.limits import failing_condition
from sqlanon.risks.question import CheckQuestion
from sqlanon.wording import option


def check_path(path: str | os.PathLike[str], overwrite: bool, read: Iterable[object]) -> Path:
    """Return where failing rows go; raise TargetError for a path that cannot be written.

    read: what the check reads, as it was named: a file of microdata is not replaced by some of its rows.
    """
    target = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link at the target
    check_new_file(target, (".parquet",), option("failing"), overwrite, read=read)
    return target


def write_failing(
    run: ChapterRun,
    question: CheckQuestion,
    types: Mapping[str, str],
    measured: Mapping[str, Mapping[str, Sql]],
    target: Path,
) -> None:
    """Write a line per row of a failing class: identifiers, quasi values, class_number, class_size, fails.

    measured: by sensitive column the relations that it was measured by. The file is microdata, readable for its owner
    alone; it appears whole or not at all.
    """
    limits, names = question.limits, question.names
    # under which SQL a class misses each required value, and its name
    conditions = [] if limits.k is None else [(Sql(f"class.class_size < {literal(limits.k)}"), "k ")]
    for column in question.sensitive:
        for name, required in limits.of_values.items():
            figure, comparison, bound = failing_condition(name, required)
            by_order = name == "t" and is_ordered(types[column])
            distance = "class_ordered_distance" if by_order else "class_distance"
            relation = measured[column]["class_recursion" if name == "recursive" else distance]
            classes_off = f"select class_number from {relation} where {figure} {comparison} {literal(float(bound))}"
            conditions.append((Sql(f"class.class_number in ({classes_off})"), f"{name}({column}) "))
    values = {
        "conditions": conditions,
        "selected": [(names[name], name) for name in (*question.identifier, *question.quasi)],
        "quasi_names": question.ours(question.quasi),
    }
    run.take([Chapter("check/failing", values)])
    with write_atomically(target, f"cannot write {str(target)!r}") as place:
        new = place.with_name("rows.parquet")
        written = run.engine.write_parquet(f"select * from {run.relations['failing_row']}", new)
        if len(written) != 1:
            raise TargetError("failing rows come in several files here; check with fewer rows, or on DuckDB")
        next(iter(written)).replace(place)
        place.chmod(0o600)
