"""UDAK-anonymity (Ren, Yang, Zhang and Jia, 2012): groups of at least K uncertain rows, published as QIT and ST.

Cells hold several alternatives. Quasi values become deterministic (a common ancestor, a largest number) and say
how many alternatives they stand for; sensitive alternatives stand side by side. Rows that are alike by the influence
of their attributes form clusters, and a cluster with a grave sensitive value holds at least L different weights.
"""

from typing import Annotated

from pydantic import Field

from sqlanon.methods import grouping
from sqlanon.methods.base import Method, Steps
from sqlanon.methods.packing import quasi_names
from sqlanon.methods.uncertain import columns, influence
from sqlanon.methods.uncertain.clustering import GROUP_MULTIPLE, Undiverse
from sqlanon.methods.uncertain.columns import MOST_ALTERNATIVES, Order, Written, probe
from sqlanon.methods.uncertain.design import NAME, Uncertain, design
from sqlanon.methods.uncertain.influence import MATRIX
from sqlanon.methods.uncertain.read_manifest import RECORDED
from sqlanon.methods.uniqueness import check_quasi, check_sensitive
from sqlanon.models.fields import Option
from sqlanon.models.publication import Hierarchies, Publication
from sqlanon.models.values import COLUMN, COLUMNS, FILE, FilePath, Names
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.engines import ENGINE, NEVER, OURS, Mark
from sqlanon.plans.templates import Sql
from sqlanon.wording import option

MOST_COLUMNS = 1000


class UncertainOptions(Publication):
    """What `uncertain` takes."""

    quasi: Annotated[Names, COLUMNS] = Field(
        description="Quasi-identifier columns: uncertain cells are published as a common ancestor or a largest number,"
        " all others as they are; commas, repeatable."
    )
    sensitive: Annotated[str, COLUMNS] = Field(description="Sensitive column.")
    k: Annotated[
        int,
        Option(
            flag="-k",
            words="{option} {value} puts nobody into a group with others; K is a whole number of at least 2",
        ),
    ] = Field(description="Least rows of a group.", ge=2)
    l: Annotated[
        int, Option(flag="-L", words="{option} {value} asks for no difference; L is a whole number of at least 2")
    ] = Field(description="Least different weights in a group with a grave value.", ge=2)
    threshold: Annotated[
        float, Option(words="{option} {value} is not above 0 and at most 1; it is compared with the weights")
    ] = Field(description="The weight from which on a sensitive value is grave, above 0, at most 1.", gt=0, le=1)
    influence: Annotated[object, MATRIX] = Field(
        description="File of influences and weights in [0, 1]: columns named as the sensitive column, every quasi"
        " column, weight. Or learn: from the data, every value grave, shown for an expert to correct."
    )
    save_influence: Annotated[FilePath | None, FILE, Option(compiled=False, job=False)] = Field(
        None, description=f"With {option('influence', 'learn')}: file to appear; it names every sensitive value."
    )
    undiverse: Undiverse = Field(
        "merge",
        description="Groups that are not diverse: merge with neighbours and deal out anew, suppress to *, or generalize"
        " up the hierarchies until they meet others, and deal out anew.",
    )
    max_group: Annotated[
        int | None, Option(words="{option} {value} is not a number of rows; give at least twice K, less one")
    ] = Field(
        None, description=f"Most rows of a group; {GROUP_MULTIPLE} times K, or L if that is more, if not given.", ge=1
    )
    max_alternatives: Annotated[
        int, Option(words=f"{{option}} {{value}} is not a whole number from 1 to {MOST_COLUMNS}")
    ] = Field(
        MOST_ALTERNATIVES, description="The most alternatives of a cell; more are refused.", ge=1, le=MOST_COLUMNS
    )
    order_alternatives: Order = Field(
        "given", description="Sensitive alternatives as given, or sorted (truth first tells)."
    )
    alternatives: Written = Field("lists", description="Cells of alternatives: lists, or text in braces as in {a, b}.")
    alternative_of: Annotated[str | None, COLUMN] = Field(
        None, description="Column that ties rows which are alternatives of one another."
    )
    hierarchy: Hierarchies
    label: Annotated[str | None, COLUMN] = Field(None, description="Row label: a column published beside QIID.")


