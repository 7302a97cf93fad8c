"""Fetch sets of jars ahead of their use: `python -m infra.jars NAME …`."""

import sys

from infra.jars import fetch_jars
from infra.jars.sets import NAMES

asked = sys.argv[1:]
if unknown := set(asked) - set(NAMES):
    sys.exit(f"Expected some of {', '.join(NAMES)}; found {', '.join(sorted(unknown))}.")
for name in NAMES:
    if name in asked:
        fetch_jars(name)
