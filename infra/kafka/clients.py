"""The clients: the broker's address, the login, and settings under which no record is lost."""

import logging

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from infra.security.files import locate_authority
from infra.security.passwords import MECHANISM, read_password
from infra.settings import Settings

NO_GROUP = "unused"
"""librdkafka demands a group even where none is joined, and looks for its coordinator."""

Config = dict[str, str | int | float | bool]

log = logging.getLogger("kafka")


def build_client_config(settings: Settings) -> Config:
    """The address and login for any librdkafka client.

    With SECURE it logs in as the settings' service. Raises UserError if that has no password yet.
    """
    if settings.secure:
        return {
            "bootstrap.servers": settings.bootstrap_servers,
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": MECHANISM,
            "sasl.username": settings.kafka_service,
            "sasl.password": read_password(settings, settings.kafka_service),
            "ssl.ca.location": str(locate_authority(settings)),
        }
    password = settings.kafka_sasl_password
    authority = settings.kafka_ssl_ca_location
    plain = "SSL" if authority else "PLAINTEXT"
    optional = {
        "sasl.mechanism": settings.kafka_sasl_mechanism,
        "sasl.username": settings.kafka_sasl_username,
        "sasl.password": password.get_secret_value() if password else None,
        "ssl.ca.location": str(authority) if authority else None,
    }
    return {
        "bootstrap.servers": settings.bootstrap_servers,
        "security.protocol": "SASL_SSL" if settings.kafka_sasl_mechanism else plain,
        **{name: value for name, value in optional.items() if value is not None},
    }


def create_producer(settings: Settings, **overrides: str | int | float | bool) -> Producer:
    """A producer that neither loses nor repeats a record, and hashes keys as Java does.

    Its queue is bounded: `produce` raises BufferError when it is full; poll, then try again.
    Overrides are librdkafka's names with underscores for dots.
    """
    config: Config = {
        **build_client_config(settings),
        "enable.idempotence": True,
        "acks": "all",
        # Kafka forgets a producer whose records' timestamps are older than a day, as those of a
        # simulated world are. After a broker's crash it then takes a second request before a first
        # one that is tried again, and drops that one as a copy.
        "max.in.flight.requests.per.connection": 1,
        "partitioner": "murmur2_random",
        "linger.ms": 5,
        "compression.type": "lz4",
        "queue.buffering.max.messages": 100_000,
        "queue.buffering.max.kbytes": 65_536,
        **_dot_names(overrides),
    }
    return Producer(config, logger=log)


def create_consumer(
    settings: Settings, group_id: str | None = None, **overrides: str | int | float | bool
) -> Consumer:
    """A consumer of committed records that starts at the beginning and commits only on demand.

    Without a group, the caller assigns its partitions and keeps their offsets.
    Overrides are librdkafka's names with underscores for dots.
    """
    config: Config = {
        **build_client_config(settings),
        "group.id": group_id or NO_GROUP,
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
        "queued.max.messages.kbytes": 16_384,
        **_dot_names(overrides),
    }
    return Consumer(config, logger=log)


def create_admin(settings: Settings) -> AdminClient:
    """A client for topics and offsets."""
    return AdminClient(build_client_config(settings), logger=log)


def _dot_names(overrides: Config) -> Config:
    return {name.replace("_", "."): value for name, value in overrides.items()}
