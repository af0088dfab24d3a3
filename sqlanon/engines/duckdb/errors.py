"""DuckDB's errors as ours: what the caller can do about each, and no value of the data."""

import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from glob import glob  # of absolute patterns too, which Path.glob refuses
from pathlib import Path

import duckdb

from sqlanon.engines.statement_text import first_line
from sqlanon.errors import (
    DataError,
    InterruptedRunError,
    ResourceError,
    SourceError,
    SqlanonError,
    TargetError,
    UsageError,
)
from sqlanon.plans.templates import literal
from sqlanon.wording import option

# What DuckDB says of a file that it cannot read, in our words: file, column, what to do; no value of the
# data.
_VIEW = "make them alike, or publish a view over {reader}('…', union_by_name = true) in a DuckDB file, with " + option(
    "database", "FILE"
)
_CONVERTED = {
    (".xlsx",): "install excel; load excel; copy (from read_xlsx({file})) to {parquet}",
    (".sqlite", ".sqlite3"): "install sqlite; attach {file} as source (type sqlite); copy source.TABLE to {parquet}",
}
_DAMAGED = "is damaged, or no whole Parquet file: fetch or write it again"
_CSV_FILE = re.compile(r"^\s*file = (.+)$", re.MULTILINE)

Words = Callable[[re.Match[str], str], str]


def _other_type(match: re.Match[str], text: str) -> str:
    file, column, sql_type, first = match.groups()
    view = _VIEW.format(reader="read_parquet")
    return f"the files of the glob differ: {column!r} is {sql_type} in {file!r}, and {first} in the first file; {view}"


def _other_columns(match: re.Match[str], text: str) -> str:
    column, first, file = match.groups()
    view = _VIEW.format(reader="read_parquet")
    return f"the files of the glob differ: {first!r} has a column {column!r}, {file!r} has none; {view}"


def _other_csv_columns(match: re.Match[str], text: str) -> str:
    first, file, column = match.groups()
    view = _VIEW.format(reader="read_csv")
    return f"the files of the glob differ: {first!r} has a column {column!r}, {file!r} has none; {view}"


def _cut_off(match: re.Match[str], text: str) -> str:
    return f"{match[1]!r} is no whole Parquet file: its end is missing, as of a file cut off; fetch or write it again"


def _damaged(match: re.Match[str], text: str) -> str:
    return f"{match[1]!r} {_DAMAGED}"


def _not_utf8(match: re.Match[str], text: str) -> str:
    return f"{_csv_file(text)} is not UTF-8 text (line {match[1]}): write it in UTF-8"


def _csv_value(match: re.Match[str], text: str) -> str:
    line, column, sql_type = match.groups()
    return (
        f"line {line} of {_csv_file(text)}: the column {column!r} was asked for as {sql_type}, and this line has"
        f" something else: {option('types', f'{column}=VARCHAR')}, or {option('missing', 'TEXT')} where it is no value"
    )


def _csv_line(match: re.Match[str], text: str) -> str:
    return f"line {match[1]} of {_csv_file(text)} cannot be read as the lines before it: look at its quotes and columns"


def _csv_form(match: re.Match[str], text: str) -> str:
    return f"{match[1]!r} cannot be read as CSV: its lines differ in quotes or in their number of columns"


def _json(match: re.Match[str], text: str) -> str:
    return f"{match[1]!r}, line {match[2]}: not JSON"


def _digits(match: re.Match[str], text: str) -> str:
    column = f"column {match[1].strip()!r}" if match[1] else "a column"
    return f"{column} holds whole numbers of more than 38 digits, which no file holds: publish a view with it as text"


def _extension(match: re.Match[str], text: str) -> str:
    return describe_missing_extension(match[1])


def describe_missing_extension(name: str) -> str:
    """Return our words where a source needs an extension of DuckDB's that is not there."""
    return (
        f"this source needs DuckDB's extension {name}, which is not installed; sqlanon installs none: type"
        f" install {name} in DuckDB, or fetch the file first"
    )


def _no_files(match: re.Match[str], text: str) -> str:
    return f"no file matches {match[1]!r}"


