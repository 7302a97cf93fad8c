"""Requests that want to break something are refused as any other mistake is."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from contracts import RECEIPTS
from services.api.problem import Problem
from services.api.routes.events import parse_event
from tests.services.clients import exchange, read_status
from tests.services.memory import MemoryLog
from tests.services.serving import OPENAPI, TOKEN, Answers, find_failures
from tests.services.showing import Shop, serving_shop
from tests.services.world import NOON

POST_EVENT = f"/v1/events/{RECEIPTS.name}"
ROLL_BACK = "/v1/pipelines/fraud/rollback"
JSON = {"Content-Type": "application/json"}
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
STREAMS = ("/v1/stream",)
ANY_ID = "1"

LONG = ("x" * 300, "x" * 3_000, "9" * 40, "9" * 3_000, "-" + "9" * 25)
SQL = (
    *("' or '1'='1", '" or 1=1 --', "'; drop table stock; --", "%"),
    "x' union select name, sql from sqlite_master --",
)
PATHS = ("../../../../etc/passwd", "..%2f..%2ftoken", "/etc/passwd", "..\\..\\token")
SCRIPTS = ("${jndi:ldap://127.0.0.1/a}", "{{7*7}}", "<script>alert(1)</script>")
LETTERS = ("", " ", "\0", "S001\0", "a\r\nSet-Cookie: hostile=1", "\u202e\ufeff\U0001f600")
NUMBERS = ("-1", "0x10", "1e400", "NaN", "Infinity", "9223372036854775808")
OTHER_TYPES = ("true", "null", "[]", '{"$gt": ""}')
TIMES = (
    *("0000-00-00T00:00:00Z", "2026-02-30T00:00:00Z"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"),
)
CURSORS = ("1-1.1-1.1-1", "W10", "WzEsIngiLFtdXQ", "eyJhIjoxfQ==")
HOSTILE = (*LONG, *SQL, *PATHS, *SCRIPTS, *LETTERS, *NUMBERS, *OTHER_TYPES, *TIMES, *CURSORS)
"""Values for any parameter."""
RAW = ("%00", "%ff%fe", "%c0%af", "%ed%a0%80", "%", "%zz", "%252e%252e%252f")
"""What no character encodes to."""


class Place(NamedTuple):
    """A parameter of an operation."""

    method: str
    path: str
    name: str
    where: str

    def fill(self, value: str) -> str:
        """The URL with the value, already encoded, in this place, and something in the others."""
        path = self.path
        if self.where == "path":
            path = path.replace(f"{{{self.name}}}", value)
        while "{" in path:
            before, _, rest = path.partition("{")
            path = f"{before}{ANY_ID}{rest.partition('}')[2]}"
        return f"{path}?{self.name}={value}" if self.where == "query" else path


def list_places() -> list[Place]:
    return [
        Place(method.upper(), path, parameter["name"], parameter["in"])
        for path, operations in OPENAPI["paths"].items()
        if path not in STREAMS
        for method, operation in operations.items()
        for parameter in operation.get("parameters", ())
        if parameter["in"] in ("path", "query")
    ]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """One with rows in every view; its commands say their arguments."""
    log = MemoryLog()
    Shop(log)
    with serving_shop(log, tmp_path_factory.mktemp("api")) as answers:
        yield answers


@pytest.fixture(autouse=True)
def no_failure(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing that a client sends is an error of the program."""
    yield
    assert find_failures(caplog.records) == []


@pytest.mark.parametrize(
    "place", list_places(), ids=lambda place: f"{place.method} {place.path} {place.name}"
)
def test_no_value_of_a_parameter_is_more_than_a_value(api: Answers, place: Place) -> None:
    for value in (*(quote(each, safe="") for each in HOSTILE), *RAW):
        url = place.fill(value)
        answer = api.request(place.method, url, headers=AUTHORIZED)
        assert is_in_order(answer.status_code, answer.text), (url, answer.status_code, answer.text)
        assert "set-cookie" not in answer.headers


def is_in_order(status: int, text: str) -> bool:
    """Whether it is an answer or a refusal, without the program's insides."""
    insides = ("Traceback", "sqlite3.", "site-packages", 'File "/', "create table", "root:x:")
    is_known = status < HTTPStatus.INTERNAL_SERVER_ERROR or status in (
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    )
    return is_known and not any(word in text for word in insides)


