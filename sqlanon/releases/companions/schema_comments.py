"""Comments on the tables and columns of a release in a schema: what it is, for whoever finds it with a SQL tool.

A comment is read off the manifest alone, so that anybody can make it again: `verify` takes no other text.
"""

from collections.abc import Mapping

from sqlanon.errors import ReleaseError
from sqlanon.forms import form_of
from sqlanon.plain_values import words
from sqlanon.plans.manifest import Manifest
from sqlanon.releases.companions.column_roles import describe_columns
from sqlanon.wording import spoken

Comments = Mapping[tuple[str, str], str]  # by table and column, '' for the table itself

_MANIFEST = (
    "The manifest of this release: one row of JSON that says how it was made, what is promised and what was verified."
    " `sqlanon verify` proves it from the tables."
)


def write_comments(manifest: Manifest) -> Comments:
    """Return the comments of a release's tables and columns."""
    form = form_of(manifest)
    summary = form.summary(manifest, "this schema")
    lines = ["An anonymized release, made with sqlanon from a table of people, for questions about many of them."]
    promises = {name: summary[name] for name in ("promised", "not promised") if name in summary}
    lines += [f"{name.capitalize()}: {text}." for name, text in promises.items()]
    lines.append(form.advise(manifest))
    whole = spoken(words(" ".join(lines)), "recipient")
    published = form.published_columns(manifest)
    types = {table: dict.fromkeys(listed, "") for table, listed in published.items()}
    comments = {(table, ""): whole for table in types} | {("manifest", ""): _MANIFEST}
    for table, column, _, role in describe_columns(manifest, types, words):
        comments[table, column] = role
    return comments


def foreign_comments(manifest: Manifest, found: Comments) -> dict[str, str]:
    """Return the comments that are not written for this release, with the word for it."""
    try:
        written = write_comments(manifest)
    except ReleaseError:
        written = {}  # a manifest without the figures that the text tells
    return {
        f"comment on column {table}.{column}" if column else f"comment on {table}": "not what the manifest gives"
        for (table, column), text in sorted(found.items())
        if written.get((table, column)) != text
    }
