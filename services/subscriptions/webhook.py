"""One notification as a CloudEvent over HTTP, within limits, and without following anybody."""

import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from threading import Timer

from services.subscriptions.addresses import PORTS, AllowList, Place, Refused
from services.subscriptions.records import Notification, Subscription
from services.times import render_instant_or_none

CONNECT_SECONDS_MAX = 5.0
ANSWER_SECONDS_MAX = 10.0
"""From the connection to the end of the answer."""
ANSWER_BYTES_MAX = 4_096
"""How much of an answer is read, and ignored, before its connection is closed."""
MEDIA_TYPE = "application/cloudevents+json; charset=UTF-8"
BEGAN, CEASED = "retail.row.began-to-match.v1", "retail.row.ceased-to-match.v1"


class Undelivered(Exception):
    """The receiver did not take a notification."""


class NoMore(Undelivered):
    """The receiver wants no more of them, or must not get any."""


def render_event(
    subscription: Subscription, one: Notification, event_id: str, offset: int
) -> bytes:
    """The CloudEvent, in JSON; `offset` orders the notifications of all subscriptions."""
    event = {
        "specversion": "1.0",
        "id": event_id,
        "source": f"/v1/views/{subscription.view}",
        "type": BEGAN if one.matches else CEASED,
        "subject": one.row_key,
        "datacontenttype": "application/json",
        "partitionkey": one.row_key,
        "sequence": f"{offset:020}",
        "data": {
            "subscription": subscription.subscription_id,
            "view": subscription.view,
            "generation": one.generation,
            "matches": one.matches,
            "row": json.loads(one.row) if one.row else None,
        },
    }
    if (time := render_instant_or_none(one.published_at)) is not None:
        event["time"] = time
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()


def post(allowed: AllowList, address: str, body: bytes, headers: Mapping[str, str]) -> None:
    """Send the body. Raises Undelivered unless the receiver answers with a status of success."""
    try:
        place = allowed.parse(address)
        with _connect(place, allowed.find_ip(place)) as connected, _cut_off(connected):
            status = _ask(place, connected, body, headers)
    except Refused as error:
        raise NoMore(f"{error}.") from error
    except (OSError, HTTPException, ValueError) as error:
        why = str(error) or type(error).__name__
        raise Undelivered(f"Expected an answer, found none: {why}.") from error
    if status == HTTPStatus.GONE:
        raise NoMore("The receiver answered with 410: it wants no more.")
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        raise Undelivered(f"Expected a status of 200 to 299, found {status}.")


def _connect(place: Place, ip: str) -> socket.socket:
    """A connection to this address; with TLS, for a certificate with the host's name."""
    plain = socket.create_connection((ip, place.port), CONNECT_SECONDS_MAX)
    plain.settimeout(ANSWER_SECONDS_MAX)
    if place.scheme == "http":
        return plain
    context = ssl.create_default_context()
    return context.wrap_socket(plain, server_hostname=place.host, do_handshake_on_connect=False)


@contextmanager
def _cut_off(connected: socket.socket) -> Iterator[None]:
    """End the connection if the block takes too long, however slowly bytes still come."""
    # Of a socket with TLS, the method would drop what another thread is using.
    timer = Timer(ANSWER_SECONDS_MAX, socket.socket.shutdown, (connected, socket.SHUT_RDWR))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _ask(place: Place, connected: socket.socket, body: bytes, headers: Mapping[str, str]) -> int:
    """The status of the answer."""
    if isinstance(connected, ssl.SSLSocket):
        connected.do_handshake()
    connection = HTTPConnection(place.host, place.port)
    connection.default_port = PORTS[place.scheme]
    connection.sock = connected
    connection.request("POST", place.path, body, {"Content-Type": MEDIA_TYPE, **headers})
    answer = connection.getresponse()
    with suppress(OSError, HTTPException):
        answer.read(ANSWER_BYTES_MAX)
    return answer.status
