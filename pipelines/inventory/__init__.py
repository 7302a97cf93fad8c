"""Stock on every shelf."""
