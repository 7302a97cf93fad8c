"""One process: reads what is published, and keeps what is rejected."""

import sys

from services.process import run
from services.quarantine.following import follow

if __name__ == "__main__":
    sys.exit(run("quarantine", follow))
