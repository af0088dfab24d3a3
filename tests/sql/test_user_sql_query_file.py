"""A file of queries falls apart at its semicolons, not at those in texts and comments."""

import pytest

from sqlanon.errors import QueryError
from sqlanon.sql.user_sql import split_queries


def test_lines_and_texts():
    text = "-- first; of all\nselect 1;\n\n/* ; */ select ';' as \";\"\n  , 2;;\nselect 3 -- no semicolon"
    assert split_queries(text) == [(2, "select 1"), (4, "select ';' as \";\"\n  , 2"), (6, "select 3")]


@pytest.mark.parametrize("text", ["", " ;; -- nothing\n"])
def test_a_file_without_queries(text):
    assert split_queries(text) == []


def test_a_text_that_does_not_end():
    with pytest.raises(QueryError, match="cannot be split"):
        split_queries("select 'flu")
