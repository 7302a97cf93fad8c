"""What a gate reads, as the world, generations of a pipeline and their promotion would write it."""

from collections.abc import Sequence
from typing import Any

from contracts import GENERATIONS, HEARTBEATS, MARKERS, Contract, decode, encode, encode_key
from infra.kafka import apply_topics, create_admin, read_end_offsets, read_high_watermarks, send
from infra.settings import Settings
from infra.wait import wait_until
from ops.verify.log import read
from services.gate import Duty, Gate, Publisher
from tests.brokers import get_producer
from tests.services.writing import list_positions

MINUTE_MS = 60_000


def name_topic(generation: int, view: Contract) -> str:
    return f"{view.name}.g{generation}"


class GatedPipeline:
    """Rows of a pipeline's generations, in a log of their own."""

    def __init__(self, kafka: Settings, pipeline: str, views: Sequence[Contract]) -> None:
        self.kafka = kafka
        self._pipeline = pipeline
        self._views = views
        self._producer = get_producer(kafka)

    def promote(self, number: int, views: Sequence[Contract] = ()) -> None:
        topics = {view: name_topic(number, view) for view in views or self._views}
        apply_topics(self.kafka, {topic: view for view, topic in topics.items()})
        example = GENERATIONS.examples[0]
        of_one = {**example["generations"][0], "number": number}
        of_one["outputs"] = [{"view": view.name, "topic": topic} for view, topic in topics.items()]
        record = {"pipeline": self._pipeline, "promoted": number, "generations": [of_one]}
        self.write(GENERATIONS.name, GENERATIONS, record)

    def delete(self, generation: int, view: Contract, fields: dict[str, Any]) -> None:
        """As the pipeline does with a row whose retention is over."""
        key = encode_key(view, {**view.examples[0], **fields})
        self._producer.produce(name_topic(generation, view), key=key, value=None)
        assert self._producer.flush(30) == 0

    def beat_at(self, at_ms: int) -> None:
        event = {"event_id": f"beat-{at_ms}", "event_time": at_ms, "world": "world"}
        self.write(HEARTBEATS.name, HEARTBEATS, event, at_ms)

    def mark(self, generation: int, behind: int = 0, views: Sequence[Contract] = ()) -> None:
        """Mark that the generation has read all heartbeats but so many, and written its rows."""
        client = create_admin(self.kafka)
        inputs = read_end_offsets(client, [HEARTBEATS.name])
        topics = [name_topic(generation, view) for view in views or self._views]
        marker = {
            "pipeline": self._pipeline,
            "generation": generation,
            "batch": 1,
            "inputs": list_positions(
                {partition: end - behind for partition, end in inputs.items()}
            ),
            "outputs": list_positions(read_end_offsets(client, topics)),
            "written_at": 0,
        }
        self.write(MARKERS.name, MARKERS, marker)

    def read_committed(self, topic: Contract) -> list[dict[str, Any]]:
        """Every record of the topic that is committed."""
        client, topics = create_admin(self.kafka), [topic.name]
        written = read_high_watermarks(client, topics)
        ends = written

        def is_readable() -> bool:
            """The mark of a commit may be written after `written` was read, and is above it."""
            nonlocal ends
            ends = read_end_offsets(client, topics)
            return all(ends[partition] >= end for partition, end in written.items())

        wait_until(is_readable, "no transaction is open")
        return [dict(decode(record.value).value) for record in read(self.kafka, ends)]

    def write_row(self, generation: int, view: Contract, fields: dict[str, Any]) -> None:
        self.write(name_topic(generation, view), view, {**view.examples[0], **fields})

    def write(self, to: str, contract: Contract, row: dict[str, Any], at_ms: int = 0) -> None:
        key, value = encode_key(contract, row), encode(contract, row)
        send(self._producer, to, key, value, timestamp_ms=at_ms)

    def count_records(self, topic: Contract) -> int:
        """Records and marks of transactions, the open ones' too."""
        return sum(read_high_watermarks(create_admin(self.kafka), [topic.name]).values())


class Gated:
    """A gate, and the last moment that it has answered."""

    def __init__(self, kafka: Settings, duty: Duty) -> None:
        self._publisher = Publisher(kafka, duty)
        self._gate = Gate(kafka, duty, self._publisher)

    def look(self) -> int:
        self._gate.look()
        return self._publisher.find_answered_ms()

    def live(self, until_ms: int) -> None:
        """Look until it has answered the moment, and end."""
        while self._publisher.find_answered_ms() < until_ms:
            self._gate.look()
        self._publisher.close()
