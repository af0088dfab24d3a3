"""A process that has imported the command line already and forks once for each command that it is sent.

A command starts in a few milliseconds instead of seconds, and still is a process with its own streams and exit code.
Nothing here opens a database before a fork: DuckDB's threads would not live on in the child.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import re
import sys
import tempfile
import traceback
from pathlib import Path
from typing import IO, Any

TOUR = ("--quasi", "age,sex", "--sensitive", "disease", "--id", "ssn")


def run(arguments: list[str]) -> int:
    """Run one command in this process and return its exit code."""
    from sqlanon.cli import main

    sys.argv = ["sqlanon", *arguments]
    try:
        main()
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def warm() -> None:
    """Do what every command does again: import what it needs, build the verbs' options, compile the templates."""
    import typer.main

    import sqlanon
    from sqlanon import prose
    from sqlanon.cli import app
    from sqlanon.plans import templates

    typer.main.get_command = functools.cache(
        typer.main.get_command
    )  # a child runs one command, and changes nothing here

    for module in pkgutil.walk_packages(sqlanon.__path__, "sqlanon."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # the modules of engines whose packages are not installed
                importlib.import_module(module.name)

    for path in templates.template_root().rglob("*.sql.j2"):
        name = path.relative_to(templates.template_root()).as_posix()
        templates.environment().get_template(name)
        if name.startswith("adversary/"):  # whose sections are asked for one by one, whenever a release is published
            for section in re.findall(r"^-- (?:table|view|report) (\w+):", path.read_text(encoding="utf-8"), re.M):
                templates.environment().get_template(name.replace(".sql.j2", f"/{section}.sql.j2"))
    package = Path(prose.__file__).parent
    for path in package.rglob("*.j2"):
        prose._template(path.relative_to(package).as_posix().removesuffix(".j2"))
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        for verb in typer.main.get_command(app).commands.values():  # each with all of its options
            list(getattr(verb, "commands", {}).values())
        run(["compile", "anatomy", "patients", *TOUR, "-l", "4"])
        run(["publish", "anatomy", "--help"])


def child(command: dict[str, Any]) -> None:
    """Become the command: its folder, its environment, its streams; leave without returning."""
    gc.freeze()  # a collection would copy every page of what was imported
    os.chdir(command["folder"])
    os.environ.clear()
    os.environ.update(command["environment"])
    tempfile.tempdir = None
    for path, stream in ((os.devnull, sys.stdin), (command["out"], sys.stdout), (command["err"], sys.stderr)):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(descriptor, stream.fileno())
        os.close(descriptor)
    for stream in (sys.stdout, sys.stderr):  # as Python does when it starts
        stream.reconfigure(encoding=os.environ.get("PYTHONIOENCODING", "utf-8"))
    if command.get("fault"):
        from tests.faults import Fault

        Fault(Path(command["folder"]), *command["fault"]).install()
    code = run(command["arguments"])
    atexit._run_exitfuncs()  # os._exit leaves them out, a command does not
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def serve(commands: IO[str], answers: IO[str]) -> None:
    """Fork for each line of JSON; answer with the process's number, then with how it ended."""
    warm()
    for line in commands:
        number = os.fork()
        if not number:
            child(json.loads(line))
        answers.write(f"{number}\n")
        answers.flush()
        _, status = os.waitpid(number, 0)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n")
        answers.flush()


def main() -> None:
    """Take commands from standard input; the folder of the project serves imports, whatever folder a command is in."""
    sys.path[0] = str(Path.cwd())
    with os.fdopen(os.dup(0)) as commands, os.fdopen(os.dup(1), "w") as answers:
        serve(commands, answers)
