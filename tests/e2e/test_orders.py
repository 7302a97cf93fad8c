"""The loop of orders: sold, proposed, ordered, confirmed, shipped, on the shelf; each once."""

from collections.abc import Iterator

import pytest

from contracts import PURCHASE_ORDERS
from tests.e2e.loop import WORLD, arrived, each_step_is_taken_once, reviews, rows, soon
from tests.e2e.shop import Shop, kill, opened
from tests.seeds import drawn

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    seed = drawn("a world that is filled by orders").getrandbits(31)
    with opened(tmp_path_factory.mktemp("a loop"), seed, "inventory,reorder", **WORLD) as shop:
        yield shop


def test_what_is_sold_is_ordered_and_comes_once_whoever_is_killed(loop: Shop) -> None:
    kill(loop.pid("ordering"))
    soon(lambda: rows(loop, PURCHASE_ORDERS), "a review orders, with another gate")
    kill(loop.pid("ordering"))
    kill(loop.pid("supplier"))
    soon(lambda: len(reviews(loop)) > 1, "the next gate answers the next review")
    soon(lambda: arrived(loop), "a delivery is received")
    [(shelf, units), *_] = arrived(loop)
    soon(lambda: loop.get(f"/v1/stock/{shelf}")["units_received"] >= units, "stock rises")
    soon(loop.ready, "the gate and the supplier are ready again")

    found = loop.verify()
    assert found["reorder"]["views"]["public.replenishment.proposal.v1"]["rows"] > 0
    each_step_is_taken_once(loop)
