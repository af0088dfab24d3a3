"""A manifest carries nothing but what its tables show: no free text, no number beyond its range, no other writing."""

import json
import random

import jsonschema
import pytest

import sqlanon
from sqlanon.methods import METHODS
from sqlanon.releases.manifest_schema import manifest_faults, manifest_schema
from tests.benchmarks.forging import RELEASES, certified, publish
from tests.forged_manifests import SECRET, forged_values, forged_writings, forgeries

# texts and names that are compared with those of the tables
OF_TABLES = ("parameters weights", "parameters published")
FEW = 12  # forgeries of each release here; `tests.benchmarks.forging` tries five hundred


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forged")
    return {name: publish(folder, name) for name in RELEASES}


def text_of(release):
    return (release / "release.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RELEASES)
def test_what_is_published_is_as_its_schema_says(published, name):
    manifest = json.loads(text_of(published[name]))
    schema = manifest_schema(manifest["method"])
    assert [*manifest_faults(manifest)] == []
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(manifest)


@pytest.mark.parametrize("method", METHODS)
def test_a_schema_leaves_no_value_free(method):
    def leaves(schema):
        yield schema
        for key in ("properties", "$defs", "anyOf", "items", "additionalProperties", "propertyNames"):
            inner = schema.get(key, {})
            is_named = key in ("properties", "$defs")
            listed = inner.values() if is_named else inner if isinstance(inner, list) else [inner]
            for one in listed:
                if isinstance(one, dict) and one:
                    yield from leaves(one)

    for schema in leaves(manifest_schema(method)):
        assert {"type", "enum", "anyOf", "$ref", "maxLength", "columnOf"} & set(schema), schema
        if schema.get("type") == "object":
            assert schema.get("additionalProperties") is False or "propertyNames" in schema, schema
        if schema.get("type") in ("integer", "number"):
            assert {"maximum", "exclusiveMaximum"} & set(schema), schema


@pytest.mark.parametrize("name", RELEASES)
def test_every_forged_value_is_found_before_tables_are_read(published, name):
    """What a schema can tell is told by it; the rest is compared with the tables, as `certified` tries."""
    found = told = 0
    for what, text in [*forged_values(json.loads(text_of(published[name])))][::3]:
        manifest = json.loads(text)
        if isinstance(manifest, dict) and isinstance(manifest.get("method"), str) and manifest["method"] in METHODS:
            try:
                told += any(manifest_faults(manifest))
            except (LookupError, TypeError, AttributeError):  # columns that are none: refused before
                continue
            found += 1
            of_tables = what.startswith(OF_TABLES) or not what.startswith(("parameters", "verified", "created"))
            assert any(manifest_faults(manifest)) or of_tables, what
    assert told > 0.85 * found > 40


@pytest.mark.parametrize("name", RELEASES)
def test_no_forgery_is_certified(published, name):
    sound = text_of(published[name])
    assert certified(published[name], sound)
    for what, text in random.Random(3).sample([*forgeries(sound)], FEW):
        assert not certified(published[name], text), what
    assert certified(published[name], sound)


def test_a_text_that_is_no_manifest_is_not_certified(published):
    sound = text_of(published["anatomy"])
    writings = dict(forged_writings(sound))
    for what, text in writings.items():
        assert text != sound and not certified(published["anatomy"], text), what
    assert certified(published["anatomy"], sound)


ROWS = [{"ssn": 1, "disease": SECRET}]
OPEN, ASK = sqlanon.open, lambda place: sqlanon.open(place).estimate("select count(*) as n from release")
OTHER_COLUMNS = "have other columns than its manifest says"
# whose manifest, what it says instead and where, what is done with it, why that is refused
REFUSED = [
    ("anatomy", "parameters rows_per_person", ROWS, OPEN, "records what no release has: parameters rows_per_person"),
    ("anatomy", "engine", SECRET, OPEN, "records what no release has: engine"),
    ("anatomy", "verified quasi_rows", {"a": 1}, OPEN, "records what no release has: verified quasi_rows"),
    ("anatomy", "format", 0, OPEN, "records what no release has: format"),
    ("anatomy", "rows", -1, OPEN, "records what no release has: rows"),
    ("anatomy", "files", {"qit.parquet": 7}, OPEN, "records what no release has: files qit.parquet"),
    ("anatomy", "guarantee", {}, OPEN, "records what no release has: guarantee l is missing"),
    ("anatomy", "engine", "\ud800", OPEN, "is not JSON as manifests are written"),
    ("anatomy", "columns quasi", ["\ud800", "sex"], OPEN, "is not JSON as manifests are written"),
    ("splu", "groups", ROWS, OPEN, "records what no release has: groups"),
    ("mondrian", "parameters draws", ROWS, OPEN, "records what no release has: parameters draws"),
    ("uncertain", "parameters nulls", ROWS, OPEN, "records what no release has: parameters nulls"),
    ("uncertain", "parameters alternative_of", SECRET * 9, OPEN, "records what no release has: parameters alternative"),
    ("uncertain", "columns sensitive", [SECRET], OPEN, "are not named by the sensitive one"),
    *[
        (name, "verified", {}, sqlanon.report, "^nothing was verified when this release was written")
        for name in ("anatomy", "robust", "uncertain", "mondrian")
    ],
    *[
        (name, "columns quasi", ["nobody", "sex"], act, OTHER_COLUMNS)
        for name in ("anatomy", "anatomy of two", "robust", "splu", "splu of two")
        for act in (ASK, sqlanon.attack, sqlanon.report)
    ],
    (
        "anatomy",
        "files",
        {"../../etc/passwd": {"sha256": "0" * 64}, "qit.parquet": {}},
        ASK,
        "a file outside the release",
    ),
    ("anatomy", "files", {}, ASK, "qit.parquet .not in the manifest., st.parquet .not in the manifest."),
    ("anatomy", "columns", {}, OPEN, "does not name its columns"),
    ("anatomy", "columns quasi", ["age'; drop table x", "sex"], ASK, OTHER_COLUMNS),
    ("anatomy", "columns group", "nobody", sqlanon.attack, OTHER_COLUMNS),
    ("splu", "columns sensitive", ["disease", "nobody"], OPEN, "how its sensitive columns were randomized"),
    ("mondrian", "parameters published age type", "DATE", sqlanon.attack, OTHER_COLUMNS),
    ("uncertain", "parameters types age", "DATE", ASK, "cannot be read as uncertain data"),
]


@pytest.mark.parametrize(("name", "path", "value", "act", "says"), REFUSED)
def test_what_contradicts_a_release_is_refused_in_a_sentence(published, name, path, value, act, says):
    sound, manifest = text_of(published[name]), json.loads(text_of(published[name]))
    *above, last = path.split()
    inside = manifest
    for key in above:
        inside = inside[key]
    inside[last] = value
    try:
        (published[name] / "release.json").write_text(json.dumps(manifest))
        with pytest.raises(sqlanon.ReleaseError, match=says) as error:
            act(published[name])
        assert SECRET not in str(error.value)
        if act is not OPEN:
            assert str(sqlanon.open(published[name]))  # whatever it says of itself
    finally:
        (published[name] / "release.json").write_text(sound, encoding="utf-8")


def test_a_newer_format_is_refused_with_what_to_install(published, shell):
    (shell.folder / "ward").mkdir()
    made_by = "sqlanon 0.9.1, which made it, or a newer one"
    newer = {"format": 3, "sqlanon": "0.9.1", "layout": {"columns": "elsewhere"}}
    for manifest, install in ((newer, made_by), ({"format": 3, "sqlanon": "v!"}, "a newer sqlanon")):
        (shell.folder / "ward" / "release.json").write_text(json.dumps(manifest))
        done = shell("verify", "ward")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ward has format 3, and this sqlanon ")
        assert done.stderr.endswith(f" reads format 2: install {install}\n")
    later = json.loads(text_of(published["anatomy"])) | {"method": "later"}
    (shell.folder / "ward" / "release.json").write_text(json.dumps(later))
    with pytest.raises(sqlanon.ReleaseError, match="'later', which this sqlanon does not know: install "):
        sqlanon.open(shell.folder / "ward")


@pytest.mark.parametrize("where", [(), ("parameters",), ("verified",), ("files", "qit.parquet")])
def test_unknown_keys_are_told_and_never_certified(published, shell, where):
    question = ("estimate", published["anatomy"], "select count(*) as n from release where age < 40")
    sound, answer = text_of(published["anatomy"]), shell(*question)
    manifest = json.loads(sound)
    inside = manifest
    for key in where:
        inside = inside[key]
    inside["future"] = [{"ssn": 1, "disease": SECRET}]
    path = published["anatomy"] / "release.json"
    try:
        path.write_text(json.dumps(manifest, indent=2) + "\n")
        asked, verified = shell(*question), shell("verify", published["anatomy"])
    finally:
        path.write_text(sound)
    assert (asked.returncode, asked.stdout) == (0, answer.stdout)
    for done in (asked, verified):
        assert f"does not know ({' '.join((*where, 'future'))})" in done.stderr
        assert SECRET not in done.stderr
    assert verified.returncode == 3 and "future" in verified.stdout


def test_a_schema_release_has_the_same_rules(tmp_path):
    import duckdb

    from tests.benchmarks.forging import PEOPLE, ROLES

    path = str(tmp_path / "theirs.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute(PEOPLE)
        sqlanon.anatomy(connection, "patients", **ROLES, l=3, into="ward")
        ((sound,),) = connection.execute("select manifest from ward.manifest").fetchall()
    assert sqlanon.open("ward", database=path).verify().holds
    for text in (sound.replace('"keyed"', f'"{SECRET}"'), sound.replace("{", '{"format": 1,', 1)):
        with duckdb.connect(path) as connection:
            connection.execute("update ward.manifest set manifest = ?", [text])
        try:
            assert sqlanon.open("ward", database=path).verify().holds is False
        except sqlanon.ReleaseError as error:
            assert SECRET not in str(error)
