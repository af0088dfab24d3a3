"""An engine that writes down what it runs."""

from collections import Counter

from sqlanon.engines.duckdb.engine import DuckDBEngine


class Recording(DuckDBEngine):
    """Run statements on a DuckDB connection; `ran` holds their texts in order, `fetched` how many rows each brought."""

    def __init__(self, connection):
        super().__init__(connection)
        self.ran, self.fetched = [], Counter()

    def create(self, statement, lasting=False):
        self.ran.append(statement.sql)
        super().create(statement, lasting)

    def frame(self, text):
        return self._note(text, super().frame(text))

    def arrays(self, text):
        arrays = super().arrays(text)
        self._note(text, next(iter(arrays.values())))
        return arrays

    def rows(self, text):
        return self._note(text, super().rows(text))

    def _note(self, text, rows):
        self.ran.append(text)
        self.fetched[len(rows)] += 1
        return rows
