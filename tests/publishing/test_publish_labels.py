"""Quasi columns published through a table of values and labels: as a join by hand would, told, and nothing leaked."""

import functools
import hashlib

import pytest

import sqlanon
from sqlanon.engines.connect import engine_of
from sqlanon.errors import DataError, UsageError
from sqlanon.models.values import COARSEN
from sqlanon.publishing.plan_text import show_steps
from sqlanon.publishing.release_request import ReleaseRequest
from tests.conftest import METHODS, NASTY_NAMES, NASTY_VALUES
from tests.databases import connect, database, insert

PEOPLE = (
    "create table people as select i as ssn, case when i % 9 = 8 then null else i % 12 end as job,"
    " if(i % 2 = 0, 'F', 'M') as sex, 'd' || (hash(i) % 4 + i // 10) % 9 as disease from range(360) t(i)"
)
LABELS = (
    "create table job_kinds as select i as \"from\", 'kind ' || i % 3 as \"TO\", 'hushed' as note from range(20) t(i)"
)
ROLES = {"quasi": ["job", "sex"], "sensitive": "disease", "id": "ssn"}


con = database(PEOPLE, LABELS)


@pytest.mark.parametrize("method", METHODS)
def test_it_is_the_release_of_a_join(method, con, tmp_path):
    publish = functools.partial(getattr(sqlanon, method), con, **METHODS[method], **ROLES, key="ab" * 32)
    by_hand = "SELECT ssn, 'kind ' || (job % 3) AS job, sex, disease FROM people"
    release = publish("people", coarsen={"JOB": "map:job_kinds"}, out=tmp_path / "release")
    wanted = publish(query=by_hand)
    opened = sqlanon.open(tmp_path / "release", con=con)
    for table in wanted.tables:
        made, expected = (con.sql(f"from {each.tables[table]}").fetchall() for each in (opened, wanted))
        assert made == expected
    assert release.manifest["parameters"]["coarsen"] == {"job": "mapping"}
    assert opened.verify().holds and opened.verify(against="people", coarsen={"job": "map:job_kinds"}).holds
    texts = [path.read_bytes() for path in (tmp_path / "release").iterdir()]
    assert not any(word in text for text in texts for word in (b"hushed", b"map:", b"job_kinds"))
    assert b"made coarser: a label that the publisher gave to several values" in b"".join(texts)
    answer = opened.estimate("SELECT COUNT(*) FROM release WHERE job = 'kind 1'")
    assert any("job is a label that the publisher gave" in text for text in answer.attrs["messages"])
    if method == "anatomy":
        attacks = (
            sqlanon.attack(opened, against="people", id="ssn", coarsen=["job=map:job_kinds"]),
            sqlanon.attack(wanted, query=by_hand, id="ssn"),
        )
        assert attacks[0].most_named() == attacks[1].most_named() and attacks[0].scored
        with pytest.raises(
            UsageError, match="job was published through a table of labels or a key, which no release holds"
        ):
            opened.verify(against="people")
        with pytest.raises(UsageError, match="is not how this release was made: its manifest has job=mapping"):
            opened.verify(against="people", coarsen={"job": 3})


def test_tables_that_label_nothing_are_refused(con, tmp_path):
    publish = functools.partial(sqlanon.anatomy, con, "people", **ROLES, l=3)
    full = "".join(f"{job},a\n" for job in range(12))
    (lacking,) = con.execute("select count(*) from people where job > 1").fetchone()
    for text, error, message in (
        (
            "from,to\n0,a\n1,a\n",
            DataError,
            rf"no label for 10 values of job \({lacking} rows\), the first are '10', '11', '2'",
        ),
        (f"from,to\n{full}3,b\n4,b\n", UsageError, "2 values stand in several lines"),
        (f"from,to\n{full}44,\n", UsageError, "1 of 13 lines have no from or no to"),
        (
            "value,label\n0,a\n",
            UsageError,
            "has the columns from .* and to .its label.; its columns are 'value', 'label'",
        ),
        ("from,to\n", DataError, "has no label for 12 values of job"),
    ):
        path = tmp_path / "labels, of=jobs.csv"
        path.write_text(text)
        with pytest.raises(error, match=message):
            publish(coarsen=f"job=map:{path}")
    with pytest.raises(UsageError, match="nowhere"):
        publish(coarsen={"job": "map:nowhere"})
    with pytest.raises(UsageError, match="is for quasi columns"):
        publish(coarsen={"disease": "map:job_kinds"})


