"""Macros in a database file, called from DuckDB's own client: no Python is there."""

import json
import math
import re
from collections import Counter, defaultdict
from itertools import pairwise

import duckdb
import pytest

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.plans.templates import ident, literal, template_root
from sqlanon.publishing.store_macros import MACROS, store
from tests.client import Client, new_database
from tests.conftest import NASTY_NAMES

KEY, OTHER = "ab" * 32, "cd" * 32
PATIENTS = (
    "create table patients as select i as ssn, (20 + i * 7 % 60)::integer as age,"
    " case when i % 3 = 0 then 'F' when i % 3 = 1 then 'M' end as sex, 10000 + i % 11 as zipcode,"
    " 'd' || (case when i % 100 < 5 then 0 else i % 8 end) as disease from range(600) t(i)"
)
HOSTILE = "hos;tile 'ta.ble' --"  # a double quote in it is beyond query_table of DuckDB 1.5
NAMED = literal(str(ident(HOSTILE)))  # a macro takes the name as SQL has it
CALL = "from anatomy_groups('patients', 'disease', 4)"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make one database with every table of these tests and the macros."""
    columns = ", ".join(f"i % {4 + place} as {ident(name)}" for place, name in enumerate(NASTY_NAMES))
    path = new_database(
        tmp_path_factory.mktemp("macros") / "hospital.duckdb",
        PATIENTS,
        "create table nobody as from patients limit 0",
        "create table gaps as select * exclude (disease), case when ssn % 9 > 0 then disease end as disease"
        " from patients",
        "create table doubled as select * replace (ssn // 2 as ssn) from patients",
        f"create table {ident(HOSTILE)} as select {columns} from range(240) t(i)",
        "create table measures as select i as ssn, (40 + i / 7)::double as weight from range(300) t(i)",
        "create view older as select * from patients where age > 40",
        "create schema ward",
        "create table ward.beds as select i as bed, i % 5 as state from range(50) t(i)",
        "create type mood as enum ('sad', 'gay', 'never seen')",
        "create table kinds as select date '2020-01-01' + i::integer as born, (i % 7)::decimal(5, 2) as dose,"
        " (['sad', 'gay'])[1 + i % 2]::mood as mood, [i] as list, {'a': i} as field, i::hugeint as big,"
        " timestamptz '2020-01-01 00:00:00+00' as seen, i % 2 = 0 as yes from range(70) t(i)",
    )
    Client(path)  # skips where there is no client
    con = duckdb.connect(str(path))
    store(DuckDBEngine(con))
    con.close()
    return path


@pytest.fixture
def client(made):
    return Client(made, KEY)


def test_groups_are_l_diverse_and_hold_every_row_once(client):
    rows = client.rows(CALL)
    groups = defaultdict(list)
    for *_, disease, group in rows:
        groups[group].append(disease)
    assert sorted(row[0] for row in rows) == list(range(600))
    assert sorted(groups) == list(range(150))
    assert all(len(set(values)) == len(values) == 4 for values in groups.values())


def test_the_order_inside_a_group_tells_nothing(client):
    rows = client.rows(CALL)
    assert [row[-1] for row in rows] == sorted(row[-1] for row in rows)
    for place in (0, 1, 4):
        pairs = [(a[place], b[place]) for a, b in pairwise(rows) if a[-1] == b[-1] and a[place] != b[place]]
        rising = sum(a < b for a, b in pairs) / len(pairs)
        assert abs(rising - 0.5) < 0.12, "as often up as down"


@pytest.mark.parametrize("options", ["", ", id := ['SSN']", ", groups_per_block := 8"])
def test_qit_and_st_belong_together_and_to_the_groups(client, options):
    groups = client.rows(f"from anatomy_groups('patients', 'disease', 4{options})")
    qit = client.rows(f"from anatomy_qit('patients', ['sex', 'AGE'], 'disease', 4{options})")
    st = client.rows(f"from anatomy_st('patients', 'disease', 4{options})")
    assert Counter(qit) == Counter((age, sex, group) for _, age, sex, _, _, group in groups)
    assert Counter(st) == Counter((group, disease, 1) for *_, disease, group in groups)
    last = (math.inf, "~")
    assert qit == sorted(qit, key=lambda row: (row[0], row[1] or last[1], row[2]))
    assert st == sorted(st)


@pytest.mark.parametrize(
    ("options", "quasi", "roles"),
    [
        (", id := ['ssn']", ["age", "sex"], ["--quasi", "age,sex", "--id", "ssn"]),
        ("", ["ssn", "age", "sex", "zipcode"], ["--quasi", "ssn,age,sex,zipcode", "--unique-quasi", "keep"]),
    ],
    ids=["identifier", "whole row"],
)
def test_the_same_key_gives_the_release_of_the_command_line(client, shell, options, quasi, roles):
    asked = ["patients", "--database", client.path, *roles, "--sensitive", "disease", "-l", 4, "--out", "release"]
    assert shell("publish", "anatomy", *asked, SQLANON_KEY=KEY).returncode == 0
    published = {name: duckdb.sql(f"from '{shell.folder}/release/{name}.parquet'").fetchall() for name in ("qit", "st")}
    names = ", ".join(f"'{name}'" for name in quasi)
    assert client.rows(f"from anatomy_qit('patients', [{names}], 'disease', 4{options})") == published["qit"]
    assert client.rows(f"from anatomy_st('patients', 'disease', 4{options})") == published["st"]


@pytest.mark.parametrize(("known", "identifier"), [(["sex"], []), (["sex", "zipcode"], ["ssn"])])
def test_robust_macros_give_the_release_of_publish(made, known, identifier):
    quasi = ["age", "sex", "zipcode"] if identifier else ["ssn", "age", "sex", "zipcode"]
    asked = f"'disease', {known}, 3, max_suppressed := 0.5, id := {identifier}"
    with duckdb.connect(str(made), read_only=True) as con:
        release = sqlanon.robust(
            con, "patients", quasi=quasi, sensitive="disease", r=3, max_suppressed=0.5, background_from=",".join(known),
            id=identifier, key=KEY, unique_quasi="keep",
        )  # fmt: skip
        expected = {name: Counter(map(str, release.table(name).fetchall())) for name in release.tables}
    shown = {"qit": f"from robust_qit('patients', {quasi}, {asked})", "st": f"from robust_st('patients', {asked})"}
    with duckdb.connect(str(made)) as con:
        con.execute(f"set variable sqlanon_key = '{KEY}'").fetchall()
        assert {name: Counter(map(str, con.execute(sql).fetchall())) for name, sql in shown.items()} == expected
        groups = f"select group_id, {', '.join(known)}, disease from robust_groups('patients', {asked})"
        assert con.execute(
            f"select max(signatures), min(rows - values), max(rows - values) from (select count(*) as rows,"
            f" count(distinct disease) as values, count(distinct ({', '.join(known)})) as signatures"
            f" from ({groups}) group by group_id)"
        ).fetchone() == (1, 0, 0)


def test_draws_at_random_need_no_key_and_differ(made):
    call = CALL.replace(", 4", ", 4, draws := 'random'")
    first, second = (Client(made).rows(call) for _ in range(2))
    assert sorted(row[0] for row in first) == list(range(600))
    assert {row[:1] + row[-1:] for row in first} != {row[:1] + row[-1:] for row in second}


# -- refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "asked"),
    [
        ("'patients', 'disease', 9", ["patients", "--quasi", "age", "--sensitive", "disease", "-l", 9]),
        ("'patients', 'hight', 4", ["patients", "--quasi", "age", "--sensitive", "hight", "-l", 4]),
        ("'nobody', 'disease', 4", ["nobody", "--quasi", "age", "--sensitive", "disease", "-l", 4]),
        ("'gaps', 'disease', 4", ["gaps", "--quasi", "age", "--sensitive", "disease", "-l", 4]),
    ],
)
def test_refusals_have_the_words_of_the_command_line(client, shell, call, asked):
    done = shell("publish", "anatomy", *asked, "--database", client.path, "--out", "release")
    said = done.stderr.removeprefix("error: ").strip()
    said = said.replace("--nulls value", "nulls := 'value'").replace("--nulls drop", "nulls := 'drop'")
    said = said.replace("--max-suppressed", "max_suppressed")
    assert client.refusal(f"from anatomy_groups({call})") == said


def test_a_macro_takes_one_row_a_person(client):
    said = client.refusal("from anatomy_groups('doubled', 'disease', 4, id := ['ssn'])")
    assert said.startswith("300 persons have more than one row (600 rows of 300 persons): the guarantee is per row")
    assert said.endswith("publish one row per person, or leave out id")


REFUSED = [
    ("anatomy_groups('patients', 'disease', null)", "l = NULL protects nobody"),
    ("anatomy_groups('patients', 'disease', 2.5)", "l = 2.5 protects nobody"),
    ("anatomy_groups('patients', null, 4)", "no column 'NULL' in the source"),
    ("anatomy_groups('patients', 'disease', 4, id := ['disease'])", "stands in --id and in --sensitive"),
    ("anatomy_groups('patients', 'disease', 4, id := ['ssn', 'nn'])", "no column 'nn' in the source"),
    ("anatomy_groups('patients', 'disease', 4, nulls := 'maybe')", "nulls := maybe is none of refuse, value, drop"),
    ("anatomy_groups('patients', 'disease', 4, draws := null)", "draws := NULL is none of keyed, random"),
    ("anatomy_groups('patients', 'disease', 4, groups_per_block := 0)", "groups_per_block := 0 holds no group"),
    ("anatomy_qit('patients', ['age', 'hight'], 'disease', 4)", "no column 'hight' in the source"),
    ("anatomy_qit('patients', ['age', 'disease'], 'disease', 4)", "stands in --quasi and in --sensitive"),
    ("anatomy_qit('patients', [], 'disease', 4)", "name at least one quasi-identifier column"),
    ("anatomy_st('patients', 'hight', 4)", "no column 'hight' in the source"),
    ("anatomy_st('patients', 'disease', 9)", "the largest l that works is 6"),
    ("anatomy_st('patients', 'ssn', 4)", "say unique_sensitive := 'keep'"),
    ("anatomy_st('patients', 'ssn', 4, unique_sensitive := 'no')", "unique_sensitive := no is none of refuse, keep"),
    ("robust_st('patients', 'ssn', ['sex'], 2)", "has a value of its own in 600 of 600 rows"),
    ("robust_st('patients', 'disease', ['sex'], 1)", "r = 1 protects nobody"),
    ("robust_st('patients', 'disease', [], 3)", "background_names names at least one column"),
    ("robust_st('patients', 'disease', ['no'], 3)", "no column 'no' in the source"),
    ("robust_st('patients', 'disease', ['disease'], 3)", "a column has one role"),
    ("robust_st('patients', 'disease', ['sex'], 9)", "600 of 600 rows (100.00%) find no group of 9 rows"),
    ("robust_st('patients', 'disease', ['sex', 'zipcode'], 8)", "the largest r that works is 3"),
    ("robust_st('patients', 'disease', ['sex'], 3, max_suppressed := 1)", "is no share of the rows"),
    ("robust_st('patients', 'disease', ['sex'], 3, groups_per_block := 0)", "holds no group"),
    ("l_diversity('patients', ['hight'], 'disease')", "no column 'hight' in the source"),
    ("l_diversity('patients', [], 'disease')", "name at least one quasi-identifier column"),
    ("l_diversity('patients', ['age'], 'age')", "stands in --quasi and in --sensitive"),
    ("l_diversity('gaps', ['age'], 'disease')", "67 rows have no value in the sensitive column 'disease'"),
    ("l_diversity('nobody', ['age'], 'disease')", "the source has no rows"),
    ("anatomy_groups('gone', 'disease', 4)", "gone"),
]


@pytest.fixture
def session(made):
    """Open the database with a key, where what differs between DuckDB's clients is not asked about."""
    with duckdb.connect(str(made)) as con:
        con.execute(f"set variable sqlanon_key = '{KEY}'").fetchall()
        yield con


