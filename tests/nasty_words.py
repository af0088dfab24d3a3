"""Words for commands: for each option some that it may mean, and many that nobody means; questions and jobs of both."""

from hypothesis import strategies as st

from tests.conftest import NASTY_NAMES, NASTY_VALUES

NUMBERS = [
    *("0", "1", "2", "3", "-1", "", " ", "1e9", "1e-12", "1e309", "nan", "inf", "-inf", "0.5", "1%", "200%", "0x10"),
    *("99999999999999999999", "2147483648", "1_000", "٣", "1,2", "l=3", "disease=2", "age>=1", "4GB", "1KB", "-0.0"),
]
_WHOLE = ["0", "1", "-1", "239", "241", "65536", "2147483648", "0007", " 3 ", "9223372036854775807", "+2"]
NAMES = [
    *("age", "AGE", "sex", "disease", "ssn", "zipcode", "age,age", ",", "a,,b", "nobody", *NASTY_NAMES, *NASTY_VALUES)
]
PLACES = [
    *("patients.parquet", "patients", "main.patients", "*.parquet", "**", "[", "missing.parquet", "", ".", "..", "~"),
    *("release", "release/st.parquet", "release/release.json", "splu", "boxes", "hospital.duckdb", "/dev/null", "tmp"),
    *("bad.parquet", "bad.csv", "bad.json", "empty.csv", "job.yml", "n" * 300, "a\\b", "\udcff", "-", "--", "odd.csv"),
    "http://x/y.csv",
]
QUERIES = [
    "SELECT COUNT(*) FROM release",
    *(f"SELECT {piece} FROM release" for piece in ("*", "", "COUNT(*) + 1", "SUM(age)", "AVG(nobody)", "AVG(age) / 0")),
    *(
        f"SELECT COUNT(*) FROM release WHERE {piece}"
        for piece in (
            *("age", "age = 'x'", "1 / 0 = age", "disease IN ()", "disease LIKE '%' ESCAPE ''", "NOT NOT age IS NULL"),
            *("regexp_matches(sex, '(')", "age BETWEEN 9 AND", "CAST(sex AS INTEGER) = 1", "age = 9e999", "(" * 300),
            *("age < " + "9" * 400, "sex = repeat('a', 1000000000)", "1 = (SELECT 1)", "age = -age AND " * 40 + "TRUE"),
            *("read_csv('bad.csv') = 1", "age::DATE = DATE '9999-99-99'", "'\\' = '''; DROP TABLE release; --'"),
        )
    ),
    *(
        "SELECT 1; SELECT 2",
        ";",
        "",
        "-- nothing",
        "PRAGMA version",
        "COPY release TO 'x'",
        "SELECT COUNT(*) FROM a " * 2,
    ),
]
WORDS = ["", "drop", "keep", "refuse", "value", "random", "keyed", "learn", "ä", "all", "json", "table", "x" * 5000]
RELEASES = ["release", "splu", "boxes", "robust", "unsure", "followed"]
SOURCES = ["patients.parquet", "pat*.parquet", "patients.csv", "odd.parquet"]
COLUMNS = ["age", "sex", "zipcode", "age,sex", "sex,zipcode", "age,sex,zipcode", "zipcode,AGE"]
NEW = ["new", "new out", "ünï", "'); drop table patients; --", "{{ 7 * 7 }}", 'quo"te', "%s", "semi;colon"]

