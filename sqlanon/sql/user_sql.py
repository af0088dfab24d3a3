"""Read SQL that a user wrote: one SELECT of allowed nodes, whose pieces are written again from the tree.

The user's text never reaches an engine. Each reader says in its Wording what is refused, and in which words.

Before anything runs, the cost of a user's SQL is bounded: its length, its depth, and the texts that it makes. An engine
folds constants before it runs a query: ten nested replace() of ten letters each make a text of gigabytes in spite of
every memory limit, and cannot be interrupted.
"""

import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NoReturn

import sqlglot
import sqlglot.errors
from sqlglot import TokenType, exp

from sqlanon.errors import QueryError
from sqlanon.plans.templates import Sql
from sqlanon.sql.grammar import (
    ARITHMETIC,
    CLAUSE_NAMES,
    COMPARISONS,
    FUNCTIONS,
    LOST_OPERATORS,
    NAMED_FUNCTIONS,
    NODE_NAMES,
    NODES,
    TYPES,
    UNITS,
)
from sqlanon.wording import find_near


def split_queries(text: str) -> list[tuple[int, str]]:
    """Return the line and the text of each query; semicolons end one, comments belong to none.

    Raises QueryError where a text or a comment is not closed.
    """
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
    except sqlglot.errors.SqlglotError as error:
        raise QueryError(f"the file cannot be split into queries: {str(error).splitlines()[0]}") from None
    queries: list[tuple[int, str]] = []
    for ended, group in itertools.groupby(tokens, lambda token: token.text == ";" and token.end == token.start):
        if not ended:
            first, *rest = group
            queries.append((first.line, text[first.start : (rest or [first])[-1].end + 1]))
    return queries


LONGEST_TEXT = 200_000  # letters of SQL
MOST_TOKENS = 30_000
MOST_DEEP = 250
MOST_CONDITIONS = 2_000  # an engine plans five thousand for a minute
LONGEST_VALUE = 1_000_000  # letters that an expression may make of a value
LETTERS_OF_A_COLUMN = 100  # taken for every value of a column
LETTERS_OF_ANYTHING_ELSE = 64  # of a number, a date, a hash

_JOINING = (exp.And, exp.Or)
LONGEST_NEAR = 40  # letters of a text that are repeated where it stops being SQL


def check_tree(root: exp.Expr, subject: str) -> None:
    """Refuse a tree that is too deep, or an expression whose text could be too long for a value.

    A chain of one AND (or OR) counts once: it is deep only in the way it is written down.
    """
    ordered: list[exp.Expr] = []
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        ordered.append(node)
        if depth > MOST_DEEP:
            raise QueryError(f"{subject} is nested more than {MOST_DEEP} deep; write it with fewer operations in a row")
        for child in node.iter_expressions():
            chain = isinstance(node, _JOINING) and type(child) is type(node)
            waiting.append((child, depth + (not chain)))
    joined = sum(isinstance(node, exp.And) for node in ordered) + 1
    if joined > MOST_CONDITIONS:
        raise QueryError(f"{subject} joins {joined:,} conditions by AND; the most is {MOST_CONDITIONS:,}")
    lengths: dict[int, float] = {}
    for node in reversed(ordered):  # children before what holds them
        length = _bound_text(node, lengths)
        if length > LONGEST_VALUE:
            raise QueryError(
                f"{subject} may make texts of more than {LONGEST_VALUE:,} letters; nest fewer functions that lengthen"
                " a text (replace, regexp_replace, concat)"
            )
        lengths[id(node)] = length


