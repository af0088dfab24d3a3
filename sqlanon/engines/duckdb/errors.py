"""DuckDB's errors as ours: what the caller can do about each, and no value of the data."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import duckdb

from sqlanon.engines.runner import first_line
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

_VIEW = "make them alike, or publish a view over {reader}('…', union_by_name = true) in a DuckDB file, with " + option(
    "database", "FILE"
)
_OTHER_COLUMNS = f"the files of the glob differ: {{first!r}} has a column {{column!r}}, {{file!r}} has none; {_VIEW}"
_CONVERTED = {
    (".xlsx",): "install excel; load excel; copy (from read_xlsx({file})) to {parquet}",
    (".sqlite", ".sqlite3"): "install sqlite; attach {file} as source (type sqlite); copy source.TABLE to {parquet}",
}
_DAMAGED = "is damaged, or no whole Parquet file: fetch or write it again"
_CSV_FILE = re.compile(r"^\s*file = (.+)$", re.MULTILINE)

MISSING_EXTENSION = (
    "this source needs DuckDB's extension {0}, which is not installed; sqlanon installs none: type"
    " install {0} in DuckDB, or fetch the file first"
)

# What DuckDB says of a file that it cannot read, in our words: file, column, what to do; no value of the data.
_SAID = {
    re.compile(pattern, re.DOTALL): words
    for pattern, words in {
        r'reading file "(?P<file>[^"\n]+)": failed to cast column "(?P<column>[^"\n]+)" from type (\S+) to (\w+)': (
            f"the files of the glob differ: {{column!r}} is {{3}} in {{file!r}}, and {{4}} in the first file; {_VIEW}"
        ),
        r'column "(?P<column>[^"\n]+)" was read from the original file "(?P<first>[^"\n]+)".*not be found in file'
        r' "(?P<file>[^"\n]+)"': _OTHER_COLUMNS,
        r"between globbed files.*?file schema: (?P<first>[^\n]+)\n.*?file: (?P<file>[^\n]+)\n.*?name:"
        r' "(?P<column>[^"\n]+)"': _OTHER_COLUMNS.replace("{reader}", "read_csv"),
        r"No magic bytes found at end of file '([^'\n]+)'": (
            "{1!r} is no whole Parquet file: its end is missing, as of a file cut off; fetch or write it again"
        ),
        r"bytes outside file: ([^\n,]+),": f"{{1!r}} {_DAMAGED}",
        r"CSV Error on Line: (\d+).*?not utf-8": "{csv} is not UTF-8 text (line {1}): write it in UTF-8",
        r'CSV Error on Line: (\d+).*?converting column "([^"\n]+)".*? type (\w+)': (
            "line {1} of {csv}: the column {2!r} was asked for as {3}, and this line has something else:"
            f" {option('types', '{2}=VARCHAR')}, or {option('missing', 'TEXT')} where it is no value"
        ),
        r"CSV Error on Line: (\d+)": (
            "line {1} of {csv} cannot be read as the lines before it: look at its quotes and columns"
        ),
        r'Error when sniffing file "([^"\n]+)"': (
            "{1!r} cannot be read as CSV: its lines differ in quotes or in their number of columns"
        ),
        r'Malformed JSON in file "([^"\n]+)", at byte \d+ in line (\d+)': "{1!r}, line {2}: not JSON",
        r"Could not cast value -?\d+ to DECIMAL\(38,0\)(?: when casting from source column ([^\n]+))?": (
            "{digits} holds whole numbers of more than 38 digits, which no file holds: publish a view with it as text"
        ),
        r"Type with name (\w+) does not exist": "{1!r} is no type; write VARCHAR, BIGINT, DOUBLE, DATE or TIMESTAMP",
        r"required extension '(\w+)": MISSING_EXTENSION.replace("{0}", "{1}"),
        r'No files found that match the pattern "([^"\n]+)"': (
            "no file matches {1!r}; say the pattern from this folder, or whole, in quotes"
        ),
    }.items()
}
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


def describe_unopened(file: str, error: Exception) -> str:
    """Say why a database file cannot be opened, and what to do."""
    text = str(error)
    if "lock" in text and (holder := re.search(r"PID (\d+)", text)):
        return (
            f"the database {file!r} is open for writing in another program (process {holder[1]}): close it there, or"
            " name a copy of the file"
        )
    if "not a valid DuckDB database" in text:
        instead = f"name it in the place of a table, without {option('database')}"
        return describe_convertible(file) or f"{file!r} is no DuckDB database; to read its rows {instead}"
    return describe_convertible(file) or f"cannot open the database {file!r}: {first_line(error)}"


def describe_read_error(text: str) -> str:
    """Return our words for what DuckDB says of a file that it cannot read; empty for anything else.

    text: DuckDB's whole message: names of files and columns are read off it, values are not.
    """
    for pattern, words in _SAID.items():
        if match := pattern.search(text):
            file = _CSV_FILE.search(text)
            digits = f"column {match[1].strip()!r}" if match.groups() and match[1] else "a column"
            named = {"reader": "read_parquet", "csv": repr(file[1]) if file else "the file", "digits": digits}
            return words.format(match[0], *match.groups(), **named, **match.groupdict())
    return ""


def _describe_damage(line: str, files: Sequence[str]) -> str:
    """Return our words where a message is about bytes of a Parquet file, which it does not name; else nothing."""
    return f"{' or '.join(map(repr, dict.fromkeys(files))) or 'a file'} {_DAMAGED}" if _BYTES.search(line) else ""


_ERROR_KIND = re.compile(r"\A[A-Z][A-Za-z ]* Error: ")
# an error of a thread that writes, quoted in another's: DuckDB writes it down as JSON
_INNER = re.compile(r'\{"exception_type":.*\}')
_FAULT = re.compile(r"\A(INTERNAL|FATAL) Error|\AInvalid Error: (unordered_map|vector|map|basic_string|deque|std)::")
_FULL_DISK = re.compile("No space left on device|Disk quota exceeded|failed to offload data block")
_VALUE_ERRORS = {
    duckdb.ConversionException: "a value of the source cannot be read as what its column holds",
    duckdb.OutOfRangeException: "a number of the source is larger than what its column, or a sum of it, can hold",
    duckdb.InvalidInputException: "DuckDB cannot read a value of the source",
}


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
    if "exceeded maximum execution time" in line:
        return ResourceError(
            "a statement took longer than this connection's max_execution_time: raise it, or set it to 0"
        )
    if isinstance(error, duckdb.InterruptException):
        return InterruptedRunError("the statement was interrupted")
    # a full disk, wherever DuckDB has met it: in a file, in the log of a commit, or where it spills
    if _FULL_DISK.search(line):
        return TargetError(f"no space left on the disk, or in {option('temp_directory')}: {line}")
    if isinstance(error, duckdb.OutOfMemoryException):
        return ResourceError(
            f"not enough memory or temporary space: {line}; raise {option('memory_limit')} or free disk space"
        )
    description = describe_read_error(str(error))
    # what a reader says of bytes has no class of its own; a binder speaks of names that may hold the same words
    if not description and (type(error) is duckdb.Error or isinstance(error, duckdb.InvalidInputException)):
        description = _describe_damage(line, files)
    if description:
        return SourceError(description)
    # a commit that could not be written: a limit on files, or a fault of the device
    if isinstance(error, duckdb.IOException) or ("ommit" in line and "Could not write" in line):
        return TargetError(line)
    if isinstance(error, duckdb.InternalException | duckdb.FatalException) or _FAULT.match(str(error)):
        # DuckDB itself has failed; its own words may quote the data
        statement = f"the statement of sql_templates/{template}.sql.j2" if template else "a statement"
        return SqlanonError(
            f"a fault of DuckDB {duckdb.__version__} ({type(error).__name__}) in {statement}; nothing was published."
            f" Try {option('threads', 1)}, or another version of DuckDB (1.4 to 2), and report it to"
            " https://github.com/duckdb/duckdb/issues with the statement"
        )
    if isinstance(error, duckdb.TransactionException) and "conflict" in line:
        return TargetError(f"another run has written there meanwhile, which stays: {line}")
    # these quote the value that could not be read, which may be a sensitive one: only their kind is told
    if words := next((words for kind, words in _VALUE_ERRORS.items() if isinstance(error, kind)), ""):
        return DataError(words)
    if isinstance(error, duckdb.ConnectionException):
        return UsageError(
            "the DuckDB connection is closed: open another one. A release in a session ends with it: ask before, or"
            f" publish with {option('out')} and read the directory with sqlanon.open"
        )
    names = isinstance(error, duckdb.BinderException | duckdb.CatalogException | duckdb.ParserException)
    return UsageError(line) if names else SqlanonError(line)
