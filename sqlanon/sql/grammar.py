"""The grammar of recipients' queries as data: names of the tree nodes, functions, types and units that pass.

What is not listed here never reaches an engine. The names are those of sqlglot's node classes.
"""

GRAMMAR = (
    "a release answers SELECT [columns,] COUNT(*) | SUM(e) | AVG(e) | MEDIAN(e), … FROM release [WHERE …]"
    " [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT n], and any SELECT of columns that it holds as they are"
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
# What a query that reads exact columns alone may have besides: whole clauses, aggregates and windows. Table functions,
# samples and everything random stay out.
EXACT_NODES = (
    _names(
        "Select From Where Group Having Order Ordered Limit Offset Distinct Alias TableAlias Table Subquery Star With"
    )
    | _names("CTE Join Union Intersect Except Exists Filter WithinGroup Window WindowSpec Qualify Tuple Array")
    | _names("GroupingSets Rollup Cube Grouping Any All")
    | _names("Count Sum Avg Min Max Median Mode Quantile PercentileCont PercentileDisc Stddev StddevSamp StddevPop")
    | _names("Variance VariancePop Corr CovarSamp CovarPop Skewness Kurtosis ArgMax ArgMin LogicalAnd LogicalOr")
    | _names("RegrSlope RegrIntercept RegrR2 RegrCount RegrAvgx RegrAvgy")
    | _names("RowNumber Rank DenseRank PercentRank CumeDist Ntile Lag Lead FirstValue LastValue NthValue")
)
EXACT_FUNCTIONS = _names(
    "regr_slope regr_intercept regr_r2 regr_count regr_avgx regr_avgy grouping grouping_id rank dense_rank ntile mad"
    " percent_rank cume_dist row_number"
)
EXACT_CLAUSES = {  # what such a node may carry
    "Select": _names(
        "expressions from_ where group having order limit offset with_ distinct joins qualify windows kind"
    ),
    "Table": _names("this alias"),
    "Subquery": _names("this alias with_"),
    "With": _names("expressions"),
    "CTE": _names("this alias"),
    "Distinct": _names("expressions"),
    "Join": _names("this side kind on using"),
    "Limit": _names("expression"),
}
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
