"""What a query's processes have spent, while some of them come and go."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from ops.bench.shops import measure_cpu, measure_cpu_since

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
        before = measure_cpu(watched)
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        assert len(before) == 2
        assert len(measure_cpu(watched)) == 1
        assert measure_cpu_since(before, watched) >= 0
        assert measure_cpu_since({}, watched) > 0
