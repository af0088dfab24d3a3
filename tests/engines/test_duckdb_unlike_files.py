"""Files of a pattern that lack columns: Parquet footers say the same as reading each file would."""

from sqlanon.engines.connect import open_duckdb
from sqlanon.engines.duckdb.unlike_files import count_lacking


def test_one_statement_reads_the_footers_of_all_files(tmp_path):
    engine, ran = open_duckdb(), []
    laid = {
        "year=2020/m=1/one": "1 as x, {'p': 1, 'q': [1, 2]} as s, map {'a': 1} as pairs, [{'z': 2}] as list, 2 as z",
        "year=2021/two": '1 as x, 2 as A, 3 as "b c"',
        "[1]/p=b": "1 as X, 2 as a, 3 as p",
    }
    for name, columns in laid.items():
        (tmp_path / name).parent.mkdir(parents=True)
        engine.execute(f"copy (select {columns}) to '{tmp_path / name}.parquet'")
    pattern = f"{tmp_path}/**/*.parquet"
    files = [path for (path,) in engine.execute("select file from glob(?)", [pattern])]
    held = [
        {name.lower() for name in engine.columns(f"select * from read_parquet('{path.replace('[1]', '[[]1]')}')")}
        for path in files
    ]
    counts = {name: sum(name in columns for columns in held) for name in set().union(*held)}
    execute = engine.execute
    engine.execute = lambda *words: ran.append(words) or execute(*words)
    found = {name.lower(): told for name, told in count_lacking(engine, "read_parquet", pattern, "").items()}
    assert found == {name: (3 - count, 3) for name, count in counts.items() if count < 3}
    assert {"s", "pairs", "list", "z", "a", "b c", "p", "year", "m"} == set(found) and len(ran) == 2
