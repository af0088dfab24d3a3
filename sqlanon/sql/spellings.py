"""What each dialect must write differently from sqlglot, because the result would otherwise be different."""

from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True)
class Spelling:
    """One dialect's own SQL for each construct; `{0}`, `{1}` … are its operands, an empty text stands for "not needed".

    sha256: the hash of a text's UTF-8 bytes, as lower-case hex digits
    hexadecimal: 15 hex digits, as a whole number
    divide: the integer quotient of two whole numbers
    random: a number in [0, 1)
    same: equality for which NULL equals NULL, in a join
    any_order: the ORDER BY of a window that needs none, where the dialect demands one
    quotient: the quotient of any two numbers, as a double
    seconds, micros: the time since 1970 of a date or a time, in seconds as a double, in microseconds as a whole number
    binary: whether texts are ordered by their bytes unless a collation says otherwise
    least_character: the smallest number of a character that a text may hold
    tries: whether the dialect has a cast that gives NULL where it fails
    constants: a row for each part of a text {0} between separators {1}; empty where a table is used instead
    texts: a row for each text of a JSON list; no row for what is no such list
    range: a row for each whole number from {0} to {1}
    numbering: any unique number of a row, in place of `row_number() over ()`
    pairs: whether a row is compared as pairs (is it NULL, value), for a dialect that sorts NULLs first
    fences: whether a CTE that computes a hash must be kept from being merged into the queries that read it
    hash: a well distributed whole number from 0 on, of any text
    known_link, number_link, text_link: the hash of a row up to its value {0}, with {1} for the hash of what stands
        before it; the second where {0} is cast to a whole number, the first where one that is NULL is made another
        number as well. Empty where a dialect hashes rows itself
    different: about how many different hashes {0} there are, for a dialect without such a function
    bits: how many bits of a whole number are set
    hash_bytes: a 64-byte hash of a text; bytes_text: eight of such bytes, from {1} on, as a text
    sorts_parts: whether rows can be sent to workers by a value and sorted there (`bound_constants.py`)
    SQL is written in upper case, as sqlglot writes it; `translate` lowers both.
    """

    sha256: str
    hexadecimal: str
    divide: str
    random: str
    same: str = "{0} IS NOT DISTINCT FROM {1}"
    any_order: str = ""
    quotient: str = "(CAST({0} AS DOUBLE) / {1})"
    seconds: str = ""
    binary: bool = True
    least_character: int = 0
    tries: bool = True
    micros: str = ""
    constants: str = ""
    texts: str = ""
    range: str = ""
    numbering: str = ""
    pairs: bool = False
    fences: bool = False
    hash: str = ""
    known_link: str = ""
    number_link: str = ""
    text_link: str = ""
    different: str = ""
    bits: str = "BIT_COUNT({0})"
    hash_bytes: str = ""
    bytes_text: str = ""
    sorts_parts: bool = False


_TEXT = r'"([^"\\\u0001-\u001f]|\\["\\bfnrt]|\\u00[01][0-9A-F])*"'
_TEXTS = rf"^\[({_TEXT}|null)(,({_TEXT}|null))*\]$"  # a JSON list as we write them

SPELLINGS = {
    "spark": Spelling(
        hash="(XXHASH64({0}) & 9223372036854775807)",
        sha256="SHA2({0}, 256)",
        hexadecimal="CAST(CONV({0}, 16, 10) AS BIGINT)",
        divide="({0} DIV {1})",
        random="RAND()",
        any_order="1",
        quotient="(CAST({0} AS DOUBLE) / NULLIF({1}, 0))",  # where DuckDB says infinity, these would raise
        seconds="CAST(CAST({0} AS TIMESTAMP) AS DOUBLE)",
        micros="UNIX_MICROS(CAST({0} AS TIMESTAMP))",
        texts="EXPLODE(FROM_JSON({0}, 'ARRAY<STRING>'))",
        range="EXPLODE(SEQUENCE({0}, {1}))",
        numbering="MONOTONICALLY_INCREASING_ID()",
        pairs=True,
        sorts_parts=True,
    ),
    "postgres": Spelling(
        # the collation keeps the order of hashes binary, whatever the database's language is
        sha256="(ENCODE(SHA256(CONVERT_TO({0}, 'UTF8')), 'hex') COLLATE \"C\")",
        hexadecimal="CAST(CAST('x' || {0} AS BIT(60)) AS BIGINT)",
        divide="({0} / {1})",
        random="RANDOM()",
        same="ARRAY[{0}] = ARRAY[{1}]",  # NULL-safe as well, and can be hashed
        quotient="(CAST({0} AS DOUBLE PRECISION) / NULLIF({1}, 0))",
        seconds="CAST(EXTRACT(EPOCH FROM {0}) AS DOUBLE PRECISION)",
        micros="CAST(EXTRACT(EPOCH FROM {0}) * 1000000 AS BIGINT)",
        range="GENERATE_SERIES({0}, {1})",
        binary=False,
        tries=False,
        least_character=1,
        constants='UNNEST(STRING_TO_ARRAY({0} COLLATE "C", {1}))',
        # no cast can be tried: what is written as such a list is read
        texts=("(JSON_ARRAY_ELEMENTS_TEXT(CASE WHEN {0} ~ '" + _TEXTS + '\' THEN CAST({0} AS JSON) END) COLLATE "C")'),
        bits="BIT_COUNT(CAST({0} AS BIT(64)))",
        fences=True,
        hash="(HASHTEXTEXTENDED({0}, 0) & 9223372036854775807)",
        # a hash of 8 bytes reads 4 that both halves are folded to, and a record's is a sum of its values': all 64 bits
        # of a number, and of what stands before it, go into the seed. NULL is told from 0 and from an empty text
        known_link="HASHINT4EXTENDED(0, {0} # {1})",
        number_link="HASHINT4EXTENDED(CAST({0} IS NULL AS INT), COALESCE({0}, 0) # {1})",
        text_link=(
            "HASHTEXTEXTENDED(COALESCE(CAST({0} AS TEXT) COLLATE \"C\", ''),"
            " {1} # CAST(CAST({0} IS NULL AS INT) AS BIGINT))"
        ),
        # the different ones of a sixteenth of all hashes are counted; of few rows it is said that all may differ
        different=(
            "CASE WHEN COUNT(*) < 100000 THEN COUNT(*)"
            " ELSE 16 * COUNT(DISTINCT CASE WHEN {0} & 15 = 0 THEN {0} END) END"
        ),
        hash_bytes="SHA512(CONVERT_TO({0}, 'UTF8'))",
        bytes_text="ENCODE(SUBSTR({0}, CAST({1} AS INT), 8), 'hex')",
    ),
}


def put_spelling(node: exp.Expr, spelling: str, dialect: str, *operands: exp.Expr) -> None:
    """Put a dialect's own text in the place of a node."""
    node.replace(exp.Var(this=spelling.format(*(operand.sql(dialect, identify=True) for operand in operands))))
