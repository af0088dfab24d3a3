"""Spark: reads and writes Parquet by itself; no row of the data comes to the driver. The only importer of `pyspark`."""
