"""The quarantine: every rejected record of every public topic, whole, with the reason."""
