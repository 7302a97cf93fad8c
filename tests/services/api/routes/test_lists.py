"""Lists come in pages: together they are the whole, and a cursor fits its own question."""

from collections.abc import Iterator
from http import HTTPStatus
from itertools import pairwise
from typing import Any

import pytest

from contracts import STORE_SALES
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, check_problem, create_sources, serving
from tests.services.showing import PIPELINES, SHELF, Shop
from tests.services.showing_files import fill_folder
from tests.services.world import NOON

Query = dict[str, Any]
STORE, SKU = SHELF
ROWS = f"/v1/views/{STORE_SALES.name}/rows"
LISTS: list[tuple[str, Query, Query]] = [
    ("/v1/stock", {"limit": 2}, {"sku": SKU}),
    ("/v1/stock", {"limit": 2, "sort": "-units_on_hand"}, {}),
    (ROWS, {"limit": 7, "store_id": "S001"}, {"store_id": "S002"}),
    (ROWS, {"limit": 7, "store_id": "S001", "order": "newest"}, {}),
    ("/v1/orders", {"limit": 1}, {"sku": SKU}),
    (f"/v1/prices/{SKU}/history", {"limit": 1}, {}),
    (f"/v1/promotions/{SKU}", {"limit": 1}, {}),
    ("/v1/quarantine", {"limit": 1}, {"reason": "late"}),
    ("/v1/audit", {"limit": 3}, {"who": "nobody"}),
    (f"/v1/history/movements/{STORE}/{SKU}", {"limit": 2}, {"since": NOON.isoformat()}),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """Something in every list; five actions were refused."""
    log, folder = MemoryLog(), tmp_path_factory.mktemp("shop")
    Shop(log)
    fill_folder(folder)
    with serving(create_sources(log, folder)) as api:
        for pipeline in PIPELINES:
            api.ready(pipeline=pipeline)
        for _ in range(5):
            api.request("POST", "/v1/pipelines/fraud/rollback")
        for path, count in (
            ("/v1/audit", 5),
            ("/v1/orders", 3),
            ("/v1/quarantine", 3),
            (f"/v1/prices/{SKU}/history", 3),
            (f"/v1/promotions/{SKU}", 2),
        ):
            await_items(api, path, count)
        yield api


def await_items(api: Answers, path: str, count: int) -> None:
    api.eventually(path, lambda page: len(page["items"]) == count)


@pytest.mark.parametrize(("path", "query", "other"), LISTS)
def test_pages_put_together_are_the_whole_list(
    shop: Answers, path: str, query: Query, other: Query
) -> None:
    whole = shop.json(path, **{**query, "limit": 500})["items"]
    pages = [shop.json(path, **query)]
    while pages[-1]["next"]:
        pages.append(shop.json(path, **query, cursor=pages[-1]["next"]))
    assert len(pages) > 1
    assert [item for page in pages for item in page["items"]] == whole
    assert all(len(page["items"]) == query["limit"] for page, _ in pairwise(pages))


@pytest.mark.parametrize(("path", "query", "other"), [one for one in LISTS if one[2]])
def test_a_cursor_of_another_question_is_refused(
    shop: Answers, path: str, query: Query, other: Query
) -> None:
    following = shop.json(path, **query)["next"]
    answer = shop.get(path, **{**query, **other, "cursor": following})
    check_problem(answer, HTTPStatus.UNPROCESSABLE_ENTITY, "Cursor of another question")
