"""Subscriptions: each change of a row that begins or ceases to match is sent as a web hook."""
