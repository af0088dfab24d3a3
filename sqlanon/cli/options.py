"""Options that several verbs share, one name each, and how their texts are read."""

import os
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sqlanon.cli import display
from sqlanon.engines.base import Engine
from sqlanon.engines.connect import opened
from sqlanon.engines.duckdb import DuckDBEngine, connect
from sqlanon.errors import UsageError
from sqlanon.estimators import ESTIMATOR_NAMES
from sqlanon.key import Key
from sqlanon.methods.uncertain.influence import Learn
from sqlanon.plans.plan import Beside
from sqlanon.sql.translate import DIALECTS


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    csv = "csv"


class Nulls(StrEnum):
    """What to do with rows that have no sensitive value."""

    refuse = "refuse"
    value = "value"
    drop = "drop"


class EngineName(StrEnum):
    """What runs the SQL."""

    duckdb = "duckdb"
    spark = "spark"
    postgres = "postgres"


class Draws(StrEnum):
    """Where random draws come from."""

    keyed = "keyed"
    random = "random"


class Residue(StrEnum):
    """What to do with rows beyond a multiple of gamma."""

    drop = "drop"
    keep = "keep"


class Guarantee(StrEnum):
    """What proves that no posterior is above 1/r."""

    exact = "exact"
    delta = "delta"


class Undiverse(StrEnum):
    """What becomes of clusters that are not diverse."""

    merge = "merge"
    suppress = "suppress"


class Alternatives(StrEnum):
    """How cells hold alternatives."""

    lists = "lists"
    braces = "braces"


class AlternativeOrder(StrEnum):
    """In which order sensitive alternatives are published."""

    given = "given"
    sorted = "sorted"


class Transition(StrEnum):
    """The transition matrix of the iteration."""

    paper = "paper"
    exact = "exact"


class RowsPerPerson(StrEnum):
    """Whether one identifier may have several rows."""

    one = "one"
    many = "many"


Estimator = Enum("Estimator", {name: name for name in ESTIMATOR_NAMES}, type=str)  # type: ignore[misc]
Dialect = Enum("Dialect", {name: name for name in DIALECTS}, type=str)  # type: ignore[misc]