def group_rows(design: Uncertain) -> Steps:
    """Return the chapters that end in groups: cells, draws, single values, influence, clusters."""
    request, reading, undiverse = design.request, design.reading, design.clustering.undiverse
    alternatives = [Sql(f"sensitive[{place}]") for place in reading.places] if reading.sensitive.uncertain else []
    label = ["label"] if reading.label is not None else []
    kept = (*quasi_names(request), "sensitive", "row_number", *label)
    numbers, threshold = [column.read for column in reading.quasi], float(design.clustering.threshold)
    return (
        columns.read_cells(reading),
        *check_quasi(design),
        *check_sensitive(design),
        *grouping.bind(design, alternatives),
        columns.different_cells(reading),
        *grouping.tell_apart(design, ["row_number"], label),
        grouping.draw(request, kept, f"{NAME}/{reading.sensitive.name}"),
        columns.determined(reading, suppresses=undiverse == "suppress"),
        influence.chapter(request.roles, numbers, design.influence, threshold, show_values=request.show_values),
        *design.clustering.chapters,
        group(design),
    )


def group(design: Uncertain) -> Chapter:
    """Return the chapter that puts rows and clusters together, suppresses, and numbers the groups."""
    reading = design.reading
    fields = [(f"alternatives_{column.number}", str(column.number + 1), column.name) for column in design.counted]
    values = {
        "undiverse": design.clustering.undiverse,
        "numbers": [column.number for column in reading.quasi],
        "counted": fields,
        "counts": [column for column, _, _ in fields],
        "label": ["label"] if reading.label is not None else [],
        "passed": [*reading.row_columns, "set_code", "cell_code"],
    }
    return Chapter("uncertain/groups", values)


def publish(design: Uncertain) -> Steps:
    """Return the chapter of QIT and ST, with as many columns of alternatives as there are."""
    columns = design.columns
    values = {
        "labels": [columns["label"]] if "label" in columns else [],
        "quasi": columns["quasi"],
        "counts": [f"alternatives_{column.number}" for column in design.counted],
        "values": columns["values"],
        **{f"{role}_column": columns[role] for role in ("qiid", "alternatives", "group", "count")},
    }
    return (Chapter("uncertain/publish", values),)


UNCERTAIN: Method[Uncertain] = Method(
    name=NAME,
    paper="Ren, Yang, Zhang and Jia, Uncertain Data Privacy Protection Based on K-anonymity via Anatomy, 2012",
    form="uncertain",
    options=UncertainOptions,
    design=design,
    steps=(group_rows,),
    outputs=(publish,),
    sentence="Publish QIT and ST of groups of uncertain rows (UDAK-anonymity).",
    example="survey.parquet --quasi age,sex --sensitive disease -k 5 -L 3 --threshold 0.3 --influence learn"
    " --save-influence influence.csv --out release",
    compile_sentence="Print a script that publishes QIT and ST of uncertain rows in an engine's shell (the source's"
    " columns are read, in DuckDB).",
    compile_example="patients --database hospital.duckdb --quasi age,sex --sensitive disease --id ssn -k 5 -L 3"
    " --threshold 0.3 --influence learn",
    most_columns=40,
    takes_lists=True,
    probe=probe,
    reads_source=True,
    saved="save_influence",
    nothing_saved=f"{option('save_influence')} keeps what {option('influence', 'learn')} finds; with a file there is"
    " nothing to save",
    recorded=RECORDED,
    lacks={
        "pseudonyms": Mark(
            NEVER, "alternatives are ordered and put together by what they mean, and a pseudonym means nothing"
        ),
        "macros": Mark(ENGINE, "a macro is one SELECT, which cannot merge in turns"),
        "ledger": Mark(
            NEVER,
            "rows of one person are clustered by what their cells may hold, which differs from release to release",
        ),
        "compare": Mark(OURS, "its answers lie between what is certain and what is possible, without an error"),
    },
)
