"""What a query's processes have spent, while some of them come and go."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from bench.batch_cost import cpu_by_process, spent_since

BUSY = "sum(range(3_000_000))"
PARENT = f"""
import subprocess, sys
{BUSY}
child = subprocess.Popen([sys.executable, "-c", "{BUSY}; print(flush=True); input()"],
                         stdin=subprocess.PIPE)
input()
child.communicate(b"\\n")
print(flush=True)
input()
"""


@contextmanager
def parent() -> Iterator["subprocess.Popen[bytes]"]:
    """A process whose child has worked, prints a line, and ends after a line of input."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield process
        process.kill()


def test_a_worker_that_ends_takes_nothing_back() -> None:
    with parent() as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        watched = psutil.Process(process.pid)
        before = cpu_by_process(watched)
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        assert len(before) == 2
        assert len(cpu_by_process(watched)) == 1
        assert spent_since(before, watched) >= 0
        assert spent_since({}, watched) > 0