def test_what_is_refused(session):
    for call, words in REFUSED:
        with pytest.raises(duckdb.Error, match=re.escape(words)) as refused:
            session.execute(f"from {call}").fetchall()
        assert KEY not in str(refused.value) and "d0" not in str(refused.value)


@pytest.mark.parametrize("ask", ["select count(*) from {}", "select 1 from {} limit 1", "select max(group_id) from {}"])
def test_no_question_gets_around_a_refusal(client, ask):
    assert "the largest l that works is 6" in client.refusal(ask.format("anatomy_groups('patients', 'disease', 9)"))


@pytest.mark.parametrize("key", [None, "ab" * 32 + "a", "zz" * 32])
def test_without_a_key_nothing_runs(made, key):
    said = Client(made, key).refusal(CALL)
    assert "the key is missing: make one with openssl rand -hex 32" in said
    assert "set variable sqlanon_key = '…'" in said
    assert "draws := 'random'" in said
    for call in ("anatomy_qit('patients', ['age'], 'disease', 4)", "anatomy_st('patients', 'disease', 4)"):
        said = Client(made, key).refusal(f"from {call}")
        assert "the key is missing" in said and "random" not in said


# -- tables of any kind -----------------------------------------------------------------------------------------


def test_null_sensitive_values_published_or_dropped(client):
    value = client.rows("from anatomy_groups('gaps', 'disease', 4, nulls := 'value')")
    drop = client.rows("from anatomy_groups('gaps', 'disease', 4, nulls := 'drop')")
    assert len(value) == 600 and sum(row[-2] is None for row in value) == 67
    assert len(drop) == 533 and all(row[-2] is not None for row in drop)
    for rows in (value, drop):
        assert max(Counter((row[-2], row[-1]) for row in rows).values()) == 1


