"""What a generation has written, as a reader takes it at its marker, compared with the oracle."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from contracts import BOOKS, MARKERS, STOCK_LEVELS, Contract, compute_digest, decode, encode_key
from infra.kafka import Offsets, Partition, read_to_end
from infra.settings import Settings
from ops.verify.inventory import Book
from ops.verify.log import read
from ops.verify.oracles import ask_oracle
from tests.replay.running import Work

Row = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """The views and the books of a generation, at one marker."""

    batches: int
    inputs: dict[Partition, int]
    rows: dict[str, dict[bytes, Row]]
    """By view and key."""
    books: dict[Partition, Book]
    digests: tuple[str, ...]
    """Of each view."""


def answer(work: Work) -> Answer:
    settings, generation = work.settings, work.generation
    identity = {"pipeline": generation.pipeline, "generation": generation.number}
    marker = decode(read_to_end(settings, MARKERS.name)[encode_key(MARKERS, identity)]).value
    inputs, outputs = parse_offsets(marker["inputs"]), parse_offsets(marker["outputs"])
    rows = {
        view.name: read_newest(settings, view, select_topic(outputs, generation.outputs[view.name]))
        for view in work.pipeline.writes
    }
    kept = read_newest(settings, BOOKS, select_topic(outputs, BOOKS.name))
    return Answer(
        batches=marker["batch"] + 1,
        inputs=inputs,
        rows=rows,
        books=build_books(parse_offsets(marker["inputs"], "records"), kept.values()),
        digests=tuple(
            compute_digest(view, rows[view.name].values()) for view in work.pipeline.writes
        ),
    )


def parse_offsets(
    positions: Iterable[Mapping[str, Any]], name: str = "offset"
) -> dict[Partition, int]:
    return {(position["topic"], position["partition"]): position[name] for position in positions}


def select_topic(ends: Offsets, topic: str) -> dict[Partition, int]:
    return {partition: end for partition, end in ends.items() if partition[0] == topic}


def read_newest(settings: Settings, contract: Contract, ends: Offsets) -> dict[bytes, Row]:
    """The row with the highest version of each key."""
    rows: dict[bytes, Row] = {}
    for record in read(settings, ends):
        if record.value is None and contract.retention is not None:
            continue  # of a row that is over
        row = dict(decode(record.value).value)
        identity = encode_key(contract, row)
        if identity not in rows or row["version"] >= rows[identity]["version"]:
            rows[identity] = row
    return rows


def build_books(records: Offsets, kept: Iterable[Row]) -> dict[Partition, Book]:
    """Where nothing is written of a partition, all that was read of it would be a duplicate."""
    counted = {(row["topic"], row["partition"]): row for row in kept}
    nothing = {"applied": 0, "quarantined": 0}
    by_partition = {}
    for partition, read_records in records.items():
        row = counted.get(partition, nothing)
        applied, quarantined = row["applied"], row["quarantined"]
        by_partition[partition] = Book(
            read_records, applied, read_records - applied - quarantined, quarantined
        )
    return by_partition


SHOWN_MAX = 5


def check(work: Work) -> Answer:
    """What the generation has written, held against the oracle's at the same offsets."""
    found = answer(work)
    asked = ask_oracle(work.pipeline.name, work.settings, found.inputs)
    answers = asked.compute_views()
    assert {view.name for view in work.pipeline.writes} == answers.keys()
    for view, own_digest in zip(work.pipeline.writes, found.digests, strict=True):
        expected, rows = (
            {encode_key(view, row): row for row in answers[view.name]},
            found.rows[view.name],
        )
        wrong = {key for key in rows | expected if rows.get(key) != expected.get(key)}
        assert not [(rows.get(key), expected.get(key)) for key in sorted(wrong)[:SHOWN_MAX]]
        assert expected, f"{view.name} has rows to be compared"
        assert own_digest == compute_digest(view, expected.values())
    assert found.books == asked.count_books()
    return found


def count_units(work: Work) -> int:
    """The units on hand of all shelves, of which the oracle has as many."""
    return sum(row["units_on_hand"] for row in check(work).rows[STOCK_LEVELS.name].values())
