"""What computes gives way, once, and so does what it starts."""

import os
import subprocess
import sys

from pipelines.common.runtime.process import NICENESS

CHILD = "import os; print(os.nice(0))"
PARENT = f"""
import subprocess, sys
from pipelines.common.runtime.process import give_way
give_way()
give_way()
print(subprocess.check_output([sys.executable, "-c", {CHILD!r}], text=True))
"""


def test_what_is_started_by_one_that_gives_way_does_so_too() -> None:
    output = subprocess.check_output([sys.executable, "-c", PARENT], text=True)
    assert int(output) == max(os.nice(0), NICENESS)
