"""The gate's process: it waits for the end of the next half-hour and marks down."""

import sys
from functools import partial

from services.gate import keep_gate
from services.markdowns.gate import MARKING_DOWN
from services.process import run

if __name__ == "__main__":
    sys.exit(run("markdowns", partial(keep_gate, MARKING_DOWN)))
