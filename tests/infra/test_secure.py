"""A secure Kafka, for real: who gets in, what each may do there, and that no password gets out."""

import os
import socket
import ssl
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AclOperation, ResourceType
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from contracts import (
    ADJUSTMENTS,
    CONTRACTS,
    PRICE_CHANGES,
    RECEIPTS,
    REFUNDS,
    STOCK_LEVELS,
    Contract,
    encode,
    encode_key,
)
from infra.kafka import (
    apply_topics,
    build_client_config,
    create_admin,
    create_consumer,
    create_producer,
    fetch_committed,
    list_partitions,
    read_end_offsets,
    send,
)
from infra.kafka.access import Grant, set_grants
from infra.kafka.clients import Config
from infra.kafka.errors import get_error_code
from infra.processes import start_module
from infra.security.files import locate_authority, locate_security_folder
from infra.security.passwords import FIRST_USERS, locate_password, read_password
from infra.settings import HOST, Settings
from infra.wait import wait_until
from ops.cli import contracts
from ops.control.access import (
    SUPERVISOR,
    find_reads,
    find_writes,
    is_standing,
    list_grants,
    list_services,
)
from ops.generations.marker import read_markers
from pipelines.engine.source import build_kafka_options, tail
from services.liveness import read_start_ms
from tests.brokers import broker
from tests.logins import find_refusal, is_refused
from tests.processes import run_supervisor
from tests.secrets import find_files, find_processes, list_with_children

pytestmark = [pytest.mark.thorough, pytest.mark.e2e]

