"""What an error of SQLite says of the file: only damage is damage."""

import sqlite3

DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
PRIMARY = 0xFF  # of an extended code


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is malformed or not a database.

    Any other error concerns the moment, such as a full disk, a lock or spent file descriptors, or
    the statement. The file is as good as before.
    """
    code = getattr(error, "sqlite_errorcode", None)  # Python's own errors have none
    return code is not None and code & PRIMARY in DAMAGE
