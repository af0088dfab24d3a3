"""Groups in words: what a publisher is shown, and what recipients are warned of."""

from sqlanon.forms.form import Edition
from sqlanon.forms.summary_lines import (
    Manifest,
    count_dropped,
    count_published,
    list_files,
    name_method,
    name_second,
    name_tables,
    tell_agreement,
    tell_limits,
    tell_presence,
)
from sqlanon.forms.weights import READING, VIEW, group_views, paper_view, weight_name, write_block
from sqlanon.plain_values import words
from sqlanon.plans.templates import ident

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
ADVICE = (
    "Do not join qit and st and count: each person would come once with every value of their group, of which at most"
    " one is true. Weigh each of these rows by the value's share of its group, {count} / sum({count}) over"
    " (partition by {group}) in st: sums of the weights are counts. `sqlanon estimate` is nearer to the truth, and says"
    " how far off it may be."
)


def summarize_groups(manifest: Manifest, where: str) -> dict[str, str]:
    """Say what a release of groups is."""
    verified, guarantee, columns = manifest["verified"], manifest["guarantee"], manifest["columns"]
    return {
        "published": count_published(manifest, where),
        "method": name_method(manifest, manifest["parameters"]),
        "dropped rows": count_dropped(manifest),
        "promised": f"from {name_tables(manifest)}, nobody infers a person's {words(columns['sensitive'])} with"
        f" confidence above 1/{guarantee['l']} = {guarantee['confidence']:.1%}{tell_limits(manifest)}",
        "not promised": f"{tell_presence(manifest)}, nor anything against"
        f" who knows more, learns from the release, or has {name_second(manifest)}",
        "verified": f"group sizes, {verified['diversity']} different values at least, confidence"
        f" {verified['confidence']:.1%} at most, row order{tell_agreement(verified, 'quasi_rows')}",
        "error (RCE)": f"{verified['reconstruction_error']:,.1f},"
        f" {verified['reconstruction_error_ratio']:.6f} times its lower bound",
        "files": list_files(manifest),
    }


def warn(manifest: Manifest, edition: Edition) -> str:
    """Return the section of README.md on why the tables are not to be joined and counted."""
    several = len(manifest["columns"]["sensitive"]) > 1
    value, weight = ident(manifest["columns"]["sensitive"][0]), ident(weight_name(manifest))
    if edition != "newest":
        view = f"{VIEW}_1" if several else VIEW
        right = f"SELECT {value}, sum({weight})\nFROM {view}\nGROUP BY {value}"
        text = _FIRST_JOIN_SEVERAL if several else _FIRST_JOIN
        return text.format(wrong=_wrong_join(manifest), right=write_block(right), weight=weight_name(manifest))
    view = next(iter(group_views(manifest)))
    right = (
        f"SELECT {value}, sum({weight}), sqrt(sum({weight} * {weight})) AS std_error\nFROM {view}\nWHERE …\n"
        f"GROUP BY {value}"
    )
    note = _WEIGHTS.format(weight=weight_name(manifest), view=view, paper=paper_view(view))
    text = (_JOIN_SEVERAL if several else _JOIN).format(
        wrong=_wrong_join(manifest), reading=write_block(READING), right=write_block(right)
    )
    return f"{text}\n{note}"


def _wrong_join(manifest: Manifest) -> str:
    value, group = (ident(name) for name in (manifest["columns"]["sensitive"][0], manifest["columns"]["group"]))
    return write_block(f"SELECT {value}, count(*)\nFROM qit JOIN st USING ({group})\nGROUP BY {value}")
