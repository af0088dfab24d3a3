"""Spark: reads and writes Parquet by itself; no row of the data comes to the driver. The only importer of `pyspark`."""

from sqlanon.engines.spark.engine import SparkEngine
from sqlanon.engines.spark.session import connect

__all__ = ["SparkEngine", "connect"]
