"""What computes gives way, once, and so does what it starts."""

import os
import subprocess
import sys
from pathlib import Path

from pipelines.engine.process import NICENESS

CHILD = "import os; print(os.nice(0))"
PARENT = f"""
import subprocess, sys
from pipelines.engine.process import give_way
give_way()
give_way()
print(subprocess.check_output([sys.executable, "-c", {CHILD!r}], text=True))
"""


def test_what_is_started_by_one_that_gives_way_does_so_too() -> None:
    output = subprocess.check_output([sys.executable, "-c", PARENT], text=True)
    assert int(output) == max(os.nice(0), NICENESS)


LEADER = """
import os, subprocess, sys
from pathlib import Path
from pipelines.engine.process import give_way, share_cores
give_way()
led = subprocess.Popen(["sleep", "60"], start_new_session=True)
share_cores(led.pid)
shown = Path(f"/proc/{led.pid}/autogroup")
print(shown.read_text().split()[-1] if shown.exists() else "")
led.kill()
led.wait()
share_cores(led.pid)
"""


def test_a_session_shares_the_cores_like_the_one_that_started_it() -> None:
    """Where Linux shares them among sessions; elsewhere, and when it is gone, nothing happens."""
    output = subprocess.check_output([sys.executable, "-c", LEADER], text=True).strip()
    niceness = str(max(os.nice(0), NICENESS))
    assert output == (niceness if Path("/proc/self/autogroup").exists() else "")
