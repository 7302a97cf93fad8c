"""The secure profile: who asks what with which token, and how often."""

import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from itertools import zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, SchemaRegistryError

from contracts import ACTIONS, RECEIPTS, build_avro_schema, decode, get_schema_id
from infra.security.tokens import Role, Token
from services.api.app import create_app
from services.api.http.guard import BUCKETS_MAX, FOR_OPERATORS, OPEN, Guard, find_role
from services.api.http.parameters import Profile
from services.api.store.audit import Bucket
from tests.services.memory import MemoryLog
from tests.services.serving import OPENAPI, Answers, create_sources, serving
from tests.services.showing import PIPELINES, Shop
from tests.services.writing import promote_fraud

NOW_MS = 1_795_600_000_000
AT_ONCE_MAX = 5_000
TOKENS = [
    *(Token(role.value, role, NOW_MS + 1, f"the {role} of a test") for role in Role),
    Token("former", Role.OPERATOR, NOW_MS, "the former of a test"),
]
POST_EVENT = f"/v1/events/{RECEIPTS.name}"
ROLL_BACK = "/v1/pipelines/fraud/rollback"
JSON = {"Content-Type": "application/json"}
READS = (
    *("/", "/v1/stock", "/openapi.json", "/docs", "/pages/api.js", "/metrics"),
    *("/v1/pipelines/fraud/difference", "/v1/contracts"),
)
NAMES = (None, "guess", "former", "publisher", "reader", "operator")
READ, ACT = (401, 401, 401, 403), (401, 401, 401, 403, 403)
"""What those of NAMES get who may not; the others get what the path answers."""
ANSWERS = [
    *(("GET", path, (), 200) for path in OPEN),
    *(("GET", path, READ, 200) for path in READS),
    ("GET", "/v2/nothing", READ, 404),
    ("GET", "/v1/stream", READ, 422),
    ("GET", "/v1/audit", ACT, 200),
    ("POST", ROLL_BACK, ACT, 200),
]


def create_profile(per_second_max: float = AT_ONCE_MAX, at_once_max: int = AT_ONCE_MAX) -> Profile:
    return Profile(lambda: TOKENS, per_second_max, at_once_max, lambda: NOW_MS)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """A secure one with rows in every view; its commands say their arguments."""
    log = MemoryLog()
    Shop(log)
    sources = create_sources(log, tmp_path_factory.mktemp("api"))
    with serving(replace(sources, profile=create_profile())) as answers:
        answers.until(lambda: answers.get("/readyz").is_success)
        answers.until(
            lambda: all(
                ask(answers, "GET", f"/v1/pipelines/{pipeline}", "reader").is_success
                for pipeline in PIPELINES
            )
        )
        yield answers


def show(name: str | None) -> dict[str, str]:
    """The header that shows the token of the name."""
    return {} if name is None else {"Authorization": f"Bearer the {name} of a test"}


def ask(api: Answers, method: str, path: str, name: str | None, **options: Any) -> Any:
    return api.request(method, path, headers={**show(name), **JSON}, **options)


@pytest.mark.parametrize(("method", "path", "refusals", "status"), ANSWERS)
def test_a_role_may_do_what_it_is_for_and_whoever_may_not_gets_nothing(
    api: Answers, method: str, path: str, refusals: Sequence[int], status: int
) -> None:
    for name, refusal in zip_longest(NAMES, refusals):
        answer = api.request(method, path, headers=show(name))
        assert answer.status_code == (refusal or status), name
        if refusal:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["instance"] == path
            assert not any(token.secret in answer.text for token in TOKENS)


def test_a_publisher_and_an_operator_publish_and_a_reader_does_not(api: Answers) -> None:
    may_not: dict[str | None, int] = {None: 401, "former": 401, "reader": 403}
    for name, status in (*may_not.items(), ("publisher", 422), ("operator", 422)):  # it is no event
        assert ask(api, "POST", POST_EVENT, name, content="{}").status_code == status


@pytest.mark.parametrize(("name", "status"), [("reader", None), ("former", 401), ("guess", 401)])
def test_a_registrys_stock_client_reads_and_looks_up_with_its_token_as_a_password(
    api: Answers, name: str, status: int | None
) -> None:
    password = {"basic.auth.user.info": f"anybody:the {name} of a test"}
    client = SchemaRegistryClient({"url": api.address, **password})
    schema = Schema(json.dumps(build_avro_schema(RECEIPTS)), "AVRO")
    for ask_client in (client.get_latest_version, partial(client.lookup_schema, schema=schema)):
        if status is None:
            assert ask_client(f"{RECEIPTS.name}-value").schema_id == get_schema_id(RECEIPTS)
            continue
        with pytest.raises(SchemaRegistryError, match="Expected a token") as refused:
            ask_client(f"{RECEIPTS.name}-value")
        assert (refused.value.http_status_code, refused.value.error_code) == (status, status)


def test_every_operation_needs_a_role_but_the_probes() -> None:
    roles = {
        (method.upper(), path): find_role({"method": method.upper(), "path": path})
        for path, operations in OPENAPI["paths"].items()
        for method in operations
    }
    without = {route for route, role in roles.items() if role is None}
    assert without == {("GET", path) for path in OPEN}
    for (method, path), role in roles.items():
        if path in OPEN:
            continue
        if method == "GET":
            assert role == (Role.OPERATOR if path in FOR_OPERATORS else Role.READER)
        elif path.startswith("/subjects/"):  # a schema is looked up by POST
            assert role == Role.READER
        else:
            assert role == (Role.PUBLISHER if path.startswith("/v1/events/") else Role.OPERATOR)
    for method in ("OPTIONS", "PUT", "DELETE", "PATCH", "BREW", "CONNECT"):
        assert find_role({"method": method, "path": "/v1/stock"}) is Role.OPERATOR
    for path in ("//healthz", "/healthz/", "/healthz/../v1/stock", "/HEALTHZ", ""):
        assert find_role({"method": "GET", "path": path}) is Role.READER