def _bound_text(node: exp.Expr, lengths: dict[int, float]) -> float:
    """Return how many letters the text of an expression has at most, from those of its parts."""
    parts = [lengths[id(child)] for child in node.iter_expressions()]
    if isinstance(node, exp.Literal):
        return float(max(len(node.name), 1))
    if isinstance(node, exp.Column):
        return LETTERS_OF_A_COLUMN
    if isinstance(node, exp.Replace | exp.RegexpReplace):
        text, pattern, replacement = lengths[id(node.this)], node.expression, node.args.get("replacement")
        added = lengths[id(replacement)] if isinstance(replacement, exp.Expr) else 1.0
        if isinstance(node, exp.Replace):  # a shorter text in the place of a longer one adds nothing
            shortest = len(pattern.name) if isinstance(pattern, exp.Literal) else 1
            return text * max(1.0, added / max(shortest, 1))
        # a pattern may be found before each letter and at the end, and each \0 repeats what was found
        repeats = replacement.name.count("\\") if isinstance(replacement, exp.Literal) else added
        return text + (text + 1) * added + repeats * text
    if isinstance(node, exp.Concat | exp.ConcatWs | exp.DPipe):
        # ConcatWs writes its first text between all others
        between = parts[0] * len(parts) if isinstance(node, exp.ConcatWs) and parts else 0.0
        return sum(parts) + between
    if isinstance(node, exp.Func | exp.Binary | exp.Condition):
        return max([LETTERS_OF_ANYTHING_ELSE, *parts])
    return 1.0  # clauses make no text


@dataclass(frozen=True)
class Wording:
    """What a text is called, how a refused piece's sentence ends, and what is allowed instead."""

    subject: str
    ending: str
    grammar: str

    def refuse(self, what: str, advice: str = "") -> NoReturn:
        """Raise QueryError: the piece, that it is not allowed here, and what is."""
        raise QueryError(f"{what} {self.ending}; {advice or self.grammar}")


def parse_select(sql: str, words: Wording, clauses: Collection[str], dialect: str = "duckdb") -> exp.Select:
    """Parse one SELECT that has no clause but `clauses`; raise QueryError, naming the piece, for anything else."""
    tree = parse_statement(sql, words, dialect)
    if isinstance(tree, exp.SetOperation):
        words.refuse(f"{type(tree).__name__.upper()}")
    if not isinstance(tree, exp.Select):
        words.refuse(f"a {type(tree).__name__.upper()} statement")
    for clause, value in tree.args.items():
        if value and clause not in clauses:
            words.refuse(CLAUSE_NAMES.get(clause, clause.strip("_").upper()))
    return tree


def read_table(table: exp.Expr | None, words: Wording, advice: str, parts: Collection[str] = ()) -> exp.Table:
    """Return what FROM names, one table; refuse whatever else stands there. parts: the parts of a name but the last."""
    if isinstance(table, exp.Subquery):
        words.refuse("a subquery in FROM", advice)
    if not isinstance(table, exp.Table) or not all(isinstance(part, exp.Identifier) for part in table.parts):
        words.refuse("SELECT without FROM" if table is None else table.sql("duckdb", comments=False), advice)
    extra = [key for key, value in table.args.items() if value and key not in {"this", "alias", *parts}]
    if extra:
        words.refuse(f"{CLAUSE_NAMES.get(extra[0], extra[0].upper())} in FROM", advice)
    if table.alias_column_names:
        words.refuse("renaming columns in FROM", advice)
    return table


def parse_statement(sql: str, words: Wording, dialect: str = "duckdb") -> exp.Expr:
    """Parse one statement whose length and depth are bounded; raise QueryError for what is no SQL, or several."""
    grammar = _dialect(dialect)
    # no engine can be sent either, and its driver's error would be no sentence
    if any("\ud800" <= letter <= "\udfff" for letter in sql):
        words.refuse("a text with half a character (a lone surrogate)")
    if "\0" in sql:
        words.refuse("a text with a NUL character")
    if len(sql) > LONGEST_TEXT:
        raise QueryError(f"{words.subject} has {len(sql):,} letters; the most is {LONGEST_TEXT:,}")
    try:
        tokens = grammar.tokenize(sql)
        # what the parser would not keep apart: other statements, and operators that the tree renames
        if len(tokens) > MOST_TOKENS:
            raise QueryError(f"{words.subject} has {len(tokens):,} words and signs; the most is {MOST_TOKENS:,}")
        if tokens and tokens[0].text.upper() not in {"SELECT", "FROM", "WITH", "("}:
            words.refuse(f"a {tokens[0].text.upper()} statement")
        quoted = (TokenType.STRING, TokenType.IDENTIFIER)
        lost = [token.text for token in tokens if token.text in LOST_OPERATORS and token.token_type not in quoted]
        if lost:
            words.refuse(f"the operator {lost[0]}", "use regexp_matches(text, pattern), LIKE or power(x, y)")
        statements = [node for node in grammar.parser().parse(tokens, sql) if node is not None]
    except sqlglot.errors.SqlglotError as error:
        raise QueryError(f"{words.subject} is not SQL that can be read: {_place(error)}; {words.grammar}") from None
    except RecursionError:  # the parser descends once per bracket
        raise QueryError(f"{words.subject} is nested too deeply; write it with fewer brackets") from None
    if len(statements) != 1:
        raise QueryError(f"{len(statements)} statements were given; give one SELECT")
    (tree,) = statements
    check_tree(tree, words.subject)
    parsed: exp.Expr = tree
    return parsed


