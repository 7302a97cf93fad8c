"""The broker's configuration."""

from infra.settings import HOST, Settings

LOG_DIR = "log"


def server_properties(settings: Settings, log_dir: str = LOG_DIR) -> str:
    """server.properties of a single node that is broker and controller.

    The log folder is relative to the working directory: a path may then hold anything.
    """
    controller = f"{HOST}:{settings.controller_port}"
    listening = {"PLAINTEXT": f"{settings.listen_host}:{settings.broker_port}"}
    found_at = {"PLAINTEXT": f"{HOST}:{settings.broker_port}"}
    if settings.broker_address is not None:
        port = settings.broker_address.rpartition(":")[2]
        listening["NETWORK"] = f"{settings.listen_host}:{port}"
        found_at["NETWORK"] = settings.broker_address
    properties = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": _spelled({**listening, "CONTROLLER": controller}),
        "advertised.listeners": _spelled(found_at),
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,NETWORK:PLAINTEXT,"
        "CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": controller,
        "log.dirs": log_dir,
        # Topics are made from contracts, never by a typing mistake.
        "auto.create.topics.enable": "false",
        # One node keeps one copy of Kafka's own topics too, and a few partitions are plenty.
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
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


def _spelled(listeners: dict[str, str]) -> str:
    return ",".join(f"{name}://{address}" for name, address in listeners.items())
