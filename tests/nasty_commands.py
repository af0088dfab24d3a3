"""Commands drawn from a grammar: a verb's valid command, a few of its options given nasty values, its names swapped.

The options are read off the command line itself, so that a new verb or option is met as soon as it has a valid command
here.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import typer.main
from hypothesis import strategies as st

from tests.conftest import NASTY_NAMES, NASTY_VALUES

ROLES = ("--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn")
OUT = ("--out", "out", "--overwrite")
VIEWS = ("--view", "SELECT ssn, age FROM patients", "--view", "SELECT age, disease FROM patients")
VALID: dict[str, tuple[str, ...]] = {
    "publish anatomy": ("patients.parquet", *ROLES, "-l", "3", *OUT),
    "publish splu": ("patients.parquet", *ROLES, "--gamma", "3", *OUT),
    "publish robust": ("patients.parquet", *ROLES, "-r", "2", "--background-from", "sex", *OUT),
    "publish uncertain": (
        *("patients.parquet", *ROLES, "-k", "4", "-L", "2", "--threshold", "0.3", "--influence", "learn"),
        *("--save-influence", "out.csv", *OUT),
    ),
    "publish mondrian": ("patients.parquet", *ROLES, "-k", "4", "-l", "2", *OUT),
    "compile anatomy": ("patients", *ROLES, "-l", "3", "--dialect", "duckdb"),
    "verify": ("release", "--against", "patients.parquet"),
    "estimate": ("release", "SELECT sex, COUNT(*) FROM release WHERE disease = 'd1' GROUP BY sex"),
    "check": ("patients.parquet", *ROLES, "-k", "2"),
    "attack": ("release", "--against", "patients.parquet", "--id", "ssn"),
    "compare": ("patients.parquet", *ROLES, "--queries", "4", "--l", "3", "--gamma", "3", "--methods", "anatomy"),
    "breach": (
        *("--base", "patients", "--database", "hospital.duckdb", *VIEWS),
        *("--secret", "SELECT ssn, disease FROM patients"),
    ),
    "adopt": ("--qit", "release/qit.parquet", "--st", "release/st.parquet", "-l", "3", *OUT),
    "complete": ("release", "--tables", "1", *OUT),
    "ledger": ("ledger.duckdb",),
    "run": ("job.yml",),
    "guide": ("verify",),
}
# engines that take seconds to start, or are not there, have tests of their own
_LEFT_OUT = {"engine", "master", "dsn", "temp_directory", "key_file", "help"}
_NUMBERS = [
    *("0", "1", "2", "3", "-1", "", " ", "1e9", "1e-12", "1e309", "nan", "inf", "-inf", "0.5", "1%", "200%", "0x10"),
    *("99999999999999999999", "2147483648", "1_000", "٣", "1,2", "l=3", "disease=2", "age>=1", "4GB", "1KB", "-0.0"),
]
_NAMES = [
    "age",
    "AGE",
    "sex",
    "disease",
    "ssn",
    "zipcode",
    "age,age",
    ",",
    "a,,b",
    "nobody",
    *NASTY_NAMES,
    *NASTY_VALUES,
]
_PLACES = [
    *("patients.parquet", "patients", "main.patients", "*.parquet", "**", "[", "missing.parquet", "", ".", "..", "~"),
    *("release", "release/st.parquet", "release/release.json", "splu", "boxes", "hospital.duckdb", "/dev/null", "tmp"),
    *(
        "bad.parquet",
        "bad.csv",
        "bad.json",
        "empty.csv",
        "job.yml",
        "n" * 300,
        "a\\b",
        "\udcff",
        "-",
        "--",
        "http://x/y.csv",
    ),
]
_QUERIES = [
    "SELECT COUNT(*) FROM release",
    *(f"SELECT {piece} FROM release" for piece in ("*", "", "COUNT(*) + 1", "SUM(age)", "AVG(nobody)", "AVG(age) / 0")),
    *(
        f"SELECT COUNT(*) FROM release WHERE {piece}"
        for piece in (
            *("age", "age = 'x'", "1 / 0 = age", "disease IN ()", "disease LIKE '%' ESCAPE ''", "NOT NOT age IS NULL"),
            *("regexp_matches(sex, '(')", "age BETWEEN 9 AND", "CAST(sex AS INTEGER) = 1", "age = 9e999", "(" * 300),
            *("age < " + "9" * 400, "sex = repeat('a', 1000000000)", "1 = (SELECT 1)", "age = -age AND " * 40 + "TRUE"),
            *("read_csv('bad.csv') = 1", "age::DATE = DATE '9999-99-99'", "'\\' = '''; DROP TABLE release; --'"),
        )
    ),
    *(
        "SELECT 1; SELECT 2",
        ";",
        "",
        "-- nothing",
        "PRAGMA version",
        "COPY release TO 'x'",
        "SELECT COUNT(*) FROM release " * 2,
    ),
]
_WORDS = ["", "drop", "keep", "refuse", "value", "random", "keyed", "learn", "ä", "all", "json", "table", "x" * 5000]
_ALL = [*_NUMBERS, *_NAMES, *_PLACES, *_QUERIES[:8], *_WORDS]


@cache
def options_of(verb: str) -> dict[str, bool]:
    """Return a verb's options, and whether each takes a value."""
    from sqlanon import cli
    from sqlanon.cli.app import app

    assert cli.app is app  # importing the package adds the verbs
    command: Any = typer.main.get_command(app)
    for word in verb.split():
        command = command.get_command(command.context_class(command), word)  # methods are added when asked for
    return {
        max(one.opts, key=len): not getattr(one, "is_flag", False)
        for one in command.params
        if one.param_type_name == "option" and one.name not in _LEFT_OUT
    }