def _place(error: sqlglot.errors.SqlglotError) -> str:
    """Say where a text stops being SQL; the parser's own words name its classes."""
    fault = next(iter(getattr(error, "errors", ())), None)
    if fault is None:  # before the parser, the tokenizer looks for the ends of quotes
        return "a quote, a name in quotes or a comment does not end"
    near = fault["highlight"] or fault["start_context"]
    where = f"line {fault['line']}, column {fault['col']}"
    if str(fault["description"]).startswith("Required keyword"):
        return f"something is missing after {_shorten(near)!r} ({where})"
    return f"near {_shorten(near)!r} ({where})"


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_NEAR else f"…{words[-LONGEST_NEAR:]}"


def conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the parts of a condition that AND joins, whatever brackets stand around them."""
    waiting = [node]  # a chain of a thousand ANDs is a tree a thousand deep
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, exp.And):
            waiting += [inner.right, inner.left]
        elif isinstance(inner, exp.Paren) and isinstance(inner.this, exp.And | exp.Paren):
            waiting.append(inner.this)
        else:
            yield inner


def replace_nodes(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """Copy a tree with `change` applied from the top; a node that was changed is not looked into."""
    holder = exp.Paren(this=node.copy())  # a node can only be replaced inside another
    waiting = [holder.this]
    while waiting:
        inner = waiting.pop()
        changed = change(inner)
        if changed is inner:
            waiting.extend(inner.iter_expressions())
        else:
            inner.replace(changed)
    changed_tree: exp.Expr = holder.this
    return changed_tree


def name_column_pieces(sql: Sql, name: Callable[[str, Sql], str | None]) -> tuple[Sql, frozenset[str]]:
    """Put names in the place of the largest pieces that read one column; return what is left, and the columns read.

    sql: what `write_expression` wrote. name: takes a column and a piece that reads it alone; None leaves it.
    """
    tree = sqlglot.parse_one(str(sql), read="duckdb")  # plain text: pieces of marked text would be escaped again

    def name_piece(inner: exp.Expr) -> exp.Expr:
        columns = _columns(inner)
        if len(columns) != 1 or isinstance(inner, exp.If | exp.Identifier):
            return inner
        (column,) = columns
        piece_name = name(column, write_expression(inner))
        return inner if piece_name is None else exp.column(piece_name)

    return write_expression(replace_nodes(tree, name_piece)), frozenset(_columns(tree))


def list_constants(piece: Sql) -> list[Sql]:
    """Return the largest pieces of an expression of ours that read no column and may be compared with one."""
    constants, waiting = [], [sqlglot.parse_one(str(piece), read="duckdb")]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Condition) and not isinstance(node, exp.Column | exp.If) and not _columns(node):
            constants.append(write_expression(node))
        else:
            waiting.extend(node.iter_expressions())
    return constants


def _columns(node: exp.Expr) -> set[str]:
    return {column.name for column in node.find_all(exp.Column)}


def write_expression(node: exp.Expr, copy: bool = True, dialect: str = "duckdb") -> Sql:
    """Write a checked tree; brackets around it, for it will stand beside others. copy: whether the tree is kept."""
    sql = node.sql(_dialect(dialect), copy=copy, identify=True, comments=False, normalize_functions="lower")
    return Sql(sql if isinstance(node, exp.Column) else f"({sql})")


@cache
def _dialect(name: str) -> sqlglot.Dialect:
    """Return a dialect, made once: a query of many constants is written in many pieces."""
    return sqlglot.Dialect.get_or_raise(name)


def check_expression(root: exp.Expr, words: Wording) -> None:
    """Refuse every node that is not in the allow-list, by its name."""
    for node in root.walk():
        node_type = type(node).__name__
        # before the allow-list: an aggregate deserves its own advice
        if isinstance(node, exp.AggFunc):
            *others, last = (name.upper() for name in aggregate_names())
            words.refuse(
                f"{_name_node(node)} here",
                f"the aggregates are {', '.join(others)} and {last}, in SELECT, HAVING and ORDER BY",
            )
        if node_type not in NODES or (node_type == "Anonymous" and node.name.lower() not in NAMED_FUNCTIONS):
            words.refuse(
                _name_node(node), f"{_suggest(node)}{words.grammar}; expressions are made of {FUNCTIONS} functions"
            )
        if isinstance(node, exp.In) and node.args.get("query"):
            words.refuse("IN with anything but a list", "write IN (value, …)")
        check_form(node, words)


def check_form(node: exp.Expr, words: Wording) -> None:
    """Refuse types, units, forms and chains that an allowed node could carry."""
    if isinstance(node, exp.DataType) and (node.this.name not in TYPES or node.args.get("nested")):
        words.refuse(f"the type {node.sql('duckdb')}", "cast to a number, text, boolean, date, time or timestamp type")
    if isinstance(node, exp.Var) and node.name.lower().rstrip("s") not in UNITS and node.name.lower() not in UNITS:
        words.refuse(f"the unit {node.name}", f"the units are {', '.join(sorted(UNITS))}")
    if isinstance(node, exp.In) and (node.args.get("unnest") or node.args.get("field")):
        words.refuse("IN with anything but a list", "write IN (value, …)")
    if isinstance(node, exp.Escape):
        mark, pattern = node.expression, node.this.expression
        if not isinstance(mark, exp.Literal) or not mark.is_string or len(mark.name) > 1:
            words.refuse("this ESCAPE", "ESCAPE takes one character")
        # DuckDB would fail on such a pattern only when it runs
        if mark.name and isinstance(pattern, exp.Literal):
            ends = len(pattern.name) - len(pattern.name.rstrip(mark.name))
            if ends % 2:
                words.refuse("a LIKE pattern that ends with its ESCAPE character", "let another character follow it")
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Identifier):
        words.refuse("*", "name the columns")
    # chains whose reading differs between parsers, such as a = b IS NULL or a + b || c
    node_type = type(node).__name__
    # sqlglot and DuckDB disagree on which operator binds tighter: the tree would be another than the user's
    for child in (type(inner).__name__ for inner in node.iter_expressions()):
        if node_type in COMPARISONS - {"Not", "Escape"} and child in COMPARISONS:
            words.refuse("a chain of comparisons without brackets", "put brackets around each comparison")
        if (node_type == "DPipe" and child in ARITHMETIC) or (node_type in ARITHMETIC and child == "DPipe"):
            words.refuse("|| beside arithmetic without brackets", "put brackets around each operation")


def _suggest(node: exp.Expr) -> str:
    """Say which function may be meant by one that the parser does not know, or what to write instead."""
    if isinstance(node, exp.WidthBucket):
        return "write floor((x - low) / width), "
    near = find_near(node.name, known_functions(), most=1) if isinstance(node, exp.Anonymous) else []
    return f"did you mean {near[0]}? " if near else ""


def aggregate_names() -> list[str]:
    """Return the names of the aggregates."""
    from sqlanon.estimators.aggregates import FUNCTIONS  # numpy is slow to load

    return list(dict.fromkeys(function.name for function in FUNCTIONS.values()))


@cache
def known_functions() -> frozenset[str]:
    """Return the names of the functions that pass, and of the aggregates."""
    nodes = (getattr(exp, name) for name in NODES)
    names = {
        function_type.sql_name().lower()
        for function_type in nodes
        if issubclass(function_type, exp.Func) and function_type is not exp.Anonymous
    }
    return frozenset(names) | NAMED_FUNCTIONS | frozenset(aggregate_names())


def _name_node(node: exp.Expr) -> str:
    if type(node).__name__ in NODE_NAMES:
        return NODE_NAMES[type(node).__name__]
    if isinstance(node, exp.Anonymous):
        return f"the function {node.name.lower()}"
    if isinstance(node, exp.Func):
        return f"the function {node.sql_name().lower()}"
    return f"the expression {node.sql('duckdb', comments=False)!r}"
