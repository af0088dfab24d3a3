"""The grammar of recipients' queries as data: names of the tree nodes, functions, types and units that pass.

What is not listed here never reaches an engine. The names are those of sqlglot's node classes.
"""

GRAMMAR = (
    "a release answers SELECT [columns,] COUNT(*) | SUM(e) | AVG(e), … FROM release [WHERE …] [GROUP BY …]"
    " [ORDER BY …] [LIMIT n]"
)
FUNCTIONS = "arithmetic, comparison, LIKE, regexp_matches, IN, BETWEEN, CASE, COALESCE, CAST, date parts, text"

COMPARISONS = frozenset(
    [
        "EQ",
        "NEQ",
        "LT",
        "LTE",
        "GT",
        "GTE",
        "NullSafeEQ",
        "NullSafeNEQ",
        "Is",
        "Between",
        "In",
        "Like",
        "ILike",
        "Not",
        "Escape",
    ]
)
ARITHMETIC = frozenset(["Add", "Sub", "Mul", "Div", "IntDiv", "Mod", "Neg"])
NODES = (
    COMPARISONS
    | ARITHMETIC
    | frozenset(
        [
            "And",
            "Or",
            "Paren",
            "DPipe",
            "Literal",
            "Boolean",
            "Null",
            "Column",
            "Identifier",
            "Interval",
            "Var",
        ]
    )
    | frozenset(["Case", "If", "Coalesce", "Nullif", "Cast", "TryCast", "DataType", "DataTypeParam"])
    | frozenset(
        [
            "Abs",
            "Round",
            "Floor",
            "Ceil",
            "Sqrt",
            "Ln",
            "Exp",
            "Sign",
            "Pow",
            "Greatest",
            "Least",
            "RegexpLike",
        ]
    )
    | frozenset(
        [
            "Lower",
            "Upper",
            "Length",
            "Substring",
            "Trim",
            "Replace",
            "Left",
            "Right",
            "StartsWith",
            "EndsWith",
            "Contains",
        ]
    )
    | frozenset(
        [
            "StrPosition",
            "Concat",
            "Reverse",
            "Anonymous",
            "Extract",
            "TimestampTrunc",
            "DateTrunc",
            "DateDiff",
            "Date",
        ]
    )
    | frozenset(
        [
            "Year",
            "Month",
            "Day",
            "Quarter",
            "Week",
            "DayOfWeek",
            "DayOfWeekIso",
            "DayOfYear",
            "Hour",
            "Minute",
            "Second",
        ]
    )
)
NAMED_FUNCTIONS = frozenset(["date_part", "prefix", "suffix", "strlen"])  # known to the parser by name only
UNITS = frozenset(
    [
        "microsecond",
        "millisecond",
        "second",
        "minute",
        "hour",
        "day",
        "week",
        "month",
        "quarter",
        "year",
        "decade",
        "century",
        "dow",
        "isodow",
        "doy",
        "isoyear",
        "dayofweek",
        "dayofyear",
        "weekday",
        "epoch",
    ]
)
TYPES = frozenset(
    [
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "INT128",
        "UTINYINT",
        "USMALLINT",
        "UINT",
        "UBIGINT",
        "UINT128",
        "FLOAT",
        "DOUBLE",
        "DECIMAL",
        "TEXT",
        "VARCHAR",
        "BOOLEAN",
        "DATE",
        "TIME",
        "TIMESTAMP",
        "TIMESTAMPTZ",
        "TIMESTAMPNTZ",
    ]
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
