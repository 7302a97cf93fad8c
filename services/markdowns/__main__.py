"""The gate's process: it waits for the end of the next half-hour and marks down."""

import sys

from services.markdowns.gate import keep_gate
from services.process import run

if __name__ == "__main__":
    sys.exit(run("markdowns", keep_gate))
