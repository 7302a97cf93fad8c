"""Requests sent when they are due, however long the earlier ones take."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Sample:
    seconds: float
    good: bool
    """Whether the answer was a good one."""


async def run_arrivals(
    one: Callable[[int, float], Awaitable[T]], per_second: float, seconds: float
) -> list[T]:
    """The outcome of each request; `one` gets its number and the time when it was due, in loop
    time.
    """
    tasks: list[asyncio.Task[T]] = []
    with keep_garbage():
        began = asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as group:
            for number in range(round(per_second * seconds)):
                due = began + number / per_second
                await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
                tasks.append(group.create_task(_run(one, number, due)))
    return [task.result() for task in tasks]


@contextmanager
def keep_garbage() -> Iterator[None]:
    """Collect garbage before the block and not in it.

    To look through all that the bench has in memory takes up to 88 ms, in which no answer is read.
    """
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def _run(one: Callable[[int, float], Awaitable[T]], number: int, due: float) -> T:
    return await one(number, due)


def compute_percentile(samples: Sequence[float], percent: float) -> float:
    """The percentile: the smallest sample that this share of them does not exceed."""
    ordered = sorted(samples)
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, int(rank) - 1)]


def compute_percentile_ms(samples: Sequence[Sample], percent: float) -> float:
    return 1000 * compute_percentile([sample.seconds for sample in samples], percent)


def describe_failures(samples: Sequence[Sample]) -> str:
    """A sentence about the requests without a good answer; empty where all had one."""
    bad = sum(not sample.good for sample in samples)
    return f" {bad:,} of them had no good answer." if bad else ""
