"""The shop in containers with SECURE=on: who is let in, and that its numbers are exact."""

import json
import ssl
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from confluent_kafka import KafkaError, KafkaException

from contracts import ADJUSTMENTS, RECEIPTS, STOCK_LEVELS
from infra.http import NO_ANSWER
from infra.kafka import build_client_config, create_admin, read_between, read_end_offsets
from infra.kafka.errors import get_error_code
from infra.security.files import locate_authority
from infra.security.passwords import FIRST_USERS, read_password
from infra.security.tokens import Role, list_tokens
from ops.control.access import find_reads, list_services
from tests.e2e.compose import Composed, composed
from tests.logins import find_refusal, is_refused
from tests.seeds import create_random

pytestmark = [pytest.mark.docker, pytest.mark.e2e, pytest.mark.timeout(900)]

QUICK: Mapping[str, Any] = {
    "simulator_speed": 240,  # the horizon passes in half a minute
    "simulator_receipts_per_second": 1.25,
    "pipeline_seconds_per_batch_min": 4,
}
RETAIL = ("exec", "-T", "pipelines", "python", "-m", "ops.cli.main")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composed]:
    """A shop as by `make up-docker SECURE=on`, and its keys on this side."""
    folder, seed = tmp_path_factory.mktemp("secure"), create_random("a shop").getrandbits(31)
    with composed(folder, seed, "inventory", secure=True, **QUICK) as started:
        started.copy_keys()
        yield started


def test_every_part_is_ready(shop: Composed) -> None:
    assert set(shop.states().values()) == {"ready"}


def test_a_request_in_the_clear_or_without_a_token_is_refused(shop: Composed) -> None:
    url = f"{shop.settings.api_url}/v1/stock?limit=1"
    with pytest.raises(NO_ANSWER):
        urlopen(url.replace("https:", "http:"))
    with pytest.raises(HTTPError, match="Unauthorized"):
        urlopen(url, context=ssl.create_default_context(cafile=locate_authority(shop.settings)))
    assert len(shop.get("/v1/stock?limit=1")["items"]) == 1, "the operator is answered"


def test_kafka_lets_a_service_in_with_its_own_password_alone(shop: Composed) -> None:
    own = build_client_config(shop.settings.as_service("quarantine"))
    assert find_refusal(own) is None
    other = read_password(shop.settings, "supplier")
    assert find_refusal({**own, "sasl.password": other}) == KafkaError._AUTHENTICATION
    assert is_refused({**own, "security.protocol": "PLAINTEXT"})


def test_a_service_reads_no_topic_that_it_does_not_declare(shop: Composed) -> None:
    fraud = shop.settings.as_service("fraud")
    assert RECEIPTS.name in find_reads("fraud")
    assert ADJUSTMENTS.name not in find_reads("fraud")
    ends = read_end_offsets(create_admin(fraud), [RECEIPTS.name, ADJUSTMENTS.name])
    allowed = {partition: end for partition, end in ends.items() if partition[0] == RECEIPTS.name}
    assert sum(1 for _ in read_between(fraud, {}, allowed)) > 0
    with pytest.raises(KafkaException) as refused:
        list(read_between(fraud, {}, ends))
    assert get_error_code(refused.value) == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_it_is_exact_asked_from_within_as_from_outside(shop: Composed) -> None:
    """A command in a container is the operator's, whichever service the container is."""
    shop.verify_grown()
    report = json.loads(shop.compose(*RETAIL, "verify", "--json"))
    assert report["exact"]
    assert report["pipelines"]["inventory"]["views"][STOCK_LEVELS.name]["rows"] > 0


def test_no_secret_is_in_a_log_an_argument_or_an_environment(shop: Composed) -> None:
    users = (*list_services(), *FIRST_USERS)
    secrets = [read_password(shop.settings, user) for user in users]
    tokens = [token.secret for token in list_tokens(shop.settings)]
    assert len(tokens) == len(Role)
    said, inspected = shop.compose("logs", "--no-color"), shop.inspect()
    assert "broker" in said
    assert "KAFKA_SERVICE=quarantine" in inspected
    for secret in (*secrets, *tokens):
        assert secret not in said
        assert secret not in inspected
