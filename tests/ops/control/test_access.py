"""Who may do what, as derived from what consumers declare."""

from configparser import RawConfigParser

from confluent_kafka.admin import AclOperation, ResourceType

from contracts import CLOCKS, GENERATIONS, MARKERS, PRICE_CHANGES, RECEIPTS
from contracts.consumer import CONSUMERS
from infra.security.passwords import FIRST_USERS
from infra.supervisor.daemon import CONFIG
from ops.control.access import SUPERVISOR, find_reads, find_writes, list_grants, list_services
from pipelines.common.pipeline import list_pipelines

TOPIC = ResourceType.TOPIC


def list_holders(operation: AclOperation, name: str, is_prefix: bool = False) -> set[str]:
    wanted = (operation, TOPIC, name, is_prefix)
    return {grant.service for grant in list_grants() if grant[1:] == wanted}


def test_who_declares_a_topic_may_read_it_and_nobody_else() -> None:
    services = {name: consumer for name, consumer in CONSUMERS.items() if consumer.kind != "tool"}
    declared = {name for name, consumer in services.items() if PRICE_CHANGES.name in consumer.reads}
    assert {"fraud", "api", "lake", "quarantine"} <= declared
    # The simulator goes on after what it has published.
    assert list_holders(AclOperation.READ, PRICE_CHANGES.name) == declared | {"simulator"}


def test_who_declares_to_write_a_topic_may_write_it_and_nobody_else() -> None:
    assert list_holders(AclOperation.WRITE, RECEIPTS.name) == {"simulator", "api"}
    assert list_holders(AclOperation.WRITE, CLOCKS.name) == {"simulator", "own-clock"}


def test_a_view_is_written_and_made_under_the_numbers_of_its_generations() -> None:
    view = "public.inventory.stock-level.v1"
    for operation in (AclOperation.WRITE, AclOperation.CREATE):
        assert list_holders(operation, view) == set()
        assert list_holders(operation, f"{view}.g", is_prefix=True) == {"inventory"}
    assert list_holders(AclOperation.READ, f"{view}.g", is_prefix=True) == {"api", "lake"}


def test_the_ledger_is_for_the_simulator_alone() -> None:
    for topic in ("private.simulation.ledger.v1", "private.simulation.incident.v1"):
        for operation in (AclOperation.READ, AclOperation.WRITE):
            assert list_holders(operation, topic) == {"simulator"}


def test_control_topics_are_granted_by_role() -> None:
    assert find_reads(SUPERVISOR) == {GENERATIONS.name, MARKERS.name}
    assert find_writes(SUPERVISOR) == {GENERATIONS.name}
    assert list_holders(AclOperation.WRITE, MARKERS.name) == set(list_pipelines())
    assert MARKERS.name not in find_reads("quarantine")


def test_what_a_person_runs_logs_in_as_the_operator() -> None:
    tools = {name for name, consumer in CONSUMERS.items() if consumer.kind == "tool"}
    assert {"verify", "import", "forgetting", "command-line"} == tools
    assert not tools & set(list_services())
    assert not set(FIRST_USERS) & set(list_services())


def test_each_component_is_started_as_a_service_that_has_a_password() -> None:
    programs = RawConfigParser(comment_prefixes=(";",), inline_comment_prefixes=None)
    programs.read(CONFIG)
    services = {
        name.removeprefix("program:"): told["environment"].removeprefix('KAFKA_SERVICE="')[:-1]
        for name, told in programs.items()
        if name.startswith("program:")
    }
    assert services.pop("broker") == "broker"
    assert services.pop("clock") == "own-clock"
    assert services == {name: name for name in services}
    assert set(services) <= set(list_services())
