"""The generations that run, and the one that is served: snapshot, lease, control, promotion."""