def test_a_level_of_a_hierarchy_labels_values(con, tmp_path):
    path = tmp_path / "levels.csv"
    path.write_text("".join(f"{job};{job // 4};{job // 12};*\n" for job in range(20)))  # as ARX writes them
    publish = functools.partial(sqlanon.anatomy, con, "people", **ROLES, l=3)
    release = publish(coarsen=f"job={path}@1")
    shown = f"select distinct job from {release.tables['qit']} where job is not null order by job"
    assert con.sql(shown).fetchall() == [(label,) for label in "012"]
    assert release.verify(against="people", coarsen={"job": f"{path}@1"}).holds
    assert not release.verify(against="people", coarsen={"job": f"{path}@2"}).holds
    con.sql(f"create table levels as from read_csv('{path}', header = false, delim = ';', all_varchar = true)")
    assert publish(coarsen="job=map:levels@2").verify(against="people", coarsen={"job": "map:levels@2"}).holds
    with pytest.raises(UsageError, match="the hierarchy has 3 levels above its values"):
        publish(coarsen=f"job={path}@4")
    with pytest.raises(UsageError, match=r"say which level: job=.*levels\.csv@1"):
        publish(coarsen=f"job={path}")
    with pytest.raises(UsageError, match="levels"):  # what is read is no target
        publish(coarsen=f"job={path}@1", out=path, overwrite=True)
    path.write_text("0;a\n0;b\n")
    with pytest.raises(UsageError, match=r"1 values? stands? in several lines"):
        publish(coarsen=f"job={path}@1")


def test_values_and_columns_of_any_name_have_labels(con):
    for number, name in enumerate(NASTY_NAMES[::4]):
        quoted = name.replace('"', '""')
        con.execute(
            f"create or replace table nasty as select ssn, job as \"{quoted}\", 'v' || job as value, disease as d"
            " from people"
        )
        release = sqlanon.anatomy(
            con, "nasty", quasi=[name, "value"], sensitive="d", id="ssn", l=3, coarsen={name: "map:job_kinds"}
        )
        shown = con.sql(f'select distinct "{quoted}" as label from {release.tables["qit"]} order by label').fetchall()
        assert shown == [("kind 0",), ("kind 1",), ("kind 2",), (None,)], number
    con.execute("create or replace table odd (ssn integer, v varchar, d varchar)")
    insert(con, "odd", [(i, v, f"d{i % 3}") for i, v in enumerate(NASTY_VALUES * 3)])
    con.execute('create or replace table odd_labels as select distinct v as "from", \'<\' || v as "to" from odd')
    release = sqlanon.anatomy(con, "odd", quasi="v", sensitive="d", id="ssn", l=3, coarsen={"v": "map:odd_labels"})
    made = con.sql(f"select v from {release.tables['qit']} order by all").fetchall()
    assert made == sorted((f"<{value}",) for value in NASTY_VALUES * 3)


def test_how_it_is_typed():
    assert COARSEN.of(["age=10,job=jobs.csv"], "--coarsen") == {"age": "10", "job": "map:jobs.csv"}
    assert COARSEN.of(["a=b=map:x, y=2.csv"], "--coarsen") == {"a=b": "map:x, y=2.csv"}
    for text in ("job=map:", "job=jobs", "job=mapping"):
        with pytest.raises(UsageError, match=r"no way to coarsen values: .* with columns from and to"):
            COARSEN.of([text], "--coarsen")


def test_under_a_ledger_values_keep_their_labels(con, tmp_path):
    con.execute("create or replace table nightly as from job_kinds")
    night = {**ROLES, "l": 3, "key": "ab" * 32, "ledger": tmp_path / "ward.ledger", "coarsen": {"job": "map:nightly"}}
    sqlanon.anatomy(con, "people", **night, out=tmp_path / "monday")
    con.execute(
        'create or replace table nightly as select "from"::varchar as "from", "to" from job_kinds order by random()'
    )
    sqlanon.anatomy(con, "people", **night, out=tmp_path / "tuesday")  # the order of lines is none of its labels
    con.execute("update nightly set \"to\" = 'kind 2' where \"from\" = '19'")
    with pytest.raises(UsageError, match=r"table of labels of 'job' is another one than that of the releases before"):
        sqlanon.anatomy(con, "people", **night, out=tmp_path / "wednesday")
    assert not (tmp_path / "wednesday").exists()
    allowed = sqlanon.anatomy(con, "people", **night, new_quasi=True, out=tmp_path / "wednesday")
    assert allowed.verify().holds
    # where a value ends and its label begins is told, too: 18 and 'kind 0' are no 18k and 'ind 0'
    con.execute("update nightly set \"from\" = '18k', \"to\" = 'ind 0' where \"from\" = '18'")
    with pytest.raises(UsageError, match=r"table of labels of 'job' is another one"):
        sqlanon.anatomy(con, "people", **night, out=tmp_path / "thursday")


