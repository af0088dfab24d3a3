"""Types by whether their values have an order that means something."""

from sqlanon.ordered_types import is_ordered


def test_numbers_dates_and_times_are_ordered_and_nothing_else():
    ordered = [
        "TINYINT",
        "UHUGEINT",
        "DECIMAL(18,3)",
        "double",
        "DATE",
        "TIME",
        "TIMESTAMP WITH TIME ZONE",
        "TIMESTAMP_NS",
    ]
    assert all(map(is_ordered, ordered))
    # UUID begins as unsigned numbers do
    assert not any(map(is_ordered, ["UUID", "VARCHAR", "BOOLEAN", "BLOB", "ENUM('a', 'b')", "INTERVAL"]))
