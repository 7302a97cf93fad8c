"""How far a consumer group is in the receipts."""

from contracts import RECEIPTS
from infra.kafka import create_admin, create_consumer, fetch_committed, list_partitions
from infra.settings import Settings
from infra.wait import wait_until

COMMITTED_SECONDS_MAX = 600.0


def wait_for_commits(settings: Settings, group: str, records: int) -> None:
    """Return as soon as the group has committed so many records. Raises TimeoutError."""
    places = list_partitions(create_admin(settings), [RECEIPTS.name])
    reader = create_consumer(settings, group)

    def has_committed() -> bool:
        committed = fetch_committed(reader, group, places)
        return sum(max(0, at.offset) for at in committed) >= records

    try:
        wait_until(has_committed, f"{group} commits {records:,} records", COMMITTED_SECONDS_MAX)
    finally:
        reader.close()
