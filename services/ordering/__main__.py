"""The gate's process: it waits for the next review and orders."""

import sys

from services.ordering.gate import keep_gate
from services.process import run

if __name__ == "__main__":
    sys.exit(run("ordering", keep_gate))
