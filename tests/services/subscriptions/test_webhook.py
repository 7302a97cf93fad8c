"""One web hook over a real connection: within limits, and never to where it is led."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext, SSLError
from time import monotonic

import pytest

from infra.security.certificates import ensure_certificate
from infra.settings import HOST, Settings
from services.subscriptions import courier
from services.subscriptions.addresses import AllowList
from services.subscriptions.courier import ANSWER_BYTES_MAX, NoMore, Undelivered, post
from tests.services.subscriptions.receiver import Receiver, receiving

LOOPBACK = (ip_network("127.0.0.0/8"),)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as one:
        yield one


def allow(place: str) -> AllowList:
    return AllowList(frozenset({place}), LOOPBACK)


@contextmanager
def answering(answer: bytes, pause_seconds: float = 0.0) -> Iterator[str]:
    """A server that sends these bytes, one after the other, to whoever connects."""
    over = threading.Event()

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            for byte in answer:
                try:
                    connection.sendall(bytes([byte]))
                except OSError:
                    return
                if over.wait(pause_seconds):
                    return
            over.wait()

    with socket.create_server((HOST, 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"{HOST}:{listening.getsockname()[1]}"
        finally:
            over.set()
            thread.join()


def test_the_body_and_headers_arrive_as_they_are(receiver: Receiver) -> None:
    post(allow(receiver.place), receiver.address, b'{"a":1}', {"webhook-id": "7"})
    [hook] = receiver.hooks
    assert (hook.path, hook.body, hook.headers["webhook-id"]) == ("/hooks", b'{"a":1}', "7")
    assert hook.headers["content-type"].startswith("application/cloudevents+json")
    assert hook.headers["host"] == receiver.place


@pytest.mark.parametrize("status", [300, 301, 302, 307, 308, 400, 404, 429, 500, 503])
def test_another_status_is_no_delivery_and_no_redirect_is_followed(
    receiver: Receiver, status: int
) -> None:
    receiver.answer = lambda _: status
    with pytest.raises(Undelivered, match=f"200 to 299, found {status}"):
        post(allow(receiver.place), receiver.address, b"{}", {})
    assert [one.path for one in receiver.hooks] == ["/hooks"]


def test_a_receiver_that_is_gone_wants_no_more(receiver: Receiver) -> None:
    receiver.answer = lambda _: 410
    with pytest.raises(NoMore, match="410"):
        post(allow(receiver.place), receiver.address, b"{}", {})


def test_a_private_address_is_refused_at_the_connection(receiver: Receiver) -> None:
    with pytest.raises(NoMore, match="private network"):
        post(AllowList(frozenset({receiver.place})), receiver.address, b"{}", {})
    with pytest.raises(NoMore, match="SUBSCRIPTION_HOSTS"):
        post(allow("hooks.example.com"), receiver.address, b"{}", {})
    assert receiver.hooks == []


@pytest.mark.parametrize(
    ("answer", "pause_seconds"),
    [
        (b"", 0.0),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100, 0.05),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 0.01),
    ],
    ids=["never", "byte by byte", "always continue"],
)
def test_who_answers_too_slowly_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, pause_seconds: float
) -> None:
    monkeypatch.setattr(courier, "ANSWER_SECONDS_MAX", 0.3)
    with answering(answer, pause_seconds) as place:
        began = monotonic()
        with pytest.raises(Undelivered):
            post(allow(place), f"http://{place}/", b"{}", {})
        assert monotonic() - began < 5


def test_what_is_no_http_is_no_delivery() -> None:
    with answering(b"SSH-2.0-OpenSSH_9.6\r\n") as place, pytest.raises(Undelivered):
        post(allow(place), f"http://{place}/", b"{}", {})


@pytest.mark.parametrize("more", [0, 1, 1_000_000])
def test_of_a_long_answer_the_status_counts(receiver: Receiver, more: int) -> None:
    receiver.answer, receiver.more = lambda _: 200, b"x" * (ANSWER_BYTES_MAX + more)
    post(allow(receiver.place), receiver.address, b"{}", {})
    assert len(receiver.hooks) == 1


def test_a_certificate_of_an_unknown_authority_is_not_trusted(tmp_path: Path) -> None:
    context = SSLContext(PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ensure_certificate(Settings(data_dir=tmp_path), "receiver"))
    refused: list[OSError] = []

    def serve() -> None:
        connection, _ = listening.accept()
        with connection, pytest.raises(SSLError) as error:
            context.wrap_socket(connection, server_side=True)
        refused.append(error.value)

    with socket.create_server((HOST, 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        place = f"{HOST}:{listening.getsockname()[1]}"
        with pytest.raises(Undelivered, match="CERTIFICATE_VERIFY_FAILED"):
            post(allow(place), f"https://{place}/", b"{}", {})
        thread.join()
    assert len(refused) == 1
