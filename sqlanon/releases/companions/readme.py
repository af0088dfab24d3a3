"""README.md: a release in words, for whoever receives it, read off its manifest and its tables' types."""

import re
import shlex
from collections.abc import Callable, Iterator
from textwrap import indent

from sqlanon.methods.published_forms import form_name, has_several
from sqlanon.plain_values import words
from sqlanon.plans.manifest import Manifest
from sqlanon.plans.templates import ident
from sqlanon.releases.companions.column_roles import describe_columns
from sqlanon.releases.companions.column_types import TableTypes
from sqlanon.releases.companions.estimate_script import VIEW, group_views, paper_view, weight_name
from sqlanon.releases.forms import form_of
from sqlanon.releases.summaries import UNCHECKED, WAITED
from sqlanon.wording import option, spoken, word_marks

_TOLD = {
    "published": "What it holds",
    "method": "How it was made",
    "against": "Against whom",
    "dropped rows": "Rows left out",
    "uncertain": "Uncertain",
    "suppressed": "Suppressed",
    "promised": "Promised",
    "not promised": "Not promised",
}
_JOIN = """\
## Do not join the two tables and count

The tables have the group in common, and who joins them by it gets each person once with **every** value of their
group: several rows for one person, of which at most one is true. Counts come out several times too large, and
averages by the sensitive column describe the groups instead of the people who have the value. This is wrong:

{wrong}

Each of these rows has to be weighed. `estimate.sql` has views with weights whose sums are counts; run it in DuckDB's
shell, in any directory, where PATH is this one:

{reading}

{right}
"""
_JOIN_SEVERAL = """\
## Do not join the tables and count

The tables have the group in common, and who joins two of them by it gets each person once with **every** value of their
group: several rows for one person, of which at most one is true. Who joins the tables of two sensitive columns gets
pairs of values of which hardly any belongs to one person: which do is published nowhere. This is wrong:

{wrong}

Each of these rows has to be weighed. `estimate.sql` has views with weights whose sums are counts, two for each
sensitive column; run it in DuckDB's shell, in any directory, where PATH is this one:

{reading}

{right}
"""
_WEIGHTS = """\
(For an average of a column x divide `sum({weight} * x)` by `sum({weight})`.)

* `{view}`: weights from all groups together, some of them below 0. No bias, as far as groups tell values apart; in 95
  of 100 releases the count is off by less than twice `std_error`, so that small counts may be far off, or below 0.
* `{paper}`: the value's share of the group, the paper's estimate, in which every row of a group is as likely as
  any other to own each value. Little noise, and a bias that it says nothing of: what depends on the value is pulled
  towards the average of everybody, often by factors of 2 to 5.

For example, 2,260 of 85,109 working people were never married, privately employed, and of one of 46 occupations. Of
eight Anatomy releases with groups of five, `{view}` made 2,252 of them on average, with a standard deviation of 71, and
`{paper}` 1,161 with one of 11; of 31 women between 22 and 34 in another occupation 42 with 57, and 453 with 10.

`sqlanon estimate` weighs what the groups tell against what is likely, is nearer to the truth, and says how far off it
may be.
"""
_READING = "set variable release = 'PATH';\n.read PATH/estimate.sql"
_FIRST_JOIN = """\
## Do not join the two tables and count

The tables have the group in common, and who joins them by it gets each person once with **every** value of their
group: several rows for one person, of which at most one is true. Counts come out several times too large, and
averages by the sensitive column describe the groups instead of the people who have the value. This is wrong:

{wrong}

Each of these rows has to be weighed by the value's share of its group; sums of these weights are counts. The view
`weighted` of `estimate.sql` has them. In this directory run `.read estimate.sql` in DuckDB's shell, and then

{right}

(For an average of a column x divide `sum({weight} * x)` by `sum({weight})`.) These are the estimates of the paper,
in which every row of a group is as likely as any other to own each value: what depends on the value is pulled
towards the average of everybody. `sqlanon estimate` learns from all groups together, is nearer to the truth, and says
how far off it may be.
"""
_FIRST_JOIN_SEVERAL = """\
## Do not join the tables and count

The tables have the group in common, and who joins two of them by it gets each person once with **every** value of their
group: several rows for one person, of which at most one is true. Who joins the tables of two sensitive columns gets
pairs of values of which hardly any belongs to one person: which do is published nowhere. This is wrong:

{wrong}

Each of these rows has to be weighed by the value's share of its group; sums of these weights are counts. The views of
`estimate.sql`, one for each sensitive column, have them. In this directory run `.read estimate.sql` in DuckDB's shell,
and then

{right}

(For an average of a column x divide `sum({weight} * x)` by `sum({weight})`.) These are the estimates of the paper,
in which every row of a group is as likely as any other to own each value: what depends on the value is pulled
towards the average of everybody. `sqlanon estimate` learns from all groups together, is nearer to the truth, and says
how far off it may be.
"""
_FIRST_RANDOMIZED = """\
## Do not count the values as they stand

A row keeps its own value with the probability that stands in `release.json` (1/gamma); otherwise it shows another.
Counts of a value among people who have something in common are therefore mixed with other people's values, and are
pulled towards the average of everybody. `sqlanon estimate` takes the mixing out, and says how far off it may be.
"""
_RANDOMIZED = """\
## Do not count the values as they stand

A row keeps its own value with the probability that stands in `release.json` (1/gamma); otherwise it shows another.
Counts of a value among people who have something in common are therefore mixed with other people's values, and are
pulled towards the average of everybody. This is wrong:

{wrong}

{reading}

{right}

where `{view}` has each row with each value, weighed so that the mixing is taken out: sums of weights are counts without
bias. (For an average of a column x divide `sum({weight} * x)` by `sum({weight})`.) Small sums may be far off, and below
0. `sqlanon estimate` weighs this against what is likely, is nearer to the truth, and says how far off it may be.
"""
_READ_RANDOMIZED_FIRST = "In this directory run `.read estimate.sql` in DuckDB's shell, and then"
_READ_RANDOMIZED = """\
In DuckDB's shell, in any directory, where PATH is this one, run

{reading}

and then"""
_UNCERTAIN = """\
## Do not join the two tables and count

The tables have the group in common, and who joins them by it gets each person once with every value of their group.
Quasi values may stand for several, too: `*` for all, others for one of several alternatives. `sqlanon estimate` says
how many rows are certain, possible and expected to be meant.
"""
_GENERALIZED = """\
## Do not take a box for a person

All rows of a box show the same ranges and sets, which say of nobody where in them they lie. `sqlanon estimate` counts
as if a box's rows lay evenly in it, and says between which counts the true one lies for sure.
"""
_GENERALIZED_SEVERAL = """\
## Do not take a box for a person

All rows of a box show the same ranges and sets, which say of nobody where in them they lie. Each sensitive column has a
table by itself: who joins two of them by their boxes gets pairs of values of which hardly any belongs to one person.
`sqlanon estimate` counts as if a box's rows lay evenly in it, and says between which counts the true one lies for sure.
"""
_WARNINGS = {
    "qit_st": _JOIN,
    "class_qit_st": _JOIN,
    "several_qit_st": _JOIN_SEVERAL,
    "several_class_qit_st": _JOIN_SEVERAL,
    "randomized": _RANDOMIZED,
    "uncertain": _UNCERTAIN,
    "generalized": _GENERALIZED,
    "several_generalized": _GENERALIZED_SEVERAL,
}


