"""An API in a process of its own, over the shop of the pages: `python -m tests.services.api.lone
FOLDER PORT`. It can be killed, and has the same log when it starts again."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

from infra.settings import HOST, locate_root
from services.api.app import create_app
from services.api.http.server import listen
from tests.services.memory import MemoryLog
from tests.services.serving import create_sources
from tests.services.showing import Shop

CONNECTIONS_MAX = 64


@contextmanager
def running(folder: Path, port: int) -> Iterator["Popen[bytes]"]:
    """The process, which is killed when the block ends, unless it was before."""
    command = [sys.executable, "-m", "tests.services.api.lone", str(folder), str(port)]
    with Popen(command, cwd=locate_root()) as process:
        try:
            yield process
        finally:
            process.kill()


def main() -> None:
    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    log = MemoryLog()
    Shop(log)
    listen(create_app(create_sources(log, folder)), HOST, port).run()


if __name__ == "__main__":
    main()