SourceArgument = Annotated[
    str, typer.Argument(help="Parquet, CSV or JSON path or glob; with --database a table or view.")
]
ReleaseArgument = Annotated[str, typer.Argument(help="Release directory; with --database the name of its schema.")]
Quasi = Annotated[
    list[str],
    typer.Option("--quasi", help="Quasi-identifier columns, published exactly; commas, repeatable."),
]
Sensitive = Annotated[list[str], typer.Option("--sensitive", help="Sensitive column.")]
Identifier = Annotated[list[str], typer.Option("--id", help="Identifier columns: never published, one row each.")]
DatabaseOption = Annotated[str | None, typer.Option("--database", help="DuckDB file that holds the table or schema.")]
EngineOption = Annotated[
    EngineName, typer.Option("--engine", help="What runs the SQL: duckdb; spark, Parquet only; postgres, tables only.")
]
Master = Annotated[str | None, typer.Option("--master", help="With --engine spark: its master, e.g. local[2].")]
Dsn = Annotated[
    str | None,
    typer.Option("--dsn", help="With --engine postgres: postgresql://user@host/database (or set SQLANON_DSN)."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How results are printed.")]
SqlOption = Annotated[
    bool, typer.Option("--sql", help="Print the statements that would run, in order, and run nothing.")
]
Threads = Annotated[int | None, typer.Option("--threads", min=1, help="Threads of the engine.")]
Memory = Annotated[str | None, typer.Option("--memory-limit", help="Memory of the engine, e.g. 4GB; the rest spills.")]
Temporary = Annotated[
    str | None,
    typer.Option(
        "--temp-directory",
        help="Where the engine spills: microdata, in a folder for you alone that goes with the run.",
    ),
]
NullsOption = Annotated[
    Nulls, typer.Option("--nulls", help="NULL sensitive values: refuse, publish as a value, or drop.")
]
DrawsOption = Annotated[
    Draws, typer.Option("--draws", help="keyed: sha256 under a secret key. random: faster, predictable.")
]
BlockOption = Annotated[str, typer.Option("--block", help="Groups per block of mixed values, or all for one block.")]
LOption = Annotated[int, typer.Option("-l", help="At least l different sensitive values in every group.")]
Gamma = Annotated[
    list[str],
    typer.Option("--gamma", help="Rows of a decoy group: one number for all, or COLUMN=NUMBER; commas, repeatable."),
]
ResidueOption = Annotated[
    Residue | None,
    typer.Option("--residue", help="Rows beyond a multiple of gamma: drop them (one gamma's default) or keep them."),
]
Epsilon = Annotated[float, typer.Option("--epsilon", help="Relative error that the printed guarantee is about.")]
Alpha = Annotated[int, typer.Option("--alpha", help="Largest count that the guarantee calls small.")]
TargetError = Annotated[float, typer.Option("--target-error", help="Probability that defines the least useful count.")]
ROption = Annotated[float, typer.Option("-r", help="No posterior above 1/r, for who knows the backgrounds; r > 1.")]
BackgroundOption = Annotated[
    list[str],
    typer.Option(
        "--background",
        help="What the adversary knows: a table (any SOURCE) with quasi columns, the sensitive column and probability;"
        " repeatable.",
    ),
]
BackgroundFrom = Annotated[
    list[str],
    typer.Option("--background-from", help="Quasi columns whose distribution is learned from the data; repeatable."),
]
SaveBackground = Annotated[
    list[Path],
    typer.Option(
        "--save-background",
        help="File (.parquet, .csv) for a learned distribution, one each; it tells of small groups: keep it secret.",
    ),
]
MaxSuppressed = Annotated[
    str, typer.Option("--max-suppressed", help="Share of the rows that may be left out, e.g. 0.01 or 1%.")
]
GuaranteeOption = Annotated[
    Guarantee,
    typer.Option("--guarantee", help="exact: posteriors. delta: the paper's condition, which does not prove them."),
]
RepairOption = Annotated[
    int,
    typer.Option(
        "--repair",
        help="Other classes that each row left over may ask for a group (turns). Such rows carry frequent values"
        " of their class, and their groups show them.",
    ),
]
KOption = Annotated[int, typer.Option("-k", help="Least rows of a group.")]
WeightsOption = Annotated[int, typer.Option("-L", help="Least different weights in a group with a grave value.")]
ThresholdOption = Annotated[
    float, typer.Option("--threshold", help="The weight from which on a sensitive value is grave, above 0, at most 1.")
]
HierarchyOption = Annotated[
    list[str],
    typer.Option(
        "--hierarchy",
        help="COLUMN=FILE, repeatable: child and parent, or one column per level from leaf to root; first line: names.",
    ),
]
InfluenceOption = Annotated[
    str,
    typer.Option(
        "--influence",
        help="File of influences and weights in [0, 1]: columns named as the sensitive column, every quasi column,"
        " weight. Or learn: from the data, shown for an expert to correct.",
    ),
]
SaveInfluence = Annotated[
    Path | None,
    typer.Option("--save-influence", help="With --influence learn: file to appear; it names every sensitive value."),
]
UndiverseOption = Annotated[
    Undiverse,
    typer.Option("--undiverse", help="Groups that are not diverse: merge with a neighbour, or suppress to *."),
]
RefineOption = Annotated[int, typer.Option("--refine", help="Turns of swaps that make groups more alike.")]
AlternativesOption = Annotated[
    Alternatives, typer.Option("--alternatives", help="Cells of alternatives: lists, or text in braces as in {a, b}.")
]
AlternativeOf = Annotated[
    str | None,
    typer.Option("--alternative-of", help="Column that ties rows which are alternatives of one another."),
]
MaxAlternatives = Annotated[
    int, typer.Option("--max-alternatives", help="The most alternatives of a cell; more are refused.")
]
LabelOption = Annotated[str | None, typer.Option("--label", help="Row label: a column published beside QIID.")]
OrderAlternatives = Annotated[
    AlternativeOrder,
    typer.Option("--order-alternatives", help="Sensitive alternatives as given, or sorted (truth first tells)."),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key",
        help="Key of the draws (64 hex digits). Whoever has it can undo the release. Prefer --key-file.",
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", help="File with the key (or set SQLANON_KEY). Whoever has it can undo the release."),
]


def session(
    database: str | None,
    write: bool,
    threads: int | None = None,
    memory: str | None = None,
    temporary: str | None = None,
) -> DuckDBEngine:
    """Open the engine that the options describe."""
    return DuckDBEngine(connect(database, write, threads=threads, memory_limit=memory, temp_directory=temporary))


def any_session(
    engine: EngineName,
    database: str | None,
    write: bool,
    master: str | None,
    dsn: str | None,
    threads: int | None,
    memory: str | None,
    temporary: str | None,
) -> Engine:
    """Open the engine that was named; a DSN that stands nowhere else is read from SQLANON_DSN."""
    if engine is EngineName.postgres and dsn is None:
        dsn = os.environ.get("SQLANON_DSN")
    return opened(engine.value, database, write, master, dsn, threads, memory, temporary)


def chosen_key(key: str | None, key_file: Path | None) -> Key | None:
    """Read the key from where it was given; None where a fresh one is to be drawn."""
    if key is not None and key_file is not None:
        raise UsageError("say --key or --key-file, not both")
    if key_file is not None:
        return Key.from_file(key_file)
    if key is not None:
        say("warning: --key stands in the process list and the shell's history; use --key-file or SQLANON_KEY")
        return Key.of(key)
    text = os.environ.get("SQLANON_KEY")
    return Key.of(text) if text is not None else None


def chosen_block(text: str) -> int | None:
    """Read a whole number; None for `all`."""
    if text.lower() == "all":
        return None
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"--block {text!r} is not a whole number, nor all")
    return int(text)


def chosen_share(name: str, text: str) -> float:
    """Read a share: a number from 0 to 1, or a percentage."""
    number, percent, rest = text.strip().partition("%")
    try:
        found = float(number) / (100 if percent else 1)
    except ValueError:
        found = -1.0
    if rest or not 0 <= found <= 1:
        raise UsageError(f"{name} {text!r} is no share; give a number from 0 to 1, or a percentage")
    return found


def say(message: str) -> None:
    """Print a message to standard error."""
    display.to_stderr().print(display.visible(message))


def chosen_hierarchies(texts: list[str]) -> dict[str, Beside]:
    """Read COLUMN=FILE, split at the first `=` behind which a file's name begins."""
    found: dict[str, Beside] = {}
    for text in texts:
        name, given, path = text.partition("=")
        if not given or not name.strip() or not path.strip():
            raise UsageError(f"--hierarchy {text!r} is not COLUMN=FILE")
        if name.strip().lower() in (known.lower() for known in found):
            raise UsageError(f"--hierarchy is given twice for {name.strip()!r}")
        found[name.strip()] = Beside(path.strip(), fetched=True, as_text=True)
    return found


def chosen_influence(text: str, save: Path | None, overwrite: bool) -> Beside | Learn:
    """Read `learn` or a file's name; only what is learned is saved."""
    if text == "learn":
        return Learn(save, overwrite)
    if save is not None:
        raise UsageError("--save-influence keeps what --influence learn finds; with a file there is nothing to save")
    return Beside(text, fetched=True, as_text=True)


def chosen_gamma(texts: list[str]) -> int | dict[str, int]:
    """Read one number for all sensitive columns, or a number for each: COLUMN=NUMBER, split at the last `=`."""
    if len(texts) == 1 and texts[0].strip().isascii() and texts[0].strip().isdigit():
        return int(texts[0])
    gammas: dict[str, int] = {}
    for text in texts:
        for part in [text] if text.count("=") == 1 else text.split(","):
            name, found, number = part.rpartition("=")
            if not found or not name.strip() or not number.strip().isascii() or not number.strip().isdigit():
                raise UsageError(f"--gamma {part!r} is neither a whole number nor COLUMN=NUMBER")
            if name.strip().lower() in (known.lower() for known in gammas):
                raise UsageError(f"--gamma is given twice for {name.strip()!r}")
            gammas[name.strip()] = int(number)
    return gammas
