"""The grammar of recipients' queries as data: names of the tree nodes, functions, types and units that pass.

What is not listed here never reaches an engine. The names are those of sqlglot's node classes.
"""

GRAMMAR = (
    "a release answers SELECT [columns,] COUNT(*) | SUM(e) | AVG(e), … FROM release [WHERE …] [GROUP BY …]"
    " [ORDER BY …] [LIMIT n]"
)
FUNCTIONS = "arithmetic, comparison, LIKE, regexp_matches, IN, BETWEEN, CASE, COALESCE, CAST, date parts, text"


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
    | _names("DayOfYear Hour Minute Second")
)
NAMED_FUNCTIONS = _names("date_part prefix suffix strlen")  # known to the parser by name only
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

CLAUSES = frozenset(["expressions", "from_", "where", "group", "order", "limit"])
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
    "Placeholder": "a parameter",
    "Parameter": "a parameter",
}
