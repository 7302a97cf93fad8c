"""The offsets at which the partitions of a topic begin and end, and those of consumer groups.

An end is the last stable offset: a reader of committed records comes no further while a transaction
is open. Offsets have gaps: the end of a transaction takes one, and aborted records keep theirs. So
a difference of offsets is no number of records.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ListOffsetsResultInfo, OffsetSpec

from infra.errors import UserError
from infra.kafka.errors import UNSETTLED, UnknownTopic, get_error_code
from infra.wait import ask_until

REQUEST_SECONDS_MAX = 10.0
SETTLED_SECONDS_MAX = 30.0
"""How long a broker may take to find the coordinator of a group."""

LED_SECONDS_MAX = 40.0
BETWEEN_LEADERS = frozenset(
    {
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError._TIMED_OUT,
        KafkaError._TRANSPORT,
    }
)
"""Temporary errors: a topic is new; a broker has just come back or begun to lead and does not know
yet how far the others have read; a client asked a broker that has just gone."""

Partition = tuple[str, int]
"""Topic and number."""

Offsets = Mapping[Partition, int]
"""By partition: the next offset to read, or the end."""


def list_partitions(admin: AdminClient, topics: Iterable[str]) -> tuple[Partition, ...]:
    """Every partition of the topics, in order. Raises UnknownTopic."""
    names = sorted(set(topics))
    if not names:
        return ()
    # Any broker answers this. A describe request goes to the controller, and an old client keeps
    # asking the one that it first found.
    present = admin.list_topics(timeout=REQUEST_SECONDS_MAX).topics
    for name in names:
        if name not in present:
            raise UnknownTopic(name)
    return tuple(
        sorted((name, partition) for name in names for partition in present[name].partitions)
    )


def read_end_offsets(admin: AdminClient, topics: Iterable[str]) -> dict[Partition, int]:
    """The offset below which no transaction is open, of every partition of the topics."""
    return _read_ends(admin, topics, IsolationLevel.READ_COMMITTED)


class EndOffsets:
    """The ends of topics, for whoever asks often: it keeps which partitions there are.

    Asked for other topics, or after a question that failed, it asks for the partitions anew.
    """

    def __init__(
        self,
        admin: AdminClient,
        patient: bool = False,
        isolation: IsolationLevel = IsolationLevel.READ_COMMITTED,
    ) -> None:
        """`patient`: ask again, too, while no broker says which partitions there are: for whoever
        would lose more by an error than by the wait. A command is told at once that Kafka is away.

        `isolation`: READ_UNCOMMITTED for the ends of `read_high_watermarks`.
        """
        self._admin = admin
        self._patient = patient
        self._isolation = isolation
        self._partitions: frozenset[Partition] = frozenset()

    def read(self, topics: Iterable[str]) -> dict[Partition, int]:
        """As `read_end_offsets`, and raises what it raises."""
        names = frozenset(topics)
        found: dict[Partition, int] = {}
        if self._partitions and {topic for topic, _ in self._partitions} == names:
            with suppress(TimeoutError, KafkaException):
                found = self._ask_again()
        self._partitions = frozenset()  # unless the next question is answered
        found = found or _read_ends(self._admin, names, self._isolation, self._patient)
        self._partitions = frozenset(found)
        return found

    def _ask_again(self) -> dict[Partition, int]:
        """The present ends of the known partitions; none if one has no leader."""
        answers = _answer(self._admin, self._partitions, OffsetSpec.latest(), self._isolation)
        found = {partition: info.offset for partition, info in answers.items()}
        return {} if OFFSET_INVALID in found.values() else found


def read_high_watermarks(
    admin: AdminClient, topics: Iterable[str], patient: bool = False
) -> dict[Partition, int]:
    """The offset after the last record of every partition, open transactions included.

    For whoever has to know of records that nobody may read yet. `patient`: as in `EndOffsets`.
    """
    return _read_ends(admin, topics, IsolationLevel.READ_UNCOMMITTED, patient)


def read_start_offsets(admin: AdminClient, topics: Iterable[str]) -> dict[Partition, int]:
    """The offset of the first remaining record of every partition of the topics."""
    found = _look_up(admin, topics, OffsetSpec.earliest())
    return {partition: info.offset for partition, info in found.items()}


def find_offsets_at(admin: AdminClient, topics: Iterable[str], at_ms: int) -> dict[Partition, int]:
    """The first offset at or after this timestamp, in epoch milliseconds; without one, the end.

    One for every partition of the topics.
    """
    ends = read_end_offsets(admin, topics)
    found = _look_up(admin, topics, OffsetSpec.for_timestamp(at_ms))
    return {
        partition: info.offset if info.offset >= 0 else ends[partition]
        for partition, info in found.items()
    }


def read_newest_ms(admin: AdminClient, topics: Iterable[str]) -> dict[Partition, int]:
    """The largest record timestamp of every partition that has records, in epoch milliseconds.

    Kafka keeps one for all that is in the log: records of open and aborted transactions, and the
    ends of transactions, which carry the wall clock.
    """
    found = _look_up(admin, topics, OffsetSpec.max_timestamp(), IsolationLevel.READ_UNCOMMITTED)
    return {partition: info.timestamp for partition, info in found.items() if info.offset >= 0}


def _read_ends(
    admin: AdminClient, topics: Iterable[str], isolation: IsolationLevel, patient: bool = False
) -> dict[Partition, int]:
    found = _look_up(admin, topics, OffsetSpec.latest(), isolation, patient)
    return {partition: info.offset for partition, info in found.items()}


def _look_up(
    admin: AdminClient,
    topics: Iterable[str],
    spec: OffsetSpec,
    isolation: IsolationLevel = IsolationLevel.READ_COMMITTED,
    patient: bool = False,
) -> dict[Partition, ListOffsetsResultInfo]:
    """Ask, and repeat while a leader is missing, or a broker if `patient`.

    Raises UserError in the end, or KafkaException if no broker said which partitions there are.
    """
    names = tuple(topics)
    partitions: tuple[Partition, ...] | None = None

    def ask() -> dict[Partition, ListOffsetsResultInfo] | KafkaException | None:
        nonlocal partitions
        try:
            # Each time: the client learns by it who leads by now.
            partitions = list_partitions(admin, names)
            found = _answer(admin, partitions, spec, isolation)
        except TimeoutError:
            return None
        except KafkaException as error:
            if get_error_code(error) not in BETWEEN_LEADERS or not (partitions or patient):
                raise
            return error
        # Between two leaders an answer may have neither an error nor an offset.
        return None if OFFSET_INVALID in [info.offset for info in found.values()] else found

    answer = ask_until(ask, lambda heard: isinstance(heard, dict), LED_SECONDS_MAX)
    if isinstance(answer, dict):
        return answer
    if partitions is None and answer is not None:
        raise answer
    raise UserError(
        f"A broker should lead every partition of {', '.join(sorted(set(names)))}, but none does "
        "yet. See what it waits for: make logs COMPONENT=broker"
    )


def _answer(
    admin: AdminClient,
    partitions: Iterable[Partition],
    spec: OffsetSpec,
    isolation: IsolationLevel,
) -> dict[Partition, ListOffsetsResultInfo]:
    wanted = {TopicPartition(*partition): spec for partition in partitions}
    if not wanted:
        return {}
    answers = admin.list_offsets(
        wanted, isolation_level=isolation, request_timeout=REQUEST_SECONDS_MAX
    )
    return {
        (asked.topic, asked.partition): future.result(timeout=2 * REQUEST_SECONDS_MAX)
        for asked, future in answers.items()
    }


def fetch_committed(
    reader: Consumer, group: str, places: Iterable[Partition]
) -> list[TopicPartition]:
    """The offsets that the reader's group has committed for the partitions, with the metadata.

    An offset below 0 means that nothing is committed. It repeats the request while the broker has
    no coordinator of the group. Raises TimeoutError and KafkaException.
    """
    wanted = [TopicPartition(*partition) for partition in places]

    def ask() -> list[TopicPartition]:
        try:
            return list(reader.committed(wanted, timeout=REQUEST_SECONDS_MAX))
        except KafkaException as error:
            if get_error_code(error) not in UNSETTLED:
                raise
            return []

    found = ask_until(ask, bool, SETTLED_SECONDS_MAX) if wanted else []
    if len(found) < len(wanted):
        raise TimeoutError(
            f"Expected Kafka to say within {SETTLED_SECONDS_MAX:g} s what {group} has committed, "
            "but it did not. See what it waits for: make logs COMPONENT=broker"
        )
    return found
