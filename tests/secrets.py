"""Where a secret is that should be nowhere: files, arguments and environments of processes."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

from infra.settings import Settings
from ops.cli import fleet

CHUNK_BYTES = 1_048_576


def find_files(secret: str, folder: Path, without: Iterable[Path] = ()) -> list[Path]:
    """The files below the folder that hold the secret, except those named.

    Of an index of Kafka's log all is offsets, and most of it is a hole of megabytes.
    """
    excepted = set(without)
    # Unlike a glob, a walk goes on where a running broker removes a folder.
    every = (Path(place, name) for place, _, names in os.walk(folder) for name in names)
    return [
        file
        for file in sorted(every)
        if file.is_file()
        and file.suffix not in (".index", ".timeindex")
        and file not in excepted
        and _holds(file, secret.encode())
    ]


def _holds(file: Path, secret: bytes) -> bool:
    kept = b""
    with suppress(FileNotFoundError), file.open("rb") as content:  # a running shop removes files
        while chunk := content.read(CHUNK_BYTES):
            if secret in kept + chunk:
                return True
            kept = chunk[-len(secret) :]
    return False


def find_processes(secret: str, processes: Iterable[psutil.Process]) -> Iterator[str]:
    """What says the secret: the arguments or the environment of a process."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            arguments, environment = process.cmdline(), process.environ()
            if any(secret in word for word in arguments):
                yield f"arguments of {process.name()}"
            if any(secret in value for value in environment.values()):
                yield f"environment of {process.name()}"


def find_headers(secret: str, headers: httpx.Headers) -> list[str]:
    """The names of the headers whose name or value holds the secret."""
    wanted = secret.lower().encode()
    return [
        name.decode()
        for name, value in headers.raw
        if wanted in name.lower() or wanted in value.lower()
    ]


def list_with_children(pids: Iterable[int]) -> list[psutil.Process]:
    roots = [psutil.Process(pid) for pid in pids]
    return [*roots, *(child for root in roots for child in root.children(recursive=True))]


def check_in_its_file_alone(settings: Settings, kept: Mapping[str, Path]) -> None:
    """Each secret of a running shop is in its file; no other, argument or environment has it."""
    running = [each.pid for each in fleet.list_components(settings) if each.pid]
    processes = list_with_children(running)
    assert len(processes) >= len(running) > 3
    for secret, file in kept.items():
        assert list(find_processes(secret, processes)) == []
        assert find_files(secret, settings.data_dir, [file]) == []