_SAID: tuple[tuple[re.Pattern[str], Words], ...] = tuple(
    (re.compile(pattern, re.DOTALL), words)
    for pattern, words in (
        (r'reading file "([^"\n]+)": failed to cast column "([^"\n]+)" from type (\S+) to (\w+)', _other_type),
        (
            r'column "([^"\n]+)" was read from the original file "([^"\n]+)".*not be found in file "([^"\n]+)"',
            _other_columns,
        ),
        (r'between globbed files.*?file schema: ([^\n]+)\n.*?file: ([^\n]+)\n.*?name: "([^"\n]+)"', _other_csv_columns),
        (r"No magic bytes found at end of file '([^'\n]+)'", _cut_off),
        (r"bytes outside file: ([^\n,]+),", _damaged),
        (r"CSV Error on Line: (\d+).*?not utf-8", _not_utf8),
        (r'CSV Error on Line: (\d+).*?converting column "([^"\n]+)".*? type (\w+)', _csv_value),
        (r"CSV Error on Line: (\d+)", _csv_line),
        (r'Error when sniffing file "([^"\n]+)"', _csv_form),
        (r'Malformed JSON in file "([^"\n]+)", at byte \d+ in line (\d+)', _json),
        (r"Could not cast value -?\d+ to DECIMAL\(38,0\)(?: when casting from source column ([^\n]+))?", _digits),
        (r"required extension '(\w+)", _extension),
        (r'No files found that match the pattern "([^"\n]+)"', _no_files),
    )
)
# what readers of Parquet and of its compression say of bytes that they did not expect; files are named elsewhere
_BYTES = re.compile(
    r"TProtocolException|TTransport|[Tt]hrift|know what type|[Vv]ariable-length int|[Pp]arquet|magic bytes|ZSTD"
    r"|[Ss]nappy|decompress|Out of buffer|page header|dictionary",
)


def describe_convertible(file: str) -> str:
    """Return what DuckDB's shell is told to write a file of another kind as Parquet; empty for any other file."""
    for endings, statement in _CONVERTED.items():
        if file.lower().endswith(endings):
            command = statement.format(file=literal(file), parquet=literal(str(Path(file).with_suffix(".parquet"))))
            return f"{file!r} is not read here; write it as Parquet first, in DuckDB's shell: {command}"
    return ""


def describe_read_error(text: str) -> str:
    """Return our words for what DuckDB says of a file that it cannot read; empty for anything else.

    text: DuckDB's whole message: names of files and columns are read off it, values are not.
    """
    for pattern, words in _SAID:
        match = pattern.search(text)
        if match is not None:
            return words(match, text)
    return ""


def describe_damage(line: str, files: Sequence[str]) -> str:
    """Return our words where the first line of a message is about bytes of a Parquet file; empty for anything else.

    files: the files that the session reads, as they were named: such a message names none.
    """
    if not _BYTES.search(line):
        return ""
    broken = _files_without_marks(files)
    suspects = broken[:1] or list(dict.fromkeys(files))
    return f"{' or '.join(map(repr, suspects)) or 'a file'} {_DAMAGED}"


def _files_without_marks(files: Sequence[str]) -> list[str]:
    """Return which of the files, patterns among them, do not begin and end as Parquet does."""
    paths = {path: None for file in files for path in ([file] if Path(file).exists() else sorted(glob(file)))}  # noqa: PTH207
    broken = []
    for path in filter(os.path.isfile, paths):
        with suppress(OSError), Path(path).open("rb") as file:
            begins = file.read(4)
            file.seek(-min(4, Path(path).stat().st_size), os.SEEK_END)
            if (begins, file.read()) != (b"PAR1", b"PAR1"):
                broken.append(path)
    return broken


def _csv_file(text: str) -> str:
    match = _CSV_FILE.search(text)
    return repr(match[1]) if match else "the file"


