"""A generation from its start to its removal: record, code, marker, promotion, end."""
