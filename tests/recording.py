"""An engine that writes down what it runs."""

from sqlanon.engines.duckdb.engine import DuckDBEngine


class Recording(DuckDBEngine):
    """Run statements on a DuckDB connection; `ran` holds their texts in order."""

    def __init__(self, connection):
        super().__init__(connection)
        self.ran = []

    def create(self, statement, lasting=False):
        self.ran.append(statement.sql)
        super().create(statement, lasting)

    def frame(self, text):
        self.ran.append(text)
        return super().frame(text)

    def arrays(self, text):
        self.ran.append(text)
        return super().arrays(text)

    def rows(self, text):
        self.ran.append(text)
        return super().rows(text)