def test_hostile_names_of_tables_and_columns(client):
    asked = [f"select count(*) as n from anatomy_groups({NAMED}, {literal(name)}, 3)" for name in NASTY_NAMES]
    done = client.run(";\n".join(asked) + ";", "-json", "-readonly")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('{"n":240}') == len(NASTY_NAMES)


def test_hostile_names_in_a_release(client):
    names = NASTY_NAMES[:-1]
    quasi = "[" + ", ".join(literal(name) for name in names) + "]"
    qit = client.rows(f"from anatomy_qit({NAMED}, {quasi}, {literal(NASTY_NAMES[-1])}, 3)")
    st = client.rows(f"from anatomy_st({NAMED}, {literal(NASTY_NAMES[-1])}, 3)")
    assert len(qit) == len(st) == 240
    assert len(qit[0]) == len(names) + 1
    assert Counter(row[-1] for row in qit) == Counter(row[0] for row in st)


def test_a_column_called_group_id_leaves_ours_the_next_name(client):
    described = client.rows(f"describe from anatomy_groups({NAMED}, 'count', 3)")
    assert [row[0] for row in described][-1] == "group_id_1"


def test_columns_of_every_type_of_names_and_of_measures(session):
    for sensitive in ("born", "mood", "yes", "big", "dose"):
        asked = f"select * exclude (seen) from anatomy_groups('kinds', '{sensitive}', 2)"
        found = [session.execute(asked).fetchall() for _ in range(2)]
        assert len(found[0]) == 70 and found[0] == found[1]
    for asked, rows in (("'patients', 'ssn', 4, unique_sensitive := 'keep'", 600), ("'measures', 'weight', 4", 300)):
        assert len(session.execute(f"from anatomy_st({asked})").fetchall()) == rows