def encode_basic(text: str) -> str:
    return f"Basic {b64encode(text.encode()).decode()}"


def test_a_browser_reads_with_a_token_as_the_password_and_does_nothing_else(api: Answers) -> None:
    shown = encode_basic("anybody:the operator of a test")
    refused = api.get("/v1/stock")
    assert refused.headers["www-authenticate"] == 'Basic realm="retail", Bearer'
    assert api.request("GET", "/v1/stock", headers={"Authorization": shown}).is_success
    for path in (ROLL_BACK, POST_EVENT):
        answer = api.request("POST", path, headers={"Authorization": shown, **JSON})
        assert answer.status_code == HTTPStatus.UNAUTHORIZED
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "shown",
    [
        *("", "Bearer", "the reader of a test", "Digest the reader of a test"),
        *("Bearer the reader of a test2", "Bearer THE READER OF A TEST", "Bearer \u00ff" * 900),
        *("Basic", "Basic !", "Basic the reader of a test", "Basic \u00ff"),
        f"Basic {b64encode(bytes([255, 254])).decode()}",
        *(encode_basic("the reader of a test"), encode_basic("the reader of a test:")),
    ],
)
def test_what_is_no_token_is_refused(api: Answers, shown: str) -> None:
    answer = api.request("GET", "/v1/stock", headers={"Authorization": shown.encode("latin-1")})
    assert answer.status_code == HTTPStatus.UNAUTHORIZED


def test_a_page_of_another_site_may_not_act_even_with_a_token(api: Answers) -> None:
    headers = {**show("operator"), "Origin": "http://elsewhere.example"}
    answer = api.request("POST", ROLL_BACK, headers=headers)
    assert (answer.status_code, answer.json()["title"]) == (HTTPStatus.FORBIDDEN, "Another site")


def read_last(log: MemoryLog) -> dict[str, Any]:
    _, value, _ = log.records[ACTIONS.name, 0][-1]
    return decode(value).value


def test_the_audit_names_the_token_and_never_tells_it(log: MemoryLog, tmp_path: Path) -> None:
    promote_fraud(log)
    with serving(replace(create_sources(log, tmp_path), profile=create_profile())) as api:
        api.until(lambda: api.get("/readyz").is_success)
        api.request("POST", ROLL_BACK, headers=show("operator"))
        done = read_last(log)
        assert (done["who"], done["role"], done["outcome"]) == ("operator", "operator", "done")
        for name, who, role, status in (
            ("reader", "reader", "reader", HTTPStatus.FORBIDDEN),
            ("former", "nobody", None, HTTPStatus.UNAUTHORIZED),
            ("guess", "nobody", None, HTTPStatus.UNAUTHORIZED),
        ):
            path = f"/v1/pipelines/the%20{name}%20of%20a%20test/rollback"
            assert api.request("POST", path, headers=show(name)).status_code == status
            refused = read_last(log)
            assert (refused["who"], refused["role"], refused["status"]) == (who, role, status)
            assert refused["action"] == "roll-back-generation"
    for _, value, _ in log.records[ACTIONS.name, 0]:
        assert value is not None
        assert not any(token.secret.encode() in value for token in TOKENS)


def test_who_asks_too_often_or_guesses_is_limited_and_holds_up_nobody_else(tmp_path: Path) -> None:
    few = create_profile(per_second_max=0.1, at_once_max=2)
    with serving(replace(create_sources(MemoryLog(), tmp_path), profile=few)) as api:
        asked = [ask(api, "GET", "/v1/contracts", "reader") for _ in range(3)]
        assert [answer.status_code for answer in asked] == [200, 200, HTTPStatus.TOO_MANY_REQUESTS]
        assert 1 <= int(asked[-1].headers["retry-after"]) <= 10
        assert asked[-1].json()["title"] == "Too many requests"
        assert ask(api, "GET", "/v1/contracts", "operator").is_success
        assert api.get("/healthz").is_success
        guessed = [ask(api, "GET", "/v1/contracts", f"guess {number}") for number in range(3)]
        statuses = [answer.status_code for answer in guessed]
        assert statuses == [401, 401, HTTPStatus.TOO_MANY_REQUESTS], "all guesses together"
        assert ask(api, "GET", "/v1/contracts", "operator").is_success


@pytest.mark.parametrize("at_once", [1, 2, 50])
def test_so_many_at_once_and_then_so_many_a_second(at_once: int) -> None:
    clock = SimpleNamespace(seconds=0.0)
    bucket = Bucket(at_once, per_second=4, clock=lambda: clock.seconds)
    assert [bucket.take() for _ in range(at_once)] == [0.0] * at_once
    assert bucket.take() == 0.25
    clock.seconds = 0.125
    assert bucket.take() == 0.125  # what is refused costs nothing
    clock.seconds = 0.25
    assert [bucket.take(), bucket.take()] == [0.0, 0.25]
    clock.seconds = 1_000.0
    assert [bucket.take() for _ in range(at_once + 1)] == [0.0] * at_once + [0.25]


def test_a_name_in_use_keeps_its_bucket_and_there_are_only_so_many(tmp_path: Path) -> None:
    sources = create_sources(MemoryLog(), tmp_path)
    guard = Guard(create_app(sources), create_profile(), sources.audit)
    kept = guard._find_bucket("kept")
    for number in range(2 * BUCKETS_MAX):
        guard._find_bucket(f"guess {number}")
        assert guard._find_bucket("kept") is kept
    assert guard._find_bucket.cache_info().currsize == BUCKETS_MAX