@pytest.mark.parametrize("column", ["store_id", "sku"])
@pytest.mark.parametrize("value", SQL)
def test_sql_in_a_filter_is_a_text_that_no_row_has(api: Answers, column: str, value: str) -> None:
    before = len(api.json("/v1/stock")["items"])
    assert api.json("/v1/stock", **{column: value})["items"] == []
    assert len(api.json("/v1/stock")["items"]) == before > 0


@pytest.mark.parametrize(
    "path",
    [
        *(f"/pages/{'x' * 300}", f"/pages/{'x/' * 1_500}"),
        *("/pages/%2e%2e/%2e%2e/etc/passwd", "/pages/..%2fapp.py", "/pages/..%2f..%2ftoken"),
        *("/pages/..%2f..%2f..%2fnode.js", "//etc/passwd", "/v1/views/%2e%2e/rows"),
        *("/v1/contracts/..%2fREADME.md", "/v1/contracts/..%2f..%2fREADME.md"),
        *("/v1/contracts/%00", "/pages/%00", "/pages/vendor/%00.js"),
        *("/pages/nothing.js", "/pages/frame.html", "/pages/vendor/swagger-ui/README.md"),
    ],
)
def test_no_path_leads_out_of_what_is_served(api: Answers, path: str) -> None:
    answer = api.request("GET", path)
    assert answer.status_code == HTTPStatus.NOT_FOUND, answer.text[:200]
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "origin",
    ["http://shop.example", "http://[", "http://[::1", "://", "", "null", "\u00ff", "x" * 9_000],
)
def test_another_origin_and_one_that_is_no_address_is_another_site(
    api: Answers, origin: str
) -> None:
    headers = [*AUTHORIZED.items(), ("Origin", origin.encode("latin-1"))]
    for path in (POST_EVENT, ROLL_BACK):
        answer = api.request("POST", path, headers=[*headers, *JSON.items()])
        assert answer.status_code == HTTPStatus.FORBIDDEN


@pytest.mark.parametrize(
    "name",
    [
        *("Host", "Accept", "Accept-Encoding", "If-None-Match", "Last-Event-ID", "traceparent"),
        *("Content-Type", "Range", "Authorization", "Cookie", "X-Forwarded-For", "Expect"),
        "Upgrade",
    ],
)
@pytest.mark.parametrize(
    "value",
    ["", "x" * 8_000, "\u00ff\u00fe", "' or 1=1", "bytes=0-,0-", "Bearer", 'W/"' + "9" * 90],
)
def test_no_value_of_a_header_is_more_than_a_value(api: Answers, name: str, value: str) -> None:
    for method, path in (("GET", "/v1/stock"), ("GET", "/"), ("POST", ROLL_BACK)):
        answer = api.request(method, path, headers={name: value.encode("latin-1")})
        assert is_in_order(answer.status_code, answer.text)


BODIES: dict[str, bytes] = {
    "repeated key": b'{"event_id": "a", "event_id": "b"}',
    "repeated key below": b'{"event_id": "a", "lines": [{"sku": "A", "sku": "B"}]}',
    "NaN": b'{"event_id": NaN}',
    "Infinity": b'{"event_id": -Infinity}',
    "huge number": b'{"event_id": ' + b"9" * 5_000 + b"}",
    "large exponent": b'{"event_id": 1e999999}',
    "half a character": b'{"\\ud800": 1}',
    "half a character below": b'{"lines": [{"\\udfff": 1}]}',
    "NUL": b'{"event_id": "a\\u0000b"}',
    "bytes of no text": b'{"event_id": "\xff\xfe"}',
    "overlong": b'{"event_id": "\xc0\xaf"}',
    "UTF-16": '{"event_id": "a"}'.encode("utf-16"),
    "two values": b"{}{}",
    "a comment": b"/* */ {}",
    "nothing": b" ",
    "prototype": b'{"__proto__": {"a": 1}, "__class__": "x"}',
    "many keys": json.dumps({f"k{number}": number for number in range(50_000)}).encode(),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_hostile_body_is_refused_with_what_is_wrong(api: Answers, body: bytes) -> None:
    answer = api.request("POST", POST_EVENT, content=body, headers=JSON)
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert answer.headers["content-type"] == "application/problem+json"
    assert is_in_order(answer.status_code, answer.text)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (BODIES["repeated key"], "'event_id' is there more than once"),
        (BODIES["repeated key below"], "'sku' is there more than once"),
        (BODIES["NaN"], "NaN is no number of JSON"),
    ],
)
def test_what_parsers_read_differently_is_not_read(api: Answers, body: bytes, message: str) -> None:
    answer = api.request("POST", POST_EVENT, content=body, headers=JSON)
    assert message in answer.json()["detail"]


