"""The runtime of the transforms: Spark session, queries, sources, sink, pace."""
