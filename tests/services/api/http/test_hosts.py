"""By which names the API may be asked, and from which pages it takes what writes."""

import json
from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from contracts import RECEIPTS
from infra.security.tokens import Role, Token
from infra.settings import Settings
from services.api.http.parameters import Profile
from services.api.store.tables import to_document
from tests.services.clients import exchange, read_status
from tests.services.memory import MemoryLog
from tests.services.serving import TOKEN, Answers, check_problem, create_sources, serving
from tests.services.world import NOON, announce

EVIL = "evil.example:8000"
SHOP = "Shop.example.com"
RECEIPT = to_document(RECEIPTS.examples[0]) | {"event_time": NOON.isoformat()}
POST_EVENT = f"/v1/events/{RECEIPTS.name}"
READS = ("/", "/v1/stock", "/v1/alerts", "/healthz", "/metrics", "/nothing", "/openapi.json")
SHOWN = {"Authorization": f"Bearer {TOKEN}"}
PUBLISHER = Token("till", Role.PUBLISHER, 2, "the publisher of a test")


@pytest.fixture
def api(log: MemoryLog, tmp_path: Path) -> Iterator[Answers]:
    """An API of a shop with another name, at noon."""
    announce(log)
    hosts = Settings(shop_hosts=SHOP).hosts
    with serving(replace(create_sources(log, tmp_path), hosts=hosts)) as answers:
        answers.until(lambda: answers.get("/v1/clock").is_success)
        yield answers


def publish(api: Answers, **headers: str) -> httpx.Response:
    """An event that breaks a rule: whoever may publish gets a 422 for it."""
    asked = {"Content-Type": "application/json", **headers}
    return api.request("POST", POST_EVENT, content=json.dumps({**RECEIPT, "a": 1}), headers=asked)


@pytest.mark.parametrize("host", [EVIL, "127.0.0.1.evil.example", "[::2]", "10.0.0.7:8000", "a@b"])
def test_a_name_that_is_not_the_shops_is_not_answered(api: Answers, host: str) -> None:
    for path in READS:
        answer = api.request("GET", path, headers={"Host": host})
        check_problem(answer, HTTPStatus.MISDIRECTED_REQUEST, "Another host", "SHOP_HOSTS")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:65535", "[::1]:8000", "shop.EXAMPLE.com:443"]
)
def test_names_of_this_machine_and_of_the_shop_are_answered(api: Answers, host: str) -> None:
    assert api.request("GET", "/healthz", headers={"Host": host}).is_success


def test_who_asks_by_the_address_it_listens_on_is_answered(log: MemoryLog, tmp_path: Path) -> None:
    with serving(replace(create_sources(log, tmp_path), hosts=())) as api:
        assert api.get("/healthz").is_success
        assert api.request("GET", "/healthz", headers={"Host": "localhost"}).status_code == 421


def test_a_rebound_name_publishes_and_does_nothing(api: Answers) -> None:
    page = {"Host": EVIL, "Origin": f"http://{EVIL}", **SHOWN}
    acted = api.request("POST", "/v1/pipelines/fraud/rollback", headers=page)
    for answer in (publish(api, **page), acted):
        assert answer.status_code == HTTPStatus.MISDIRECTED_REQUEST


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ("", HTTPStatus.UNAUTHORIZED),  # from this machine it needs none: test_events.py
        ("Bearer a guess", HTTPStatus.UNAUTHORIZED),
        (f"Bearer {TOKEN}", HTTPStatus.UNPROCESSABLE_ENTITY),
    ],
)
def test_who_publishes_from_another_machine_shows_the_token(
    api: Answers, authorization: str, status: HTTPStatus
) -> None:
    answer = publish(api, Host=f"{SHOP}:8000", Authorization=authorization)
    assert answer.status_code == status, answer.text


def test_a_page_of_the_shop_behind_a_proxy_with_tls_may_publish(api: Answers) -> None:
    own = publish(api, Host=SHOP, Origin=f"https://{SHOP.lower()}", **SHOWN)
    assert own.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    other = publish(api, Host=SHOP, Origin="http://localhost:8000", **SHOWN)
    check_problem(other, HTTPStatus.FORBIDDEN, "Another site")


def test_in_a_secure_shop_a_publisher_publishes_from_another_machine(
    log: MemoryLog, tmp_path: Path
) -> None:
    announce(log)
    profile = Profile(lambda: [PUBLISHER], 1_000, 1_000, lambda: 1)
    sources = replace(create_sources(log, tmp_path), profile=profile, hosts=(SHOP,))
    with serving(sources) as api:
        told = {"Host": SHOP, "Authorization": f"Bearer {PUBLISHER.secret}"}
        api.until(lambda: publish(api, **told).status_code == HTTPStatus.UNPROCESSABLE_ENTITY)


@pytest.mark.parametrize("host", ["localhost", EVIL])
def test_no_answer_is_taken_for_what_it_does_not_say_it_is(api: Answers, host: str) -> None:
    for path in (*READS, "/v1/stock?cursor=wrong", "/v1/clock", "/subjects"):
        answer = api.request("GET", path, headers={"Host": host})
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_what_is_no_http_or_names_no_host_is_refused_with_nosniff_too(api: Answers) -> None:
    for sent, status in ((b"\0\r\n\r\n", 400), (b"GET /healthz HTTP/1.0\r\n\r\n", 421)):
        answer = exchange(api, sent)
        assert read_status(answer) == status
        assert b"\r\nx-content-type-options: nosniff\r\n" in answer.lower()
