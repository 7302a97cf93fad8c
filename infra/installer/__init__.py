"""The installer: uv, pinned by its hash. It takes pip's settings for the package index.

It uses the standard library only, as it runs before anything is installed.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Broken(Exception):
    """The environment could not be made; the text says what to do."""
