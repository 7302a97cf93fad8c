"""Errors that speak to a person."""


class Trouble(Exception):
    """Something a person can mend: the text says what was expected, found, and what to do.

    The command line prints the text alone; any other exception is a mistake of ours and keeps
    its traceback.
    """
