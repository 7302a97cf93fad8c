"""The embedded Kafka: the real broker, alone on this machine or one of several in containers."""
