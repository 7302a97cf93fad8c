"""The gate's process: it waits for the next review and orders."""

import sys
from functools import partial

from services.gate import keep_gate
from services.ordering.gate import ORDERING
from services.process import run

if __name__ == "__main__":
    sys.exit(run("ordering", partial(keep_gate, ORDERING)))
