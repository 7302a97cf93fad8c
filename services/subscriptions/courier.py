"""Delivers the notifications of one subscription, one after the other, and tries again.

Each is a CloudEvent over HTTP, within limits, and without following anybody.
"""

import json
import logging
import socket
import ssl
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from threading import Timer
from typing import NamedTuple

from contracts import NOTIFICATIONS
from services.api.store.changelog import Log, Record, read_row
from services.clock import get_wall_ms
from services.subscriptions.addresses import PORTS, AllowList, Place, Refused
from services.subscriptions.matching import READER
from services.subscriptions.records import (
    ACTIVE,
    PARKED,
    Notification,
    Progress,
    Subscription,
    is_of,
)
from services.subscriptions.signature import sign
from services.times import render_instant_or_none

ATTEMPTS_MAX = 40
"""With pauses up to PAUSE_SECONDS_MAX: it is parked after about two and a half hours."""
PAUSE_SECONDS_MIN, PAUSE_SECONDS_MAX = 1.0, 300.0
ERROR_CHARACTERS_MAX = 500  # by the contract
PLACE = (NOTIFICATIONS.name, 0)
CONNECT_SECONDS_MAX = 5.0
ANSWER_SECONDS_MAX = 10.0
"""From the connection to the end of the answer."""
ANSWER_BYTES_MAX = 4_096
"""How much of an answer is read, and ignored, before its connection is closed."""
MEDIA_TYPE = "application/cloudevents+json; charset=UTF-8"
BEGAN, CEASED = "retail.row.began-to-match.v1", "retail.row.ceased-to-match.v1"

log = logging.getLogger("subscriptions")


class Undelivered(Exception):
    """The receiver did not take a notification."""


class NoMore(Undelivered):
    """The receiver wants no more of them, or must not get any."""


class Waiting(NamedTuple):
    """A notification that was not taken yet."""

    offset: int
    found_ms: int
    notification: Notification

    def name(self, subscription_id: str) -> str:
        """The id of what is sent: the same however often it is sent, and never that of another.

        It is the record's place, and when it was written: a restored log fills places anew.
        """
        return f"{subscription_id}-{self.offset}-{self.found_ms}"


class Courier:
    """Sends what waits. The next is sent when the last was taken, so the order holds."""

    def __init__(self, subscription: Subscription, secret: str, allowed: AllowList) -> None:
        self._subscription = subscription
        self._secret = secret
        self._allowed = allowed
        self._waiting: deque[Waiting] = deque()

    def heed(self, subscription: Subscription, progress: Progress) -> bool:
        """Take up what the subscription says now; returns whether it was resumed."""
        self._subscription = subscription
        if subscription.resumed_at == progress.resumed_at:
            return False
        progress.resumed_at, progress.state = subscription.resumed_at, ACTIVE
        progress.attempts, progress.retry_at, progress.error = 0, None, None
        return True

    def deliver(self, queue: Log, progress: Progress) -> bool:
        """Deliver the next notification, if one is due; returns whether one was tried."""
        if progress.state == PARKED or get_wall_ms() < (progress.retry_at or 0):
            return False
        first = self._find_first(queue, progress)
        if first is None:
            return False
        progress.head, progress.waiting_since = first.offset, first.found_ms
        try:
            if first.offset != self._subscription.skipped:
                self._send(first)
                progress.delivered += 1
        except Undelivered as error:
            self._note_failure(progress, error)
        else:
            self._waiting.popleft()
            progress.next_offset = first.offset + 1
            progress.head, progress.waiting_since = None, None
            progress.attempts, progress.retry_at, progress.error = 0, None, None
            progress.waiting = max(0, progress.waiting - 1)
        return True

    def _find_first(self, queue: Log, progress: Progress) -> Waiting | None:
        if not self._waiting and progress.waiting:
            for each in queue.read():
                if isinstance(each, Record) and (one := self._parse(each)):
                    self._waiting.append(one)
        return self._waiting[0] if self._waiting else None

    def _parse(self, record: Record) -> Waiting | None:
        if record.value is None or not is_of(self._subscription.subscription_id, record.key):
            return None
        row = read_row(NOTIFICATIONS, record, READER)
        one = row and Notification.parse(row)
        return Waiting(record.offset, record.published_ms, one) if one and one.sent else None

    def _send(self, first: Waiting) -> None:
        event_id = first.name(self._subscription.subscription_id)
        body = render_event(self._subscription, first.notification, event_id, first.offset)
        headers = sign(self._secret, event_id, get_wall_ms() // 1000, body)
        post(self._allowed, self._subscription.address, body, headers)

    def _note_failure(self, progress: Progress, error: Undelivered) -> None:
        progress.attempts += 1
        if isinstance(error, NoMore) or progress.attempts >= ATTEMPTS_MAX:
            park(progress, error)
            return
        pause = min(PAUSE_SECONDS_MIN * 2 ** (progress.attempts - 1), PAUSE_SECONDS_MAX)
        progress.retry_at = get_wall_ms() + round(pause * 1000)
        progress.error = str(error)[:ERROR_CHARACTERS_MAX]


def park(progress: Progress, error: Exception) -> None:
    """Try nothing more until somebody resumes the subscription."""
    progress.state, progress.retry_at = PARKED, None
    progress.error = str(error)[:ERROR_CHARACTERS_MAX]
    log.warning("subscription %s is parked: %s", progress.subscription_id, error)


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