def test_views_and_schemas(client):
    assert {row[1] > 40 for row in client.rows("from anatomy_groups('older', 'disease', 3)")} == {True}
    assert len(client.rows("from anatomy_groups('ward.beds', 'state', 5)")) == 50


# -- l_diversity ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("quasi", "nulls"), [(["sex"], "refuse"), (["Age", "sex"], "value"), (["sex"], "drop")])
def test_l_diversity_has_the_definitions_figures(client, quasi, nulls):
    table = "patients" if nulls == "refuse" else "gaps"
    names = ", ".join(f"'{name}'" for name in quasi)
    ((classes, rows, k, distinct, entropy, share),) = client.rows(
        f"from l_diversity('{table}', [{names}], 'disease', nulls := '{nulls}')"
    )
    found = defaultdict(Counter)
    for row in client.rows(f"from {table}"):
        if row[4] is not None or nulls != "drop":
            found[tuple(row[{"age": 1, "sex": 2}[name.lower()]] for name in quasi)][row[4]] += 1
    sizes = {key: sum(counts.values()) for key, counts in found.items()}
    assert (classes, rows, k) == (len(found), sum(sizes.values()), min(sizes.values()))
    assert distinct == min(map(len, found.values()))
    assert share == pytest.approx(max(max(counts.values()) / sizes[key] for key, counts in found.items()))
    assert entropy == pytest.approx(
        min(
            math.exp(-sum(n / sizes[key] * math.log(n / sizes[key]) for n in counts.values()))
            for key, counts in found.items()
        )
    )


