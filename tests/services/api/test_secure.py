"""The API of a secure shop, over TLS with its own certificate, as the shop's commands ask it."""

import json
import re
import socket
import ssl
from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient

from contracts import RECEIPTS, get_schema_id
from infra.clock import get_wall_ms
from infra.http import NO_ANSWER, fetch_json, open_answer
from infra.security.certificates import ensure_certificate
from infra.security.files import locate_authority
from infra.security.tokens import Role, add_token, ensure_tokens, read_own
from infra.settings import Settings
from ops.cli import health
from ops.cli.experiments import run
from services.api.app import create_profile
from tests.services.memory import MemoryLog
from tests.services.serving import create_sources, serving
from tests.services.writing import promote_fraud

SECONDS_MAX = 10.0
PIPELINE = "/v1/pipelines/fraud"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Those of a secure shop whose API answers."""
    folder, log = tmp_path_factory.mktemp("shop"), MemoryLog()
    promote_fraud(log)
    shop = Settings(data_dir=folder / "data", secure=True)
    ensure_tokens(shop, get_wall_ms())
    sources = replace(create_sources(log, folder), profile=create_profile(shop))
    with serving(sources, secured=shop) as api:
        api.until(lambda: api.get("/readyz").is_success)
        yield shop.model_copy(update={"api_address": urlsplit(api.address).netloc})


@pytest.fixture
def client(settings: Settings) -> Iterator[httpx.Client]:
    """One that trusts the shop and shows no token."""
    trust = ssl.create_default_context(cafile=locate_authority(settings))
    with httpx.Client(base_url=settings.api_url, verify=trust) as asking:
        yield asking


def test_the_shops_own_commands_are_answered(settings: Settings) -> None:
    assert settings.api_url.startswith("https://")
    assert health.check_api(settings, 0) == f"ready on {settings.api_url}"
    assert fetch_json(settings.api_url + PIPELINE, SECONDS_MAX, settings)["pipeline"] == "fraud"


@pytest.mark.parametrize(
    "command",
    [
        f"curl -s 127.0.0.1:8000{PIPELINE}",
        f"""python3 -c '
import urllib.request as http
print(http.urlopen("http://127.0.0.1:8000" + "{PIPELINE}").read().decode())'""",
    ],
    ids=["curl", "urllib"],
)
def test_an_experiment_asks_as_the_operator(settings: Settings, command: str) -> None:
    assert json.loads(run(settings, command))["pipeline"] == "fraud"


def test_a_stock_client_of_the_registry_has_the_token_as_its_password(settings: Settings) -> None:
    client = SchemaRegistryClient(
        {
            "url": settings.api_url,
            "ssl.ca.location": str(locate_authority(settings)),
            "basic.auth.user.info": f"any:{read_own(settings)}",
        }
    )
    newest = client.get_latest_version(f"{RECEIPTS.name}-value")
    assert newest.schema_id == get_schema_id(RECEIPTS)


def test_a_token_that_is_drawn_anew_counts_at_once_and_the_one_before_no_more(
    settings: Settings, client: httpx.Client
) -> None:
    before = read_own(settings)
    add_token(settings, "operator", Role.OPERATOR, get_wall_ms(), days=1)
    for secret, status in ((before, HTTPStatus.UNAUTHORIZED), (read_own(settings), HTTPStatus.OK)):
        headers = {"Authorization": f"Bearer {secret}"}
        assert client.get(PIPELINE, headers=headers).status_code == status


def test_a_command_whose_token_is_over_draws_another_and_is_answered(settings: Settings) -> None:
    for _ in ("once", "again"):
        over = add_token(settings, "operator", Role.OPERATOR, 0, days=1)
        assert fetch_json(settings.api_url + PIPELINE, SECONDS_MAX, settings)["pipeline"] == "fraud"
        assert read_own(settings) != over.secret


def test_a_client_whose_token_is_over_is_told_what_to_do(
    settings: Settings, client: httpx.Client
) -> None:
    over = add_token(settings, "till", Role.READER, 0, days=1)
    told = client.get(PIPELINE, headers={"Authorization": f"Bearer {over.secret}"})
    assert told.status_code == HTTPStatus.UNAUTHORIZED
    assert re.search(r"valid until 1970-01-02.*retail security token add", told.json()["detail"])


def test_when_tokens_and_certificates_end_is_a_figure(settings: Settings) -> None:
    till = add_token(settings, "till", Role.READER, get_wall_ms(), days=7)
    ensure_certificate(settings, "broker")
    with open_answer(f"{settings.api_url}/metrics", SECONDS_MAX, settings) as answer:
        shown = dict(re.findall(r"retail_security_end\w+{(.*)} (.*)", answer.read().decode()))
    assert float(shown.pop('kind="token",name="till"')) == till.expires_at_ms / 1000
    assert list(shown) == ['kind="certificate",name="broker"']


def test_nothing_is_answered_in_the_clear_and_another_shops_api_is_not_trusted(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.raises(NO_ANSWER):
        fetch_json(f"http://{settings.api_address}/healthz", SECONDS_MAX, settings)
    other = settings.model_copy(update={"data_dir": tmp_path_factory.mktemp("other")})
    ensure_certificate(other, "api")
    with pytest.raises(NO_ANSWER, match="certificate verify failed"):
        fetch_json(f"{other.api_url}/healthz", SECONDS_MAX, other)


@pytest.mark.parametrize("version", ["TLSv1", "TLSv1_1"])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_tls_before_1_2_is_refused_by_the_server(settings: Settings, version: str) -> None:
    context = create_context(settings, version)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")  # so that the client itself would take it
    with pytest.raises(ssl.SSLError, match=r"ALERT|EOF"):
        greet(settings, context)


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
def test_tls_from_1_2_on_is_spoken(settings: Settings, version: str) -> None:
    assert greet(settings, create_context(settings, version)) == version.replace("_", ".")


def create_context(settings: Settings, version: str) -> ssl.SSLContext:
    """A client that speaks this version alone."""
    context = ssl.create_default_context(cafile=locate_authority(settings))
    context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    return context


def greet(settings: Settings, context: ssl.SSLContext) -> str | None:
    """The version that client and server agree on."""
    host, _, port = (settings.api_address or "").partition(":")
    with (
        socket.create_connection((host, int(port)), SECONDS_MAX) as connection,
        context.wrap_socket(connection, server_hostname=host) as secured,
    ):
        return secured.version()
