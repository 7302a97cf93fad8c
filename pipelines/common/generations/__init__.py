"""Which code runs and which is served: snapshot, lease, control, promotion."""