# -- storing ----------------------------------------------------------------------------------------------------


def macros_in(path) -> set[str]:
    con = duckdb.connect(str(path), read_only=True)
    rows = con.execute("select function_name from duckdb_functions() where not internal").fetchall()
    con.close()
    return {name for (name,) in rows}


NAMES = {macro.name for macro in MACROS}


def test_store_again(shell):
    path = shell.folder / "hospital.duckdb"
    done = shell("macros", "--database", "hospital.duckdb", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert {row["macro"].partition("(")[0] for row in json.loads(done.stdout)} == NAMES == macros_in(path)
    assert shell("macros", "--database", "hospital.duckdb").returncode == 0


def test_macros_of_others_are_left_alone_unless_asked(shell):
    path = str(shell.folder / "hospital.duckdb")
    con = duckdb.connect(path)
    con.execute("create macro Anatomy_ST(x) as table select x as mine")
    con.close()
    done = shell("macros", "--database", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "anatomy_st" in done.stderr and "--overwrite" in done.stderr
    assert macros_in(path) == {"Anatomy_ST"}
    assert shell("macros", "--database", path, "--overwrite").returncode == 0
    assert {name.lower() for name in macros_in(path)} == NAMES


def test_the_printed_statements_store_the_same_macros(shell, tmp_path):
    script = shell("macros", "--sql").stdout
    client = Client(new_database(tmp_path / "fresh.duckdb", PATIENTS), KEY)
    done = client.run(script)
    assert done.returncode == 0, done.stderr
    assert macros_in(client.path) == NAMES
    assert len(client.rows(CALL)) == 600


@pytest.mark.parametrize("macro", MACROS, ids=lambda macro: macro.name)
def test_no_parameter_has_the_name_of_a_column(macro):
    names = {parameter.partition(" ")[0] for parameter in macro.parameters}
    for part in macro.parts:
        text = (template_root() / f"{part.name}.sql.j2").read_text(encoding="utf-8")
        text = re.sub(
            r"\{\{.*?\}\}|\{[#%].*?[#%]\}|^--.*?$|'[^']*'", "", text.replace("''", ""), flags=re.DOTALL | re.MULTILINE
        )
        assert not names & set(re.findall(r"\w+", text.replace("nulls last", ""))), part.name
