"""Rows and markers in any order; pure, so without a broker."""

from itertools import accumulate
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from infra.kafka import Partition
from services.api.store.assembly import ROWS_WAITING_MAX, Assembly
from services.api.store.marker import Marker

LEFT: Partition = ("view", 0)
RIGHT: Partition = ("view", 1)


def create_marker(batch: int, left: int, right: int = 0) -> Marker:
    return Marker("inventory", 1, batch, {}, {LEFT: left, RIGHT: right}, 0, batch)


def create_assembly(*markers: Marker) -> Assembly[str]:
    """An assembly that has read these markers, and aims at the newest."""
    rows = Assembly[str]({LEFT: 0, RIGHT: 0}, None)
    for each in markers:
        rows.mark(each)
    rows.set_target()
    return rows


def test_the_end_of_the_log_or_a_row_behind_a_gap_shows_that_it_was_read() -> None:
    rows = create_assembly(create_marker(0, left=7))
    rows.note_end(LEFT, 7)
    assert rows.find_complete() == create_marker(0, left=7)

    rows = create_assembly(create_marker(0, left=5))
    rows.add(LEFT, 8, "of the next batch")
    assert rows.find_complete() == create_marker(0, left=5)
    assert rows.take_ready() == []


def test_the_newest_marker_known_is_aimed_at_and_stays_however_many_come() -> None:
    rows = create_assembly(*(create_marker(batch, left=batch + 1) for batch in (0, 2, 1)))
    assert rows.target == create_marker(2, left=3)
    rows.mark(create_marker(3, left=4))
    rows.set_target()
    assert rows.target == create_marker(2, left=3)


def test_rows_read_again_are_taken_once() -> None:
    rows = create_assembly(create_marker(0, left=1))
    rows.add(LEFT, 0, "a")
    rows.add(LEFT, 0, "a")
    assert rows.take_ready() == [(LEFT, "a")]


def test_a_partition_with_too_many_waiting_rows_is_full_until_a_marker_takes_them() -> None:
    rows = create_assembly()
    for offset in range(ROWS_WAITING_MAX):
        rows.add(LEFT, offset, "a")
    assert rows.list_full() == {LEFT}
    rows.mark(create_marker(0, left=ROWS_WAITING_MAX))
    rows.set_target()
    assert rows.list_full() == set()


@given(st.data())
def test_any_interleaving_commits_at_a_marker_exactly_the_rows_before_it(
    data: st.DataObject,
) -> None:
    growth = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
    lefts, rights = (list(accumulate(each)) for each in zip(*growth, strict=True))
    ends = enumerate(zip(lefts, rights, strict=True))
    arriving: dict[str, list[Any]] = {
        "left": [(LEFT, offset) for offset in range(lefts[-1])],
        "right": [(RIGHT, offset) for offset in range(rights[-1])],
        "markers": [create_marker(batch, *each) for batch, each in ends],
    }
    rows, applied = create_assembly(), set[tuple[Partition, str]]()
    committed: list[Marker] = []
    while any(arriving.values()) or rows.target:
        names = [name for name, waiting in arriving.items() if waiting]
        item = arriving[data.draw(st.sampled_from(names))].pop(0) if names else None
        if isinstance(item, Marker):
            rows.mark(item)
        elif item is not None:
            rows.add(item[0], item[1], str(item))
        rows.set_target()
        applied |= set(rows.take_ready())
        if done := rows.find_complete():
            rows.finish()
            rows.set_target()
            applied_before = {
                (partition, str((partition, n)))
                for partition, end in done.outputs.items()
                for n in range(end)
            }
            committed.append(done)
            assert applied == applied_before
            applied |= set(rows.take_ready())
    assert committed[-1].outputs == {LEFT: lefts[-1], RIGHT: rights[-1]}