_FIRST_WARNINGS = {
    "qit_st": _FIRST_JOIN,
    "class_qit_st": _FIRST_JOIN,
    "several_qit_st": _FIRST_JOIN_SEVERAL,
    "several_class_qit_st": _FIRST_JOIN_SEVERAL,
}


def write_readme(manifest: Manifest, types: TableTypes) -> str:
    """Return what a release says of itself, in Markdown."""
    return _write(manifest, types, _warn(manifest))


def write_earlier_readme(manifest: Manifest, types: TableTypes) -> str:
    """Return what releases said of themselves while their text advised the publisher, and not of who waited.

    The estimate.sql of groups had the paper's weights only.
    """
    return _write(manifest, types, _warn_first(manifest), _word_earlier)


def write_first_readme(manifest: Manifest, types: TableTypes) -> str:
    """Return what releases said of themselves before estimate.sql came to those of randomized values."""
    randomized = form_name(manifest) == "randomized"
    return _write(manifest, types, _FIRST_RANDOMIZED if randomized else _warn_first(manifest), _word_earlier)


def _word(text: str) -> str:
    return spoken(text, "recipient")


def _word_earlier(text: str) -> str:
    text = text.replace(UNCHECKED, f"; this is per row: say {option('id')} so that several rows of a person are seen")
    for sentence in WAITED.values():
        text = text.replace(sentence, "")
    return word_marks(text, "command line")


