"""What is said to Spark in another way, so that its workers have less to do."""