# what an option may mean, by its longest name; the argument of a verb by the verb
MEANT: dict[str, list[str]] = {
    "--quasi": [*COLUMNS, 'quo"te', "semi;colon"],
    "--sensitive": ["disease", "sex", "zipcode", "DISEASE"],
    "--id": ["ssn", "SSN", "ssn,sex"],
    "-l": ["1", "2", "3", "4", "5"],
    "--l": ["2", "3", "2,3", "4"],
    "-k": ["2", "3", "5", "9", "240"],
    "-L": ["1", "2", "3"],
    "-r": ["1.5", "2", "2.5", "3", "1.0000001"],
    "-t": ["0.1", "0.5", "1", "0"],
    **{name: ["0.1", "0.5", "1", "3"] for name in ("--alpha", "--beta", "--delta", "--entropy-l", "--sampled")},
    "--recursive": ["2,2", "1.5,3", "4,1"],
    "--gamma": ["2", "3", "5", "disease=4", "240"],
    "--residue": ["drop", "keep"],
    "--epsilon": ["0.1", "0.3", "1", "0.001"],
    "--target-error": ["0.05", "0.5", "0.9"],
    "--block": ["1", "7", "64", "all"],
    "--nulls": ["refuse", "value", "drop"],
    "--draws": ["keyed", "random"],
    "--key": ["5e" * 32, "00" * 32, "AB" * 32],
    "--unit": ["person", "row"],
    "--unique-quasi": ["refuse", "keep"],
    "--require": ["rows >= 1", "rows >= 500", "groups >= 3", "dropped_rows <= 0"],
    "--format": ["table", "json", "csv"],
    "--threads": ["1", "2", "7"],
    "--memory-limit": ["64MB", "1GB", "300MiB"],
    "--into": ["ward", "ward 2", *NEW[2:]],
    "--database": ["hospital.duckdb"],
    "--ledger": ["ledger.duckdb", "new.ledger"],
    "--releases": [".", "followed", "release"],
    "--changed": ["leave", "keep", "move"],
    "--since": ["followed", "release"],
    "--background": ["background.parquet", "background.csv"],
    "--background-from": ["sex", "age", "zipcode"],
    "--save-background": ["kept.parquet", "kept.csv", "new kept.csv"],
    "--max-suppressed": ["0", "1%", "0.5", "0.99"],
    "--threshold": ["0.1", "0.3", "0.9", "1"],
    "--influence": ["learn", "influence.csv"],
    "--save-influence": ["kept.csv", "kept.parquet"],
    "--undiverse": ["merge", "suppress"],
    "--max-group": ["9", "20", "240"],
    "--max-alternatives": ["1", "16"],
    "--order-alternatives": ["given", "sorted"],
    "--alternatives": ["lists", "braces"],
    "--alternative-of": ["ssn", "zipcode"],
    "--hierarchy": ["zipcode=levels.csv", "age=levels.csv"],
    "--label": ["ssn", "zipcode"],
    "--partition": ["strict", "relaxed"],
    "--dialect": ["duckdb", "spark", "postgres", "snowflake"],
    "--against": SOURCES,
    "--voters": ["patients.parquet", "patients.csv"],
    "--with": RELEASES,
    "--estimator": ["shrinkage", "ridge", "uniform", "closed_form", "iterative"],
    "--timeout": ["5", "0.5", "600"],
    "--population": SOURCES,
    "--failing": ["failing.parquet"],
    "--methods": ["anatomy", "splu,mondrian", "robust", "splu"],
    "--queries": ["3", "9", "own.sql"],
    "--seed": ["1", "7", "2147483647"],
    "--base": ["patients"],
    "--secret": ["SELECT ssn, disease FROM patients", "SELECT age, sex FROM patients WHERE sex = 'F'"],
    "--view": ["SELECT ssn, age FROM patients", "SELECT zipcode, disease FROM patients", "SELECT * FROM patients"],
    "--model": ["restricted", "unrestricted"],
    "--cover": ["1", "3"],
    "--explain": ["5 d1", "7 d7"],
    "--qit": ["release/qit.parquet", "robust/qit.parquet"],
    "--st": ["release/st.parquet", "robust/st.parquet"],
    "--data": ["splu/data.parquet"],
    "--group": ["group_id"],
    "--count": ["count"],
    "--dropped-rows": ["0", "1", "7"],
    "--tables": ["1", "2", "3"],
    "--log": ["text", "json"],
    **dict.fromkeys(("verify", "estimate", "attack", "complete", "report"), RELEASES),
    **{f"publish {method}": SOURCES for method in ("anatomy", "splu", "robust", "uncertain", "mondrian")},
    **{"check": SOURCES, "compare": SOURCES[:3], "compile anatomy": ["patients", "a.b", 'a."b c"', *NEW]},
    **{"ledger": ["ledger.duckdb"], "run": ["job.yml"], "guide": ["verify", "keys", "jobs", "anatomy"]},
}
_ENDINGS = {"report": ".html", "breach": ".parquet", "verify": ".csv"}
_CONSTANTS = {
    "age": ["30", "-0.0", "41.5", "1e308", "-9223372036854775809", "NULL", "TRUE", "'33'", "length(sex)"],
    "sex": ["'F'", "'M'", "''", "'f'", "'ä'", "'\x1b[31m'", "'" + "x" * 3000 + "'", "NULL", "lower(disease)"],
    "disease": ["'d1'", "'d7'", "'D1'", "'d1 '", "'d''1'", "NULL", "sex", "'{{ x }}'"],
    "zipcode": ["10003", "10010.5", "'10004'", "age", "10000 + age % 11"],
}
_SHAPES = [
    *("{c} = {x}", "{c} < {x}", "{c} >= {x}", "{c} <> {x}", "{c} IN ({x}, {y})", "{c} IS NULL", "NOT ({c} = {x})"),
    *("{c} BETWEEN {x} AND {y}", "{c} NOT IN ({x}, {y})", "coalesce({c}, {x}) = {y}"),
]
_FIGURES = ["COUNT(*)", "COUNT(*) AS n", "SUM(age)", "AVG(age)", "AVG(age * 2 - 1)", "COUNT(*), SUM(1)"]