@pytest.mark.parametrize("kind", ["[]", "{}"])
def test_json_of_every_depth_is_refused_and_never_overflows(kind: str) -> None:
    before, after = ("[", "]") if kind == "[]" else ('{"a":', "}")
    noon_ms = int(NOON.timestamp() * 1_000)
    for depth in (*range(1, 20), *range(700, 1_100), 100_000):
        nested = before * depth + "1" + after * depth
        for body in (nested, f'{{"lines": {nested}}}', f'{{"colour": {nested}}}'):
            with pytest.raises(Problem):
                parse_event(RECEIPTS, body.encode(), noon_ms)


def post_raw(*headers: str, body: bytes = b"{}") -> bytes:
    head = "\r\n".join((f"POST {POST_EVENT} HTTP/1.1", *headers, "Connection: close", "", ""))
    return head.encode("latin-1") + body


SMUGGLED = b"GET /v1/stock HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
KIND = "Content-Type: application/json"
HOST = "Host: 127.0.0.1"
LENGTH, IN_CHUNKS = "Content-Length: 2", "Transfer-Encoding: chunked"
CLOSING = b"Host: localhost\r\nConnection: close\r\n\r\n"
CHUNKED = b"2\r\n{}\r\n0\r\n\r\n"
RAW_REQUESTS: dict[str, bytes] = {
    "length and chunks": post_raw(HOST, KIND, LENGTH, IN_CHUNKS, body=CHUNKED + SMUGGLED),
    "chunks and length": post_raw(HOST, KIND, IN_CHUNKS, "Content-Length: 4", body=CHUNKED),
    "chunks": post_raw(HOST, KIND, IN_CHUNKS, body=CHUNKED),
    "hidden chunks": post_raw(HOST, KIND, "Transfer-Encoding: xchunked", body=CHUNKED),
    "two encodings": post_raw(HOST, KIND, "Transfer-Encoding: chunked, identity", body=CHUNKED),
    "two lengths": post_raw(HOST, KIND, LENGTH, "Content-Length: 40"),
    "negative length": post_raw(HOST, KIND, "Content-Length: -1"),
    "signed length": post_raw(HOST, KIND, "Content-Length: +2"),
    "length in words": post_raw(HOST, KIND, "Content-Length: two"),
    "huge length": post_raw(HOST, KIND, "Content-Length: " + "9" * 30),
    "two hosts": post_raw(HOST, "Host: elsewhere", KIND, LENGTH),
    "no host": post_raw(KIND, LENGTH),
    "space before the colon": post_raw(HOST, KIND, "Content-Length : 2"),
    "NUL in a header": post_raw(HOST, KIND, "X-Nul: a\0b", LENGTH),
    "carriage return in a header": post_raw(HOST, KIND, "X-Cr: a\rb", LENGTH),
    "no name of a header": post_raw(HOST, KIND, ": x", LENGTH),
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "no version": b"GET /v1/stock\r\n\r\n",
    "letters of no alphabet": b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a proxy's request": b"CONNECT elsewhere:443 HTTP/1.1\r\n" + CLOSING,
    "a method of its own": b"BREW /v1/stock HTTP/1.1\r\n" + CLOSING,
    "a body of a read": b"GET /v1/stock HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 5\r\n\r\nhello",
}


@pytest.mark.parametrize("request_bytes", RAW_REQUESTS.values(), ids=RAW_REQUESTS)
def test_a_request_with_two_meanings_or_none_is_refused_and_the_connection_closed(
    api: Answers, request_bytes: bytes
) -> None:
    answer = exchange(api, request_bytes)
    assert answer.count(b"HTTP/1.1 ") == 1  # what is smuggled is not answered
    head, _, body = answer.partition(b"\r\n\r\n")
    assert HTTPStatus.BAD_REQUEST <= read_status(answer) < HTTPStatus.INTERNAL_SERVER_ERROR
    assert b"application/problem+json" in head.lower()
    document: dict[str, Any] = json.loads(body)
    assert document["status"] == read_status(answer)
    assert api.get("/healthz").is_success


@pytest.mark.parametrize("name", ["length and chunks", "chunks and length", "chunks"])
def test_a_body_in_chunks_is_refused_whatever_length_it_announces(api: Answers, name: str) -> None:
    assert read_status(exchange(api, RAW_REQUESTS[name])) == HTTPStatus.LENGTH_REQUIRED
