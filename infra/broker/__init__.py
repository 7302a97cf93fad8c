"""The embedded Kafka: the real broker, one node, on this machine only."""
