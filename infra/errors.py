"""Errors that speak to a person."""


class UserError(Exception):
    """An error that the user can fix: its text says what was expected, what was found, and what to
    do.

    The command line prints only the text. Any other exception is a bug of this project and keeps
    its traceback.
    """
