"""The grammar of recipients' queries as data: names of the tree nodes, functions, types and units that pass.

What is not listed here never reaches an engine. The names are those of sqlglot's node classes.
"""

GRAMMAR = (
    "a release answers SELECT [columns,] COUNT(*) | SUM(e) | AVG(e) | MEDIAN(e), … FROM release [WHERE …]"
    " [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT n]"
)
FUNCTIONS = "arithmetic, comparison, LIKE, regexp_…, IN, BETWEEN, CASE, COALESCE, CAST, date, mathematical and text"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


COMPARISONS = _names("EQ NEQ LT LTE GT GTE NullSafeEQ NullSafeNEQ Is Between In Like ILike Not Escape")
ARITHMETIC = _names("Add Sub Mul Div IntDiv Mod Neg")
# Subqueries, windows, table functions and aggregates are absent, and so is every function that reads a file, changes a
# setting or draws at random: `Anonymous` passes only with a name of NAMED_FUNCTIONS.
NODES = (
    COMPARISONS
    | ARITHMETIC
    | _names("And Or Paren DPipe Literal Boolean Null Column Identifier Interval Var")
    | _names("Case If Coalesce Nullif Cast TryCast DataType DataTypeParam")
    | _names("Abs Round Floor Ceil Sqrt Ln Exp Sign Pow Greatest Least")
    | _names("Lower Upper Length Substring Trim Replace Left Right StartsWith EndsWith Contains StrPosition Concat")
    | _names("Reverse RegexpLike Anonymous")
    | _names("Extract TimestampTrunc DateTrunc DateDiff Date Year Month Day Quarter Week DayOfWeek DayOfWeekIso")
    | _names("DayOfYear Hour Minute Second DayOfMonth WeekOfYear LastDay Monthname Dayname DateBin DateAdd ToDays")
    | _names("DateFromParts TimeFromParts TimestampFromParts TimeToStr StrToTime TimeToUnix UnixToTime")
    | _names("Sin Cos Tan Cot Asin Acos Atan Atan2 Sinh Cosh Tanh Asinh Acosh Atanh Degrees Radians Pi Cbrt Log Trunc")
    | _names("IsNan IsInf SplitPart RegexpReplace RegexpExtract RegexpFullMatch Translate ConcatWs Ascii Unicode Chr")
    | _names("BitLength Levenshtein JarowinklerSimilarity MD5 SHA2")
)
# Known to the parser by name only. Absent are those whose result may be as long as a number says (lpad, repeat,
# printf), those that give lists or bytes, and those that read the clock or the session.
NAMED_FUNCTIONS = _names(
    "date_part prefix suffix strlen strip_accents nfc_normalize ord length_grapheme substring_grapheme left_grapheme"
    " right_grapheme damerau_levenshtein jaccard jaro_similarity hamming mismatches even gcd lcm isfinite signbit"
    " bit_count gamma lgamma fdiv fmod round_even epoch_us epoch_ns era isoyear yearweek weekday century decade"
    " millennium millisecond microsecond julian datepart datesub date_sub to_years to_months to_weeks to_hours"
    " to_minutes to_seconds try_strptime"
)
UNITS = _names(
    "microsecond millisecond second minute hour day week month quarter year decade century"
    " dow isodow doy isoyear dayofweek dayofyear weekday epoch"
)
# The names under which sqlglot keeps them: HUGEINT is INT128 there.
TYPES = _names(
    "TINYINT SMALLINT INT BIGINT INT128 UTINYINT USMALLINT UINT UBIGINT UINT128 FLOAT DOUBLE DECIMAL"
    " TEXT VARCHAR BOOLEAN DATE TIME TIMESTAMP TIMESTAMPTZ TIMESTAMPNTZ"
)
# Operators whose meaning the tree does not keep: `~` (match of the whole text) and the powers' precedence.
LOST_OPERATORS = frozenset(["~", "!~", "^", "**", "~~", "!~~", "~~*", "!~~*", "~~~"])

CLAUSES = frozenset(["expressions", "from_", "where", "group", "having", "order", "limit", "with_"])
CLAUSE_NAMES = {
    "with_": "WITH (a common table expression)",
    "joins": "a join",
    "laterals": "a join",
    "distinct": "DISTINCT",
    "having": "HAVING",
    "qualify": "QUALIFY",
    "windows": "a window",
    "sample": "SAMPLE",
    "offset": "OFFSET",
    "group": "GROUP BY",
    "order": "ORDER BY",
    "db": "a table of another schema",
}
NODE_NAMES = {
    "Subquery": "a subquery",
    "Select": "a subquery",
    "Exists": "a subquery",
    "Window": "a window",
    "Filter": "FILTER",
    "Distinct": "DISTINCT",
    "Order": "ORDER BY inside an aggregate",
    "Star": "*",
    "Pad": "the functions lpad and rpad",
    "Placeholder": "a parameter",
    "Parameter": "a parameter",
}
