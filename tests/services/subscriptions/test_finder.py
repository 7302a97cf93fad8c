"""A change is found once the marker of its batch is there."""

from collections.abc import Sequence

from contracts import MARKERS, NOTIFICATIONS, STOCK_LEVELS, decode, encode, encode_key
from infra.kafka import Outgoing
from infra.settings import Settings
from ops.generations.record import Generation, State
from services.api.store.changelog import End, Record
from services.subscriptions.directory import Directory
from services.subscriptions.finder import Finder, Writer
from services.subscriptions.matching import READER
from services.subscriptions.records import Notification, Progress
from tests.services.subscriptions.made import create_subscription
from tests.services.writing import MORNING, create_shelf

TOPIC = f"{STOCK_LEVELS.name}.g1"
STOCK = Generation("inventory", 1, State.PROMOTED, "9f31c0", MORNING, {STOCK_LEVELS.name: TOPIC})


class Written(Writer):
    def __init__(self) -> None:
        self.records: list[Outgoing] = []

    def write(self, records: Sequence[Outgoing]) -> None:
        self.records += records

    def list_matches(self) -> list[tuple[str, bool]]:
        every = [decode(one.value).value for one in self.records if one.topic == NOTIFICATIONS.name]
        return [(one.row_key, one.matches) for one in map(Notification.parse, every)]


def shelf(offset: int, sku: str, units: int) -> Record:
    value = create_shelf(1, sku, units, offset + 1)
    return Record((TOPIC, 0), offset, encode_key(STOCK_LEVELS, value), encode(STOCK_LEVELS, value))


def mark(end: int) -> Record:
    value = {
        "pipeline": "inventory",
        "generation": 1,
        "batch": end,
        "inputs": [],
        "outputs": [{"topic": TOPIC, "partition": 0, "offset": end}],
        "written_at": MORNING,
    }
    key = encode_key(MARKERS, value)
    return Record((MARKERS.name, 0), end, key, encode(MARKERS, value))


def test_a_change_is_found_once_the_marker_of_its_batch_is_there() -> None:
    subscription = create_subscription("units_on_hand<=5")
    directory, written = Directory(READER), Written()
    finder = Finder(Settings(), subscription, directory, written)
    progress = Progress(subscription_id=subscription.subscription_id, generation=1)
    finder.held.extend([shelf(0, "A", 1), shelf(1, "A", 9), shelf(2, "B", 3), End((TOPIC, 0), 3)])

    for end, said, reached in (
        (1, [("S001/A", True)], 1),
        (1, [("S001/A", True)], 1),
        (2, [("S001/A", True), ("S001/A", False)], 2),
        (3, [("S001/A", True), ("S001/A", False), ("S001/B", True)], 3),
    ):
        directory.apply(mark(end))
        finder.look(STOCK, progress)
        assert written.list_matches() == said
        assert (progress.offsets, progress.waiting) == ({0: reached}, len(said))
    assert not finder.held
