"""Show results: tables for people, JSON and CSV for programs."""

import json
import logging
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sqlanon.adversary.posterior_table import SEVERAL_BACKGROUNDS, posterior_table
from sqlanon.methods.splu import binomial
from sqlanon.plain_values import plain, records
from sqlanon.verification.checks import REPORTED, Report

Format = Literal["table", "json", "csv"]


def to_stderr() -> Console:
    """Return the console for messages."""
    return Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


def to_stdout() -> Console:
    """Return the console for words between results."""
    return Console(soft_wrap=True, highlight=False, markup=False)


@contextmanager
def progress() -> Iterator[None]:
    """Show the step that runs, where standard error is a terminal."""
    console = to_stderr()
    if not console.is_terminal:
        yield
        return
    log = logging.getLogger("sqlanon")
    with console.status("starting") as status:
        handler = logging.Handler()
        handler.emit = lambda record: status.update(visible(record.getMessage()))  # type: ignore[method-assign]
        level = log.level
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        try:
            yield
        finally:
            log.removeHandler(handler)
            log.setLevel(level)


def show_frame(frame: pd.DataFrame, how: Format) -> None:
    """Print rows to standard output."""
    if how == "json":
        _print_json(records(frame))
    elif how == "csv":
        frame.to_csv(sys.stdout, index=False)
    else:
        _print_table(list(frame.columns), [list(row.values()) for row in records(frame)])


def show_mapping(mapping: Mapping[str, Any], how: Format) -> None:
    """Print one object to standard output, a line per key in a table."""
    if how == "json":
        _print_json(plain(mapping))
        return
    rows = [[key, _words(plain(value))] for key, value in mapping.items()]
    if how == "csv":
        pd.DataFrame(rows, columns=["key", "value"]).to_csv(sys.stdout, index=False)
    else:
        _print_table(["", ""], rows, header=False)


def show_publication(manifest: Mapping[str, Any], where: str, how: Format) -> None:
    """Print what was published: the manifest for programs, its main lines in words for people."""
    if how != "table":
        show_mapping(manifest, how)
        return
    lines = _LINES[manifest["method"]](manifest, where)
    _print_table(["", ""], [[key, text] for key, text in lines.items()], header=False)
    if manifest["method"] == "splu":
        _show_guarantees(manifest["guarantee"])


def _group_lines(manifest: Mapping[str, Any], where: str) -> dict[str, str]:
    """Say what a release of groups is."""
    verified, guarantee, columns = manifest["verified"], manifest["guarantee"], manifest["columns"]
    sizes = " to ".join(map(str, sorted({verified["smallest_group"], verified["largest_group"]})))
    return {
        "published": f"{manifest['rows']:,} rows in {manifest['groups']:,} groups of {sizes}: {where}",
        "method": f"{manifest['method']}, {_words(plain(manifest['parameters']))}",
        "dropped rows": f"{manifest['dropped_rows']:,}",
        "promised": f"from these tables alone, nobody infers a person's {_words(columns['sensitive'])} with confidence"
        f" above 1/{guarantee['l']} = {guarantee['confidence']:.1%}",
        "not promised": "that nobody learns who is in the table (quasi values are exact), nor anything against"
        " who knows more, learns from the release, or has a second release of these people",
        "verified": f"group sizes, {verified['diversity']} different values at least, confidence"
        f" {verified['confidence']:.1%} at most, row order, agreement with the source",
        "error (RCE)": f"{verified['reconstruction_error']:,.1f},"
        f" {verified['reconstruction_error_ratio']:.6f} times its lower bound",
        "files": ", ".join(f"{name} ({said['rows']:,} rows)" for name, said in manifest["files"].items()),
    }


_MISSING = "; who was in the table and is missing here had one of the frequent values of people alike"


def _class_lines(manifest: Mapping[str, Any], where: str) -> dict[str, str]:
    """Say what a release of groups is that were made class by class."""
    parameters, guarantee = manifest["parameters"], manifest["guarantee"]
    known = "; ".join(", ".join(columns) for columns in parameters["backgrounds"])
    shown = {name: value for name, value in parameters.items() if name not in ("l", "backgrounds")}
    column, share = _words(manifest["columns"]["sensitive"]), manifest["dropped_rows"] / _total(manifest)
    lines = _group_lines({**manifest, "guarantee": {"l": parameters["l"], "confidence": 1}}, where)
    return {
        "published": lines["published"],
        "method": f"{manifest['method']}, {_words(plain(shown))}",
        "against": f"who knows how {column} is distributed by {known}",
        "dropped rows": f"{manifest['dropped_rows']:,} ({share:.2%})" + (_MISSING if manifest["dropped_rows"] else ""),
        "promised": f"nobody who knows one of these distributions infers a person's {column} with a posterior above"
        f" 1/{guarantee['r']:g} = {guarantee['posterior']:.1%}"
        if "posterior" in guarantee
        else f"the paper's condition for 1/{guarantee['r']:g} against who knows one of these distributions; it does not"
        " prove the posterior",
        "not promised": "that nobody learns who is in the table (quasi values are exact), nor anything against who"
        " knows distributions by other columns or several of these at once, or has a second release of these people",
        **{name: lines[name] for name in ("verified", "error (RCE)", "files")},
    }


def _total(manifest: Mapping[str, Any]) -> int:
    return max(1, int(manifest["rows"] + manifest["dropped_rows"]))


