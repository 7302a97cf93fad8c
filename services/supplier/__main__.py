"""One process of the supplier; more of them share the stores between them."""

import sys

from services.process import run
from services.supplier.following import obey

if __name__ == "__main__":
    sys.exit(run("supplier", obey))