def meant(verb: str, name: str) -> st.SearchStrategy[str]:
    """Return a strategy of words that an option of a verb may mean."""
    if name == "--out":
        return st.sampled_from([f"{one}{_ENDINGS.get(verb, '')}" for one in ("out", *NEW)])
    if name == "query":
        return st.one_of(questions(), st.sampled_from(QUERIES[:1]))
    return st.sampled_from(MEANT[name]) if name in MEANT else st.just("1")


def nobody_means(name: str) -> st.SearchStrategy[str]:
    """Return a strategy of words that nobody means; an option of whole numbers gets such numbers half of the time."""
    if name in MEANT and all(word.isdecimal() for word in MEANT[name]):
        return st.one_of(st.sampled_from(_WHOLE), _nonsense())
    return _nonsense()


def _nonsense() -> st.SearchStrategy[str]:
    drawn = st.text(max_size=12).filter(lambda text: "\0" not in text)
    every = [*NUMBERS, *NAMES, *PLACES, *QUERIES[:8], *WORDS]
    return st.one_of(st.sampled_from(every), st.sampled_from(NUMBERS), st.sampled_from(QUERIES), drawn)


@st.composite
def _atom(draw: st.DrawFn) -> str:
    column = draw(st.sampled_from(sorted(_CONSTANTS)))
    constant = st.sampled_from(_CONSTANTS[column])
    shape = draw(st.sampled_from(_SHAPES))
    return shape.format(c=column, x=draw(constant), y=draw(constant))


def questions() -> st.SearchStrategy[str]:
    """Return a strategy of aggregate queries, most of which a release of the patients can be asked."""
    condition = st.recursive(
        _atom(),
        lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR", "AND NOT"]), inner),
        max_leaves=5,
    )
    where = st.one_of(st.just(""), condition.map(lambda text: f" WHERE {text}"))
    group = st.sampled_from(["", "", "sex", "zipcode", "disease", "sex, disease", "age % 3"])

    def written(figures: str, columns: str, tail: str) -> str:
        listed, grouped = (f"{columns}, ", f" GROUP BY {columns}") if columns else ("", "")
        return f"SELECT {listed}{figures} FROM release{tail}{grouped}"

    return st.builds(written, st.sampled_from(_FIGURES), group, where)
