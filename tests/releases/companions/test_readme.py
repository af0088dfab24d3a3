"""A release's own words: what is promised, its columns, the wrong join; nothing of the source."""

import html

import pytest

import sqlanon
from sqlanon.releases.companions import read_types, write_readme
from tests.databases import database

SOURCE = (
    "create table secret_source as select i as ssn, i % 40 as age, 'zip' || i % 9 as place, 'd' || i % 8 as disease"
    " from range(160) t(i)"
)


connection = database(SOURCE)


@pytest.mark.parametrize(
    ("method", "asked"),
    [("anatomy", {"l": 4}), ("robust", {"r": 2, "background_from": "place", "max_suppressed": 0.9})],
)
def test_a_promise_is_of_rows_where_nothing_tells_persons_apart(connection, tmp_path, method, asked):
    release = getattr(sqlanon, method)(
        connection, "secret_source", quasi=["age", "place"], sensitive="disease", out=tmp_path / "ward", **asked
    )
    for text in ((tmp_path / "ward" / "README.md").read_text(), html.unescape(sqlanon.report(release).html)):
        assert "a row's disease" in text and "a person's disease" not in text


@pytest.mark.parametrize(
    ("method", "asked", "told"),
    [
        ("anatomy", {"l": 4}, (
            "nobody infers a person's disease with confidence above 1/4 = 25.0%",
            "* **Not promised**: that nobody learns who is in the table",
            "| qit | `age` | whole number | quasi-identifier, exact |",
            "| st | `disease` | text | sensitive, listed for a group and for nobody in it |",
            "## Do not join the two tables and count",
            '    SELECT "disease", sum("weight"), sqrt(sum("weight" * "weight")) AS std_error\n    FROM weighted\n',
            "* `weighted_paper`: the value's share of the group",
            '    sqlanon estimate . \'SELECT "disease", COUNT(*)',
        )),
        ("splu", {"gamma": 2}, (
            "## Do not count the values as they stand", "| data | `disease` | text | sensitive, ran", "FROM weighted\n",
        )),
    ],
)  # fmt: skip
def test_a_release_in_words(connection, tmp_path, method, asked, told):
    roles = {"quasi": ["age", "place"], "sensitive": "disease", "id": "ssn", "key": "5e" * 32}
    sqlanon.publish(method, connection, "secret_source", out=tmp_path / "ward", **roles, **asked)
    text = (tmp_path / "ward" / "README.md").read_text()
    assert [words for words in told if words not in text] == []
    for secret in ("secret_source", "ssn", str(tmp_path), "5e5e"):
        assert secret not in text + (tmp_path / "ward" / "estimate.sql").read_text()
    assert sqlanon.open(tmp_path / "ward").verify().holds


HOSTILE = "a|b`<script>alert(1)</script>\n# HIV"


def test_names_have_no_meaning_in_markdown(connection, tmp_path):
    name = '"' + HOSTILE + '"'
    connection.execute(f"create or replace table hostile as select ssn, age, disease as {name} from secret_source")
    out = tmp_path / "ward"
    release = sqlanon.anatomy(connection, "hostile", quasi="age", sensitive=[HOSTILE], id="ssn", l=4, out=out)
    assert release.verify().holds
    text = (out / "README.md").read_text()
    assert "| st | ``a\\|b`<script>alert(1)</script> # HIV`` | text |" in text
    assert "person's a\\|b\\`\\<script\\>alert(1)\\</script\\> # HIV with" in text
    # in blocks of code a line of a name is indented as every other
    assert not any(line.startswith("# HIV") for line in text.splitlines())


def test_types_are_told_in_plain_words(connection, tmp_path):
    path = str(tmp_path / "types.parquet")
    connection.execute(
        "copy (select 1::tinyint a, 1::bigint b, 1.5::decimal(9, 2) c, 1.5::double d, 'x' e, date '2024-01-01' f,"
        " timestamptz '2024-01-01' g, time '10:00' h, true i, ['x'] j, uuid() k, 'x'::blob l, {'x': {'y': 1}} m,"
        f" 'v'::enum('v') n) to '{path}'"
    )
    assert [*read_types(tmp_path / "types.parquet").values()] == [
        *("whole number", "whole number", "decimal(9, 2)", "number", "text", "date", "timestamp", "time"),
        *("true or false", "list", "UUID", "bytes", "list", "text"),
    ]


def test_the_words_do_not_depend_on_who_speaks(connection, tmp_path, monkeypatch):
    from sqlanon import wording

    connection.execute(
        "create or replace table gaps as select * replace (nullif(disease, 'd7') as disease) from secret_source"
    )
    release = sqlanon.anatomy(
        connection, "gaps", quasi="age", sensitive="disease", l=4, nulls="drop", out=tmp_path / "r"
    )
    texts = set()
    for speech in ("python", "command line"):
        monkeypatch.setattr(wording, "_speech", speech)
        texts.add(write_readme(release.manifest, {"qit": {}, "st": {}}))
    text = texts.pop()
    assert not texts and "whether a person has several was not looked at" in text
    assert "--id" not in text, "advice to the publisher has no place in what a recipient reads"


def test_a_release_under_a_ledger_says_who_waits(tmp_path, connection):
    release = sqlanon.anatomy(connection, "secret_source", quasi="age", sensitive="disease", l=4, out=tmp_path / "r")
    parameters = {**release.manifest["parameters"], "release": 2}
    text = write_readme({**release.manifest, "parameters": parameters}, {"qit": {}, "st": {}})
    assert "how many came decides who waits" in text