_ERROR_KIND = re.compile(r"\A[A-Z][A-Za-z ]* Error: ")
# an error of a thread that writes, quoted in another's: DuckDB writes it down as JSON
_INNER = re.compile(r'\{"exception_type":.*\}')
_LONGEST = "exceeded maximum execution time"
_FAULT = re.compile(r"\A(INTERNAL|FATAL) Error|\AInvalid Error: (unordered_map|vector|map|basic_string|deque|std)::")
OLDEST, NEWEST = (1, 4), 2  # the versions of DuckDB that tests run on; pyproject.toml says the same
_FULL_DISK = ("No space left on device", "Disk quota exceeded", "failed to offload data block")
_VALUE_ERRORS = {
    duckdb.ConversionException: "a value of the source cannot be read as what its column holds",
    duckdb.OutOfRangeException: "a number of the source is larger than what its column, or a sum of it, can hold",
    duckdb.InvalidInputException: "DuckDB cannot read a value of the source",
}


def refuse_older_version(version: str = duckdb.__version__) -> None:
    """Refuse a DuckDB that lacks what our statements call, before one of them fails for a reason of its own."""
    numbers = re.findall(r"\d+", version)[:2]
    if tuple(map(int, numbers)) < OLDEST:
        raise UsageError(
            f"sqlanon needs DuckDB {OLDEST[0]}.{OLDEST[1]} or later, and this Python has {version}:"
            " pip install --upgrade 'duckdb>=1.4,<3'"
        )


def _inner_message(quoted: re.Match[str]) -> str:
    """Return the words of an error that is quoted as JSON, none where it cannot be read."""
    try:
        return str(json.loads(quoted[0])["exception_message"])
    except (ValueError, LookupError, RecursionError):
        return "no more is known"


def translate_error(error: duckdb.Error, files: Sequence[str] = (), template: str = "") -> SqlanonError:
    """Return the exception of ours that says the same; a value of the data that DuckDB quotes is left out.

    files: the files that the session reads, as they were named. template: of the statement, '' for another text.
    """
    line = _ERROR_KIND.sub("", _INNER.sub(_inner_message, first_line(error)))
    if isinstance(error, duckdb.InterruptException) and _LONGEST not in line:
        return InterruptedRunError("the statement was interrupted")
    if _LONGEST in line:
        return ResourceError(
            "a statement took longer than this connection's max_execution_time: raise it, or set it to 0"
        )
    # a full disk, wherever DuckDB has met it: in a file, in the log of a commit, or where it spills
    if any(words in line for words in _FULL_DISK):
        return TargetError(f"no space left on the disk, or in {option('temp_directory')}: {line}")
    description = describe_read_error(str(error))
    # what a reader says of bytes has no class of its own; a binder speaks of names that may hold the same words
    if not description and (type(error) is duckdb.Error or isinstance(error, duckdb.InvalidInputException)):
        description = describe_damage(line, files)
    if description and not isinstance(error, duckdb.OutOfMemoryException):
        return SourceError(description)
    if isinstance(error, duckdb.OutOfMemoryException):
        return ResourceError(
            f"not enough memory or temporary space: {line}; raise {option('memory_limit')} or free disk space"
        )
    # a commit that could not be written: a limit on files, or a fault of the device
    if isinstance(error, duckdb.IOException) or ("ommit" in line and "Could not write" in line):
        return TargetError(line)
    if isinstance(error, duckdb.InternalException | duckdb.FatalException) or _FAULT.match(str(error)):
        return _describe_fault(error, template)
    if isinstance(error, duckdb.TransactionException) and "conflict" in line:
        return TargetError(f"another run has written there meanwhile, which stays: {line}")
    # these quote the value that could not be read, which may be a sensitive one: only their kind is told
    for error_type, words in _VALUE_ERRORS.items():
        if isinstance(error, error_type):
            return DataError(words)
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException | duckdb.ParserException):
        return UsageError(line)
    return SqlanonError(line)


def _describe_fault(error: duckdb.Error, template: str) -> SqlanonError:
    """Say that DuckDB itself has failed, and in which statement; its own words may quote the data."""
    version = duckdb.__version__
    statement = f"the statement of sql_templates/{template}.sql.j2" if template else "a statement"
    newer = ", which is newer than any that sqlanon was tested with," if int(version.split(".")[0]) > NEWEST else ""
    return SqlanonError(
        f"a fault of DuckDB {version}{newer} ({type(error).__name__}) in {statement}; nothing was published."
        f" Try {option('threads', 1)}, or another version of DuckDB (1.4 to 2), and report it to"
        " https://github.com/duckdb/duckdb/issues with the statement"
    )
