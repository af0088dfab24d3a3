"""A release's Parquet files by their bytes: what no reader of their rows would ever show."""