ANSWER_SECONDS_MAX = 30.0
GROUP = "quarantine"
SERVICES = list_services()
USERS = (*SERVICES, *FIRST_USERS)
AT_WORK = ("analytics", "visits")
"""They read a dimension, and share a process."""
PROPERTIES = Path("broker") / "server.properties"


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The operator of a secure broker that has a record in every topic, of a generation too."""
    with broker(tmp_path_factory.mktemp("secure"), secure=True) as settings:
        apply_topics(settings, {name_topic(contract): contract for contract in CONTRACTS.values()})
        client = create_producer(settings)
        for contract in CONTRACTS.values():
            example = contract.examples[0]
            send(
                client,
                name_topic(contract),
                encode_key(contract, example),
                encode(contract, example),
            )
        yield settings


def name_topic(contract: Contract) -> str:
    return contract.name if is_standing(contract) else f"{contract.name}.g1"


def list_names(contracts: frozenset[str]) -> set[str]:
    return {name_topic(CONTRACTS[name]) for name in contracts}


def find_readable(settings: Settings) -> set[str]:
    """The topics of which the service is given records; of every other one Kafka refuses them."""
    every = {name_topic(contract) for contract in CONTRACTS.values()}
    given, refused = set[str](), set[str]()
    reader = create_consumer(settings)
    try:
        places = list_partitions(create_admin(settings), every)
        reader.assign([TopicPartition(*partition, 0) for partition in places])
        deadline = time.monotonic() + ANSWER_SECONDS_MAX
        while given | refused != every and time.monotonic() < deadline:
            for message in reader.consume(1_000, timeout=0.1):
                note(message, given, refused)
    finally:
        reader.close()
    assert given | refused == every
    assert not given & refused
    return given


def note(message: Message, given: set[str], refused: set[str]) -> None:
    error = message.error()
    if error is None:
        given.add(str(message.topic()))
    elif error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        refused.add(str(message.topic()))


def find_writable(settings: Settings) -> set[str]:
    """The topics that take a record of the service; every other one Kafka refuses."""
    answers: dict[str, KafkaError | None] = {}

    def take(error: KafkaError | None, message: Message) -> None:
        answers[str(message.topic())] = error

    client = create_producer(settings, enable_idempotence=False)
    for contract in CONTRACTS.values():
        example = contract.examples[0]
        client.produce(
            name_topic(contract),
            key=encode_key(contract, example),
            value=encode(contract, example),
            on_delivery=take,
        )
    assert client.flush(ANSWER_SECONDS_MAX) == 0
    refused = {error.code() for error in answers.values() if error is not None}
    assert refused <= {KafkaError.TOPIC_AUTHORIZATION_FAILED}
    assert len(answers) == len(CONTRACTS)
    return {topic for topic, error in answers.items() if error is None}


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_reads_and_writes_what_it_declares_and_nothing_else(
    secure: Settings, service: str
) -> None:
    own = secure.as_service(service)
    assert find_readable(own) == list_names(find_reads(service))
    assert find_writable(own) == list_names(find_writes(service))


def test_the_operator_reads_everything(secure: Settings) -> None:
    assert find_readable(secure) == {name_topic(contract) for contract in CONTRACTS.values()}


@pytest.mark.parametrize("user", USERS)
def test_a_service_is_let_in_with_its_own_password_alone(secure: Settings, user: str) -> None:
    own = build_client_config(secure.as_service(user))
    assert find_refusal(own) is None
    other = read_password(secure, USERS[USERS.index(user) - 1])
    assert find_refusal({**own, "sasl.password": other}) == KafkaError._AUTHENTICATION


@pytest.mark.parametrize("address", ["bootstrap_servers", "broker_address"])
def test_who_does_not_log_in_with_a_password_over_tls_is_refused(
    secure: Settings, address: str
) -> None:
    """On this machine, and from other hosts."""
    own: Config = {**build_client_config(secure), "bootstrap.servers": getattr(secure, address)}
    assert secure.bootstrap_servers != secure.broker_address
    assert find_refusal(own) is None
    for changed in ({"sasl.password": "guessed"}, {"sasl.username": "nobody"}):
        assert find_refusal({**own, **changed}) == KafkaError._AUTHENTICATION
    for protocol in ("SSL", "PLAINTEXT", "SASL_PLAINTEXT"):
        assert is_refused({**own, "security.protocol": protocol})
    for mechanism in ("PLAIN", "SCRAM-SHA-256"):
        assert is_refused({**own, "sasl.mechanism": mechanism})


def test_a_client_refuses_a_broker_whose_authority_it_does_not_trust(secure: Settings) -> None:
    own = build_client_config(secure)
    del own["ssl.ca.location"]
    assert find_refusal(own) == KafkaError._SSL


def shake_hands(settings: Settings, port: int, version: ssl.TLSVersion) -> str | None:
    """The protocol that the broker agrees to with a client of this version; raises ssl.SSLError."""
    context = ssl.create_default_context(cafile=locate_authority(settings))
    context.set_ciphers("ALL:@SECLEVEL=0")  # else this side would refuse old versions itself
    context.minimum_version = context.maximum_version = version
    with (
        socket.create_connection((HOST, port), ANSWER_SECONDS_MAX) as plain,
        context.wrap_socket(plain, server_hostname=HOST) as wrapped,
    ):
        return wrapped.version()


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_a_client_needs_tls_1_2_at_least(secure: Settings) -> None:
    port = secure.broker_port
    assert shake_hands(secure, port, ssl.TLSVersion.TLSv1_3) == "TLSv1.3"
    assert shake_hands(secure, port, ssl.TLSVersion.TLSv1_2) == "TLSv1.2"
    for old in (ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1):
        with pytest.raises(ssl.SSLError, match=r"ALERT|alert"):
            shake_hands(secure, port, old)


def test_the_controller_is_reached_with_the_broker_s_certificate_alone(secure: Settings) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        shake_hands(secure, secure.controller_port, ssl.TLSVersion.TLSv1_2)


def test_a_group_is_for_its_service_alone(secure: Settings) -> None:
    own, other = (create_consumer(secure.as_service(name), GROUP) for name in (GROUP, "lake"))
    try:
        assert len(fetch_committed(own, GROUP, [(RECEIPTS.name, 0)])) == 1
        other.subscribe([RECEIPTS.name])
        [message] = other.consume(1, timeout=ANSWER_SECONDS_MAX)
        error = message.error()
        assert error is not None
        assert error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED
    finally:
        own.close()
        other.close()


def test_a_transaction_is_for_its_service_alone(secure: Settings) -> None:
    other = create_producer(secure.as_service("supplier"), transactional_id="ordering")
    with pytest.raises(KafkaException) as refused:
        other.init_transactions(ANSWER_SECONDS_MAX)
    assert get_error_code(refused.value) == KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    own = create_producer(secure.as_service("ordering"), transactional_id="ordering")
    own.init_transactions(ANSWER_SECONDS_MAX)


def test_a_service_makes_no_topic_but_its_changelogs(secure: Settings) -> None:
    inventory = secure.as_service("inventory")
    assert apply_topics(inventory, {f"{STOCK_LEVELS.name}.g2": STOCK_LEVELS})
    for service in ("api", "inventory"):
        with pytest.raises(KafkaException) as refused:
            apply_topics(secure.as_service(service), {"public.sales.other.v1": RECEIPTS})
        assert get_error_code(refused.value) == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_what_is_no_longer_declared_is_no_longer_granted(
    secure: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the command with which containers make topics."""
    monkeypatch.setattr(contracts, "read_settings", lambda: secure)
    more = Grant("loyalty", AclOperation.READ, ResourceType.TOPIC, REFUNDS.name)
    set_grants(secure, {*list_grants(), more})
    loyalty = secure.as_service("loyalty")
    assert REFUNDS.name in find_readable(loyalty)
    contracts.apply_command()
    assert REFUNDS.name not in find_readable(loyalty)


