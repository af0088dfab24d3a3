"""Options and values of earlier versions that are gone, with what to type instead: all surfaces refuse them with it."""

from sqlanon.wording import option

# by the option, by its value where the option is there still, by the verb where others have the option
_REMOVED = {
    "dialect databricks": f"Databricks runs Spark's script: {option('dialect', 'spark')}",
    **dict.fromkeys(
        (f"dialect {name}" for name in ("snowflake", "bigquery", "trino", "clickhouse")),
        "scripts are for duckdb, spark and postgres",
    ),
    "estimator least_squares": f"groups are answered by ridge ({option('estimator', 'ridge')}, the default)",
    "estimator matrix": f"the closed form errs no more ({option('estimator', 'closed_form')}): leave it out",
    **dict.fromkeys(
        ("transition", "tolerance", "max_iterations"),
        f"the iteration is the paper's: the exact transition came to {option('estimator', 'closed_form')}",
    ),
    "sample": "of more than 200,000 rows attacks draw whole groups by themselves: leave it out",
    **dict.fromkeys(
        ("rows_per_person", "rows_per_person many"),
        f"say {option('unit', 'row')}; without it several rows of a person are published together where the method can",
    ),
    **dict.fromkeys(
        ("methods dbr", "methods laplace", "methods sampling", "compare --epsilon", "compare --share"),
        "compare holds against each other what can be published: leave it out",
    ),
    "convert": "write such a file with ATTACH 'NEW' AS made (storage_version 'v1.4.0'), then COPY FROM DATABASE",
    "guarantee": "groups hold people of whom every distribution says the same: leave it out",
    "repair": "it brought next to no row back into a group: leave it out",
    "refine": "groups are cut once: leave it out",
    "waiting": "those who come new wait together: leave it out",
    **dict.fromkeys(
        ("ledger DIRECTORY", "ledger SCHEMA.TABLE"),
        "a ledger is a DuckDB file with every engine: go on from this one with sqlanon 0.2.0, or begin another, whose"
        " releases intersect with those of this one",
    ),
    "ledger --master": "a ledger is a DuckDB file, which is read without an engine: leave it out",
    "changed move": f"say {option('changed', 'leave')} or {option('changed', 'keep')}",
    "attack --seed": "the same release is attacked alike whenever that is: leave it out",
    **dict.fromkeys(
        ("compare --out", "compare --overwrite", "compare --details"),
        "every figure is in the result of --format json or csv, every answer in Python's: leave it out",
    ),
    "dbt": "a hook of a dbt project calls the macros: sqlanon guide macros shows one",
    "drop": "drop macro table anatomy_groups, in DuckDB, removes one",
    "plan": "release.json tells what its gamma promises, and compare what several cost: leave it out",
    **dict.fromkeys(
        ("require off_at_least", "require error_at"),
        "gamma and epsilon alone decide it: choose these, and release.json tells it",
    ),
    **dict.fromkeys(("require attack_learning", "require attack_order"), "attack is about the best of all"),
    "compile check": "sqlanon check reads PostgreSQL and Spark itself, with --engine",
    **dict.fromkeys(("verify --out", "verify --overwrite"), f"{option('format', 'json')} has all lines of the voters"),
    **dict.fromkeys(
        ("comparison", "report --attack"),
        "a report attacks the release itself, and compare tells of candidates: leave it out",
    ),
    **dict.fromkeys(
        ("plot", "estimate --overwrite"),
        "answers are tables: draw the columns x, x_low and x_high with what you know best",
    ),
    **dict.fromkeys(
        ("samples", "breach --seed"), "certified bounds are given (note 'bounds'), and few rows are counted exactly"
    ),
}


def removed(name: str, value: object = "") -> str:
    """Return what to say of an option, or of a value of it, that this version has no longer; empty of any other.

    name: as Python or the command line writes it; or a verb, whose option is the value.
    """
    name = name.lstrip("-").replace("-", "_")
    instead = _REMOVED.get(f"{name} {value}".strip())
    is_words = str(value).startswith("--") or name == "compile"  # of a command, no option with its value
    shown = f"{name} {value}" if is_words else option(name, value)
    return f"{shown} was removed in 0.3.0; {instead}" if instead else ""
