"""The broker's configuration. A secure one has TLS, passwords, and permissions."""

from collections.abc import Mapping
from types import MappingProxyType

from infra.errors import UserError
from infra.security.files import locate_authority, locate_certificate
from infra.security.passwords import BROKER, MECHANISM, read_password
from infra.settings import HOST, OPERATOR, Settings

LISTENER = "SASL_SSL"
"""The listener of clients, and of the broker as a client of itself."""
NETWORK = "NETWORK"
"""The listener of clients on other hosts."""
PROTOCOLS = "TLSv1.3,TLSv1.2"
LOGIN_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
LOG_DIR = "log"
COPIES_MAX = 3
"""Copies of Kafka's own topics: one broker may be down without a loss of acknowledged records."""

# A controlled shutdown needs a majority of controllers, which the last broker to stop lacks: it
# would wait five minutes, and be killed. Without one, the others take over from a missing broker.
# A partition waits for a leader that has all that was acknowledged, and takes no other one.
SEVERAL = {"controlled.shutdown.enable": "false", "unclean.leader.election.enable": "false"}


def render_server_properties(settings: Settings, log_dir: str = LOG_DIR) -> str:
    """server.properties of a node that is broker and controller, alone or one of several.

    The log folder is relative to the working directory, so its path may have any characters. The
    properties of a secure broker contain a password.
    """
    voters = parse_voters(settings)
    number = find_id(settings, voters)
    controller = voters.get(number, f"{HOST}:{settings.controller_port}")
    copies = min(len(voters), COPIES_MAX) or 1
    clients = LISTENER if settings.secure else "PLAINTEXT"
    listening = {clients: f"{settings.listen_host}:{settings.broker_port}"}
    found_at = {clients: f"{HOST}:{settings.broker_port}"}
    if settings.broker_address is not None:
        port = settings.broker_address.rpartition(":")[2]
        listening[NETWORK] = f"{settings.listen_host}:{port}"
        found_at[NETWORK] = settings.broker_address
    properties = {
        "process.roles": "broker,controller",
        "node.id": str(number),
        "listeners": _render_listeners({**listening, "CONTROLLER": controller}),
        "advertised.listeners": _render_listeners(found_at),
        "listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,{NETWORK}:PLAINTEXT,"
        "CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        **build_quorum(settings, controller),
        **(SEVERAL if len(voters) > 1 else {}),
        **(build_secure_properties(settings) if settings.secure else {}),
        "log.dirs": log_dir,
        # Contracts make topics; a mistyped name does not.
        "auto.create.topics.enable": "false",
        # A few partitions are enough for Kafka's own topics.
        "offsets.topic.replication.factor": str(copies),
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": str(copies),
        "transaction.state.log.min.isr": str(max(1, copies - 1)),
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.replication.factor": str(copies),
        "share.coordinator.state.topic.min.isr": str(max(1, copies - 1)),
        "group.initial.rebalance.delay.ms": "0",
        # After kill -9 the controller lets the broker back in once its old session has ended.
        "broker.session.timeout.ms": "4000",
        "broker.heartbeat.interval.ms": "500",
        # A small heap: fewer threads, and a quarter of the default buffer for compaction.
        "num.network.threads": "2",
        "num.io.threads": "4",
        "log.cleaner.dedupe.buffer.size": str(32 * 1024 * 1024),
    }
    return "".join(f"{name}={value}\n" for name, value in properties.items())


def parse_voters(settings: Settings) -> Mapping[int, str]:
    """The controller address of each broker of the cluster, by id; empty for a broker alone."""
    named = (voter.split("@") for voter in (settings.broker_voters or "").split(",") if voter)
    return MappingProxyType({int(number): address for number, address in named})


def find_id(settings: Settings, voters: Mapping[int, str]) -> int:
    """The id of the voter at this broker's host; where several are there, of the one at its port.

    Raises UserError where no voter is.
    """
    if not voters:
        return 1
    host = (settings.broker_address or f"{HOST}:").rpartition(":")[0]
    own = f"{host}:{settings.controller_port}"
    here = [number for number, address in voters.items() if address.rpartition(":")[0] == host]
    if len(here) > 1:
        here = [number for number in here if voters[number] == own]
    if here:
        return here[0]
    raise UserError(
        f"BROKER_VOTERS should name this broker, {own} by BROKER_ADDRESS, found "
        f"{settings.broker_voters}. Name it there."
    )


def build_quorum(settings: Settings, controller: str) -> dict[str, str]:
    """The controllers of the quorum, and how brokers reach each other."""
    if settings.broker_voters is None:
        return {"controller.quorum.bootstrap.servers": controller}
    return {
        "controller.quorum.voters": settings.broker_voters,
        "inter.broker.listener.name": NETWORK,
    }


def build_secure_properties(settings: Settings) -> dict[str, str]:
    """The additional properties of a secure broker.

    Clients log in with a password. The broker reaches its own controller with its certificate.
    They hold a password, so only their owner may read the file with them. Paths are relative to the
    broker's folder.
    """
    home = settings.data_dir
    certificate = locate_certificate(settings, BROKER).relative_to(home)
    authority = locate_authority(settings).relative_to(home)
    password = read_password(settings, BROKER)
    return {
        "listener.security.protocol.map": (
            f"{LISTENER}:SASL_SSL,{NETWORK}:SASL_SSL,CONTROLLER:SSL"
        ),
        "inter.broker.listener.name": LISTENER,
        "sasl.enabled.mechanisms": MECHANISM,
        "sasl.mechanism.inter.broker.protocol": MECHANISM,
        name_login(LISTENER): f'{LOGIN_MODULE} required username="{BROKER}" password="{password}";',
        name_login(NETWORK): f"{LOGIN_MODULE} required;",
        "ssl.enabled.protocols": PROTOCOLS,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": f"../{certificate}",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": f"../{authority}",
        "listener.name.controller.ssl.client.auth": "required",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "false",
        # Its certificate names it to the controller, its password to the listener of clients.
        "super.users": f"User:{BROKER};User:CN={BROKER};User:{OPERATOR}",
    }


def name_login(listener: str) -> str:
    """The property that says how clients of the listener log in, and the broker, if it is one."""
    return f"listener.name.{listener.lower()}.{MECHANISM.lower()}.sasl.jaas.config"


def _render_listeners(listeners: dict[str, str]) -> str:
    return ",".join(f"{name}://{address}" for name, address in listeners.items())
