"""What stands in for parts of Spark and Java, to spend less; no answer depends on it."""
