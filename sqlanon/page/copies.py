"""A step as text to copy: the command, the Python call, and for a publication the job file that do the same."""

import json
import os
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sqlanon.errors import SqlanonError
from sqlanon.page.state import KEY, State
from sqlanon.page.values import command_words, job_value, option_words
from sqlanon.publishing.thresholds import split_threshold
from sqlanon.sql.sources.queried_source import CoarserSource

COMMAND, PYTHON, JOB = "Command", "Python", "Job file"


def write_copies(state: State, step: str) -> dict[str, str]:
    """Return the texts of a step by what they are; none where the choice is not complete."""
    try:
        return {what: text for what, text in _WRITERS[step](state).items() if text}
    except (SqlanonError, KeyError):
        return {}


def _source(state: State) -> list[str]:
    # a path that begins with a hyphen would be taken for an option
    name = f"./{state.source}" if state.source.startswith("-") else state.source
    return [name, *(option_words("--database", state.database) if state.database else [])]


def _roles(state: State) -> list[str]:
    return [
        word
        for role, columns in state.chosen.items()
        for column in columns
        for word in option_words(f"--{role}", column)
    ]


def _join(*words: str) -> str:
    return shlex.join(["sqlanon", *words])


def _call(verb: str, *arguments: str, **options: Any) -> str:
    """Return a call of Python, an argument to a line where it is long."""
    parts = [*arguments, *(f"{name}={value!r}" for name, value in options.items())]
    short = f"{verb}({', '.join(parts)})"
    return short if len(short) <= 100 else f"{verb}(\n" + "".join(f"    {part},\n" for part in parts) + ")"


def _connect(state: State) -> str:
    where = f"{state.database!r}, read_only=True" if state.database else ""
    return f"import duckdb, sqlanon\n\ncon = duckdb.connect({where})\n"


def _open(state: State) -> str:
    return f"{_connect(state)}release = sqlanon.open({state.out!r}, con=con)\n"


def _printed(state: State, verb: str, words: Sequence[str] = (), **options: Any) -> dict[str, str]:
    """Return a verb over the source, whose result is printed."""
    called = _call(f"sqlanon.{verb}", "con", repr(state.source), **options)
    return {COMMAND: _join(verb, *_source(state), *words), PYTHON: f"{_connect(state)}print({called})"}


def _risks(state: State) -> dict[str, str]:
    coarsen = state.options_of("coarsen")
    words = [word for value in coarsen.values() for word in command_words(state.parameters["coarsen"], value)]
    return _printed(state, "check", [*_roles(state), *words], **state.filled_roles, **coarsen)


def _compare(state: State) -> dict[str, str]:
    options = state.compare_options()
    words = [
        word
        for name, value in options.items()
        for word in (["--resist", f"{value:g}"] if name == "resist" else command_words(state.parameters[name], value))
    ]
    return _printed(state, "compare", [*_roles(state), *words], **state.filled_roles, **options)


def _publish(state: State) -> dict[str, str]:
    options = state.publish_options()
    arguments = state.declared.arguments
    words = [word for name, value in options.items() for word in command_words(arguments[name], value)]
    keyed = bool(os.environ.get(KEY))
    called = _call(f"sqlanon.{state.method}", "con", repr(state.source), **options)
    head = _connect(state)
    if keyed:  # the command reads the variable by itself
        called = called.removesuffix(")").rstrip(",\n") + f", key=os.environ[{KEY!r}])"
        head = f"import os\n{head}"
    own = {name: job_value(value) for name, value in options.items() if name in state.parameters}
    target = {"out": state.out} | ({"overwrite": True} if state.overwrite else {})
    job: dict[str, Any] = {
        "method": state.method,
        "source": {"database": state.database, "table": state.source} if state.database else state.source,
        "roles": state.filled_roles,
        "parameters": own,
        "output": target,
    }
    if state.required_texts:
        job["require"] = dict(map(split_threshold, state.required_texts))
    if keyed:
        job["key_env"] = KEY
    return {
        COMMAND: _join("publish", state.method, *_source(state), *words),
        PYTHON: f"{head}release = {called}",
        JOB: "\n".join(_lines(job)),
    }


def _lines(mapping: dict[str, Any], indent: str = "") -> list[str]:
    lines = []
    for name, value in mapping.items():
        key = name if name.isidentifier() else json.dumps(name, ensure_ascii=False)
        if isinstance(value, dict) and value:
            lines += [f"{indent}{key}:", *_lines(value, f"{indent}  ")]
        else:
            lines.append(f"{indent}{key}: {json.dumps(value, ensure_ascii=False)}")
    return lines


def _identified(state: State) -> list[str]:
    return [word for column in state.row_identifier for word in option_words("--id", column)]


def _against(state: State) -> list[str]:
    name, *place = _source(state)
    labels = state.original.words if isinstance(state.original, CoarserSource) else []
    return [*option_words("--against", name), *labels, *place]


def _labels(state: State) -> dict[str, Any]:
    source = state.original
    return {"coarsen": dict(source.rules)} if isinstance(source, CoarserSource) and source.rules else {}


def _verify(state: State) -> dict[str, str]:
    called = _call("release.verify", repr(state.source), **_labels(state))
    return {COMMAND: _join("verify", state.out, *_against(state)), PYTHON: f"{_open(state)}print({called}.holds)"}


def _attack(state: State) -> dict[str, str]:
    called = _call("sqlanon.attack", "release", against=state.source, **_single(state), **_labels(state))
    return {
        COMMAND: _join("attack", state.out, *_against(state), *_identified(state)),
        PYTHON: f"{_open(state)}print({called})",
    }


def _single(state: State) -> dict[str, Any]:
    return {"id": state.row_identifier} if state.row_identifier else {}


def _report(state: State) -> dict[str, str]:
    public, internal = f"{state.out}.html", f"{state.out}-internal.html"
    commands = [
        _join("report", state.out, "--out", public),
        _join("report", state.out, *_against(state), *_identified(state), "--out", internal),
    ]
    calls = [
        _call("sqlanon.report", "release", repr(public)),
        _call("sqlanon.report", "release", repr(internal), against=state.source, **_single(state), **_labels(state)),
    ]
    return {COMMAND: "\n".join(commands), PYTHON: _open(state) + "\n".join(calls)}


def _ask(state: State) -> dict[str, str]:
    if not state.question.strip():
        return {}
    called = _call("sqlanon.open", repr(state.out))
    return {
        COMMAND: _join("estimate", state.out, state.question),
        PYTHON: f"import sqlanon\n\nprint({called}.estimate({state.question!r}))",
    }


_WRITERS: dict[str, Callable[[State], dict[str, str]]] = {
    "data": partial(_printed, verb="check"), "risks": _risks, "compare": _compare, "publish": _publish,
    "verify": _verify, "attack": _attack, "report": _report, "ask": _ask,
}  # fmt: skip
