"""Errors that speak to a person."""


class UserError(Exception):
    """An error that the user can fix: the text says what was expected, found, and what to do.

    The command line prints the text alone. Any other exception is a mistake of ours and keeps its
    traceback.
    """
