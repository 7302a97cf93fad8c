"""Checks of the machine before anything starts."""
