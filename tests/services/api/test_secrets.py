"""The token of a shop is in its file, and nowhere else: no log, no argument, no environment."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import httpx
import psutil
import pytest

from infra.processes import build_environment
from infra.settings import Settings, locate_root
from infra.token import locate_token, read_token
from infra.wait import repeat_in_thread, wait_until
from tests.ports import free_port_base
from tests.secrets import find_files, find_headers, find_processes, list_with_children

pytestmark = pytest.mark.e2e

START_SECONDS_MAX = 60
LOOK_SECONDS = 0.02
RELEASE = "/v1/quarantine/public.sales.receipt.v1/0/0/release?because=a+test"
LOG = "api.log"


@pytest.fixture
def settings(kafka: Settings, tmp_path: Path) -> Settings:
    return kafka.model_copy(
        update={
            "data_dir": tmp_path / "data",
            "port_base": free_port_base(),
            "kafka_bootstrap_servers": kafka.bootstrap_servers,
        }
    )


@contextmanager
def running(settings: Settings) -> Iterator[int]:
    """The API as a process of its own; its process id."""
    settings.data_dir.mkdir()
    with (settings.data_dir / LOG).open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "services.api"],
            cwd=locate_root(),
            env={**build_environment(settings), "PYTHONASYNCIODEBUG": "1"},
            stdout=log,
            stderr=log,
        )
        try:
            yield process.pid
        finally:
            process.terminate()
            process.wait(START_SECONDS_MAX)


def is_answering(settings: Settings) -> bool:
    try:
        return httpx.get(f"{settings.api_url}/healthz").is_success
    except httpx.TransportError:
        return False


def act(settings: Settings, authorization: str, path: str = RELEASE) -> httpx.Response:
    """The answer. It has the token in no header, and in its text only where the path named it."""
    headers = {"Authorization": authorization}
    answer = httpx.post(f"{settings.api_url}{path}", headers=headers, timeout=START_SECONDS_MAX)
    token = read_token(settings)
    assert find_headers(token, answer.headers) == []
    assert token in path or token not in answer.text
    return answer


def is_audited(settings: Settings) -> bool:
    """Whether the log of a real broker holds what has been tried here, as the API reads it."""
    listed = httpx.get(f"{settings.api_url}/v1/audit").json().get("items", ())
    found = [tuple(row[name] for name in ("action", "who", "status", "why")) for row in listed]
    return sorted(found, key=str) == [
        ("release-rejected", "nobody", HTTPStatus.UNAUTHORIZED, None),
        ("release-rejected", "nobody", HTTPStatus.UNAUTHORIZED, None),
        ("release-rejected", "operator", HTTPStatus.CONFLICT, "a test"),
    ]


@contextmanager
def watching(pid: int, secret: str, found: set[str], seen: set[int]) -> Iterator[None]:
    """Look at the process and those that it starts, again and again."""

    def look() -> None:
        processes = list_with_children([pid])
        seen.update(process.pid for process in processes)
        found.update(find_processes(secret, processes))

    with repeat_in_thread(look, LOOK_SECONDS):
        yield


def test_the_token_is_in_no_log_no_argument_and_no_environment(settings: Settings) -> None:
    found, seen = set[str](), set[int]()
    with running(settings) as pid:
        token = read_token(settings)
        wait_until(lambda: is_answering(settings), "the API answers", START_SECONDS_MAX)
        with watching(pid, token, found, seen):
            refused = act(settings, f"Bearer {token}")
            assert refused.status_code == HTTPStatus.CONFLICT, refused.text  # a command has run
            assert act(settings, f"Basic {token}").status_code == HTTPStatus.UNAUTHORIZED
            assert act(settings, f"Bearer {token}x").status_code == HTTPStatus.UNAUTHORIZED
            unknown = act(settings, f"Bearer {token}", f"/v1/pipelines/{token}/rollback")
            assert token not in unknown.headers.values()
            wait_until(lambda: is_audited(settings), "the actions are listed")
    assert len(seen) > 1, "the command was not seen at work"
    assert found == set()
    assert (settings.data_dir / LOG).stat().st_size > 0
    assert find_files(token, settings.data_dir, [locate_token(settings)]) == []


def test_a_secret_that_is_somewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    file = tmp_path / "below" / "a.log"
    file.write_bytes(b"x" * (1_048_576 - 3) + b"a secret" + b"y" * 10)
    assert find_files("a secret", tmp_path) == [file]
    assert find_files("a secret", tmp_path, [file]) == []
    program = "import sys; print(flush=True); sys.stdin.read()"
    for arguments, variables, place in (
        (["a secret"], {}, "arguments"),
        ([], {"X": "a secret"}, "environment"),
    ):
        with subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **variables},
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()  # a process that has just begun may not have its arguments
            [found] = find_processes("a secret", [psutil.Process(process.pid)])
            process.communicate()
        assert found.startswith(place)
