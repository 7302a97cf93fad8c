"""Clients that open, send or read too little or too much leave the API answering."""

from contextlib import ExitStack
from http import HTTPStatus
from pathlib import Path
from time import monotonic

import pytest

from infra.wait import wait_until
from services.api.http import server
from services.api.http.server import HEADER_BYTES_MAX
from services.api.routes.stream import STREAMS_MAX
from tests.services.clients import STREAM, connecting, exchange, read_status, read_to_end
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving

LIMIT_SECONDS = 0.4
ANSWER_SECONDS_MAX = 2.0
SLOW_CLIENTS = 100
READERS = 300
CONNECTIONS_MAX = 16
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
GET_MUCH = GET.replace(b"/healthz", b"/openapi.json")
CLOSE = b"Connection: close\r\n\r\n"


@pytest.fixture
def impatient(quiet: Answers, monkeypatch: pytest.MonkeyPatch) -> Answers:
    """`quiet`, which waits LIMIT_SECONDS for a request's head, and for who does not read."""
    monkeypatch.setattr(server, "HEAD_SECONDS_MAX", LIMIT_SECONDS)
    monkeypatch.setattr(server, "UNREAD_SECONDS_MAX", LIMIT_SECONDS)
    return quiet


def answers_at_once(api: Answers) -> bool:
    began = monotonic()
    return api.get("/healthz").is_success and monotonic() - began < ANSWER_SECONDS_MAX


@pytest.mark.parametrize("sent", [b"", b"G", GET], ids=["nothing", "a letter", "half a head"])
def test_who_sends_no_whole_request_is_cut_off_in_time_and_holds_up_nobody(
    impatient: Answers, sent: bytes
) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(connecting(impatient)) for _ in range(SLOW_CLIENTS)]
        for each in slow:
            each.sendall(sent)
        assert answers_at_once(impatient)
        for each in slow:
            answer = read_to_end(each)
            assert read_status(answer) == HTTPStatus.REQUEST_TIMEOUT
            assert b"Request not received" in answer


def test_a_request_that_comes_byte_by_byte_has_no_more_time_than_any_other(
    impatient: Answers,
) -> None:
    began = monotonic()
    with connecting(impatient) as slow:
        slow.settimeout(LIMIT_SECONDS / 20)  # between two bytes
        answer = b""
        while not answer and monotonic() < began + 10 * LIMIT_SECONDS:
            slow.sendall(b"G")
            try:
                answer = slow.recv(1_000)
            except TimeoutError:
                continue
    assert read_status(answer) == HTTPStatus.REQUEST_TIMEOUT
    assert LIMIT_SECONDS / 2 < monotonic() - began < 5 * LIMIT_SECONDS


def test_a_second_request_on_a_connection_has_its_own_time(impatient: Answers) -> None:
    with connecting(impatient) as connection:
        connection.sendall(GET + b"\r\n")
        assert read_status(connection.recv(65_536)) == HTTPStatus.OK
        connection.sendall(GET)
        assert read_status(read_to_end(connection)) == HTTPStatus.REQUEST_TIMEOUT


def test_a_client_that_never_reads_its_answers_is_cut_off(impatient: Answers) -> None:
    asked = 100
    length = len(impatient.get("/openapi.json").content)
    with connecting(impatient, receive_bytes=4_096) as deaf:
        deaf.sendall((GET_MUCH + b"\r\n") * asked)

        def is_cut_off() -> bool:
            try:
                deaf.sendall(GET + b"\r\n")
            except OSError:
                return True
            return False

        wait_until(is_cut_off, "the connection is closed", ANSWER_SECONDS_MAX * 5)
        assert len(read_to_end(deaf)) < asked * length
    assert answers_at_once(impatient)


def test_a_client_that_reads_slowly_is_not_cut_off(impatient: Answers) -> None:
    asked = 8
    expected = asked * len(impatient.get("/openapi.json").content)
    with connecting(impatient, receive_bytes=4_096) as slow:
        slow.sendall((GET_MUCH + b"\r\n") * (asked - 1) + GET_MUCH + CLOSE)
        assert len(read_to_end(slow)) > expected


def create_head(size: int) -> bytes:
    """A request of so many bytes, all of them its head."""
    begin, end = GET + b"Connection: close\r\nX-Wide: ", b"\r\n\r\n"
    return begin + b"x" * (size - len(begin) - len(end)) + end


@pytest.mark.parametrize(
    ("size", "status"),
    [(HEADER_BYTES_MAX, HTTPStatus.OK), (20 * HEADER_BYTES_MAX, HTTPStatus.BAD_REQUEST)],
)
def test_a_head_has_a_size(quiet: Answers, size: int, status: HTTPStatus) -> None:
    with connecting(quiet) as connection:
        try:
            connection.sendall(create_head(size))
        except (BrokenPipeError, ConnectionResetError):
            assert size > HEADER_BYTES_MAX
        answer = read_to_end(connection)
    # Of a head that is much too large the end is not read: the answer may be lost with it.
    is_lost = not answer and size > HEADER_BYTES_MAX
    assert is_lost or read_status(answer) == status


def test_so_many_connections_and_one_more_is_told_so(tmp_path: Path) -> None:
    sources = create_sources(MemoryLog(), tmp_path)
    with serving(sources, CONNECTIONS_MAX) as api, ExitStack() as stack:
        others = CONNECTIONS_MAX - 1  # the client that waited for the start may hold one
        held = [stack.enter_context(connecting(api)) for _ in range(others)]
        for each in held:
            each.sendall(GET + b"\r\n")
            assert read_status(each.recv(65_536)) == HTTPStatus.OK
        assert api.get("/healthz").is_success  # this client's own connection: the last one
        for _ in range(3):
            answer = exchange(api, b"")
            assert read_status(answer) == HTTPStatus.SERVICE_UNAVAILABLE
            assert b"Too many connections" in answer
            assert b"retry-after: 1" in answer.lower()
        assert api.get("/healthz").is_success
        held[0].close()

        wait_until(lambda: read_status(exchange(api, GET + CLOSE)) == HTTPStatus.OK, "a free place")


def test_hundreds_ask_for_a_stream_and_the_api_goes_on_answering(shelves: Answers) -> None:
    ask = f"GET {STREAM} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with ExitStack() as stack:
        readers = [stack.enter_context(connecting(shelves)) for _ in range(READERS)]
        for each in readers:
            each.sendall(ask)
        answers = [each.recv(65_536) for each in readers]
        statuses = [read_status(answer) for answer in answers]
        assert statuses.count(HTTPStatus.OK) == STREAMS_MAX
        assert statuses.count(HTTPStatus.TOO_MANY_REQUESTS) == READERS - STREAMS_MAX
        assert answers_at_once(shelves)
        assert shelves.get("/v1/stock").is_success

    def is_let_in() -> bool:
        with shelves.stream(STREAM) as answer:
            return bool(answer.is_success)

    wait_until(is_let_in, "a place is free again")
