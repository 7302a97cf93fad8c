import asyncio

import pytest

from ops.bench.arrivals import compute_percentile, run_arrivals


def test_a_request_that_hangs_delays_no_other() -> None:
    async def request_one(number: int, _due: float) -> int:
        begun.append(number)
        if number == 0:
            await last_begun.wait()
        if number == 4:
            last_begun.set()
        return number

    async def request_all() -> list[int]:
        async with asyncio.timeout(10):
            return await run_arrivals(request_one, per_second=1_000, seconds=0.005)

    begun: list[int] = []
    last_begun = asyncio.Event()
    assert asyncio.run(request_all()) == [0, 1, 2, 3, 4]
    assert begun == [0, 1, 2, 3, 4]


def test_a_request_is_never_sent_before_it_is_due() -> None:
    async def is_early(_number: int, due: float) -> bool:
        return asyncio.get_running_loop().time() < due - RESOLUTION

    assert not any(asyncio.run(run_arrivals(is_early, per_second=200, seconds=0.05)))


RESOLUTION = 0.001
"""Seconds by which the event loop may wake early."""


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (50, 5), (51, 6), (99, 10), (100, 10)])
def test_a_percentile_is_a_sample_that_was_there(percent: float, expected: float) -> None:
    assert compute_percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], percent) == expected