def commands(verb: str) -> st.SearchStrategy[list[str]]:
    """Return a strategy of commands of one verb."""
    return st.builds(
        _changed,
        st.just(verb),
        st.lists(st.tuples(st.sampled_from(sorted(options_of(verb)) or [""]), _value()), max_size=3),
        st.lists(st.tuples(st.integers(0, len(VALID[verb]) - 1), _value()), max_size=2),
    )


def _value() -> st.SearchStrategy[str]:
    drawn = st.text(max_size=12).filter(lambda text: "\0" not in text)
    return st.one_of(st.sampled_from(_ALL), st.sampled_from(_NUMBERS), st.sampled_from(_QUERIES), drawn)


def _changed(verb: str, added: list[tuple[str, str]], replaced: list[tuple[int, str]]) -> list[str]:
    words = list(VALID[verb])
    for place, value in replaced:
        if not words[place].startswith("-"):  # options stay, their values and the arguments do not
            words[place] = value
    for name, value in added:
        if name:
            words += [name, value] if options_of(verb)[name] else [name]
    return [*verb.split(), *words]


_KEYS = ["method", "source", "roles", "parameters", "output", "require", "key_env", "database", "table", "nobody", "l"]
_SCALARS = [
    "anatomy",
    "patients.parquet",
    "release",
    "*a",
    "&a [*a]",
    "!!python/object:os.system x",
    "{",
    "[" * 200,
    "'",
    "|",
    "~",
]


def jobs() -> st.SearchStrategy[str]:
    """Return a strategy of texts that somebody may take for a job."""
    scalar = st.one_of(st.sampled_from([*_SCALARS, *_NUMBERS, "yes", "null", "2020-01-01"]), st.text(max_size=9))
    value = st.recursive(
        scalar,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
            st.dictionaries(st.sampled_from(_KEYS), inner, max_size=3).map(_mapping),
        ),
        max_leaves=6,
    )
    sound = {
        "method": "anatomy",
        "source": "patients.parquet",
        "roles": "{quasi: [age, sex], sensitive: disease, id: ssn}",
        "parameters": "{l: 3}",
        "output": "{out: out, overwrite: true}",
    }
    changed = st.dictionaries(st.sampled_from(_KEYS), value, max_size=3)
    return changed.map(lambda found: "".join(f"{key}: {text}\n" for key, text in (sound | found).items()))


def _mapping(items: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {text}" for key, text in items.items()) + "}"


def furnish(shell: Any) -> None:
    """Lay what the commands name into a shell's folder: releases, and files that are none."""
    made = [
        ("publish", "anatomy", "patients.parquet", *ROLES, "-l", "3", "--out", "release"),
        ("publish", "splu", "patients.parquet", *ROLES, "--gamma", "3", "--out", "splu"),
        ("publish", "mondrian", "patients.parquet", *ROLES, "-k", "4", "-l", "2", "--out", "boxes"),
        (
            "publish",
            "anatomy",
            "patients.parquet",
            *ROLES,
            "-l",
            "3",
            "--out",
            "first",
            "--ledger",
            "ledger.duckdb",
            "--key",
            "ab" * 32,
        ),
    ]
    for words in made:
        done = shell(*words)
        assert done.returncode == 0, done.stderr
    folder: Path = shell.folder
    (folder / "bad.parquet").write_bytes(b"PAR1" + bytes(range(256)) + b"PAR1")
    (folder / "bad.csv").write_bytes(b'a,"b\n\xff\xfe,1\n"')
    (folder / "bad.json").write_text(json.dumps({"age": [{"x": None}]})[:-3])
    (folder / "empty.csv").write_text("")
    (folder / "job.yml").write_text("method: anatomy\n")
    duckdb.sql("select 1 as age").write_csv(str(folder / "one.csv"))


def complaint(done: Any, seconds: float) -> Iterator[str]:
    """Yield what is wrong with how a command ended."""
    if done.returncode not in (0, 2, 3):
        yield f"exit code {done.returncode}"
    if "Traceback" in done.stderr or "a fault of sqlanon" in done.stderr:
        yield "traceback"
    if seconds > 30:
        yield f"{seconds:.0f} s"
