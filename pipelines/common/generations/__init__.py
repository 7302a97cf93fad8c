"""Which generation runs and which one is served: snapshot, lease, control, promotion."""
