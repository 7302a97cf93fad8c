"""The installer: uv, pinned by its hash, told of the package index that pip is set up for.

Standard library only: it runs before anything is installed.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Broken(Exception):
    """The environment could not be made; the text says what to do."""