def _write(manifest: Manifest, types: TableTypes, warning: str, word: Callable[[str], str] = _word) -> str:
    sections = [
        "# An anonymized release\n\nMade with sqlanon from a table of people, for questions about many of them."
        " Nobody's sensitive value can be looked up here, by design.\n\n"
        + "\n".join(_describe_release(manifest, word))
        + "\n",
        "## Columns\n\n| table | column | type | what |\n|---|---|---|---|\n"
        + "\n".join(_describe_columns(manifest, types))
        + "\n",
        _describe_asking(manifest),
        warning,
    ]
    return word("\n".join(sections))


def _describe_release(manifest: Manifest, word: Callable[[str], str]) -> Iterator[str]:
    lines = form_of(manifest).summary(manifest, "this directory")
    for name, title in _TOLD.items():
        if name in lines:
            yield f"* **{title}**: {_plain(word(lines[name]))}"


def _describe_columns(manifest: Manifest, types: TableTypes) -> Iterator[str]:
    for table, column, kind, description in describe_columns(manifest, types, _code):
        yield f"| {table} | {_code(column)} | {kind} | {description} |"


def _describe_asking(manifest: Manifest) -> str:
    sensitive = ident(manifest["columns"]["sensitive"][0])
    query = shlex.quote(f"SELECT {sensitive}, COUNT(*) FROM release GROUP BY {sensitive}")
    commands = _block(f"sqlanon verify .\nsqlanon estimate . {query}")
    return f"## Asking\n\nWith sqlanon, a Python package, in this directory:\n\n{commands}\n"


def _warn(manifest: Manifest) -> str:
    form = form_name(manifest)
    if form == "randomized":
        return _warn_of_randomized(manifest, _READ_RANDOMIZED.format(reading=_block(_READING)))
    if form not in _FIRST_WARNINGS:
        return _WARNINGS[form]
    value, weight = ident(manifest["columns"]["sensitive"][0]), ident(weight_name(manifest))
    view = next(iter(group_views(manifest)))
    right = (
        f"SELECT {value}, sum({weight}), sqrt(sum({weight} * {weight})) AS std_error\nFROM {view}\nWHERE …\n"
        f"GROUP BY {value}"
    )
    note = _WEIGHTS.format(weight=weight_name(manifest), view=view, paper=paper_view(view))
    text = _WARNINGS[form].format(wrong=_wrong_join(manifest), reading=_block(_READING), right=_block(right))
    return f"{text}\n{note}"


def _warn_first(manifest: Manifest) -> str:
    form, weight = form_name(manifest), ident(weight_name(manifest))
    if form == "randomized":
        return _warn_of_randomized(manifest, _READ_RANDOMIZED_FIRST)
    if form not in _FIRST_WARNINGS:
        return _WARNINGS[form]
    value = ident(manifest["columns"]["sensitive"][0])
    right = f"SELECT {value}, sum({weight})\nFROM {VIEW + '_1' if has_several(manifest) else VIEW}\nGROUP BY {value}"
    return _FIRST_WARNINGS[form].format(wrong=_wrong_join(manifest), right=_block(right), weight=weight_name(manifest))


def _wrong_join(manifest: Manifest) -> str:
    value, group = (ident(name) for name in (manifest["columns"]["sensitive"][0], manifest["columns"]["group"]))
    return _block(f"SELECT {value}, count(*)\nFROM qit JOIN st USING ({group})\nGROUP BY {value}")


def _warn_of_randomized(manifest: Manifest, reading: str) -> str:
    value, weight = ident(manifest["columns"]["sensitive"][0]), ident(weight_name(manifest))
    view = VIEW if len(manifest["columns"]["sensitive"]) == 1 else f"{VIEW}_1"
    wrong = f"SELECT {value}, count(*)\nFROM data\nWHERE …\nGROUP BY {value}"
    right = f"SELECT {value}, sum({weight})\nFROM {view}\nWHERE …\nGROUP BY {value}"
    return _RANDOMIZED.format(
        wrong=_block(wrong), right=_block(right), view=view, weight=weight_name(manifest), reading=reading
    )


def _block(text: str) -> str:
    """Write a block of code that no name can end."""
    return indent(text, "    ", lambda line: True)


def _plain(text: str) -> str:
    """Write words that no name can give a meaning of Markdown or HTML."""
    return re.sub(r"([\\`*\[\]<>|])", r"\\\1", words(" ".join(text.split())))


def _code(name: str) -> str:
    """Write a column's name as code in a table's cell."""
    text = " ".join(name.split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")
