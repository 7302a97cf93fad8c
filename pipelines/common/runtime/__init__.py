"""What runs the transforms: the Spark session, queries, sources, sink, pace."""