@pytest.mark.spark
def test_a_pipeline_that_reads_a_topic_it_does_not_declare_is_refused_when_it_runs(
    secure: Settings, spark: SparkSession
) -> None:
    inventory = secure.as_service("inventory")
    read_stream(spark, inventory, ADJUSTMENTS)
    with pytest.raises(StreamingQueryException, match=PRICE_CHANGES.name) as failed:
        read_stream(spark, inventory, PRICE_CHANGES)
    assert "Not authorized to access topics" in str(failed.value)


def read_stream(spark: SparkSession, settings: Settings, topic: Contract) -> None:
    """Read what there is of the topic, as a pipeline does."""
    read = tail(spark, settings, [topic], None, {})
    query = read.writeStream.format("noop").trigger(availableNow=True).start()
    try:
        query.awaitTermination(60)
        assert query.lastProgress is not None
        assert query.lastProgress["numInputRows"] > 0
    finally:
        query.stop()


@pytest.mark.spark
def test_a_pipeline_writes_its_own_changelog_and_no_other(
    secure: Settings, spark: SparkSession
) -> None:
    row = spark.createDataFrame([(b"key", b"value")], "key BINARY, value BINARY")
    own, other = (f"{STOCK_LEVELS.name}.g1", "public.fraud.alert.v1.g1")
    options = build_kafka_options(secure.as_service("inventory"))
    before = sum(read_end_offsets(create_admin(secure), [own]).values())
    row.write.format("kafka").options(**options).option("topic", own).save()
    assert sum(read_end_offsets(create_admin(secure), [own]).values()) == before + 1
    with pytest.raises(Exception, match="Not authorized to access topics"):
        row.write.format("kafka").options(**options).option("topic", other).save()


def test_spark_is_told_where_a_password_is_and_not_which(secure: Settings) -> None:
    own = secure.as_service("inventory")
    told = str(build_kafka_options(own))
    assert read_password(own, "inventory") not in told
    assert f"${{file:{locate_password(own, 'inventory')}:password}}" in told


def test_only_their_owner_can_read_keys_and_passwords(secure: Settings) -> None:
    files = [file for file in locate_security_folder(secure).rglob("*") if file.is_file()]
    assert len(files) == 3 + len(SERVICES) + len(FIRST_USERS)
    for file in (*files, secure.data_dir / PROPERTIES):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


@pytest.mark.timeout(600)
def test_no_password_is_in_a_log_an_argument_or_an_environment(secure: Settings) -> None:
    """While two pipelines of one process and the quarantine are at work."""
    talking = secure.model_copy(update={"pipelines": ",".join(AT_WORK)})
    with working(talking) as running:
        names = [process.name() for process in running]
        assert names.count("java") >= 2, "the broker's and Spark's"
        for name in USERS:
            password = read_password(secure, name)
            assert list(find_processes(password, running)) == []
            kept = [locate_password(secure, name), secure.data_dir / PROPERTIES]
            assert find_files(password, secure.data_dir, kept) == []
    logs = [secure.data_dir / f"{name}.log" for name in ("broker", "pipelines", GROUP)]
    assert all(log.stat().st_size > 0 for log in logs)


@contextmanager
def working(settings: Settings) -> Iterator[list[psutil.Process]]:
    """Every process of these services and of the broker, once all have done their first work."""
    home = settings.data_dir
    quarantine = start_module(
        settings.as_service(GROUP), home / f"{GROUP}.log", "services.quarantine"
    )
    try:
        with run_supervisor(settings.as_service(SUPERVISOR), home / "pipelines.log"):
            wait_until(lambda: has_worked(settings), "all have done their first work", 360)
            yield list_with_children([os.getpid()])
    finally:
        quarantine.terminate()
        quarantine.wait(ANSWER_SECONDS_MAX)


def has_worked(settings: Settings) -> bool:
    written = {pipeline for pipeline, _ in read_markers(settings)}
    return read_start_ms(settings, "quarantine") > 0 and written >= set(AT_WORK)