def _randomized_lines(manifest: Mapping[str, Any], where: str) -> dict[str, str]:
    """Say what a release of randomized values is."""
    columns = manifest["columns"]
    return {
        "published": f"{manifest['rows']:,} rows: {where}",
        "method": f"{manifest['method']}, {_words(plain(manifest['parameters']))}",
        "dropped rows": f"{manifest['dropped_rows']:,}",
        "promised": f"counts of {_words(columns['sensitive'])}: small ones are far off, large ones near, as below;"
        " a row keeps its own value with probability 1/gamma",
        "not promised": "that nobody learns who is in the table (quasi values are exact), nor that a frequent value"
        " stays secret, nor anything against who has a second release of these people",
        "verified": "row order, promise, agreement with the source",
        "files": ", ".join(f"{name} ({said['rows']:,} rows)" for name, said in manifest["files"].items()),
    }


def _uncertain_lines(manifest: Mapping[str, Any], where: str) -> dict[str, str]:
    """Say what a release of uncertain rows is."""
    verified, guarantee, parameters = manifest["verified"], manifest["guarantee"], manifest["parameters"]
    sizes = " to ".join(map(str, sorted({verified["smallest_group"], verified["largest_group"]})))
    asked = ("k", "l", "threshold", "undiverse", "refine", "max_alternatives", "order_alternatives", "draws")
    return {
        "published": f"{manifest['rows']:,} rows in {manifest['groups']:,} groups of {sizes}: {where}",
        "method": f"{manifest['method']}, {_words({name: parameters[name] for name in asked})}",
        "dropped rows": f"{manifest['dropped_rows']:,}",
        "uncertain": f"{verified['uncertain_rows']:,} rows in a quasi-identifier,"
        f" {verified['uncertain_sensitive']:,} in {_words(manifest['columns']['sensitive'])}",
        "suppressed": f"{verified['suppressed_rows']:,} rows in {verified['suppressed_groups']:,} groups",
        "promised": f"groups of at least {guarantee['k']} rows; where a value weighs {guarantee['threshold']} or more,"
        f" at least {guarantee['l']} different weights, or no quasi value",
        "not promised": "that nobody learns who is in the table (quasi values are exact, unless * or uncertain), nor"
        f" any confidence: in some group a value is held by {verified['largest_confidence']:.1%} of the rows",
        "verified": "group sizes, weights, what is uncertain, hierarchies, row order, agreement with the source",
        "files": ", ".join(f"{name} ({said['rows']:,} rows)" for name, said in manifest["files"].items()),
    }


_LINES = {
    "anatomy": _group_lines,
    "robust": _class_lines,
    "splu": _randomized_lines,
    "uncertain": _uncertain_lines,
}


def _show_guarantees(promised: Mapping[str, Any]) -> None:
    for column, guarantee in promised.items():
        _show_titled(*binomial.table(column, guarantee))


def _show_titled(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]], closing: Sequence[str]) -> None:
    """Print a table between what it is about and what it comes to."""
    sys.stdout.write(f"\n{visible(title)}\n")
    _print_table(heads, rows)
    sys.stdout.write("".join(f"{visible(line)}\n" for line in closing))


def show_learned(lines: Sequence[Sequence[object]]) -> None:
    """Print a learned influence matrix to standard error, for an expert to correct: it is no part of the release."""
    heads, *rest = lines
    table = Table(box=None, pad_edge=False, header_style="bold", title="learned influence matrix", title_justify="left")
    for number, head in enumerate(heads):
        table.add_column(Text(visible(str(head))), justify="left" if number == 0 else "right", overflow="fold")
    for line in rest:
        table.add_row(*(Text(f"{value:g}" if isinstance(value, float) else visible(str(value))) for value in line))
    to_stderr().print(table)


def show_report(report: Report, how: Format) -> None:
    """Print a verification: its checks, its figures, the voters."""
    checks = [
        {"name": c.name, "required": plain(c.required), "found": plain(c.found), "holds": c.holds}
        for c in report.checks
    ]
    if how == "json":
        whole: dict[str, Any] = {"holds": report.holds, "checks": checks, "figures": plain(report.figures)}
        if report.presence is not None:
            whole["presence"] = records(report.presence)
        if report.posterior:
            whole["posterior"] = plain(report.posterior)
        _print_json(whole)
        return
    rows = [[c["name"], _short(c["required"]), _short(c["found"]), _mark(c)] for c in checks]
    if how == "csv":
        rows = [[c["name"], _words(c["required"]), _words(c["found"]), _mark(c)] for c in checks]
        pd.DataFrame(rows, columns=["check", "required", "found", "holds"]).to_csv(sys.stdout, index=False)
        return
    _print_table(["check", "required", "found", "holds"], rows)
    if report.figures:
        _print_table(["figure", "value"], [[key, _words(plain(value))] for key, value in report.figures.items()])
    if report.presence is not None:
        show_frame(report.presence, how)
    for found in report.posterior:
        _show_titled(*posterior_table(found, report.promise))
    if len(report.posterior) > 1:
        sys.stdout.write(f"\n{SEVERAL_BACKGROUNDS}\n")


def _short(value: object) -> str:
    """Return words for a narrow column: a sha256 by its first digits."""
    return re.sub(r"\b([0-9a-f]{8})[0-9a-f]{56}\b", r"\1…", _words(value))


def _mark(check: Mapping[str, Any]) -> str:
    """Say whether a check holds; one that found something without judging it is `reported`."""
    if check["holds"] is None:
        return "not run" if check["required"] != REPORTED or isinstance(check["found"], str) else REPORTED
    return "yes" if check["holds"] else "NO"


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_words(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return _cell(value)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 10 else f"{value:,.1f}"
    return visible(str(value))


def visible(text: str) -> str:
    """Escape what a terminal would act on (control characters in values and names are an attack)."""
    return "".join(letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in text)


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], header: bool = True) -> None:
    table = Table(show_header=header, box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[number], int | float | None) for row in rows)
        table.add_column(Text(visible(str(column))), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 160)
    with console.capture() as printed:
        console.print(table)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in printed.get().splitlines()))


def _print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
