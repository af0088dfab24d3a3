"""Commands drawn from a grammar: a verb's valid command, a few of its words changed for what they may mean, or may not.

The options are read off the command line itself, so that a new verb or option is met as soon as it has a valid command
here.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import typer.main
from hypothesis import strategies as st

from tests.nasty_words import NUMBERS, meant, nobody_means

ROLES = ("--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn")
ODD = ("--quasi", 'quo"te', "--quasi", "semi;colon", "--quasi", "'); drop table patients; --", "--sensitive", "select")
OUT = ("--out", "out", "--overwrite")
INTO = ("--database", "hospital.duckdb", "--into", "ward", "--overwrite")
VIEWS = ("--view", "SELECT ssn, age FROM patients", "--view", "SELECT age, disease FROM patients")
BREACH = ("--base", "patients", "--database", "hospital.duckdb", *VIEWS)
UNSURE = ("-k", "4", "-L", "2", "--threshold", "0.3", "--influence", "learn", "--save-influence", "out.csv")
LEDGER = ("--ledger", "ledger.duckdb", "--key", "ab" * 32)
Words = tuple[str, ...]


def _publications(*parameters: str) -> list[Words]:
    return [
        ("patients.parquet", *ROLES, *parameters, *OUT),
        ("odd.parquet", *ODD, "--id", "count", *parameters, *OUT),
        ("patients", *ROLES, *parameters, *INTO),
    ]


VALID: dict[str, list[Words]] = {
    "publish anatomy": [
        *_publications("-l", "3"),
        ("patients.parquet", *ROLES, "-l", "3", *LEDGER, "--out", "followed", "--overwrite"),
        ("patients.parquet", *ROLES, "-l", "3", "--coarsen", "age=10", "--require", "attack_learning <= 0.9", *OUT),
    ],
    "publish splu": _publications("--gamma", "3"),
    "publish robust": [
        ("patients.parquet", *ROLES, "-r", "2", "--background-from", "sex", *OUT),
        ("patients.parquet", *ROLES, "-r", "2", "--background", "background.parquet", "--max-suppressed", "0.9", *OUT),
        ("patients", *ROLES, "-r", "2", "--background-from", "sex", *INTO),
    ],
    "publish uncertain": _publications(*UNSURE),
    "publish mondrian": _publications("-k", "4", "-l", "2"),
    "compile anatomy": [("patients", *ROLES, "-l", "3", "--dialect", "duckdb")],
    "verify": [("release", "--against", "patients.parquet"), ("robust", "--background", "background.parquet")],
    "estimate": [
        ("release", "SELECT sex, COUNT(*) FROM release WHERE disease = 'd1' GROUP BY sex"),
        ("boxes", "SELECT sex, COUNT(*) FROM release GROUP BY sex"),
    ],
    "check": [("patients.parquet", *ROLES, "-k", "2"), ("odd.parquet", *ODD, "-k", "1")],
    "attack": [("release", "--against", "patients.parquet", "--id", "ssn"), ("release", "--with", "first")],
    "compare": [
        ("patients.parquet", *ROLES, "--queries", "4", "--l", "3", "--gamma", "3", "--methods", "anatomy", "--quick")
    ],
    "breach": [(*BREACH, "--secret", "SELECT ssn, disease FROM patients")],
    "adopt": [
        ("--qit", "release/qit.parquet", "--st", "release/st.parquet", "-l", "3", *OUT),
        (
            "--data",
            "splu/data.parquet",
            "--gamma",
            "3",
            "--sensitive",
            "disease",
            "--against",
            "patients.parquet",
            *OUT,
        ),
    ],
    "complete": [("release", "--tables", "1", *OUT), ("splu", "--tables", "1", *OUT)],
    "report": [("release", "--out", "out.html", "--overwrite"), ("boxes", "--out", "out.html", "--overwrite")],
    "ledger": [("ledger.duckdb",), ("ledger.duckdb", "--check", "--key-file", "ledger.key", "--releases", "followed")],
    "run": [("job.yml",)],
    "guide": [("verify",)],
}
_ARGUMENTS = {"estimate": ("estimate", "query")}  # of a verb that takes several
_OF_LEDGERS = {"--since", "--changed", "--expect-departures", "--new-quasi"}
# engines that take seconds to start, or are not there, have tests of their own
_LEFT_OUT = {"engine", "master", "dsn", "temp_directory", "key_file", "help"}


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


@st.composite
def commands(draw: st.DrawFn, verb: str) -> list[str]:
    """Draw a command of one verb: of six words that are changed one is what nobody means."""
    words = list(draw(st.sampled_from(VALID[verb])))
    options = options_of(verb)
    for _ in range(draw(st.sampled_from([1, 2, 3]))):
        names = _named(verb, words)
        present = [name for name in names if name]
        added = sorted(set(options) - (set() if "--ledger" in words else _OF_LEDGERS)) or present
        name = draw(draw(st.sampled_from([st.sampled_from(present), st.sampled_from(added)])))
        value = draw(draw(st.sampled_from([meant(verb, name)] * 5 + [nobody_means(name)])))
        if name in names and draw(st.sampled_from([True] * 6 + [False])):  # else it is said twice
            words[names.index(name)] = value
        elif name.startswith("-"):
            values = value.split(" ", 1) if name == "--explain" else [value]
            words += [name, *values] if options[name] else [name]
    return [*verb.split(), *words]


def _named(verb: str, words: list[str]) -> list[str | None]:
    """Return for each word of a command whose value it is: an option's, an argument's; None for what is no value."""
    arguments, names = iter(_ARGUMENTS.get(verb, (verb,))), [None] * len(words)
    for number, word in enumerate(words):
        before = words[number - 1] if number else ""
        if names[number - 1] is None and options_of(verb).get(before):
            names[number] = before
        elif word not in options_of(verb):
            names[number] = next(arguments, None)
    return names


_KEYS = ["method", "source", "roles", "parameters", "output", "require", "key_env", "database", "table", "nobody", "l"]
_SCALARS = [
    *("anatomy", "patients.parquet", "release", "*a", "&a [*a]", "!!python/object:os.system x", "{", "[" * 200, "'"),
    *("|", "~", "yes", "null", "2020-01-01"),
]
_SOUND = {
    "method": ["anatomy", "splu", "mondrian"],
    "source": ["patients.parquet", "pat*.parquet", "patients.csv"],
    "roles": ["{quasi: [age, sex], sensitive: disease, id: ssn}", "{quasi: age, sensitive: [disease]}"],
    "output": ["{out: out, overwrite: true}", "{out: ünï, overwrite: true}", "{out: new}"],
}
_PARAMETERS = {
    "anatomy": ["{l: 3}", "{l: 2, block: 7}", "{l: 4, nulls: drop}", "{l: 300}"],
    "splu": ["{gamma: 3}", "{gamma: 5, epsilon: 0.5}"],
    "mondrian": ["{k: 4, l: 2}", "{k: 240, l: 1}"],
}


@st.composite
def jobs(draw: st.DrawFn) -> str:
    """Draw a text that somebody may take for a job; half of them are one."""
    sound = {key: draw(st.sampled_from(values)) for key, values in _SOUND.items()}
    sound["parameters"] = draw(st.sampled_from(_PARAMETERS[sound["method"]]))
    scalar = st.one_of(st.sampled_from([*_SCALARS, *NUMBERS]), st.text(max_size=9))
    value = st.recursive(
        scalar,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
            st.dictionaries(st.sampled_from(_KEYS), inner, max_size=3).map(_mapping),
        ),
        max_leaves=6,
    )
    changed = draw(st.one_of(st.just({}), st.dictionaries(st.sampled_from(_KEYS), value, max_size=3)))
    return "".join(f"{key}: {text}\n" for key, text in (sound | changed).items())


def _mapping(items: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {text}" for key, text in items.items()) + "}"


def complaint(done: Any, seconds: float) -> Iterator[str]:
    """Yield what is wrong with how a command ended."""
    if done.returncode not in (0, 2, 3):
        yield f"exit code {done.returncode}"
    if "Traceback" in done.stderr or "a fault of sqlanon" in done.stderr:
        yield "traceback"
    if seconds > 30:
        yield f"{seconds:.0f} s"