def test_pseudonyms_are_keyed_hashes_that_join_releases(con, tmp_path):
    file = tmp_path / "link.key"
    file.write_text("cd" * 32)
    publish = functools.partial(sqlanon.anatomy, con, sensitive="disease", l=3)
    rules = {"ssn": f"pseudonym:{file}"}
    rows = publish("people", quasi=["ssn", "sex"], unique_quasi="keep", coarsen=rules, out=tmp_path / "rows")
    query = "SELECT CAST(ssn AS VARCHAR) AS patient, job, disease FROM people WHERE job IS NOT NULL AND ssn < 200"
    rules = {"patient": f"pseudonym:{file}"}
    part = publish(query=query, quasi=["patient", "job"], unique_quasi="keep", coarsen=rules)
    row_key = hashlib.sha256(b"cd" * 32 + b"pseudonym/").hexdigest()[:40]
    wanted = {hashlib.sha256(f"{row_key}{ssn}".encode()).hexdigest()[:32]: ssn for ssn in range(360)}
    opened = sqlanon.open(tmp_path / "rows", con=con)
    assert {ssn for (ssn,) in con.sql(f"select ssn from {opened.tables['qit']}").fetchall()} == {*wanted}
    joined = con.sql(f"select patient, job from {part.tables['qit']} join {opened.tables['qit']} on patient = ssn")
    assert all(wanted[patient] % 12 == job for patient, job in joined.fetchall()) and len(joined) == len(part) > 150
    assert opened.verify(against="people", coarsen={"ssn": f"pseudonym:{file}"}).holds
    assert opened.manifest["parameters"]["coarsen"] == {"ssn": "pseudonym"}
    texts = [path.read_bytes() for path in (tmp_path / "rows").iterdir()] + [rows.sql.encode()]
    assert not any(word in text for text in texts for word in (b"cd" * 8, b"link.key", row_key.encode()))
    assert b"the same in every table that was hashed under the same key" in b"".join(texts)


def test_pseudonyms_have_a_key_of_their_own_and_columns_of_their_own(tmp_path):
    con = connect()
    con.execute(PEOPLE)
    file = tmp_path / "link.key"
    file.write_text("cd" * 32)
    asked = {**ROLES, "coarsen": {"job": f"pseudonym:{file}"}}
    with pytest.raises(UsageError, match="is that of the draws") as refused:
        sqlanon.anatomy(con, "people", **asked, l=3, key="cd" * 32)
    assert "cdcd" not in str(refused.value)
    for method, why in (("mondrian", "a box of pseudonyms"), ("uncertain", "a pseudonym means nothing")):
        with pytest.raises(UsageError, match=f"{method} publishes no pseudonyms: .*{why}"):
            getattr(sqlanon, method)(con, "people", **asked, **METHODS[method])
    with pytest.raises(UsageError, match="no key file"):
        sqlanon.anatomy(con, "people", **{**asked, "coarsen": {"job": "pseudonym:nowhere"}}, l=3)
    rules, scored = {"coarsen": asked["coarsen"]}, {"against": "people", "id": "ssn"}
    sqlanon.anatomy(con, "people", **asked, l=3, out=tmp_path / "release")
    release = sqlanon.open(tmp_path / "release", con=con)
    assert sqlanon.attack(release, **scored, **rules).scored and sqlanon.report(release, **scored, **rules).holds
    assert release.verify("people", **rules).holds and "join" in release.verification_sql(against="people", **rules)
    measured = {name: ROLES[name] for name in ("quasi", "sensitive", "id")}
    assert sqlanon.check(con, "people", **measured, **rules, population="people").figures["rows"]
    with pytest.raises(UsageError, match="no quasi column 'nothing'"):  # after the key was read
        sqlanon.robust(con, "people", **asked, r=2, background_from="nothing")
    engine, steps = engine_of(con), []
    request = ReleaseRequest("anatomy", "people", ("job", "sex"), ("disease",), ("ssn",), coarsen=asked["coarsen"])
    show_steps(request, engine, 1, steps.append, l=3)
    assert steps and not con.sql("from duckdb_tables() where table_name like '%pseudonym_key%'").fetchall()
    kinds = tmp_path / "kinds.csv"
    kinds.write_text("from,to\n0,few\n")
    half = {**asked, "coarsen": {"job": f"pseudonym:{file}", "sex": str(kinds)}, "quasi": ["job", "sex"]}
    for request in (sqlanon.anatomy, sqlanon.check):
        with pytest.raises(DataError, match="has no label"):
            request(con, "people", **half, **({"l": 3} if request is sqlanon.anatomy else {}))
        assert not con.sql("from duckdb_tables() where table_name like '%pseudonym_key%'").fetchall()
