"""The loop of orders: sold, proposed, ordered, confirmed, shipped, on the shelf; each once."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from contracts import PURCHASE_ORDERS
from infra.supervisor.parts import kill
from tests.e2e.loop import (
    WORLD,
    await_soon,
    check_each_step_is_taken_once,
    find_reviews,
    list_arrived,
    read_rows,
)
from tests.e2e.shop import Shop, opened
from tests.seeds import create_random

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.timeout(900)]

REPLAY_SECONDS_MAX = 400.0
BY_THE_SECOND = re.compile(r"[1-9]\d* orders, by the levels of g2")


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    seed = create_random("a world that is filled by orders").getrandbits(31)
    with opened(tmp_path_factory.mktemp("a loop"), seed, "inventory,reorder", **WORLD) as shop:
        yield shop


def test_what_is_sold_is_ordered_and_comes_once_whoever_is_killed(loop: Shop) -> None:
    """A second generation proposes the past anew. The gate orders none of it again."""
    kill(loop.find_pid("ordering"))
    await_soon(lambda: read_rows(loop, PURCHASE_ORDERS), "a review orders, with another gate")
    with ThreadPoolExecutor() as beside:
        replayed = beside.submit(loop.run_retail, "replay", "start", "reorder")
        kill(loop.find_pid("ordering"))
        kill(loop.find_pid("supplier"))
        told = replayed.result(REPLAY_SECONDS_MAX)
    assert "generation 2 of reorder" in told
    assert "that of generation 1: nothing should differ" in told
    assert "generation 2 is read by everyone" in loop.run_retail("replay", "promote", "reorder")
    log_file = loop.settings.logs_dir / "ordering.log"
    await_soon(
        lambda: BY_THE_SECOND.search(log_file.read_text()), "a review is answered from generation 2"
    )
    assert len(find_reviews(loop)) > 1, "by the next gate"
    await_soon(lambda: list_arrived(loop), "a delivery is received")
    [(shelf, units), *_] = list_arrived(loop)
    await_soon(lambda: loop.get(f"/v1/stock/{shelf}")["units_received"] >= units, "stock rises")
    store_id, sku = shelf.split("/")
    told_of = loop.get(f"/v1/orders?store_id={store_id}&sku={sku}")["items"]
    answers = [order["confirmation"] for order in told_of if order["confirmation"] is not None]
    assert units in [answer["shipped_units"] for answer in answers]
    await_soon(loop.ready, "the gate and the supplier are ready again")

    verdicts = loop.verify()
    assert verdicts["reorder"]["generation"] == 2
    assert verdicts["reorder"]["views"]["public.replenishment.proposal.v1"]["rows"] > 0
    check_each_step_is_taken_once(loop)
