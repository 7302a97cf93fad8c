"""Texts whose order depends on how they are compared."""

IN_ORDER = ("", "A", "Ab", "B", "é", "\ue000", "😀")
"""In the order of their bytes. That of a program with 16-bit characters has the last before the one
before it."""
