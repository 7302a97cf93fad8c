"""Visits: when customers come, and what they buy."""
