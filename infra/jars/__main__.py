"""Fetch sets of jars ahead of their use: `python -m infra.jars NAME …`."""

import sys

from infra.jars.fetch import fetch
from infra.jars.sets import NAMES, get_jar_set
from infra.settings import read_settings


def main() -> None:
    """Fetch each named set. Exits with a message if a name is unknown."""
    asked = sys.argv[1:]
    if unknown := set(asked) - set(NAMES):
        sys.exit(f"Expected some of {', '.join(NAMES)}; found {', '.join(sorted(unknown))}.")
    for name in NAMES:
        if name in asked:
            fetch(get_jar_set(name), read_settings().jars_dir)


if __name__ == "__main__":
    main()
