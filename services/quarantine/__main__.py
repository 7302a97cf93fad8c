"""The quarantine's process: it reads every public topic and keeps rejected records."""

import sys

from services.process import run
from services.quarantine.follower import follow

if __name__ == "__main__":
    sys.exit(run("quarantine", follow))
